/**
 * A kind of job that loads: whether it can be done, what it is cut into, how its sources are opened, what they have brought. It
 * is the same on one machine and on many.
 */

import type { Source } from '../core/source.ts'
import type { JobOfRun } from '../manifest/runs/run-files.ts'
import type { WorkUnit } from '../manifest/runs/units.ts'
import type { PullBatchFilesOptions, PullOptions, SyncOptions } from '../options/interfaces.ts'
import type { ListedBatchFile, Service, ServiceCounters } from '../source/service/service.ts'
import { defaultLimits, type Loaded, loadIntoLake, type RunOptions } from './load-into-lake.ts'
import type { FactsOf, JobScope, OpenedJob, PullFacts } from './opened-job.ts'
import type { Job, LoadJob, RunLimits, RunPlan } from './run-plan.ts'
import { type RunText, withRun } from './with-run.ts'

export interface KindOptions
  extends Omit<RunOptions, 'maxQuarantined'>,
    Pick<PullOptions, 'onPull'>,
    Pick<SyncOptions, 'onSync'>,
    Pick<PullBatchFilesOptions, 'onBytes'> {
  /** Opens the service at an address, for the kinds that call one. Whoever opens it closes it. */
  readonly service: (url: string) => Promise<Service>
  /** Windows pulled, or files downloaded, side by side. */
  readonly concurrency: number
}

/** A source that is not loaded, and why. */
export interface SkippedSource {
  readonly source: string
  readonly reason: string
}

/** The units of a job that many machines work on, and the files of the run's folder that tell of them. */
export interface CutJob {
  readonly units: readonly WorkUnit[]
  readonly strings: readonly RunText[]
  readonly skipped: readonly SkippedSource[]
}

/** A job that can be done, as far as that is known before there is a run. */
export interface PreparedJob {
  /** Why there is nothing to load: no run is begun then. */
  readonly nothing?: string
  /** The files of its folder that a new run on this machine is begun with. @param place of the job among those of the run */
  readonly strings?: (place: number) => Promise<readonly RunText[]>
  /** The sources of the job that are known by their bytes, as they are now. */
  readonly sources?: (run: JobOfRun) => Promise<readonly Source[]>
  /** Cuts it into units for many machines. */
  readonly cut: (plan: RunPlan, unitBytes: number) => Promise<CutJob>
  /** The currency of the last pull of the same search, where this one is in another. */
  readonly currencyBefore?: string
  /** Batch files that the lake holds, those whose load was discarded, and those whose id cannot be asked for. */
  readonly held?: readonly ListedBatchFile[]
  readonly discarded?: readonly ListedBatchFile[]
  readonly unnameable?: readonly ListedBatchFile[]
}

/** The sources of a job that one of several machines works on, as they were planned. */
export interface PartOfJob {
  readonly units: readonly WorkUnit[]
  /** The ids of the companies that units of earlier phases have brought. */
  readonly brought: () => Promise<{ readonly has: (id: bigint) => boolean }>
}

export interface JobKind<J extends Job, Facts extends PullFacts = PullFacts> {
  /** Finds out whether a job can be done, before a run and possibly a lake is made for it. @throws {ToolkitError} why it cannot */
  readonly prepare: (job: J, options: KindOptions, again: boolean) => Promise<PreparedJob>
  /** Opens the sources of a job, all or those of a part. @throws {ToolkitError} RUN_NOT_RESUMABLE */
  readonly open: (
    run: JobScope,
    job: J,
    limits: RunLimits,
    options: KindOptions,
    part?: PartOfJob,
  ) => Promise<OpenedJob<Facts>>
  /**
   * Reads from a run's folder what tells what the job has brought, by its partitions.
   *
   * @param service opened only where companies are asked for that the listing lacks
   * @default it is no pull
   */
  readonly facts?: (
    run: JobOfRun,
    job: J,
    service: KindOptions['service'],
    signal?: AbortSignal,
  ) => Promise<FactsOf<Facts>>
  /** Reads from a run's folder the names of the job's windows, in their order. @default it has none */
  readonly windowNames?: (run: JobOfRun, job: J) => Promise<readonly string[]>
}

/** The options of a job that calls no service. */
export const NO_SERVICE: Pick<KindOptions, 'service' | 'concurrency'> = {
  concurrency: 1,
  service: async () => {
    throw new TypeError('Cannot call a service: the job has none')
  },
}

/** A job as it was done: without a load where there was nothing to load. */
interface Driven<Facts extends PullFacts> {
  readonly prepared: PreparedJob
  readonly loaded: Loaded<Facts> | undefined
  /** The requests of other processes to a service. @default none */
  readonly requests?: ServiceCounters | undefined
}

/** The driver of a job: this process, or an engine on many machines. It starts the run of the job, or takes over one that stands. */
export type Driver = <J extends LoadJob, Facts extends PullFacts>(
  kind: JobKind<J, Facts>,
  job: J,
  options: KindOptions & RunOptions,
  given?: Partial<Pick<RunPlan, 'again' | 'limits'>>,
) => Promise<Driven<Facts>>

/** Does a job in this process. */
export const here: Driver = async (kind, job, options, { again = false, limits } = {}) => {
  const { lake, mode, signal } = options
  const prepared = await kind.prepare(job, options, again)
  if (prepared.nothing !== undefined) return { prepared, loaded: undefined }
  const plan: RunPlan = { jobs: [job], again, limits: { ...defaultLimits(options), ...limits } }
  const files = async () => new Map(await prepared.strings?.(0))
  const { sources } = prepared
  return withRun({ lake, plan, mode, files, taking: options, sources, signal }, async (run) => {
    const loaded = await loadIntoLake(run, [await kind.open(run, job, plan.limits, options)], options)
    return { prepared, loaded }
  })
}
