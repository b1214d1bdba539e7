/** Whether two lakes hold the same, table by table: the current rows of each, taken from one another both ways. */

import { Engine, type Session } from '../../src/lake/duckdb/engine.ts'
import { ident } from '../../src/lake/duckdb/sql.ts'
import { fetchTables } from '../../src/lake/files/fetch-tables.ts'
import { ALWAYS_PRESENT } from '../../src/lake/tables/columns.ts'
import { LISTINGS, mainTables, TABLES } from '../../src/lake/tables/tables.ts'
import {
  currentRows,
  filesOf,
  HIDDEN_SCHEMA,
  makeSuperseded,
  readTable,
} from '../../src/lake/views/current-versions.ts'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'

interface ComparedTable {
  readonly table: string
  /** Current rows of the first lake. */
  readonly rows: number
  /** Rows that the other lake does not have, or not as often. */
  readonly onlyFirst: number
  readonly onlySecond: number
}

interface CompareLakesRequest {
  /** The Score of companies of other countries is not compared: pages have none of an earlier search. */
  readonly scoreOf: string
  /** DuckDB's memory in bytes. */
  readonly memoryBytes: number
}

/** Current rows of all tables of a lake, as tables of a schema: made for small lakes. */
const takeIn = async (session: Session, schema: string, lake: string): Promise<void> => {
  const snapshot = await readSnapshot(lake)
  await fetchTables(
    lake,
    snapshot,
    [...TABLES, LISTINGS].map(({ name }) => name),
  )
  await session.run(`CREATE SCHEMA ${HIDDEN_SCHEMA}`)
  for (const table of mainTables()) await session.run(makeSuperseded(snapshot, lake, table))
  await session.run(`CREATE SCHEMA ${ident(schema)}`)
  for (const table of TABLES) {
    const rows = currentRows(table, readTable(table, filesOf(snapshot, lake, table.name), 'with-version'))
    await session.run(`CREATE TABLE ${ident(schema)}.${ident(table.name)} AS ${rows}`)
  }
  await session.run(`DROP SCHEMA ${HIDDEN_SCHEMA} CASCADE`)
}

/** Columns of a table as both lakes have them alike: what a page has in place of nothing is nothing. @param schema of the lake */
const alike = (table: string, schema: string): string => {
  if (table === 'financials') return "REPLACE (nullif(currency, '') AS currency)"
  if (table !== 'companies') return ''
  const values = [...ALWAYS_PRESENT].map(([name, sql]) => {
    const hasFigures = `internal_id IN (SELECT internal_id FROM ${schema}.financials)`
    // A page without figures is in the requested currency.
    const isSaid = name === 'current_currency_code' ? ` AND ${hasFigures}` : ''
    return `CASE WHEN ${ident(name)} <> ${sql}${isSaid} THEN ${ident(name)} END AS ${ident(name)}`
  })
  return `REPLACE (CASE WHEN country_code = $1::VARCHAR THEN score END AS score, ${values.join(', ')})`
}

const compareTable = async (session: Session, table: string, scoreOf: string): Promise<ComparedTable> => {
  const scored = table === 'companies'
  const rowsOf = (schema: string): string => `SELECT * ${alike(table, schema)} FROM ${schema}.${ident(table)}`
  const [found] = await session.rows(
    `SELECT
  (SELECT count(*) FROM first.${ident(table)}) AS rows,
  (SELECT count(*) FROM (${rowsOf('first')} EXCEPT ALL ${rowsOf('second')})) AS only_first,
  (SELECT count(*) FROM (${rowsOf('second')} EXCEPT ALL ${rowsOf('first')})) AS only_second`,
    scored ? [scoreOf] : [],
  )
  return {
    table,
    rows: Number(found?.rows),
    onlyFirst: Number(found?.only_first),
    onlySecond: Number(found?.only_second),
  }
}

export const compareLakes = async (
  first: string,
  second: string,
  { scoreOf, memoryBytes }: CompareLakesRequest,
): Promise<readonly ComparedTable[]> => {
  const engine = await Engine.open({ memoryBytes })
  try {
    const session = await engine.connect()
    await takeIn(session, 'first', first)
    await takeIn(session, 'second', second)
    const compared: ComparedTable[] = []
    for (const { name } of TABLES) compared.push(await compareTable(session, name, scoreOf))
    return compared
  } finally {
    engine.close()
  }
}
