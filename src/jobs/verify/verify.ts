/** `verify`: whether a lake is what its manifest says, in one call. */

import { checkOptions, each, is, type OptionTypes } from '../../core/check-options.ts'
import { orInterrupted } from '../../core/errors.ts'
import { Engine } from '../../lake/duckdb/engine.ts'
import { pathSql, readParquet } from '../../lake/duckdb/sql.ts'
import type { CountRows } from '../../manifest/verify/check-files.ts'
import { type Verification, type VerifyRequest, verifyLake } from '../../manifest/verify/verify-lake.ts'

/** The options of `verify`. */
export type VerifyOptions = Omit<VerifyRequest, 'countRows'>

const OPTIONS: OptionTypes<VerifyOptions> = {
  lake: is.lake,
  ...each(is.count, 'snapshot', 'concurrency'),
  onProgress: is.callback,
  signal: is.signal,
}

/**
 * Reads every file that a kept snapshot lists, serving indexes and batch files, recomputes hashes and counts, and names each
 * file that is changed, cut, missing or unreadable. Changes nothing.
 *
 * @returns the lake is whole where `problems` is empty; `notes` are worth knowing and no failure
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `STORAGE_FAILED`, `INTERRUPTED`
 * @example
 * import { convert, verify } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const { snapshots, problems } = await verify({ lake: './lake' })
 * console.log(snapshots, problems.length) // 1 0
 */
export const verify = async (options: VerifyOptions): Promise<Verification> => {
  checkOptions('verify', OPTIONS, options)
  const counter = await openRowCounter()
  try {
    return await orInterrupted('The verification', options.signal, () =>
      verifyLake({ ...options, countRows: counter.countRows }),
    )
  } finally {
    counter.close()
  }
}

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
      const [row] = await session.rows(`SELECT count(*) AS rows FROM ${readParquet(pathSql(path))}`)
      return Number(row?.rows)
    },
    close: () => {
      session.close()
      engine.close()
    },
  }
}
