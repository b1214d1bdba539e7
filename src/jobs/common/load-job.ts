/** What every job that loads shares: its options, its report, and the targets that are updated afterwards. */

import {
  DEFAULT_MAX_QUARANTINED,
  parseQuarantineLimit,
  type QuarantineLimit,
} from '../../commit/quarantine-limit.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { Take } from '../../lake/projection/projection.ts'
import type { LoadSummary } from '../../run/commit-loaded.ts'
import type { RunOptions } from '../../run/load-into-lake.ts'
import type { RunEvent } from '../../run/work/progress.ts'
import type { TargetEvent, TargetOptions, TargetsSummary } from '../../targets/update-targets.ts'
import { type RunReport, reportOf } from './run-report.ts'

/** What a job that changes a lake takes besides its own options. */
export interface CommonOptions<Done> extends TargetOptions {
  /** A folder, made where it is missing, or `s3://bucket/prefix`. */
  readonly lake: string
  /** Peak memory in all, in bytes. @default 1 GiB */
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

/** What a job that loads takes besides its own options. */
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
   * What is taken of the records; the rest is nowhere below the lake. A lake keeps it: another declaration is refused.
   * @default what the newest load of the lake took; everything, where it is new
   */
  readonly take?: Take | undefined
  /** Takes what is declared, without a declaration everything, whatever earlier loads of the lake took. @default false */
  readonly changeTaken?: boolean | undefined
  /** Mode bits of the lake's folder where it is new: what is made in it takes them. @default 0o700 */
  readonly mode?: number | undefined
  /** Progress of the run. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined
}

/** What a run is begun with, by the options of a job. @throws {ToolkitError} USAGE */
export const runOptionsOf = <Done>(options: LoadOptions<Done>): RunOptions => {
  const { lake, memoryBytes, threads, maxQuarantined = DEFAULT_MAX_QUARANTINED, changeCurrency } = options
  const { maxUnknownPerRecord, maxUnknownNames, mode, signal, onEvent, take, hashKey, changeTaken } = options
  return {
    ...{
      lake,
      memoryBytes,
      threads,
      changeCurrency,
      maxUnknownPerRecord,
      maxUnknownNames,
      mode,
      signal,
      onEvent,
    },
    ...{ take, changeTaken, hashKey },
    limit: typeof maxQuarantined === 'object' ? maxQuarantined : parseQuarantineLimit(String(maxQuarantined)),
  }
}

/** The limits that were given: a run's plan has no others. */
export const given = (
  limits: Readonly<Record<string, number | undefined>>,
): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(limits).flatMap(([name, limit]) => (limit === undefined ? [] : [[name, limit]])),
  )

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
    throw new ToolkitError('INTERRUPTED', 'The work was stopped', {}, error)
  })
  await onCommitted?.(done)
  return { ...done, ...((await targets?.updateTargets(options)) ?? { delivered: [] }) }
}

/** Does a load, watching how long it takes and how much it decodes. */
export const measured = async <T>(
  options: RunOptions,
  load: (run: RunOptions) => Promise<T>,
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
