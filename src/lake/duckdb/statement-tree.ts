/**
 * Reads the tree that `json_serialize_sql` makes of a statement: which functions it calls, before DuckDB binds it and some have
 * their effect, and which tables it reads.
 */

import { isObject, type JsonObject } from '../../support/json-form.ts'
import { nearestName } from '../../support/nearest-name.ts'
import { ALLOWED_FUNCTIONS } from './allowed-functions.ts'
import type { Session } from './engine.ts'

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

/** The function that reads the rows of a statement which stands in a text. */
const QUERY = 'query'
const QUERY_REASON = '"query" takes a statement that stands there as a text, expected one SELECT in quotes'

const refused = (name: string): WrongCall => ({
  ...{ kind: 'refused', name },
  reason: `function "${name}" is not allowed, expected functions that compute or read and have no effect`,
})

const knownFunctions = async (session: Session): Promise<readonly string[]> => {
  const rows = await session.rows('SELECT DISTINCT lower(function_name) AS name FROM duckdb_functions()')
  return rows.map(({ name }) => String(name))
}

const wrongName = async (session: Session, name: string, own: ReadonlySet<string>): Promise<WrongCall> => {
  if ((await knownFunctions(session)).includes(name)) return refused(name)
  const nearest = nearestName(name, [...own, ...ALLOWED_FUNCTIONS])
  const hint = nearest === undefined ? '' : `, did you mean "${nearest}"?`
  return { kind: 'unknown', name, reason: `there is no function "${name}"${hint}` }
}

/** The text of a node that is a constant. */
const constantText = (node: unknown): string | undefined => {
  for (const { class: kind, value } of nodesOf(node)) {
    if (kind !== 'CONSTANT') return undefined
    const text = typeof value === 'object' && value !== null && 'value' in value ? value.value : undefined
    return typeof text === 'string' ? text : undefined
  }
  return undefined
}

/**
 * Finds a call that is not allowed.
 *
 * @param tree of statements, as `Session.parse` gives it
 * @param own names of macros, in lower case, that may be called too
 */
export const findWrongCall = async (
  session: Session,
  tree: unknown,
  own: ReadonlySet<string> = NO_NAMES,
): Promise<WrongCall | undefined> => {
  for (const { function_name: called, children, query_location: at } of nodesOf(tree)) {
    if (typeof called !== 'string') continue
    const name = called.toLowerCase()
    if (!ALLOWED_FUNCTIONS.has(name) && !own.has(name)) {
      const wrong = await wrongName(session, name, own)
      return typeof at === 'number' ? { ...wrong, offsetBytes: at } : wrong
    }
    if (name !== QUERY) continue
    const text = Array.isArray(children) && children.length === 1 ? constantText(children[0]) : undefined
    const parsed = text === undefined ? undefined : await session.parse(text)
    if (parsed?.kind !== 'selects') return { kind: 'refused', name, reason: QUERY_REASON }
    const within = await findWrongCall(session, parsed.statements, own)
    if (within !== undefined) return { kind: within.kind, name: within.name, reason: within.reason }
  }
  return undefined
}

/** White space and comments, which may hold comments, between a name and its bracket. */
const BETWEEN = String.raw`(?:\s|--[^\n]*\n|/\*[\s\S]*\*/)*`

/**
 * Finds such a call in a statement of which DuckDB has no tree. Fails closed: a name that stands before a bracket in a text or a
 * comment counts too.
 */
export const findWrongCallInText = async (session: Session, sql: string): Promise<WrongCall | undefined> => {
  const names = (await knownFunctions(session)).filter(
    // An operator is called without a bracket, and all are allowed.
    (name) => /^\w+$/.test(name) && (!ALLOWED_FUNCTIONS.has(name) || name === QUERY),
  )
  const [, found] = new RegExp(`(?<!\\w)(${names.join('|')})"?${BETWEEN}\\(`, 'i').exec(sql) ?? []
  return found === undefined ? undefined : refused(found.toLowerCase())
}

/** All objects of a tree. @param isPassedOver objects that are left out with all that is in them @default none */
export function* nodesOf(
  tree: unknown,
  isPassedOver: (node: JsonObject) => boolean = () => false,
): Generator<JsonObject> {
  const left = [tree]
  while (left.length > 0) {
    const one = left.pop()
    if (typeof one !== 'object' || one === null) continue
    if (isObject(one)) {
      if (isPassedOver(one)) continue
      yield one
    }
    for (const part of Object.values(one)) left.push(part)
  }
}

/** Functions that read tables whose names only they know. */
const READING_FUNCTIONS = new Set(['query', 'query_table'])

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

/** All words of a statement in lower case: whatever it reads is among them. `null` where that cannot be determined. */
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

const listAt = (node: JsonObject, name: string): readonly unknown[] => {
  const found = node[name]
  return Array.isArray(found) ? found : []
}

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
