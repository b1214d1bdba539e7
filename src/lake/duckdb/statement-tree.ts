/**
 * Reads the tree that `json_serialize_sql` makes of a statement: which functions it calls, before DuckDB binds it and some have
 * their effect, and which tables it reads.
 */

import { isObject, type JsonObject } from '../../support/json-form.ts'
import { nearestName } from '../../support/nearest-name.ts'
import { ALLOWED_FUNCTIONS, ALLOWED_VIEWS } from './allowed-functions.ts'
import type { Session } from './engine.ts'
import { constantStrings, listAt, nodesOf, tableName } from './tree-nodes.ts'

/** Why a statement is not run. */
export interface WrongCall {
  /** `unknown`: there is no such function. */
  readonly kind: 'refused' | 'unknown'
  readonly name: string
  readonly reason: string
  /** Offset of the call in the statement, in bytes; unknown of a call in a text within it. */
  readonly offsetBytes?: number
}

const NO_NAMES: ReadonlySet<string> = new Set()

/** The function that reads the rows of a statement which stands in a text, and the one that reads tables by such names. */
const [QUERY, QUERY_TABLE] = ['query', 'query_table']
const TEXT_REASONS: Readonly<Record<string, string>> = {
  [QUERY]: '"query" takes a statement that stands there as a text, expected one SELECT in quotes',
  [QUERY_TABLE]: '"query_table" takes names that stand there as texts, expected names in quotes',
}

const refused = (name: string): WrongCall => ({
  ...{ kind: 'refused', name },
  reason: `function "${name}" is not allowed, expected functions that compute or read and have no effect`,
})

const knownFunctions = async (session: Session, where = ''): Promise<readonly string[]> => {
  const rows = await session.rows(
    `SELECT DISTINCT lower(function_name) AS name FROM duckdb_functions() ${where}`,
  )
  return rows.map(({ name }) => String(name))
}

const wrongName = async (session: Session, name: string, own: ReadonlySet<string>): Promise<WrongCall> => {
  if ((await knownFunctions(session)).includes(name)) return refused(name)
  const nearest = nearestName(name, [...own, ...ALLOWED_FUNCTIONS])
  const hint = nearest === undefined ? '' : `, did you mean "${nearest}"?`
  return { kind: 'unknown', name, reason: `there is no function "${name}"${hint}` }
}

const DATABASE_FILE = /\.(db|ddb|duckdb)(\W|$)/
/** Views of DuckDB itself begin so, and no other ones do; one of its schemas, too. */
const SYSTEM_VIEW = /^(duckdb|pg|pragma|sqlite)_(?!catalog$)/

/** Why a table is not read. @param table its name, perhaps with schema and catalog */
const wrongTable = (table: string): WrongCall | undefined => {
  const whole = table.toLowerCase()
  if (DATABASE_FILE.test(whole)) return refused('read_duckdb')
  const name = /\w+(?=\W*$)/.exec(whole)?.[0] ?? ''
  if (!SYSTEM_VIEW.test(name) || ALLOWED_VIEWS.has(name)) return undefined
  const reason = `"${name}" is not allowed, expected tables and views of the lake`
  return { kind: 'refused', name, reason }
}

/** Looks at the texts that a call takes for names or for a statement. */
const wrongStrings = async (
  session: Session,
  name: string,
  children: unknown,
  own: ReadonlySet<string>,
): Promise<WrongCall | undefined> => {
  const reason = Object.hasOwn(TEXT_REASONS, name) ? TEXT_REASONS[name] : undefined
  if (reason === undefined) return undefined
  const [first, ...others] = Array.isArray(children) ? children : []
  const strings = constantStrings(first)
  const notThere: WrongCall = { kind: 'refused', name, reason }
  if (strings === undefined) return notThere
  if (name === QUERY_TABLE) return strings.map(wrongTable).find((one) => one !== undefined)
  const [text = ''] = strings
  const parsed = others.length > 0 || strings.length > 1 ? undefined : await session.parse(text)
  if (parsed?.kind !== 'selects') return notThere
  return findWrongCall(session, parsed.statements, own)
}

/**
 * Finds a call that is not allowed, or a table of DuckDB itself or in a database file.
 *
 * @param tree of statements, as `Session.parse` gives it
 * @param own names of macros, in lower case, that may be called too
 */
export const findWrongCall = async (
  session: Session,
  tree: unknown,
  own: ReadonlySet<string> = NO_NAMES,
): Promise<WrongCall | undefined> => {
  for (const node of nodesOf(tree)) {
    const { function_name: called, children, query_location: at } = node
    const wrongHere = async (): Promise<WrongCall | undefined> => {
      const table = tableName(node)
      if (table !== undefined) return wrongTable(table)
      if (typeof called !== 'string') return undefined
      const name = called.toLowerCase()
      return ALLOWED_FUNCTIONS.has(name) || own.has(name) ? undefined : wrongName(session, name, own)
    }
    const wrong = await wrongHere()
    if (wrong !== undefined) return Number.isSafeInteger(at) ? { ...wrong, offsetBytes: Number(at) } : wrong
    if (typeof called !== 'string') continue
    const within = await wrongStrings(session, called.toLowerCase(), children, own)
    if (within !== undefined) return { kind: within.kind, name: within.name, reason: within.reason }
  }
  return undefined
}

const refusedWords = new WeakMap<Session, Promise<readonly string[]>>()

/** Names of DuckDB's own functions that are not allowed in a text; of a session they stay the same. */
const wordsRefused = (session: Session): Promise<readonly string[]> => {
  const found = refusedWords.get(session) ?? knownFunctions(session, 'WHERE internal')
  refusedWords.set(session, found)
  return found.then((names) =>
    names.filter((name) => !ALLOWED_FUNCTIONS.has(name) || Object.hasOwn(TEXT_REASONS, name)),
  )
}

/** A text in quotes whose letters do not all stand there: one with escapes, or one in pieces on several lines. */
const isHidden = (sql: string): boolean => {
  const gaps = [...sql.matchAll(/'(?=([\s\p{Z}\p{Cf}]*(?:--[^\n\r]*[\n\r][\s\p{Z}\p{Cf}]*)*)')/gu)]
  return (/e'/i.test(sql) && sql.includes('\\')) || gaps.some(([, gap = '']) => /[\n\r]/.test(gap))
}

/** Texts in brackets that may be statements of their own, each before those within it. */
function* bracketed(sql: string): Generator<string> {
  const begins = /\((?=\s*(select|from|with|values|table|describe|summarize|show)\b)/gi
  for (const { index } of sql.matchAll(begins)) {
    let depth = 0
    for (let at = index; at < sql.length; at += 1) {
      if (sql[at] === '(') depth += 1
      else if (sql[at] === ')') depth -= 1
      if (depth > 0) continue
      yield sql.slice(index + 1, at)
      break
    }
  }
}

/**
 * Finds such a call in a statement of which DuckDB has no tree. Fails closed: whatever may stand between a name and its bracket,
 * a name that is a word of the text counts, in a text in quotes or a comment too. Parts that have a tree are looked at as well.
 */
export const findWrongCallInText = async (session: Session, sql: string): Promise<WrongCall | undefined> => {
  const words = new Set(sql.toLowerCase().match(/\w+/g))
  // An operator is no word, and all are allowed.
  const called = (await wordsRefused(session)).find((name) => words.has(name))
  if (called !== undefined) return refused(called)
  const table = [...words].find((word) => !ALLOWED_FUNCTIONS.has(word) && wrongTable(word) !== undefined)
  if (table !== undefined) return wrongTable(table)
  if (DATABASE_FILE.test(sql.toLowerCase())) return refused('read_duckdb')
  if (isHidden(sql))
    return {
      ...{ kind: 'refused', name: "''" },
      reason:
        'a text with escapes or in pieces is not allowed beside a PIVOT whose columns come from the data',
    }
  for (const part of bracketed(sql)) {
    const parsed = await session.parse(part)
    const wrong = parsed.kind === 'selects' ? await findWrongCall(session, parsed.statements) : undefined
    if (wrong?.kind === 'refused') return { kind: wrong.kind, name: wrong.name, reason: wrong.reason }
  }
  return undefined
}

/** Functions that read tables whose names only they know. */
const READING_FUNCTIONS = new Set([QUERY, QUERY_TABLE])

/** DESCRIBE lists columns, of a table or a query, and reads no row. SUMMARIZE reads rows. */
const isDescribe = ({ type, show_type: shown }: JsonObject): boolean =>
  type === 'SHOW_REF' && shown !== 'SUMMARY'

/**
 * Names of the tables and views whose rows a statement reads, in lower case, of its own `WITH` too, and of the functions
 * that it calls: a macro reads tables; `null` where that cannot be determined.
 */
export const namedTables = (tree: unknown): ReadonlySet<string> | null => {
  const names = new Set<string>()
  for (const { type, table_name: table, function_name: called } of nodesOf(tree, isDescribe)) {
    if (typeof called === 'string' && READING_FUNCTIONS.has(called.toLowerCase())) return null
    if (typeof called === 'string') names.add(called.toLowerCase())
    if (type === 'BASE_TABLE' && typeof table === 'string') names.add(table.toLowerCase())
  }
  return names
}

/** The words of a statement in lower case: whatever it reads is among them. `null` where that cannot be determined. */
export const mentionedTables = (sql: string): ReadonlySet<string> | null => {
  const words = new Set(sql.toLowerCase().match(/\w+/g))
  return [...READING_FUNCTIONS].some((name) => words.has(name)) ? null : words
}

/** The part of a table that suffices for a statement. */
export type SoughtRows = { readonly table: string } & (
  | { readonly kind: 'some'; readonly column: string; readonly values: readonly number[] }
  /** Only their number. */
  | { readonly kind: 'count' }
)

/** The name of a column of a table; `undefined` of any other expression. */
const columnOf = (node: unknown, names: readonly unknown[]): string | undefined => {
  if (!isObject(node) || node.type !== 'COLUMN_REF') return undefined
  const path = listAt(node, 'column_names')
  const column = path.at(-1)
  const isOwn = path.length === 1 || (path.length === 2 && names.includes(path[0]))
  return isOwn && typeof column === 'string' ? column.toLowerCase() : undefined
}

/** An integer that stands in a statement; JSON does not keep those beyond 2^53. */
const integerOf = (node: unknown): number | undefined => {
  if (!isObject(node) || node.type !== 'VALUE_CONSTANT' || !isObject(node.value)) return undefined
  const { type, value } = node.value
  const isInteger = isObject(type) && (type.id === 'INTEGER' || type.id === 'BIGINT')
  return isInteger && Number.isSafeInteger(value) ? Number(value) : undefined
}

/** The values that a condition leaves of a column: `column = 5`, `column IN (5, 6)`, `… AND …`. */
const valuesLeft = (
  condition: unknown,
  names: readonly unknown[],
): { readonly column: string; readonly values: readonly number[] } | undefined => {
  if (!isObject(condition)) return undefined
  if (condition.type === 'CONJUNCTION_AND') {
    for (const child of listAt(condition, 'children')) {
      const found = valuesLeft(child, names)
      if (found) return found
    }
    return undefined
  }
  const { type, left, right } = condition
  const [first, ...others] = type === 'COMPARE_IN' ? listAt(condition, 'children') : [left, right]
  if (type !== 'COMPARE_IN' && type !== 'COMPARE_EQUAL') return undefined
  const column = columnOf(first, names)
  const values = others.flatMap((one) => integerOf(one) ?? [])
  return column !== undefined && values.length === others.length ? { column, values } : undefined
}

const isCount = (select: readonly unknown[]): boolean => {
  const [one, ...others] = select
  return (
    others.length === 0 &&
    isObject(one) &&
    one.function_name === 'count_star' &&
    one.filter === null &&
    one.class === 'FUNCTION'
  )
}

/**
 * The rows that suffice for a statement that reads one table once: those of some values, or none but their number.
 *
 * @returns `undefined` where it reads more, or cannot be determined to read less
 */
export const soughtRows = (statement: unknown): SoughtRows | undefined => {
  const node = isObject(statement) ? statement.node : undefined
  if (!isObject(node) || node.type !== 'SELECT_NODE') return undefined
  const reading = [...nodesOf(statement)].filter(({ type }) => typeof type === 'string' && READS.test(type))
  const { from_table: from, where_clause: where } = node
  if (reading.length !== 2 || !isObject(from) || from.type !== 'BASE_TABLE') return undefined
  const isRenamed = listAt(from, 'column_name_alias').length > 0
  if (isRenamed || from.schema_name !== '' || from.at_clause !== null || typeof from.table_name !== 'string')
    return undefined
  const table = from.table_name.toLowerCase()
  // A sample is taken of all rows, before a condition leaves some of them.
  if (node.sample !== null || from.sample !== null) return undefined
  const left = valuesLeft(where, [from.alias, from.table_name])
  if (left) return { kind: 'some', table, ...left }
  const isWhole = [where, node.having, node.qualify].every((one) => one === null)
  const isGrouped = listAt(node, 'group_expressions').length > 0
  return isWhole && !isGrouped && isCount(listAt(node, 'select_list')) ? { kind: 'count', table } : undefined
}

/** Types of nodes that give rows: statements, and items of a FROM clause. */
const READS =
  /_NODE$|^(BASE_TABLE|TABLE_FUNCTION|SUBQUERY|JOIN|EXPRESSION_LIST|PIVOT|SHOW_REF|CTE|DELIM_GET|COLUMN_DATA)$/
