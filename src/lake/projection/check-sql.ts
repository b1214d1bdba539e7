/**
 * SQL that a person declares over the columns of a table: one expression, checked where nothing but the names of these columns
 * can be reached. It reads no other table and no file, so it may stand in a statement of a loader.
 */

import { messageOf, ToolkitError } from '../../core/errors.ts'
import { isObject } from '../../support/json-form.ts'
import { nearestName } from '../../support/nearest-name.ts'
import type { Session } from '../duckdb/engine.ts'
import { asExpression, ident } from '../duckdb/sql.ts'
import { findWrongCall } from '../duckdb/statement-tree.ts'
import { nodesOf } from '../duckdb/tree-nodes.ts'
import { declaredColumns, TABLES } from '../tables/tables.ts'

const MEMORY_BYTES = 64 * 1024 * 1024

export interface Expression {
  /** As messages name it: `the condition on companies`. */
  readonly what: string
  readonly table: string
  readonly sql: string
  /** Whether it has to be true or false; else its value is a column's. */
  readonly isCondition: boolean
  /** Columns that it must not read: they are left out. @default none */
  readonly excluded?: ReadonlySet<string> | undefined
}

const wrong = ({ what, sql }: Expression, why: string): ToolkitError =>
  new ToolkitError('PROJECTION_INVALID', `Cannot use ${what}, "${sql}": ${why}`)

/** Kinds of nodes that an expression over the columns of one row has not. */
const REFUSED: Readonly<Record<string, string>> = {
  SUBQUERY: 'it holds a query of its own, expected an expression over the columns of one row',
  WINDOW: 'it looks at other rows, expected an expression over the columns of one row',
  PARAMETER: 'it holds a parameter, expected an expression over the columns of one row',
  POSITIONAL_REFERENCE: 'it names no column, expected an expression over the columns of one row',
  STAR: 'it names no column, expected an expression over the columns of one row',
}
const ONE = 'expected one expression over the columns of one row'

const statementOf = ({ table, sql }: Pick<Expression, 'table' | 'sql'>): string =>
  `SELECT ${asExpression(sql)} AS given FROM ${ident(table)}`

/** A name may stand with its table before it, or with fields of a struct behind it. */
const excludedIn = (names: unknown, { excluded }: Expression): string | undefined =>
  Array.isArray(names)
    ? names.map((name) => String(name).toLowerCase()).find((name) => excluded?.has(name) === true)
    : undefined

/** That it is one expression and nothing else. */
const checkTree = (expression: Expression, statements: readonly unknown[]): void => {
  const [first, ...others] = statements
  const node = isObject(first) && isObject(first.node) ? first.node : {}
  const list: unknown = node.select_list
  const from: unknown = node.from_table
  const isPlain =
    others.length === 0 &&
    Array.isArray(list) &&
    list.length === 1 &&
    isObject(from) &&
    from.type === 'BASE_TABLE' &&
    from.table_name === expression.table &&
    (node.where_clause ?? null) === null
  if (!isPlain) throw wrong(expression, ONE)
  for (const { class: kind, column_names: names } of nodesOf(list)) {
    const reason = typeof kind === 'string' ? REFUSED[kind] : undefined
    if (reason !== undefined) throw wrong(expression, reason)
    const hidden = excludedIn(names, expression)
    if (hidden !== undefined) throw wrong(expression, `it reads "${hidden}", which is left out`)
  }
}

/** DuckDB's words without the statement that it quotes. */
const reasonOf = (error: unknown): string =>
  messageOf(error)
    .replace(/\n.*/s, '')
    .replace(
      /^.*TRY can not be used in combination with a volatile function.*$/,
      'it gives another value each time',
    )
    .replace(/^[A-Z]\w* Error: /, '')

const UNKNOWN_COLUMN = /(?:column|named) "([^"]+)"/i

const withNearest = ({ table }: Expression, reason: string): string => {
  const [, name] = UNKNOWN_COLUMN.exec(reason) ?? []
  const columns = declaredColumns(table).map((column) => column.name)
  if (name === undefined || columns.includes(name)) return reason
  const nearest = nearestName(name, columns)
  return `"${table}" has no column "${name}"${nearest === undefined ? '' : `, did you mean "${nearest}"?`}`
}

const check = async (session: Session, expression: Expression): Promise<void> => {
  const statement = statementOf(expression)
  const parsed = await session.parse(statement)
  if (parsed.kind === 'wrong') throw wrong(expression, reasonOf(parsed.reason))
  if (parsed.kind === 'other') throw wrong(expression, ONE)
  checkTree(expression, parsed.statements)
  const wrongCall = await findWrongCall(session, parsed.statements)
  if (wrongCall !== undefined) throw wrong(expression, wrongCall.reason)
  let type: string | undefined
  try {
    type = (await session.describe(statement))[0]?.type
    // An aggregate of all rows is no expression of one.
    await session.describe(
      `SELECT 1 FROM ${ident(expression.table)} WHERE ${asExpression(expression.sql)} IS NULL`,
    )
    // A value that differs each time is none of the row, and cannot be tried.
    if (!expression.isCondition)
      await session.describe(`SELECT TRY${asExpression(expression.sql)} FROM ${ident(expression.table)}`)
  } catch (error) {
    throw wrong(expression, withNearest(expression, reasonOf(error)))
  }
  if (expression.isCondition && type !== 'BOOLEAN')
    throw wrong(expression, `it gives ${type}, expected a condition that is true or false`)
}

/** @throws {ToolkitError} PROJECTION_INVALID with the expression and what is wrong with it */
export const checkExpressions = async (expressions: readonly Expression[]): Promise<void> => {
  if (expressions.length === 0) return
  // Few lakes have any: `status` of another does without DuckDB.
  const { Engine } = await import('../duckdb/engine.ts')
  const engine = await Engine.open({ memoryBytes: MEMORY_BYTES, threads: 1 })
  try {
    const session = await engine.connect()
    for (const { name, columns } of TABLES)
      await session.run(
        `CREATE TABLE ${ident(name)} (${columns.map((column) => `${ident(column.name)} ${column.type}`).join(', ')})`,
      )
    await session.lock()
    for (const expression of expressions) await check(session, expression)
    session.close()
  } finally {
    engine.close()
  }
}
