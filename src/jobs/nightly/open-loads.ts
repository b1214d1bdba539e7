/** The kinds of loads that several of one run may be: the files that each is begun with, and how it is opened. */

import { ToolkitError } from '../../core/errors.ts'
import type { Source } from '../../core/source.ts'
import type { JobOfRun } from '../../manifest/runs/run-files.ts'
import { pullsIfAny } from '../../manifest/snapshots/snapshots.ts'
import type { LoadSummary } from '../../run/commit-loaded.ts'
import { partitionsOf } from '../../run/load-into-lake.ts'
import type { CommittedJob, JobScope, NotDelivered, OpenedJob } from '../../run/opened-job.ts'
import type { BatchFilesJob, ConvertJob, Job, PullJob, RunLimits, SyncJob } from '../../run/run-plan.ts'
import { localSources } from '../../source/local-sources.ts'
import type { ListedBatchFile, Service } from '../../source/service/service.ts'
import { batchFilesText } from '../batch-files/batch-sources.ts'
import { nothingReason } from '../batch-files/choose-batch-files.ts'
import { chooseListed, openBatchFiles, openListed } from '../batch-files/pull-batch-files.ts'
import { localFilesOf, openConvert } from '../convert/convert.ts'
import { planPull, windowsText } from '../pull/plan-pull.ts'
import { currencyBefore, type OpenedPull, openPullJob, type PullRunOptions, pulledBy } from '../pull/pull.ts'
import { checkSettings, type PullSettings } from '../pull/pull-settings.ts'
import { type OpenedSync, openSyncJob } from '../sync/sync.ts'

/** A load with the name that results and messages have for it. */
export interface LoadPart {
  readonly name: string
  /** Where it fails, none of the others is committed. */
  readonly needed: boolean
  readonly job: PullJob | SyncJob | BatchFilesJob | ConvertJob
}

export interface PartOptions extends Omit<PullRunOptions, 'service' | 'onPull'> {
  /** Absent where no load needs one. */
  readonly service: Service | undefined
}

/** Whether the service has to answer for it. */
export const isOfService = ({ job }: LoadPart): boolean => job.kind !== 'convert'

export type PreparedPart =
  | {
      readonly kind: 'prepared'
      readonly part: LoadPart
      readonly job: Job
      /** The files that a new run is begun with. @param place of the job among those of the run */
      readonly texts: (place: number) => Promise<readonly (readonly [name: string, text: string])[]>
      /** Its sources that are known by their bytes, as they are now. */
      readonly sources: (run: JobOfRun) => Promise<readonly Source[]>
      /** Batch files that were skipped because their id cannot be asked for. */
      readonly unnameable?: readonly ListedBatchFile[]
    }
  | { readonly kind: 'nothing'; readonly reason: string; readonly unnameable?: readonly ListedBatchFile[] }

const serviceOf = ({ service }: PartOptions): Service => {
  if (service !== undefined) return service
  throw new ToolkitError('USAGE', 'Cannot pull: no service is named')
}

const PATTERN = /[*?[{]/

/** Inputs that there are; a pattern may match nothing yet. @throws {ToolkitError} SOURCE_NOT_FOUND for any other */
const presentInputs = async ({ inputs, cwd }: ConvertJob): Promise<readonly string[]> => {
  const present: string[] = []
  for (const input of inputs) {
    try {
      if ((await localSources([input], cwd)).length > 0) present.push(input)
    } catch (error) {
      const isEmpty =
        error instanceof ToolkitError && error.code === 'SOURCE_NOT_FOUND' && PATTERN.test(input)
      if (!isEmpty) throw error
    }
  }
  return present
}

const asPull = (job: PullJob | SyncJob): PullSettings => {
  const { kind: _kind, url: _url, ...settings } = job
  return settings
}

/** Finds out before there is a run whether a load can be done. @throws {ToolkitError} why it cannot */
export const preparePart = async (part: LoadPart, options: PartOptions): Promise<PreparedPart> => {
  const { job } = part
  const prepared = { kind: 'prepared', part, job, texts: async () => [], sources: async () => [] } as const
  if (job.kind === 'convert') {
    const inputs = await presentInputs(job)
    const present = { ...job, inputs }
    return inputs.length > 0
      ? { ...prepared, job: present, sources: async () => (await localFilesOf(present)).sources }
      : { kind: 'nothing', reason: `no file matches ${job.inputs.join(', ')}` }
  }
  const service = serviceOf(options)
  if (job.kind === 'batches') {
    const { files, held, unnameable } = await chooseListed(service, job.selection, false, options)
    if (files.length > 0)
      return {
        ...{ ...prepared, texts: async (place) => [batchFilesText(files, place)], unnameable },
        sources: async (run) => (await openListed(run, files, {}, { ...options, service })).sources,
      }
    return { kind: 'nothing', reason: nothingReason({ held, unnameable }), unnameable }
  }
  await checkSettings(service, job, options.signal)
  await currencyBefore(asPull(job), options)
  const planned = async () =>
    planPull(service, asPull(job), await pullsIfAny(options.lake), { signal: options.signal })
  return { ...prepared, texts: async (place) => [windowsText(await planned(), place)] }
}

/** A load of a run, ready: its sources, and after them what was pulled. */
export interface OpenedPart {
  readonly job: OpenedJob
  /** @param place of its pull among those of the run @param sources its own, by the names that the run has for them */
  readonly pulled: (
    summary: LoadSummary,
    place: number,
    sources: readonly Pick<Source, 'name'>[],
  ) => PulledPart | undefined
}

/** The findings of a pull or a sync. */
export interface PulledPart {
  readonly entry: ReturnType<OpenedPull['entry']>
  readonly plan: OpenedPull['plan']
  readonly windows: ReturnType<OpenedPull['windows']>
  /** The comparison of a sync. */
  readonly findings?: OpenedSync['findings']
  /** The records that did not come. */
  readonly missing?: NotDelivered | undefined
}

/** A load as an earlier call has committed it; `undefined` where there was none. */
const committedJob = (
  summary: LoadSummary,
  place: number,
  sources: readonly Pick<Source, 'name'>[],
): CommittedJob | undefined =>
  summary.already && { pull: summary.already.pulls[place], partitions: partitionsOf(summary, sources) }

export const openPart = async (
  run: JobScope,
  job: Job,
  limits: RunLimits,
  options: PartOptions,
): Promise<OpenedPart> => {
  if (job.kind === 'convert') return { job: await openConvert(run, job), pulled: () => undefined }
  const asked = { ...options, service: serviceOf(options) }
  if (job.kind === 'batches')
    return { job: await openBatchFiles(run, limits, asked), pulled: () => undefined }
  if (job.kind === 'pull') {
    const opened = await openPullJob(run, job, asked)
    const { plan } = opened
    return {
      job: opened,
      pulled: (summary, place, sources) => ({
        ...{ ...pulledBy(summary, opened, job.content, place), plan },
        missing: opened.notDelivered?.(committedJob(summary, place, sources)),
      }),
    }
  }
  if (job.kind !== 'sync') throw new RangeError(`Cannot load "${job.kind}" together with others`)
  const opened = await openSyncJob(run, job, asked)
  const { entry, plan, findings } = opened
  return {
    job: opened,
    pulled: (summary, place, sources) => ({
      ...{ entry, plan, windows: [], findings },
      missing: opened.notDelivered?.(committedJob(summary, place, sources)),
    }),
  }
}
