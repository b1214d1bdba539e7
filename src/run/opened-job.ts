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

/** The outcome of a pull or a sync. It is committed also where nothing came. */
export interface PullFacts {
  /** The job's entry in the manifest. */
  readonly entry: PullEntry
  /** The records that did not come; it is committed without. */
  readonly missing?: NotDelivered | undefined
  /** Whether all companies of its search came; absent of what is no whole search. */
  readonly listing?: Listing | undefined
}

/**
 * @param own the partitions of the job's own sources
 * @param recorded its entry, where an earlier call has committed it
 */
export type FactsOf<Facts extends PullFacts> = (own: readonly PartitionEntry[], recorded?: PullEntry) => Facts

export interface OpenedJob<Facts extends PullFacts = PullFacts> {
  /** The job's place among the jobs of the run's plan. @default that among those that are loaded */
  readonly place?: number
  readonly sources: readonly Source[]
  /** The job's outcome, once all of it is loaded. @default it is no pull */
  readonly facts?: FactsOf<Facts> | undefined
  /** The file of ids beside a source, where the closing of a gap needs them. */
  readonly idsPath?: ((index: number) => string | undefined) | undefined
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

/** Folder of the files of a job's windows. */
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
