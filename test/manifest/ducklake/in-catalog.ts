/** The catalog of a lake, as DuckDB's extension reads it. */

import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { openQuery } from '../../../src/jobs/query.ts'
import { Engine, type Row } from '../../../src/lake/duckdb/engine.ts'
import { LISTINGS, QUARANTINE, TABLES } from '../../../src/lake/tables/tables.ts'
import { duckLakeFile } from '../../support/ducklake.ts'

/** Attaches the catalog of a lake as `lake`, which statements read first. @param options of ATTACH, such as `SNAPSHOT_VERSION 3` */
export const inCatalog = async <T>(
  lake: string,
  use: (ask: (sql: string) => Promise<Row[]>) => Promise<T>,
  options: readonly string[] = [],
): Promise<T> => {
  const engine = await Engine.open({ memoryBytes: 512 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    await session.run(`LOAD '${duckLakeFile()}'`)
    const all = ['READ_ONLY', ...options].join(', ')
    await session.run(`ATTACH 'ducklake:${join(lake, 'lake.ducklake')}' AS lake (${all})`)
    await session.run('USE lake')
    return await use((sql) => session.rows(sql))
  } finally {
    engine.close()
  }
}

/** The tables, their versions, and what they are made of beside them. */
export const TABLE_VIEWS = [
  ...TABLES.flatMap(({ name }) => [name, `${name}_history`]),
  ...['companies_all', LISTINGS.name, QUARANTINE.name],
]

/** Rows and their sum, whatever their order. The lines of the quarantine are not in a catalog. */
const sumOf = (view: string, left = ''): string =>
  `SELECT count(*)::INTEGER AS n, coalesce(sum(hash(r::VARCHAR)::HUGEINT), 0)::VARCHAR AS sum FROM (SELECT * ${left} FROM ${view}) AS r`
const WITHOUT_LINES = 'EXCLUDE (raw, raw_base64)'

type Sums = Readonly<Record<string, unknown>>

export const sumsInQuery = async (
  lake: string,
  snapshot: number,
  views: readonly string[],
): Promise<Sums> => {
  const opened = await openQuery({ lake, snapshot })
  try {
    const found: Record<string, unknown> = {}
    for (const view of views) {
      const { rows } = await opened.run(sumOf(view, view === QUARANTINE.name ? WITHOUT_LINES : ''))
      for await (const some of rows) for (const [n, sum] of some) found[view] = { n, sum }
    }
    return found
  } finally {
    opened.close()
  }
}

export const sumsInCatalog = (lake: string, snapshot: number, views: readonly string[]): Promise<Sums> =>
  inCatalog(
    lake,
    async (ask) => {
      const found: Record<string, unknown> = {}
      for (const view of views) found[view] = (await ask(sumOf(view)))[0]
      return found
    },
    [`SNAPSHOT_VERSION ${snapshot}`],
  )

/** @returns what the catalog of a lake shows otherwise than `query`, at some snapshots */
export const compareCatalog = async (
  lake: string,
  snapshots: readonly number[],
): Promise<readonly string[]> => {
  const wrong: string[] = []
  for (const snapshot of snapshots) {
    const [seen, wanted] = [
      await sumsInCatalog(lake, snapshot, TABLE_VIEWS),
      await sumsInQuery(lake, snapshot, TABLE_VIEWS),
    ]
    for (const view of TABLE_VIEWS)
      if (!isDeepStrictEqual(seen[view], wanted[view]))
        wrong.push(`the catalog shows other rows of ${view} at snapshot ${snapshot} than query`)
  }
  return wrong
}
