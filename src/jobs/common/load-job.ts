/** Shared by all jobs that load: options, reports, and the targets that are updated afterwards. */

import {
  DEFAULT_MAX_QUARANTINED,
  parseMaxGone,
  parseQuarantineLimit,
  type QuarantineLimit,
} from '../../commit/quarantine-limit.ts'
import { each, is, type OptionTypes } from '../../core/check-options.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { Projection } from '../../lake/projection/projection.ts'
import type { LoadSummary } from '../../run/commit-loaded.ts'
import type { RunOptions } from '../../run/load-into-lake.ts'
import type { NotDelivered } from '../../run/opened-job.ts'
import type { RunLimits } from '../../run/run-plan.ts'
import type { RunEvent } from '../../run/work/progress.ts'
import type { Service } from '../../source/service/service.ts'
import type { TargetEvent, TargetOptions, TargetsSummary } from '../../targets/update-targets.ts'
import { type RunReport, reportOf } from './run-report.ts'

/** The options of every job that changes a lake. */
export interface CommonOptions<Done> extends TargetOptions {
  /** A folder, made where it is missing, or `s3://bucket/prefix`. */
  readonly lake: string
  /** Peak memory in all, in bytes. @default 1 GiB, less in a small container */
  readonly memoryBytes?: number | undefined
  /** Partitions loaded side by side, each on one thread; threads of other work. @default 2 */
  readonly threads?: number | undefined
  /**
   * The most that files of a lake in a bucket take on this machine's disk while they are compacted or published, in bytes.
   * @default FIRMLAKE_CACHE_BYTES, else 20 GB
   */
  readonly localBytes?: number | undefined
  /** Stops the work cleanly: what is finished is kept, the same call resumes. */
  readonly signal?: AbortSignal | undefined
  /** Called with the result once the lake is committed, before targets are updated (which may fail). */
  readonly onCommitted?: ((done: Done) => void | Promise<void>) | undefined
  /** Progress of published tables and sinks. */
  readonly onTarget?: ((event: TargetEvent) => void) | undefined
}

/** The options of every job that loads. */
export interface LoadOptions<Done> extends CommonOptions<Done> {
  /** Most bad lines to commit with: a count, or a share of all lines such as `'5%'`. @default '1%' */
  readonly maxQuarantined?: number | string | QuarantineLimit | undefined
  /** Most names of a record that the contract does not know. @default 1000 */
  readonly maxUnknownPerRecord?: number | undefined
  /** Most of them in the drift of a snapshot. @default 10,000 */
  readonly maxUnknownNames?: number | undefined
  /** Lets figures be replaced by figures in another currency. @default false */
  readonly changeCurrency?: boolean | undefined
  /**
   * The part of the records that is taken; the rest is nowhere below the lake. A lake keeps it: another declaration is refused.
   * @default what the newest load of the lake took; everything, where it is new
   */
  readonly take?: Projection | undefined
  /** Takes what is declared, without a declaration everything, whatever earlier loads of the lake took. @default false */
  readonly changeTaken?: boolean | undefined
  /** Mode bits of the lake's folder where it is new: what is made in it takes them. @default 0o700 */
  readonly mode?: number | undefined
  /** Progress of the run. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined
}

const limitText = is.either(is.amount, is.text, is.object)

export const SIZE_OPTIONS = {
  memoryBytes: is.amount,
  threads: is.count,
} as const

/** The options of every job that changes a lake. */
export const COMMON_OPTIONS: OptionTypes<CommonOptions<never>> = {
  ...SIZE_OPTIONS,
  lake: is.lake,
  sinks: is.listOf(is.either(is.text, is.object), 'addresses and sinks'),
  hashKey: is.either(is.text, is.object),
  ...each(is.flag, 'adopt', 'overwrite'),
  localBytes: is.amount,
  ...each(is.callback, 'onCommitted', 'onTarget'),
  signal: is.signal,
  ...each(is.object, 'catalog', 'sinkTake'),
  publish: is.texts,
}

/** The options of every job that loads. */
export const LOAD_OPTIONS: OptionTypes<LoadOptions<never>> = {
  ...COMMON_OPTIONS,
  maxQuarantined: limitText,
  ...each(is.flag, 'changeCurrency', 'changeTaken'),
  ...each(is.amount, 'maxUnknownPerRecord', 'maxUnknownNames'),
  mode: is.count,
  onEvent: is.callback,
  take: is.object,
}

/** The options of every job that searches a service. */
export const SERVICE_OPTIONS: OptionTypes<ServiceJobOptions<never>> = {
  ...LOAD_OPTIONS,
  from: is.required(is.object, 'a service, as createService makes it'),
  maxGone: limitText,
  concurrency: is.count,
}

/** Options of a job, read: its limits are checked, and all else is handed on as it is. */
export type JobSettings<Options> = Omit<Options, 'maxGone'> & RunOptions & { readonly concurrency: number }

/** Reads the options of a job once; what it calls is given all of them. @throws {ToolkitError} USAGE */
export const settingsOf = <
  Options extends LoadOptions<never> & MaxGoneOption & { readonly concurrency?: number | undefined },
>(
  options: Options,
): JobSettings<Options> => {
  const {
    maxQuarantined: most = DEFAULT_MAX_QUARANTINED,
    maxGone,
    concurrency = DEFAULT_CONCURRENCY,
  } = options
  return {
    ...options,
    concurrency,
    limit: typeof most === 'object' ? most : parseQuarantineLimit(String(most)),
    maxGone: maxGone === undefined || typeof maxGone === 'object' ? maxGone : parseMaxGone(String(maxGone)),
  }
}

interface LineLimits {
  readonly maxLineBytes?: number | undefined
  readonly maxRatio?: number | undefined
  readonly maxDepth?: number | undefined
}

/** The limits that were given: a run's plan keeps only those. */
export const limitsGiven = ({ maxLineBytes, maxRatio, maxDepth }: LineLimits): RunLimits => ({
  ...(maxLineBytes !== undefined && { maxLineBytes }),
  ...(maxRatio !== undefined && { maxRatio }),
  ...(maxDepth !== undefined && { maxDepth }),
})

/**
 * Does a job, then updates its targets; these are checked first, so that unusable ones are refused before anything is
 * loaded. Their code is imported only where there are some.
 */
export const withTargets = async <Done extends object>(
  options: CommonOptions<Done>,
  work: () => Promise<Done>,
): Promise<Done & TargetsSummary> => {
  const { publish = [], sinks = [], signal, onCommitted } = options
  const targets =
    publish.length + sinks.length > 0 ? await import('../../targets/update-targets.ts') : undefined
  await targets?.checkTargets(options)
  const done = await work().catch((error: unknown) => {
    if (!signal?.aborted || error instanceof ToolkitError) throw error
    throw new ToolkitError('INTERRUPTED', 'The work was interrupted', {}, error)
  })
  await onCommitted?.(done)
  return { ...done, ...((await targets?.updateTargets(options)) ?? { delivered: [] }) }
}

/** Does a load, watching how long it takes and how much it decodes. */
export const measured = async <Options extends RunOptions, T>(
  options: Options,
  load: (run: Options) => Promise<T>,
): Promise<{ readonly loaded: T; readonly report: (summary: LoadSummary) => RunReport }> => {
  const startMs = performance.now()
  let decodedBytes = 0
  const onEvent = (event: RunEvent): void => {
    if (event.kind === 'progress') decodedBytes = event.progress.decodedBytes
    options.onEvent?.(event)
  }
  const loaded = await load({ ...options, onEvent })
  const seconds = (performance.now() - startMs) / 1000
  return { loaded, report: (summary) => reportOf(summary, { seconds, decodedBytes }) }
}

export interface MaxGoneOption {
  /**
   * Most companies of a search that a whole pull or sync may say are gone: a count, or a share of those that the lake has of
   * it, such as `'5%'`. Of more it marks none, and says so. @default '2%'
   */
  readonly maxGone?: number | string | QuarantineLimit | undefined
}

export interface ServiceJobOptions<Done> extends LoadOptions<Done>, MaxGoneOption {
  /** The service; the caller may close it afterwards. */
  readonly from: Service
  /** Windows pulled side by side. @default 4 */
  readonly concurrency?: number | undefined
}

export const DEFAULT_CONCURRENCY = 4

const sumOf = (missing: readonly NotDelivered[], name: 'asked' | 'came'): number =>
  missing.reduce((all, one) => all + one[name], 0)

const MISSING_TEXTS: Readonly<Record<NotDelivered['kind'], (asked: number, came: number) => string>> = {
  listed: (asked, came) =>
    `Cannot fetch all companies that are new or changed: ${asked} are, ${came} came when asked for by their ids, expected ` +
    'all; what came is committed, and the next sync finds the others again',
  counted: (asked, came) =>
    `Cannot pull all records that the service counts: ${asked} are, ${came} came, expected all; what came is committed, and the ` +
    'next pull asks for the others again; batch files may hold what it does not give',
}

export const notDeliveredError = (missing: readonly NotDelivered[]): ToolkitError => {
  const texts = [...Map.groupBy(missing, ({ kind }) => kind)].map(([kind, some]) =>
    MISSING_TEXTS[kind](sumOf(some, 'asked'), sumOf(some, 'came')),
  )
  return new ToolkitError('COMPANIES_MISSING', texts.join('. '), {
    asked: sumOf(missing, 'asked'),
    came: sumOf(missing, 'came'),
  })
}

/** The result of jobs that got all companies. @throws {ToolkitError} COMPANIES_MISSING */
export const allDelivered = <Done>(
  done: Done,
  reports: readonly { readonly missing?: readonly NotDelivered[] }[],
): Done => {
  const missing = reports.flatMap((one) => one.missing ?? [])
  if (missing.length > 0) throw notDeliveredError(missing)
  return done
}
