/**
 * Further columns of tables, each computed by one SQL expression from the row as it is taken. No file of a lake holds them:
 * whatever reads the rows computes them, so they are there for rows loaded before, too, and never out of step with their row.
 */

import { ToolkitError } from '../../core/errors.ts'
import { asExpression, ident } from '../duckdb/sql.ts'
import { declaredColumns, TABLES } from '../tables/tables.ts'
import type { Expression } from './check-sql.ts'

export interface ComputedColumn extends Expression {
  readonly column: string
}

/** Columns that views, published tables and exports have beside those of a table. */
const TAKEN_NAMES: ReadonlySet<string> = new Set([
  ...['snapshot', 'run', 'loaded_at', 'version', 'is_current', 'gone_since', 'load', 'loaded', 'owner'],
  ...['as_of', 'until', 'until_as_of', 'shown_from', 'shown_until', 'known_since'],
  ...['company_name', 'entity_name'],
])

const NAME = /^([a-z_]+)\.([a-z_][a-z0-9_]{0,62})$/

const computedColumn = (name: string, sql: string): ComputedColumn => {
  const wrong = (why: string): ToolkitError =>
    new ToolkitError('PROJECTION_INVALID', `Cannot compute "${name}": ${why}`)
  const [, table = '', column = ''] = NAME.exec(name) ?? []
  if (table === '')
    throw wrong('expected table.column in small letters, digits and _, such as companies.is_large')
  const found = TABLES.find((one) => one.name === table && one.content !== undefined)
  if (found === undefined) throw wrong(`there is no table "${table}" of records`)
  if (found.columns.some((one) => one.name === column) || TAKEN_NAMES.has(column))
    throw wrong(`"${table}" has such a column; take another name`)
  return { what: `the computed column "${name}"`, table, column, sql, isCondition: false }
}

/**
 * The columns of a declaration, by `table.column`, in its order. Only their names are checked.
 *
 * @throws {ToolkitError} PROJECTION_INVALID
 */
export const computedColumns = (compute: Readonly<Record<string, string>> = {}): readonly ComputedColumn[] =>
  Object.entries(compute).map(([name, sql]) => computedColumn(name, sql))

const ofTable = (computed: readonly ComputedColumn[], name: string): readonly ComputedColumn[] =>
  computed.filter(({ table }) => table === name)

/** A query of a table's rows with its computed columns behind their own. */
export const withComputed = (
  computed: readonly ComputedColumn[],
  table: string,
  rows: string,
  /** The outcome for a value that cannot be computed. A load has refused it, but for rows that were loaded before. */
  onFailure: 'null' | 'fail' = 'null',
): string => {
  const own = ofTable(computed, table)
  if (own.length === 0) return rows
  const columns = own.map(({ sql, column }) => {
    const value = asExpression(sql)
    return `${onFailure === 'null' ? `TRY${value}` : value} AS ${ident(column)}`
  })
  return `SELECT *, ${columns.join(', ')} FROM (${rows}) AS ${ident(table)}`
}

/**
 * A query that computes a column of all rows and gives nothing of it: it fails where one cannot be.
 *
 * @param rows of a loader, whose types may be others
 */
export const checkingSelect = ({ table, sql }: ComputedColumn, rows: string): string => {
  const typed = declaredColumns(table).map(
    ({ name, type }) => `CAST(${ident(name)} AS ${type}) AS ${ident(name)}`,
  )
  // A count would not be computed of a column that cannot be NULL.
  return `SELECT bit_xor(hash(${asExpression(sql)})) FROM (SELECT ${typed.join(', ')} FROM (${rows})) AS ${ident(table)}`
}

/** Whether an error of DuckDB is that of a value which an expression cannot be computed of: not of memory, a disk, an interrupt. */
export const isFailedValue = (error: unknown): boolean =>
  error instanceof Error && /^(Conversion|Out of Range|Invalid Input|Mismatch Type) Error/.test(error.message)

/** Rows without them. */
export const withoutComputed = (computed: readonly ComputedColumn[], table: string, rows: string): string => {
  const own = ofTable(computed, table)
  if (own.length === 0) return rows
  return `SELECT * EXCLUDE (${own.map(({ column }) => ident(column)).join(', ')}) FROM (${rows})`
}
