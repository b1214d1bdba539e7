/** SQL as text: quoted names and literals, and types of columns as trees. Values of data are bound, never written into SQL. */

/** A name in double quotes. */
export const ident = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** A text literal. For names of the contract and paths of our own; data is bound instead. */
export const literal = (text: string): string => {
  const quoted = `'${text.replaceAll("'", "''")}'`
  // SQL text ends at NUL, so a NUL in it is written as an expression.
  return quoted.includes('\0') ? `(${quoted.replaceAll('\0', "' || chr(0) || '")})` : quoted
}

/** A pattern that matches a path alone: DuckDB takes each path of a file that it reads for a pattern. */
export const patternOf = (path: string): string => path.replaceAll(/[*?[]/g, '[$&]')

/** The path that such a pattern matches alone; of any other pattern the pattern itself. */
export const pathOf = (pattern: string): string => pattern.replaceAll(/\[([*?[])\]/g, '$1')

/** The path of a file to be read. */
export const pathSql = (path: string): string => literal(patternOf(path))

/** Paths of files to be read, as a list. */
export const pathsSql = (paths: readonly string[]): string => `[${paths.map(pathSql).join(', ')}]`

/** Otherwise a folder `name=x` above a file gives its rows a column `name`, also in place of their own. */
export const NO_FOLDER_COLUMNS = 'hive_partitioning = false'

/** The rows of Parquet files. @param paths one or a list of them, in SQL */
export const readParquet = (paths: string, ...options: readonly string[]): string =>
  `read_parquet(${[paths, NO_FOLDER_COLUMNS, ...options].join(', ')})`

/** A column's type as DuckDB names it, with its lists and structs, for the schemas of other formats. */
export type ColumnTypeTree =
  /** Anything that is neither a list nor a struct, by DuckDB's name: `VARCHAR`, `ENUM('a', 'b')`. */
  | { readonly kind: 'scalar'; readonly name: string }
  | { readonly kind: 'list'; readonly element: ColumnTypeTree }
  | { readonly kind: 'struct'; readonly fields: readonly ColumnField[] }

interface ColumnField {
  readonly name: string
  readonly type: ColumnTypeTree
}

const STRUCT = 'STRUCT('
const FIELD_NAME = /^(?:"((?:[^"]|"")*)"|([A-Za-z_]\w*)) /

/** Cuts at the commas that stand in no bracket and no quotes. */
const splitTopLevel = (text: string): string[] => {
  const parts: string[] = []
  let depth = 0
  let from = 0
  for (let at = 0; at < text.length; at++) {
    const one = text[at]
    if (one === '"' || one === "'") at = text.indexOf(one, at + 1)
    else if (one === '(') depth += 1
    else if (one === ')') depth -= 1
    else if (one === ',' && depth === 0) {
      parts.push(text.slice(from, at))
      from = at + 1
    }
    if (at === -1) break
  }
  return [...parts, text.slice(from)].map((part) => part.trim())
}

const parseField = (text: string): ColumnField => {
  const match = FIELD_NAME.exec(text)
  if (match === null) throw new TypeError('Cannot read the type of a struct: a field without a name')
  const name = match[2] ?? (match[1] ?? '').replaceAll('""', '"')
  return { name, type: parseColumnType(text.slice(match[0].length)) }
}

/**
 * Reads DuckDB's text of a type.
 *
 * @throws {TypeError} for a struct that cannot be read
 * @example parseColumnType('VARCHAR[]') // { kind: 'list', element: { kind: 'scalar', name: 'VARCHAR' } }
 */
export const parseColumnType = (text: string): ColumnTypeTree => {
  if (text.endsWith('[]')) return { kind: 'list', element: parseColumnType(text.slice(0, -2)) }
  if (!text.startsWith(STRUCT)) return { kind: 'scalar', name: text }
  return { kind: 'struct', fields: splitTopLevel(text.slice(STRUCT.length, -1)).map(parseField) }
}

/** Most values of an ENUM: beyond some thousands it helps no more. */
export const LARGEST_ENUM = 10_000

/** Whether values can be an ENUM: it takes no NUL. */
export const isEnumerable = (values: readonly string[]): boolean =>
  values.length > 0 && values.length <= LARGEST_ENUM && !values.some((value) => value.includes('\0'))

/** An expression as it stands in a statement: a comment at its end does not reach what follows. */
export const asExpression = (sql: string): string => `(${sql}\n)`

/** Characters of statements that are run in one text: DuckDB takes thirty times the length of a text that it parses. */
export const LONGEST_TEXT = 100_000

const NAMED_WINDOW = /\bWINDOW\b/

/** Whether a statement may be run behind others in one text: DuckDB 1.5.5 takes windows of several statements for those of one. */
export const fitsBehind = (text: string, sql: string): boolean =>
  text.length + sql.length <= LONGEST_TEXT && !(NAMED_WINDOW.test(text) && NAMED_WINDOW.test(sql))
