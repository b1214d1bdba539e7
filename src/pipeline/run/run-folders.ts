/** Folders of a run on the machine that works on it. */

import { writeError } from '../../core/errors.ts'
import { inLake, runPath } from '../../lake/lake/layout.ts'
import type { RunLease } from '../../manifest/run-lease.ts'
import { makeFolder } from '../../support/durable-files.ts'

/** Where the files of a run's windows are. */
export const windowsFolder = ({ lake, run }: RunLease): string => inLake(lake, `${runPath(run)}/windows`)

/** Makes a folder of a run where it is missing. @throws {ToolkitError} DISK_FULL, WRITE_FAILED */
export const makeRunFolder = async ({ lake }: RunLease, path: string): Promise<void> => {
  try {
    await makeFolder(path, { within: inLake(lake, '') })
  } catch (error) {
    throw writeError(`Cannot make "${path}"`, error)
  }
}
