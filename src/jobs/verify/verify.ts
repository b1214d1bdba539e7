/** `verify`: whether a lake is what its manifest says, in one call. */

import { checkOptions, each, is, type OptionTypes } from '../../core/check-options.ts'
import { orInterrupted } from '../../core/errors.ts'
import { Engine } from '../../lake/duckdb/engine.ts'
import { pathSql, readParquet } from '../../lake/duckdb/sql.ts'
import type { CountRows } from '../../manifest/verify/check-files.ts'
import { type Verification, type VerifyRequest, verifyLake } from '../../manifest/verify/verify-lake.ts'
import { type ComparedTarget, type CompareRequest, compareTargets } from '../../targets/compare-targets.ts'

/** The options of `verify`. */
export interface VerifyOptions extends Omit<VerifyRequest, 'countRows'> {
  /** Sinks, or their addresses, and a catalog that are compared with the lake too, beside the tables published in it. @default none */
  readonly targets?: Pick<CompareRequest, 'sinks' | 'catalog'> | undefined
}

/** The findings of a verification, of the lake and of its targets. */
export interface VerifyResult extends Verification {
  /** Absent where they were not asked for. */
  readonly targets?: readonly ComparedTarget[]
}

const OPTIONS: OptionTypes<VerifyOptions> = {
  lake: is.lake,
  ...each(is.count, 'snapshot', 'concurrency'),
  onProgress: is.callback,
  signal: is.signal,
  targets: is.object,
}

/**
 * Reads every file that a kept snapshot lists, serving indexes and batch files, recomputes hashes and counts, and names each
 * file that is changed, cut, missing or unreadable. Compares targets with it where they are given. Changes nothing.
 *
 * @returns the lake is whole where `problems` is empty; `notes` are worth knowing and no failure; a target that is
 *   `refused` shows what is not the lake's, or cannot be asked
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `STORAGE_FAILED`, `INTERRUPTED`
 * @example
 * import { convert, verify } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const { snapshots, problems } = await verify({ lake: './lake' })
 * console.log(snapshots, problems.length) // 1 0
 */
export const verify = async (options: VerifyOptions): Promise<VerifyResult> => {
  checkOptions('verify', OPTIONS, options)
  const { targets, ...request } = options
  const counter = await openRowCounter()
  try {
    return await orInterrupted('The verification', options.signal, async () => {
      const found = await verifyLake({ ...request, countRows: counter.countRows })
      if (targets === undefined) return found
      const { lake, signal } = request
      return { ...found, targets: await compareTargets({ ...targets, lake, signal }) }
    })
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
