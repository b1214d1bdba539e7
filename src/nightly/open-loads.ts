/** The kinds of loads that several of one run may be: the files that each is begun with, and how it is opened. */

import { ToolkitError } from '../core/errors.ts'
import { jobKind } from '../kinds/kinds.ts'
import type { Synced } from '../pull/sync/sync-kind.ts'
import type { Pulled } from '../pull/windows/pull-kind.ts'
import type { KindOptions, PreparedJob } from '../run/job-kind.ts'
import type { RunOptions } from '../run/load-into-lake.ts'
import type { JobScope, OpenedJob } from '../run/opened-job.ts'
import type { BatchFilesJob, ConvertJob, PullJob, RunLimits, SyncJob } from '../run/run-plan.ts'
import { localSources } from '../source/local-sources.ts'
import type { ListedBatchFile, Service } from '../source/service/service.ts'

/** A load with the name that results and messages have for it. */
export interface LoadPart {
  readonly name: string
  /** `true`: where it fails, none of the others is committed. */
  readonly needed: boolean
  readonly job: PullJob | SyncJob | BatchFilesJob | ConvertJob
}

export interface PartOptions
  extends Omit<KindOptions, 'service' | 'onPull'>,
    Pick<RunOptions, 'maxQuarantined'> {
  /** Absent where no load needs one. */
  readonly service: Service | undefined
}

/** Whether the service has to answer for it. */
export const isOfService = ({ job }: LoadPart): boolean => job.kind !== 'convert'

export type PreparedPart =
  | ({ readonly kind: 'prepared'; readonly part: LoadPart; readonly job: LoadPart['job'] } & PreparedJob)
  | { readonly kind: 'nothing'; readonly reason: string; readonly unnameable?: readonly ListedBatchFile[] }

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

const kindOptions = (options: PartOptions): KindOptions => ({
  ...options,
  service: async () => {
    if (options.service !== undefined) return options.service
    throw new ToolkitError('USAGE', 'Cannot pull: no service is named')
  },
})

/** Finds out before there is a run whether a load can be done. @throws {ToolkitError} why it cannot */
export const preparePart = async (part: LoadPart, options: PartOptions): Promise<PreparedPart> => {
  const inputs = part.job.kind === 'convert' ? await presentInputs(part.job) : undefined
  if (part.job.kind === 'convert' && inputs?.length === 0)
    return { kind: 'nothing', reason: `no file matches ${part.job.inputs.join(', ')}` }
  const job = { ...part.job, ...(inputs && { inputs }) }
  const prepared = await (await jobKind(job)).prepare(job, kindOptions(options), false)
  const { nothing: reason, unnameable } = prepared
  return reason === undefined
    ? { kind: 'prepared', part, job, ...prepared }
    : { kind: 'nothing', reason, ...(unnameable && { unnameable }) }
}

/** The outcome of a pull or a sync, and the comparison of a sync. */
export type PulledPart = Pulled & Partial<Pick<Synced, 'findings'>>

export const openPart = async (
  run: JobScope,
  job: LoadPart['job'],
  limits: RunLimits,
  options: PartOptions,
): Promise<OpenedJob<PulledPart>> =>
  (await (await jobKind(job)).open(run, job, limits, kindOptions(options))) as OpenedJob<PulledPart>
