/** `verify`: whether a lake is what its manifest says, in one call. */

import { orInterrupted } from '../../core/errors.ts'
import { type Verification, type VerifyRequest, verifyLake } from '../../manifest/verify/verify-lake.ts'
import { openRowCounter } from './row-counter.ts'

/** What is verified. */
export type VerifyOptions = Omit<VerifyRequest, 'countRows'>

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
  const counter = await openRowCounter()
  try {
    return await orInterrupted('The verification', options.signal, () =>
      verifyLake({ ...options, countRows: counter.countRows }),
    )
  } finally {
    counter.close()
  }
}
