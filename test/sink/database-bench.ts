/** Database files that runs are loaded into, as a sink does it. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import type { FileEntry } from '../../src/core/partition.ts'
import type { Sink } from '../../src/core/sink.ts'
import { Engine, type Row, type Session } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { duckdbFile } from '../../src/sink/duckdb-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** What a statement finds in a database file whose tables stand in `db`. */
export const ask = async (session: Session, file: string, sql: string): Promise<Row[]> => {
  if (!existsSync(file)) return []
  await session.run(`ATTACH ${literal(file)} AS db (READ_ONLY)`)
  try {
    return await session.rows(sql)
  } finally {
    await session.run('DETACH db')
  }
}

/** Rows of `companies` by id and name. */
export const companies = (...rows: readonly (readonly [number, string])[]): string =>
  `SELECT internal_id::BIGINT AS internal_id, name FROM (VALUES ${rows.map(([id, name]) => `(${id}, ${literal(name)})`).join()}) AS t (internal_id, name)`

/** Opens an engine for the tests of a file. @returns what makes a database file in a new folder */
export const useDatabases = () => {
  let engine: Engine
  beforeAll(async () => {
    engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  })
  afterAll(() => engine.close())
  return async () => {
    const folder = await temporaryFolder()
    const session = await engine.connect()
    onTestFinished(() => session.close())
    const options = { file: join(folder, 'out', 'lake.duckdb'), staging: join(folder, 'staging') }
    const sink = duckdbFile(options.file, { staging: options.staging })
    return {
      ...options,
      folder,
      sink,
      session,
      ask: (sql: string) => ask(session, options.file, sql),
      /** Loads a run; each part is a partition, a table and its rows as SQL. */
      load: async (run: string, parts: readonly (readonly [string, string, string])[], to: Sink = sink) => {
        const opened = await to.open(run)
        const files: FileEntry[] = []
        for (const [partition, table, sql] of parts)
          files.push(...(await opened.write(partition, table, session.relation(sql))).files)
        await opened.commit(files)
        return files
      },
    }
  }
}
