/** A job of a run, ready to be loaded, and its folders on the machine that works on it. */

import type { Listing } from '../commit/find-gone.ts'
import { ToolkitError, writeError } from '../core/errors.ts'
import type { PartitionEntry, PullEntry } from '../core/partition.ts'
import type { Source } from '../core/source.ts'
import { inLake, runPath } from '../lake/files/layout.ts'
import { type JobOfRun, nameOfJob } from '../manifest/runs/run-files.ts'
import { makeFolder } from '../support/durable-files.ts'
import type { RunScope } from './with-run.ts'

/** The run that a job is opened for, and its place among the jobs of it. */
export type JobScope = RunScope & JobOfRun

/** Records that the service has, of which fewer came: companies by their ids that it lists, or all that it counts of a search. */
export interface NotDelivered {
  readonly kind: 'listed' | 'counted'
  readonly asked: number
  readonly came: number
}

/** Companies that a listing has, where fewer came by their ids. */
export const notDelivered = (asked: number, came: number): NotDelivered | undefined =>
  came < asked ? { kind: 'listed', asked, came } : undefined

/** A job as an earlier call has committed it. */
export interface CommittedJob {
  /** Its entry in the manifest, if it pulls. */
  readonly pull: PullEntry | undefined
  /** Those of its own sources. */
  readonly partitions: readonly PartitionEntry[]
}

export interface OpenedJob {
  readonly sources: readonly Source[]
  /** Asked for when all sources are loaded: what was pulled. A pull is committed also when nothing came. */
  readonly pulls?: () => readonly PullEntry[]
  /** Asked for when all sources are loaded: whether all companies of a search came; absent of what is no search. */
  readonly listing?: () => Listing | undefined
  /** Asked for when all sources are loaded: what did not come. It is committed without. @param before what was committed before, if it was */
  readonly notDelivered?: (before?: CommittedJob) => NotDelivered | undefined
}

/** Why a run cannot be resumed. */
export const notResumable = (run: string, state: string): ToolkitError =>
  new ToolkitError(
    'RUN_NOT_RESUMABLE',
    `Cannot resume run "${run}": ${state}; "firmlake gc" removes what it left`,
    { run },
  )

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
