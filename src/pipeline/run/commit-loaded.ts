/** The end of a run: what it has loaded becomes visible, all at once, if not too much of it was bad. */

import { ToolkitError } from '../../core/errors.ts'
import type { FileEntry, PartitionEntry, PullEntry } from '../../core/partition.ts'
import type { SinkRun } from '../../core/sink.ts'
import type { Loader } from '../../load/loader.ts'
import { type CommitOutcome, commitRun } from '../../manifest/commit-run.ts'
import type { RunLease } from '../../manifest/run-lease.ts'
import { newestSnapshot } from '../../manifest/snapshots.ts'
import type { RandomBytes } from '../../support/run-ids.ts'
import { type CurrencyChange, CurrencyGuard } from './currency-change.ts'
import { seenItemsOf } from './names-of-run.ts'
import type { Finished } from './partition-entry.ts'
import type { RunEvent } from './progress.ts'
import { type QuarantineLimit, withinLimit } from './quarantine-limit.ts'

export interface CommitOptions {
  /** The run to work on, made or taken over by the caller. Released when it cannot finish. */
  readonly lease: RunLease
  readonly pipeline: string
  readonly tool: string
  readonly limit: QuarantineLimit
  /** Names in the drift of the snapshot that the contract does not know. @default 10,000 */
  readonly maxUnknownNames?: number | undefined
  /** Loads sources that the lake holds already. @default false */
  readonly again?: boolean | undefined
  /** Lets figures be replaced by figures in another currency. @default false */
  readonly changeCurrency?: boolean | undefined
  /** Asked for at the commit: what was pulled. A pull is committed also when nothing came. @default none */
  readonly pulls?: (() => readonly PullEntry[]) | undefined
  readonly now: () => Date
  readonly random: RandomBytes
  readonly signal?: AbortSignal | undefined
  readonly onEvent?: ((event: RunEvent) => void) | undefined
}

/** @throws {ToolkitError} QUARANTINE_LIMIT */
const checkQuarantine = (partitions: readonly PartitionEntry[], { lease, limit }: CommitOptions): void => {
  const lines = partitions.reduce((sum, { counts }) => sum + counts.lines, 0)
  const quarantined = partitions.reduce((sum, { counts }) => sum + counts.quarantined, 0)
  if (withinLimit(limit, quarantined, lines)) return
  throw new ToolkitError(
    'QUARANTINE_LIMIT',
    `Cannot commit run "${lease.run}": ${quarantined} of ${lines} lines are bad, more than --max-quarantined allows; ` +
      `see "firmlake quarantine list --lake ${lease.lake} --run ${lease.run}"`,
    { run: lease.run, quarantined, lines },
  )
}

/** The outcome, and the companies that have their figures in another currency now. */
export type LoadedOutcome = CommitOutcome & { readonly currencyChange?: CurrencyChange | undefined }

/** @throws {ToolkitError} QUARANTINE_LIMIT, CURRENCY_CHANGED, and what the sink and the commit throw */
export const commitLoaded = async (
  { loader, sink }: { readonly loader: Loader; readonly sink: SinkRun },
  finished: readonly Finished[],
  options: CommitOptions,
): Promise<LoadedOutcome> => {
  const partitions = finished.map(({ partition }) => partition)
  checkQuarantine(partitions, options)
  const { lease, pipeline, tool, again = false, maxUnknownNames, now, random, signal } = options
  const pulls = options.pulls?.() ?? []
  if (partitions.length === 0 && pulls.length === 0) return { kind: 'nothing', dropped: [] }
  options.onEvent?.({ kind: 'committing', partitions: partitions.length })
  const { lake, run } = lease
  const guard = new CurrencyGuard(
    { lake, run, partitions, rows: loader.rows },
    options.changeCurrency ?? false,
  )
  await guard.check(await newestSnapshot(lake))
  const runFiles = partitions.length > 0 ? await dictionaryOf(finished, loader, sink) : []
  await sink.commit([...partitions.flatMap(({ files }) => files), ...runFiles])
  const outcome = await commitRun({
    ...{ lease, pipeline, tool, partitions, runFiles, pulls, again, maxUnknownNames, now, random, signal },
    beforeTry: (newest) => guard.check(newest),
  })
  return { ...outcome, currencyChange: guard.change }
}

/** The dictionary of all partitions, whichever attempt of the run has finished them. */
const dictionaryOf = async (
  finished: readonly Finished[],
  loader: Loader,
  sink: SinkRun,
): Promise<readonly FileEntry[]> => {
  const seen = await seenItemsOf(finished, sink.stagedRows?.bind(sink))
  return (await loader.loadLineItems('line_items', seen, sink)).files
}
