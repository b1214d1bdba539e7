/** Folders of a run on the machine that works on it. */

import { writeError } from '../core/errors.ts'
import { inLake, runPath } from '../lake/files/layout.ts'
import { type JobOfRun, nameOfJob } from '../manifest/runs/run-files.ts'
import { makeFolder } from '../support/durable-files.ts'

/** A folder of one job of a run. */
export const jobFolder = (job: JobOfRun, name: string): string =>
  `${job.scratch ?? inLake(job.lake, runPath(job.run))}/${nameOfJob(name, job)}`

/** Where the files of a job's windows are. */
export const windowsFolder = (job: JobOfRun): string => jobFolder(job, 'windows')

/** Makes a folder of a run where it is missing. @throws {ToolkitError} DISK_FULL, WRITE_FAILED */
export const makeRunFolder = async (
  { lake, scratch }: Pick<JobOfRun, 'lake' | 'scratch'>,
  path: string,
): Promise<void> => {
  try {
    await makeFolder(path, { within: scratch ?? inLake(lake, '') })
  } catch (error) {
    throw writeError(`Cannot make "${path}"`, error)
  }
}
