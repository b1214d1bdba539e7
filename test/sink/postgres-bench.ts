/** A PostgreSQL sink with rows given in SQL, and what a reader of the database sees. */

import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { FileEntry } from '../../src/core/partition.ts'
import type { DeliverySink, SinkRun } from '../../src/core/sink.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { postgres } from '../../src/sink/postgres/postgres.ts'
import { withClient } from '../support/postgres-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A SELECT for each table of each partition. */
export type Partitions = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface PostgresBench {
  readonly staging: string
  readonly sink: (signal?: AbortSignal) => DeliverySink
  /** Stages a run. @returns it and the files to commit */
  readonly stage: (
    run: string,
    partitions: Partitions,
  ) => Promise<{ readonly run: SinkRun; readonly files: readonly FileEntry[] }>
  /** Stages and commits a run. */
  readonly load: (run: string, partitions: Partitions) => Promise<SinkRun>
  /** Values of a query's rows, as texts of PostgreSQL. */
  readonly ask: (sql: string) => Promise<(string | null)[][]>
}

export const postgresBench = async (url: string): Promise<PostgresBench> => {
  const staging = join(await temporaryFolder(), 'staging')
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  onTestFinished(() => engine.close())
  const session = await engine.connect()
  const sink = (signal?: AbortSignal): DeliverySink => postgres(url, { staging, signal })
  const stage: PostgresBench['stage'] = async (run, partitions) => {
    const one = await sink().open(run)
    const files: FileEntry[] = []
    for (const [partition, tables] of Object.entries(partitions)) {
      for (const [table, sql] of Object.entries(tables))
        files.push(...(await one.write(partition, table, session.relation(sql))).files)
    }
    return { run: one, files }
  }
  return {
    staging,
    sink,
    stage,
    load: async (run, partitions) => {
      const staged = await stage(run, partitions)
      await staged.run.commit(staged.files)
      return staged.run
    },
    ask: (sql) =>
      withClient(url, async (client) => {
        await client.query("SET TimeZone = 'UTC'")
        const { rows } = await client.query<(string | null)[]>({
          text: sql,
          rowMode: 'array',
          types: { getTypeParser: () => (value: string) => value },
        })
        return rows
      }),
  }
}

/** Companies with a name each, as a SELECT. */
export const companies = (...rows: readonly (readonly [id: number, name: string])[]): string =>
  `SELECT * FROM (VALUES ${rows.map(([id, name]) => `(${id}::BIGINT, '${name}')`).join(', ')}) AS t (internal_id, name)`

/** Net sales, as a SELECT. */
export const sales = (
  ...rows: readonly (readonly [id: number, year: number, value: number | string])[]
): string =>
  `SELECT internal_id::BIGINT AS internal_id, 'Consolidated' AS consolidation, 'ProfitAndLoss' AS category,
    'NetSales' AS line_item, year::SMALLINT AS fiscal_year, value::DOUBLE AS value
  FROM (VALUES ${rows.map((row) => `(${row.join(', ')})`).join(', ')}) AS t (internal_id, year, value)`
