/**
 * The plan of a run: one or more jobs that commit together. Each kind of job is declared here, with the form that it has in the
 * run's folder.
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
  someOf,
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
  /** Address at which a resumed run finds the service. */
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
  readonly kind: 'batches'
  readonly url: string
  /** Batch files by id, or all that are listed; a filter leaves out what does not say that it fits. */
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

/** A job that any process can do by the plan of its run. */
export type LoadJob = ConvertJob | ReplayJob | PullJob | SyncJob | BatchFilesJob

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
  /** The jobs are committed in one snapshot, in this order. */
  readonly jobs: readonly [Job, ...Job[]]
  /** Whether sources that the lake holds are loaded once more. */
  readonly again: boolean
  readonly limits: RunLimits
  /** The projection of the records. @default everything is taken */
  readonly take?: KeptTake | undefined
  /** Whether earlier loads of the lake may have taken other data. @default false */
  readonly changeTaken?: boolean | undefined
}

/** A plan as it is stored. */
interface StoredPlan extends RunPlan {
  /** The name for all jobs, as snapshots show it. */
  readonly pipeline: string
}

const content = oneOf(Object.keys(CONTENT) as Content[])
const search: Form<SearchParameters> = valuesOf(
  list(form((value): value is string | number => ['string', 'number'].includes(typeof value), 'a value')),
)
const selection: Form<BatchFilesJob['selection']> = (value, place) =>
  memberOf(value, 'kind') === 'ids'
    ? objectOf({ kind: oneOf(['ids']), ids: list(anyText) })(value, place)
    : objectOf({
        kind: oneOf(['all']),
        content: optional(content),
        countries: optional(list(anyText)),
      })(value, place)

const SEARCHED = {
  url: anyText,
  content,
  search,
  currency: optional(anyText),
  pageSize: count,
  since: optional(anyText),
  until: optional(anyText),
  by: optional(anyText),
  cap: count,
  closeGap: optional(yesNo),
}
const paths = list(anyText)

const JOBS: { readonly [Kind in Job['kind']]: Form<Extract<Job, { readonly kind: Kind }>> } = {
  convert: shapeOf<ConvertJob>({
    ...{ kind: oneOf(['convert']), inputs: paths, cwd: anyText },
    ...{ content: optional(content), asOf: optional(anyText) },
  }),
  replay: shapeOf<ReplayJob>({ kind: oneOf(['replay']), files: list(anyText) }),
  pull: shapeOf<PullJob>({ kind: oneOf(['pull']), ...SEARCHED }),
  sync: shapeOf<SyncJob>({ kind: oneOf(['sync']), ...SEARCHED }),
  batches: shapeOf<BatchFilesJob>({ kind: oneOf(['batches']), url: anyText, selection }),
  compact: shapeOf<CompactJob>({ kind: oneOf(['compact']), targetBytes: count, snapshot: count }),
  forget: shapeOf<ForgetJob>({ kind: oneOf(['forget']), published: list(anyText) }),
  program: shapeOf<ProgramJob>({ kind: oneOf(['program']), pipeline: anyText, inputs: paths, cwd: anyText }),
}
const kind = oneOf(Object.keys(JOBS) as Job['kind'][])
const job: Form<Job> = (value, place) => JOBS[kind(memberOf(value, 'kind'), `${place}.kind`)](value, place)

const STORED: Form<StoredPlan> = shapeOf<StoredPlan>({
  pipeline: anyText,
  jobs: someOf(job) as Form<RunPlan['jobs']>,
  again: yesNo,
  limits: valuesOf(finiteNumber) as Form<RunLimits>,
  take: optional(KEPT_TAKE),
  changeTaken: optional(yesNo),
})

/** A plan as it is stored. A field that is `undefined` is left out by JSON. */
export const storedPlan = (plan: RunPlan): StoredPlan => ({ pipeline: pipelineOf(plan), ...plan })

/**
 * A job as it is compared: a file is the same by its absolute path and by one that is relative to any folder.
 *
 * @param anywhere whether files may stand elsewhere
 */
const comparedJob = (one: Job, anywhere = false): Job => {
  if (one.kind !== 'convert') return asStored(one)
  const inputs = anywhere ? [] : one.inputs.map((path) => (path === STDIN ? path : resolve(one.cwd, path)))
  return asStored({ ...one, inputs, cwd: '' })
}

/** Without fields that are `undefined`. */
const asStored = <T>(value: T): T => JSON.parse(JSON.stringify(value))

/** Whether two jobs are the same as they are stored. */
export const isSameJob = (a: Job, b: Job): boolean => isDeepStrictEqual(comparedJob(a), comparedJob(b))

interface SamePlan {
  /** Blocks of the stored plan may be of another size, at most this in bytes. @default they may not */
  readonly mostBlockBytes?: number | undefined
  /** Whether files may stand elsewhere. @default false */
  readonly anywhere?: boolean
}

/** Whether a stored plan is the one that is asked for. Limits that did not exist when it was stored are ignored. */
export const isSamePlan = (
  stored: unknown,
  plan: RunPlan,
  { mostBlockBytes = 0, anywhere = false }: SamePlan = {},
): boolean => {
  if (!fits(STORED, stored)) return false
  const compared = (one: StoredPlan): StoredPlan => {
    const [first, ...others] = one.jobs
    const jobs = [comparedJob(first, anywhere), ...others.map((each) => comparedJob(each, anywhere))] as const
    return asStored({ ...one, jobs })
  }
  const asked = compared(storedPlan(plan))
  const { blockBytes, ...limits } = stored.limits
  const isOwnSize = blockBytes !== undefined && blockBytes > mostBlockBytes
  const known = isOwnSize ? { ...limits, blockBytes } : limits
  return isDeepStrictEqual({ ...compared(stored), limits: { ...asked.limits, ...known } }, asked)
}

/** The pipeline that a snapshot shows as its maker: all kinds of its jobs, `pull+convert`. */
export const pipelineOf = ({ jobs }: Pick<RunPlan, 'jobs'>): string =>
  [...new Set(jobs.map((one) => (one.kind === 'program' ? one.pipeline : one.kind)))].join('+')

/** The plan of an unfinished run. @throws {ToolkitError} RUN_NOT_FOUND, RUN_NOT_RESUMABLE */
export const planOf = async (lake: string, run: string): Promise<RunPlan> => {
  const stored = await readPlan(lake, run)
  try {
    const { pipeline: _, ...plan } = STORED(stored, '')
    return plan
  } catch (error) {
    if (!(error instanceof FormError)) throw error
    const message = `Cannot resume run "${run}": its plan is of another version`
    throw new ToolkitError('RUN_NOT_RESUMABLE', message, { run })
  }
}
