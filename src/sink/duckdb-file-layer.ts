/**
 * Views and macros in a database file, over its tables. They go before a run is loaded and come again behind it, in its
 * transaction: a table may take the name of one of them. Tables and views of others keep their names.
 */

import type { SinkContext } from '../core/sink.ts'
import type { Session } from '../lake/duckdb/engine.ts'
import { ident, literal } from '../lake/duckdb/sql.ts'
import { TARGET } from './with-database.ts'

/** What comments of our views end with, so that views of others are left alone. */
const MARK = ' (View of firmlake.)'

const names = async (session: Session, sql: string): Promise<readonly string[]> =>
  (await session.rows(sql)).map(({ name }) => String(name))

const IN_TARGET = `database_name = ${literal(TARGET)} AND schema_name = 'main'`

/** Removes the views that an earlier run has made. */
export const dropOurViews = async (session: Session): Promise<void> => {
  const ours = await names(
    session,
    `SELECT view_name AS name FROM duckdb_views() WHERE ${IN_TARGET} AND ends_with(comment, ${literal(MARK)})`,
  )
  for (const name of ours) await session.run(`DROP VIEW ${TARGET}.main.${ident(name)}`)
}

/** Makes them for the tables that are there. What has the name of something else is left out, and what reads it. */
export const makeLayer = async (
  session: Session,
  layer: NonNullable<SinkContext['layer']>,
): Promise<void> => {
  const tables = await names(session, `SELECT table_name AS name FROM duckdb_tables() WHERE ${IN_TARGET}`)
  const others = await names(
    session,
    `SELECT view_name AS name FROM duckdb_views() WHERE ${IN_TARGET} AND NOT internal`,
  )
  const statements = await layer({
    tables: new Set(tables),
    taken: new Set([...tables, ...others]),
    mark: MARK,
  })
  await session.run(`USE ${TARGET}`)
  for (const sql of statements) await session.run(sql)
  await session.run('USE memory')
}
