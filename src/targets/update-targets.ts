/**
 * Targets of a lake that are kept up to date with it: its tables published in other formats, and further sinks. Both
 * get what they lack, also where a run had nothing new; the lake is committed before and stays so.
 */

import { ToolkitError } from '../core/errors.ts'
import { TABLE_FORMAT_NAMES, type TableFormatName } from '../core/table-formats.ts'
import { compileProjection } from '../lake/projection/compile-projection.ts'
import type { Read } from '../options/entry.ts'
import type { UpdateTargetsOptions } from '../options/interfaces.ts'
import { job } from '../options/job.ts'
import { UPDATE_TARGETS } from '../options/publish.ts'
import { type DeliverProgress, type Delivery, deliver } from './deliver.ts'
import { openSinks } from './open-sink.ts'
import { type PublishProgress, type PublishSummary, publish } from './publish.ts'

/** Progress of updating targets. */
export type TargetEvent =
  | { readonly kind: 'publishing'; readonly progress: PublishProgress }
  | {
      readonly kind: 'published'
      readonly formats: readonly TableFormatName[]
      readonly summary: PublishSummary
    }
  | { readonly kind: 'delivering'; readonly progress: DeliverProgress }
  | { readonly kind: 'delivered'; readonly delivered: readonly Delivery[] }
  /** A further failure beside the one that is thrown in the end. */
  | { readonly kind: 'failed'; readonly error: unknown }

/** Publications and deliveries of an update. */
export interface TargetsSummary {
  /** Absent where nothing was to be published. */
  readonly published?: PublishSummary
  /** The delivery to each sink, in their order. */
  readonly delivered: readonly Delivery[]
}

/**
 * Names of table formats, as a person types them, as names that are known.
 *
 * @throws {ToolkitError} `USAGE`
 */
export const readFormats = (names: readonly string[]): readonly TableFormatName[] =>
  names.map((name) => {
    const format = TABLE_FORMAT_NAMES.find((one) => one === name)
    if (format !== undefined) return format
    throw new ToolkitError(
      'USAGE',
      `Cannot publish "${name}": expected one of ${TABLE_FORMAT_NAMES.join(', ')}`,
    )
  })

/**
 * Refuses formats and sinks that cannot be used, before anything is loaded. Nothing is written, no server is asked.
 *
 * @throws {ToolkitError} `USAGE`, `TARGET_REFUSED`
 */
export const checkTargets: (
  options: Pick<UpdateTargetsOptions, 'lake' | 'publish' | 'sinks' | 'sinkTake' | 'hashKey'>,
) => Promise<void> = job(
  'checkTargets',
  UPDATE_TARGETS,
  async ({ lake, sinks = [], sinkTake = {}, hashKey }) => {
    await compileProjection(sinkTake, hashKey)
    await openSinks(sinks, lake)
  },
)

/** An error after the run: its own code, and that the run is not lost. */
const afterCommit = (error: unknown): unknown => {
  if (!(error instanceof ToolkitError) || error.message.includes('lake itself is committed')) return error
  return new ToolkitError(
    error.code === 'USAGE' ? 'TARGET_FAILED' : error.code,
    `${error.message}. The lake itself is committed; run the same command again to resume`,
    error.context,
    error,
  )
}

/** Interrupted before it started: the lake is committed, the targets are behind. */
const refuseStopped = ({ signal }: Pick<UpdateTargetsOptions, 'signal'>): void => {
  if (signal?.aborted)
    throw new ToolkitError('INTERRUPTED', 'The targets were not updated', {}, signal.reason)
}

const updated = async (
  options: Read<UpdateTargetsOptions, typeof UPDATE_TARGETS>,
): Promise<TargetsSummary> => {
  const { lake, sinks = [], publish: formats = [], memoryBytes, signal, onTarget } = options
  const opened = await openSinks(sinks, lake)
  if (formats.length === 0 && opened.length === 0) return { delivered: [] }
  const failures: unknown[] = []
  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      failures.push(afterCommit(error))
      return undefined
    }
  }
  const published =
    formats.length === 0
      ? undefined
      : await attempt(async () => {
          refuseStopped(options)
          const onProgress = (progress: PublishProgress): void => onTarget?.({ kind: 'publishing', progress })
          const { localBytes, threads, catalog, overwrite } = options
          const summary = await publish({
            lake,
            formats,
            catalog,
            overwrite,
            memoryBytes,
            localBytes,
            threads,
            signal,
            onProgress,
          })
          onTarget?.({ kind: 'published', formats, summary })
          return summary
        })
  const delivered =
    opened.length === 0 || (signal?.aborted && failures.length > 0)
      ? undefined
      : await attempt(async () => {
          refuseStopped(options)
          const onProgress = (progress: DeliverProgress): void => onTarget?.({ kind: 'delivering', progress })
          const { sinkTake: take, hashKey, adopt, overwrite } = options
          const deliveries = await deliver({
            lake,
            sinks: opened,
            take,
            hashKey,
            adopt,
            overwrite,
            memoryBytes,
            signal,
            onProgress,
          })
          onTarget?.({ kind: 'delivered', delivered: deliveries })
          return deliveries
        })
  const [first, ...others] = failures
  for (const error of others) onTarget?.({ kind: 'failed', error })
  if (first !== undefined) throw first
  return { ...(published && { published }), delivered: delivered ?? [] }
}

/**
 * Publishes the tables and delivers the runs that each target lacks. One that fails does not stop the
 * others; what is done stays, and the same call resumes with the rest.
 *
 * @returns what was published, and what each sink received
 * @throws {ToolkitError} the first failure, with its own code and the text that the lake is committed; `USAGE`,
 *   `TARGET_REFUSED` before anything is done; `INTERRUPTED`
 * @example
 * import { convert, csv, updateTargets } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const { published, delivered } = await updateTargets({ lake: './lake', publish: ['delta'], sinks: [csv('out/csv')] })
 * console.log(published?.snapshot, delivered[0]?.runs.length) // 1 1
 */
export const updateTargets: (options: UpdateTargetsOptions) => Promise<TargetsSummary> = job(
  'updateTargets',
  UPDATE_TARGETS,
  updated,
)
