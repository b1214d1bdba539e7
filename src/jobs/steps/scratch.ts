/** Folders of this machine for what one attempt works with. What killed processes left goes with the next one's start. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeError } from '../../core/errors.ts'
import { discard, makeFolder } from '../../support/durable-files.ts'
import { listFolder } from '../../support/list-files.ts'
import { temporaryLiveness, temporaryName } from '../../support/process-identity.ts'
import { workBase } from '../../support/work-base.ts'

/** Beside the work folders of lakes in buckets. */
const scratchFolder = (): string => join(workBase(process.env), 'scratch')

const removeDead = async (folder: string): Promise<void> => {
  for (const { name } of await listFolder(folder))
    if (temporaryLiveness(name) === 'gone') await rm(join(folder, name), { recursive: true, force: true })
}

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
    await removeDead(folder)
    await makeFolder(scratch)
  } catch (error) {
    throw writeError(`Cannot make "${scratch}"`, error)
  }
  try {
    return await work(scratch)
  } finally {
    await discard(scratch)
  }
}
