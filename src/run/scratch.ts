/** A folder of this machine that one attempt at a run works in. */

import { join } from 'node:path'
import { writeError } from '../core/errors.ts'
import { makeFolder, removeIfThere } from '../support/durable-files.ts'
import { removeLeftovers } from '../support/list-files.ts'
import { temporaryName } from '../support/process-identity.ts'
import { workBase } from '../support/work-base.ts'

/** Beside the work folders of lakes in buckets. */
const scratchFolder = (): string => join(workBase(process.env), 'scratch')

/**
 * Works with a folder of its own, and removes it.
 *
 * @param folder where it is made @default beside the work folders of lakes in buckets
 * @throws {ToolkitError} DISK_FULL, WRITE_FAILED
 */
export const withScratch = async <T>(
  work: (scratch: string) => Promise<T>,
  folder = scratchFolder(),
): Promise<T> => {
  const scratch = join(folder, temporaryName())
  try {
    await removeLeftovers(folder)
    await makeFolder(scratch)
  } catch (error) {
    throw writeError(`Cannot make "${scratch}"`, error)
  }
  try {
    return await work(scratch)
  } finally {
    await removeIfThere(scratch)
  }
}
