/**
 * The plan of a run: one or more jobs that commit together. Each kind of job is declared here, with how it is stored in
 * the run's folder and read back; `load-jobs.ts` opens it.
 */

import { resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { CONTENT, type Content } from '../contract/objects.ts'
import type { SearchParameters } from '../contract/requests.ts'
import { ToolkitError } from '../core/errors.ts'
import { KEPT_TAKE, type KeptTake } from '../lake/projection/projection.ts'
import { readPlan } from '../manifest/runs/runs.ts'
import {
  anyText,
  anything,
  count,
  type Form,
  FormError,
  finiteNumber,
  fits,
  form,
  list,
  memberOf,
  objectOf,
  oneOf,
  optional,
  shapeOf,
  valuesOf,
  yesNo,
} from '../support/json-form.ts'

/** Files, folders, patterns, or `-` for standard input. */
export interface ConvertJob {
  readonly kind: 'convert'
  /** As a person gave them, relative to `cwd`. */
  readonly inputs: readonly string[]
  readonly cwd: string
  /** The content of all of them. @default detected for each */
  readonly content?: Content | undefined
  /** As of when they are: `now`, `name`, or an instant. @default as each says itself */
  readonly asOf?: string | undefined
}

/** Quarantined lines, to be loaded again. */
export interface ReplayJob {
  readonly kind: 'replay'
  /** SHA-256 of the quarantine files. */
  readonly files: readonly string[]
}

/** Loads the results of a search at the service. */
export interface PullJob {
  readonly kind: 'pull'
  /** Where a resumed run finds the service. */
  readonly url: string
  readonly content: Content
  readonly search: SearchParameters
  /** Companies only. */
  readonly currency?: string | undefined
  readonly pageSize: number
  /** First day, or `last`: from where the lake's newest pull of the same search ended. */
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly by?: string | undefined
  /** Most records of a window. */
  readonly cap: number
  /** Whether companies that no window covers are found along other parameters. @default true */
  readonly closeGap?: boolean | undefined
}

/** Loads new and changed companies of a search, by their timestamps. */
export type SyncJob = Omit<PullJob, 'kind'> & { readonly kind: 'sync' }

/** Batch files of the service. */
export interface BatchFilesJob {
  readonly kind: 'batchFiles'
  readonly url: string
  /** By id, or all that are listed; a filter leaves out what does not say that it fits. */
  readonly selection:
    | { readonly kind: 'ids'; readonly ids: readonly string[] }
    | { readonly kind: 'all'; readonly content?: Content; readonly countries?: readonly string[] }
}

/** A lake's own rows, to be rewritten. */
export interface CompactJob {
  readonly kind: 'compact'
  readonly targetBytes: number
  /** The snapshot that is compacted. */
  readonly snapshot: number
}

/** A lake's own rows, without some companies or persons. Nothing of the plan tells of whom. */
export interface ForgetJob {
  readonly kind: 'forget'
  /** Tables to publish again: `delta all`, `iceberg current`, … */
  readonly published: readonly string[]
}

/** Sources of a program: only the program can open them again, by starting the same run. */
export interface ProgramJob {
  readonly kind: 'program'
  /** Name of the program's pipeline, as snapshots show it. */
  readonly pipeline: string
  /** The inputs by which the program's runs differ, and the folder that they are relative to. */
  readonly inputs: readonly string[]
  readonly cwd: string
}

export type Job =
  | ConvertJob
  | ReplayJob
  | PullJob
  | SyncJob
  | BatchFilesJob
  | CompactJob
  | ForgetJob
  | ProgramJob

const LIMIT_NAMES = [
  ...(['maxLineBytes', 'maxRatio', 'maxDepth'] as const),
  ...(['blockBytes', 'maxUnknownPerRecord', 'maxUnknownNames'] as const),
] as const
/** Limits that decide where blocks are cut and which lines are good. */
export type RunLimits = Readonly<Partial<Record<(typeof LIMIT_NAMES)[number], number>>>

/** Stands for standard input among the inputs. */
const STDIN = '-'

/** Everything that a run needs to be resumed, or done again from the start. */
export interface RunPlan {
  /** All of them are committed in one snapshot, in this order. */
  readonly jobs: readonly [Job, ...Job[]]
  /** Whether sources that the lake holds are loaded once more. */
  readonly again: boolean
  readonly limits: RunLimits
  /** The projection of the records. @default everything is taken */
  readonly take?: KeptTake | undefined
  /** Whether earlier loads of the lake may have taken other data. @default false */
  readonly changeTaken?: boolean | undefined
}

/** A job as JSON. */
interface StoredJob {
  /** `convert`, `replay`, `pull`, `sync`, `batches`, `compact`, `forget`, or the name of a program's own pipeline. */
  readonly pipeline: string
  readonly inputs: readonly string[]
  readonly cwd: string
  readonly content?: string | undefined
  readonly settings?: Readonly<Record<string, unknown>> | undefined
}

/** A plan as JSON. */
export interface StoredPlan {
  /** The name for all jobs, as snapshots show it. */
  readonly pipeline: string
  readonly jobs: readonly StoredJob[]
  readonly again: boolean
  readonly limits: Readonly<Record<string, number>>
  readonly take?: KeptTake | undefined
  readonly changeTaken?: boolean | undefined
}

const JOB_FIELDS = {
  pipeline: anyText,
  inputs: list(anyText),
  cwd: anyText,
  content: optional(anyText),
  settings: optional(valuesOf(anything)),
}
const STORED: Form<StoredPlan> = shapeOf<StoredPlan>({
  pipeline: anyText,
  jobs: list(shapeOf<StoredJob>(JOB_FIELDS)),
  again: yesNo,
  limits: valuesOf(finiteNumber),
  take: optional(KEPT_TAKE),
  changeTaken: optional(yesNo),
})

const CONTENTS = Object.keys(CONTENT) as Content[]
const content = oneOf(CONTENTS)
const search: Form<SearchParameters> = valuesOf(
  list(form((value): value is string | number => ['string', 'number'].includes(typeof value), 'a value')),
)

const SERVICE_SEARCH = objectOf({
  url: anyText,
  search,
  currency: optional(anyText),
  pageSize: count,
  since: optional(anyText),
  until: optional(anyText),
  by: optional(anyText),
  cap: count,
  closeGap: optional(yesNo),
})
const selection: Form<BatchFilesJob['selection']> = (value, place) =>
  memberOf(value, 'kind') === 'ids'
    ? objectOf({ kind: oneOf(['ids']), ids: list(anyText) })(value, place)
    : objectOf({
        kind: oneOf(['all']),
        content: optional(content),
        countries: optional(list(anyText)),
      })(value, place)
const BATCH_FILES = objectOf({ url: anyText, selection })
const FILES = objectOf({ asOf: anyText })
const COMPACTION = objectOf({ targetBytes: count, snapshot: count })

const encodeJob = (job: Job): StoredJob => {
  const nothing = { inputs: [], cwd: '' }
  switch (job.kind) {
    case 'convert':
      return {
        ...{ pipeline: 'convert', inputs: job.inputs, cwd: job.cwd, content: job.content },
        ...(job.asOf !== undefined && { settings: { asOf: job.asOf } }),
      }
    case 'replay':
      return { ...nothing, pipeline: 'replay', inputs: job.files }
    case 'pull':
    case 'sync': {
      const { kind, ...settings } = job
      return { ...nothing, pipeline: kind, content: job.content, settings }
    }
    case 'batchFiles':
      return { ...nothing, pipeline: 'batches', settings: { url: job.url, selection: job.selection } }
    case 'compact': {
      const { kind, ...settings } = job
      return { ...nothing, pipeline: kind, settings }
    }
    case 'forget':
      return { ...nothing, pipeline: 'forget', inputs: job.published }
    case 'program':
      return { pipeline: job.pipeline, inputs: job.inputs, cwd: job.cwd }
  }
}

/**
 * A job as it is compared: a file is the same by its absolute path and by one that is relative to any folder.
 *
 * @param anywhere whether files may stand elsewhere
 */
const comparedJob = (job: StoredJob, anywhere = false): StoredJob => {
  const { pipeline, inputs, cwd } = job
  const places = anywhere ? [] : inputs.map((one) => (one === STDIN ? one : resolve(cwd, one)))
  return JSON.parse(JSON.stringify(pipeline === 'convert' ? { ...job, inputs: places, cwd: '' } : job))
}

/** Whether two jobs are the same as they are stored. */
export const isSameJob = (a: Job, b: Job): boolean =>
  isDeepStrictEqual(comparedJob(encodeJob(a)), comparedJob(encodeJob(b)))

/** A stored plan as it is compared with another; `undefined` for what is none. @param anywhere as of a job */
export const comparedPlan = (stored: unknown, anywhere: boolean): StoredPlan | undefined =>
  fits(STORED, stored) ? { ...stored, jobs: stored.jobs.map((job) => comparedJob(job, anywhere)) } : undefined

/** @throws {FormError} */
const decodeJob = (stored: StoredJob): Job => {
  const { pipeline, inputs, cwd, settings } = stored
  switch (pipeline) {
    case 'convert':
      return {
        ...{ kind: 'convert', inputs, cwd },
        ...(stored.content !== undefined && { content: content(stored.content, 'content') }),
        ...(settings !== undefined && FILES(settings, 'settings')),
      }
    case 'replay':
      return { kind: 'replay', files: inputs }
    case 'pull':
    case 'sync':
      return {
        ...SERVICE_SEARCH(settings, 'settings'),
        ...{ kind: pipeline, content: content(stored.content, 'content') },
      }
    case 'batches':
      return { kind: 'batchFiles', ...BATCH_FILES(settings, 'settings') }
    case 'compact':
      return { kind: 'compact', ...COMPACTION(settings, 'settings') }
    case 'forget':
      return { kind: 'forget', published: inputs }
    default:
      return { kind: 'program', pipeline, inputs, cwd }
  }
}

/** The stored form of a plan. A field that is `undefined` is left out by JSON. */
export const encodePlan = ({ jobs, ...rest }: RunPlan): StoredPlan => ({
  pipeline: pipelineOf({ jobs }),
  jobs: jobs.map(encodeJob),
  ...rest,
})

/** @throws {FormError} */
const decodePlan = (value: unknown): RunPlan => {
  const { jobs, again, limits: stored, take, changeTaken } = STORED(value, '')
  const [first, ...others] = jobs.map(decodeJob)
  if (first === undefined) throw new FormError('jobs', 'a job')
  const limits: Partial<Record<(typeof LIMIT_NAMES)[number], number>> = {}
  for (const name of LIMIT_NAMES) if (stored[name] !== undefined) limits[name] = stored[name]
  return {
    jobs: [first, ...others],
    ...{ again, limits },
    ...(take && { take }),
    ...(changeTaken && { changeTaken: true }),
  }
}

/** The pipeline that a snapshot shows as its maker: all kinds of its jobs, `pull+convert`. */
export const pipelineOf = ({ jobs }: Pick<RunPlan, 'jobs'>): string =>
  [...new Set(jobs.map((job) => encodeJob(job).pipeline))].join('+')

/** The plan of an unfinished run. @throws {ToolkitError} RUN_NOT_FOUND, RUN_NOT_RESUMABLE */
export const planOf = async (lake: string, run: string): Promise<RunPlan> => {
  const stored = await readPlan(lake, run)
  try {
    return decodePlan(stored)
  } catch (error) {
    if (!(error instanceof FormError)) throw error
    throw new ToolkitError(
      'RUN_NOT_RESUMABLE',
      `Cannot resume run "${run}": its plan is of another version`,
      {
        run,
      },
    )
  }
}
