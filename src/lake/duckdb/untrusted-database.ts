/**
 * Checks an attached database file that somebody else may have made. DuckDB runs what a view, a macro or the expression of a column
 * says as soon as a statement reads it, in place of the table or the function that was meant.
 */

import { ToolkitError } from '../../core/errors.ts'
import type { Session } from './engine.ts'
import { literal } from './sql.ts'

interface Declared {
  readonly kind: string
  readonly name: string
}

/** Tables whose columns hold nothing but what was put into them. */
const WITH_EXPRESSION = String.raw`regexp_matches(sql, '\b(GENERATED|DEFAULT|CHECK)\b')`

/** Everything that is declared in a database beside plain tables. A file can say of anything in it that it is DuckDB's own. */
const declaredIn = async (session: Session, database: string): Promise<readonly Declared[]> => {
  const all: readonly (readonly [kind: string, name: string, from: string])[] = [
    ['view', 'view_name', 'duckdb_views()'],
    ['macro', 'function_name', 'duckdb_functions()'],
    ['sequence', 'sequence_name', 'duckdb_sequences()'],
    ['index', 'index_name', 'duckdb_indexes()'],
    ['column with an expression', 'table_name', `(FROM duckdb_tables() WHERE ${WITH_EXPRESSION})`],
  ]
  const rows = await session.rows(
    all
      .map(
        ([kind, name, from]) =>
          `SELECT ${literal(kind)} AS kind, ${name} AS name FROM ${from} WHERE database_name = ${literal(database)}`,
      )
      .join(' UNION ALL '),
  )
  return rows.map(({ kind, name }) => ({ kind: String(kind), name: String(name) }))
}

/** @throws {ToolkitError} `LAKE_DAMAGED` where a database holds anything but tables */
export const refuseAllButTables = async (session: Session, database: string): Promise<void> => {
  const [found] = await declaredIn(session, database)
  if (found === undefined) return
  throw new ToolkitError(
    'LAKE_DAMAGED',
    `Cannot read the database file: it holds ${found.kind} "${found.name}", expected tables alone`,
  )
}

/**
 * Why statements that read these tables cannot be run in a database that also holds what its owner has made: one of them is no
 * table, or a macro takes the place of a function of DuckDB's own.
 */
export const wrongInPlace = async (
  session: Session,
  database: string,
  tables: ReadonlySet<string>,
): Promise<string | undefined> => {
  const declared = await declaredIn(session, database)
  const named = (kind: string): readonly string[] =>
    declared.flatMap((one) => (one.kind === kind ? one.name.toLowerCase() : []))
  const view = named('view').find((name) => tables.has(name))
  if (view !== undefined) return `"${view}" is a view, expected a table`
  const macros = named('macro')
  if (macros.length === 0) return undefined
  const [taken] = await session.rows(`SELECT function_name AS name FROM duckdb_functions()
WHERE database_name = 'system' AND lower(function_name) IN (${macros.map(literal).join(', ')})`)
  return taken && `macro "${taken.name}" has the name of a function of DuckDB, expected another name`
}
