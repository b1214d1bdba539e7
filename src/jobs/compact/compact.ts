/** `compact`: a lake rewritten to current versions only, in one call. */

import { orInterrupted } from '../../core/errors.ts'
import type { TargetsSummary } from '../../targets/update-targets.ts'
import { type CommonOptions, withTargets } from '../common/load-job.ts'
import { compactLake } from './compact-lake.ts'
import type { CompactSummary } from './compact-work.ts'
import type { CompactEvent } from './watch-statement.ts'

/** Options of `compact`. */
export interface CompactOptions extends CommonOptions<CompactSummary> {
  /** Size of a file, in bytes. @default 256 MiB */
  readonly targetBytes?: number | undefined
  /** Changes nothing, targets neither, and reports what would be done. @default false */
  readonly dryRun?: boolean | undefined
  readonly onEvent?: ((event: CompactEvent) => void) | undefined
}

/**
 * Rewrites a lake to the current version of each record, in few files of one size and in the order of country and company,
 * as one more snapshot; older ones stay readable until `collectGarbage` removes them. Loads may run meanwhile. Then
 * published tables and sinks are updated.
 *
 * @returns `kind: 'compacted'` with the tables before and after, or `'nothing'` where the lake is compact; of a dry run
 *   `'planned'`
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_DAMAGED`, `LAKE_DAMAGED`, `COMPACT_IMPOSSIBLE`, `COMMIT_CONFLICT` when
 *   another compaction was first, `DISK_FULL`, `WRITE_FAILED`, `USAGE`, `INTERRUPTED`: the lake is as it was then
 * @example
 * import { compact, convert } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const { kind, snapshot } = await compact({ lake: './lake' })
 * console.log(kind, snapshot) // compacted 2
 */
export const compact = (options: CompactOptions): Promise<CompactSummary & TargetsSummary> => {
  const { publish, catalog, sinks, sinkTake, hashKey, adopt, onCommitted, onTarget, ...asked } = options
  // Without what sinks are to receive they would receive everything.
  const targets = asked.dryRun ? {} : { publish, catalog, sinks, sinkTake, hashKey, adopt }
  const { lake, memoryBytes, localBytes, threads, signal } = asked
  return withTargets(
    { lake, memoryBytes, localBytes, threads, signal, onCommitted, onTarget, ...targets },
    () => orInterrupted('The compaction', signal, () => compactLake(asked)),
  )
}
