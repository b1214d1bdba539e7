/** Counts the rows of Parquet files through DuckDB, for `verify`. */

import { Engine } from '../../lake/duckdb/engine.ts'
import type { CountRows } from '../../manifest/verify/check-files.ts'

export interface RowCounter {
  readonly countRows: CountRows
  readonly close: () => void
}

/** DuckDB reads little more than the footers: the hash has already proved that the bytes are right. */
const MEMORY_BYTES = 256 * 1024 ** 2

export const openRowCounter = async (): Promise<RowCounter> => {
  const engine = await Engine.open({ memoryBytes: MEMORY_BYTES })
  const session = await engine.connect()
  return {
    countRows: async (_table, path) => {
      const [row] = await session.rows('SELECT count(*) AS rows FROM read_parquet(?)', [path])
      return Number(row?.rows)
    },
    close: () => {
      session.close()
      engine.close()
    },
  }
}
