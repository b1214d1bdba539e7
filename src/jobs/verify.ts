/** `verify`: whether a lake is what its manifest says, in one call. */

import { Engine } from '../lake/duckdb/engine.ts'
import { pathSql, readParquet } from '../lake/duckdb/sql.ts'
import type { CountRows } from '../manifest/verify/check-files.ts'
import { type Verification, verifyLake } from '../manifest/verify/verify-lake.ts'
import type { Read } from '../options/entry.ts'
import type { VerifyOptions } from '../options/interfaces.ts'
import { job } from '../options/job.ts'
import { VERIFY } from '../options/read-jobs.ts'
import { type ComparedTarget, compareTargets } from '../targets/compare-targets.ts'

/** The findings of a verification, of the lake and of its targets. */
export interface VerifyResult extends Verification {
  /** Absent where they were not asked for. */
  readonly targets?: readonly ComparedTarget[]
}

type Asked = Read<VerifyOptions, typeof VERIFY>

const verified = async (options: Asked): Promise<VerifyResult> => {
  const { targets, ...request } = options
  const counter = await openRowCounter()
  try {
    const found = await verifyLake({ ...request, countRows: counter.countRows })
    if (targets === undefined) return found
    const { lake, signal } = request
    return { ...found, targets: await compareTargets({ ...targets, lake, signal }) }
  } finally {
    counter.close()
  }
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
export const verify: (options: VerifyOptions) => Promise<VerifyResult> = job(
  'verify',
  VERIFY,
  verified,
  'The verification',
)

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
