/** The catalog of a lake, as DuckDB's extension reads it. */

import { join } from 'node:path'
import { Engine, type Row } from '../../../src/lake/duckdb/engine.ts'
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
