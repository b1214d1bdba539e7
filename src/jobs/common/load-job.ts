/** Shared by all jobs that load: options, reports, and the targets that are updated afterwards. */

import { is, type OptionTypes } from '../../core/check-options.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { OptionTable } from '../../options/entry.ts'
import type { CommonOptions, LoadOptions, MaxGoneOption } from '../../options/interfaces.ts'
import { COMMON, LOAD, MAX_QUARANTINED } from '../../options/lake-jobs.ts'
import { TARGETS } from '../../options/targets.ts'
import { readLimit } from '../../options/value-types.ts'
import type { LoadSummary } from '../../run/commit-loaded.ts'
import type { RunOptions } from '../../run/load-into-lake.ts'
import type { NotDelivered } from '../../run/opened-job.ts'
import type { RunLimits } from '../../run/run-plan.ts'
import type { RunEvent } from '../../run/work/progress.ts'
import type { Service } from '../../source/service/service.ts'
import { type RunReport, reportOf } from './run-report.ts'

const limitText = is.either(is.amount, is.text, is.object)

/** The types of a table, for calls that are checked by types. */
export const typesOf = <Options>(table: OptionTable): OptionTypes<Options> =>
  Object.fromEntries(
    Object.entries(table)
      .filter(([, { only }]) => only !== 'commands')
      .map(([name, { type, required }]) => [
        name,
        { expected: type.expectedOfCall ?? type.expected, fits: type.fits, required },
      ]),
  ) as unknown as OptionTypes<Options>

/** The options of every job that changes a lake. */
export const COMMON_OPTIONS = typesOf<CommonOptions<never>>({ ...COMMON, ...TARGETS })

/** The options of every job that loads. */
export const LOAD_OPTIONS = typesOf<LoadOptions<never>>(LOAD)

/** The options of every job that searches a service. */
export const SERVICE_OPTIONS: OptionTypes<ServiceJobOptions<never>> = {
  ...LOAD_OPTIONS,
  from: is.required(is.object, 'a service, as createService makes it'),
  maxGone: limitText,
  concurrency: is.count,
}

/** Options of a job, read: its limits are checked, and all else is handed on as it is. */
export type JobSettings<Options> = Omit<Options, 'maxGone' | 'maxQuarantined'> &
  RunOptions & { readonly concurrency: number }

/** Reads the options of a job once; what it calls is given all of them. @throws {ToolkitError} USAGE */
export const settingsOf = <
  Options extends LoadOptions<never> & MaxGoneOption & { readonly concurrency?: number | undefined },
>(
  options: Options,
): JobSettings<Options> => {
  const {
    maxQuarantined: most = MAX_QUARANTINED.default.value,
    maxGone,
    concurrency = DEFAULT_CONCURRENCY,
  } = options
  return {
    ...options,
    concurrency,
    maxQuarantined: readLimit(most) ?? MAX_QUARANTINED.default.value,
    maxGone: readLimit(maxGone),
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
