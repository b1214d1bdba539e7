/** Puts equal neighbours among the rows of a record together, in a table of a session. */

import type { Session } from '../duckdb/engine.ts'
import { ident } from '../duckdb/sql.ts'
import type { Table } from '../tables/tables.ts'
import { HIDDEN_SCHEMA } from './current-versions.ts'
import { joinedRows, tornRows } from './intervals.ts'

const TORN = `${HIDDEN_SCHEMA}.torn`

/**
 * Adds rows of some records to a table, which is made where there is none: most rows are of neighbouring versions, and those that
 * other versions stand between are taken apart again.
 *
 * @param source SQL of the rows as `placedRows`, by places of all versions or of some
 */
export const joinRepeats = async (
  session: Session,
  target: { readonly name: string; readonly isThere: boolean },
  table: Table,
  { rows, places }: { readonly rows: (places: string) => string; readonly places: string },
): Promise<void> => {
  const owner = ident(table.owner ?? '')
  const { name, isThere } = target
  const added = joinedRows(table, rows(places))
  await session.run(isThere ? `INSERT INTO ${name} ${added}` : `CREATE TABLE ${name} AS ${added}`)
  await session.run(`CREATE OR REPLACE TABLE ${TORN} AS SELECT p.* FROM ${places} AS p
SEMI JOIN (SELECT ${owner} AS owner FROM ${name} WHERE is_torn) AS t ON t.owner = p.owner`)
  const [found] = await session.rows(`SELECT count(*) AS n FROM ${TORN}`)
  if (Number(found?.n) > 0) {
    await session.run(`DELETE FROM ${name} WHERE ${owner} IN (SELECT owner FROM ${TORN})`)
    await session.run(`INSERT INTO ${name} ${tornRows(table, rows(TORN))}`)
  }
  await session.run(`DROP TABLE ${TORN}`)
}
