/**
 * Commits the work of a run: its partitions become visible in one snapshot, unless a rule refuses it. Only what is recorded of
 * the work counts, so any process may commit, whichever did it.
 */

import { randomBytes } from 'node:crypto'
import type { CommittedPartition, FileEntry, PartitionEntry, PullEntry } from '../core/partition.ts'
import { isReplay } from '../core/source-kinds.ts'
import { lineItemsOf } from '../load/line-items.ts'
import { sourcesOf } from '../manifest/form/sources.ts'
import type { AllWork, JournalEntry } from '../manifest/runs/journal-lines.ts'
import type { SeenRun } from '../manifest/runs/run-lease.ts'
import { newestRoot } from '../manifest/snapshots/snapshots.ts'
import { TOOL } from '../support/own-package.ts'
import { commitPartitions } from './commit-run.ts'
import { type CommitSummary, unloadedOf } from './commit-summary.ts'
import { NamesOfRun, seenItemsOf } from './names.ts'
import { type PlannedCommit, type RuleOptions, rulesOf } from './rules.ts'
import { byInstant } from './source-instants.ts'
import type { StagedRun } from './staged-files.ts'

export interface CommitWorkOptions extends RuleOptions {
  /** Commits nothing where the lake shows all that came: then pulls are not recorded either. @default false */
  readonly onlyRows?: boolean | undefined
  /** Stands in the names of the run's own files: several commits of the run may be under way. @default nothing */
  readonly attempt?: string | undefined
  /** Called when nothing refuses the run. @param partitions how many it has */
  readonly onCommitting?: ((partitions: number) => void) | undefined
}

/** The work of a run, whoever has done it. */
export interface FinishedWork extends AllWork {
  readonly pulls: readonly PullEntry[]
}

/** A run whose work is done. */
export interface WorkToCommit {
  /** The run and its owner; the caller need not be that owner, but nobody must take the run over meanwhile. */
  readonly seen: SeenRun
  readonly plan: PlannedCommit & { readonly pipeline: string }
  readonly work: FinishedWork
  /** Whether the files of the run are at their paths already. @default false */
  readonly isPlaced?: boolean | undefined
}

/** The partitions of all loaded sources, in their order, and within the bounds of names. */
const finishedOf = ({ sources, entries }: FinishedWork, names: NamesOfRun): readonly JournalEntry[] => {
  const byId = new Map(entries.map((entry) => [entry.partition.id, entry]))
  const found = sources.flatMap((one) =>
    one.kind !== 'loaded'
      ? []
      : one.partitions.map((id) => {
          const entry = byId.get(id)
          if (entry === undefined) throw new RangeError(`Cannot commit partition "${id}": it is not recorded`)
          return names.bound(entry)
        }),
  )
  const loaded = new Set(
    found.flatMap(({ partition: { source, counts } }) =>
      counts.lines > counts.quarantined ? [source.sha256] : [],
    ),
  )
  // A quarantine file without a repaired line is kept.
  return found.filter(({ partition: { source } }) => !isReplay(source) || loaded.has(source.sha256))
}

/** The dictionary of all partitions, whichever attempt of the run has finished them. */
const dictionaryOf = async (
  { loader, sink }: StagedRun,
  finished: readonly JournalEntry[],
  attempt: string | undefined,
): Promise<readonly FileEntry[]> => {
  if (finished.length === 0) return []
  const seen = await seenItemsOf(finished, sink.stagedRows?.bind(sink))
  const name = attempt === undefined ? 'line_items' : `line_items.${attempt}`
  return (await loader.withRows(lineItemsOf(seen), (rows) => sink.write(name, 'line_items', rows))).files
}

/** The facts that a commit has found of a partition beside its rows. */
const placeInOrder = (shown: CommittedPartition | undefined): Partial<PartitionEntry> => {
  if (shown === undefined) return {}
  const { asOf, older, olderThan = asOf } = shown
  return { asOf, ...(older !== undefined && { older, olderThan }) }
}

/**
 * May be called again and by several processes at once: one of them makes the snapshot.
 *
 * @throws {ToolkitError} what a rule refuses it with (the run stays and can be resumed, less strict), and what the sink and the
 *   commit throw; nothing of the run is then visible
 */
export const commitWork = async (
  tools: Pick<StagedRun, 'loader' | 'sink'>,
  { seen, plan, work, isPlaced = false }: WorkToCommit,
  { onlyRows = false, attempt, onCommitting, ...options }: CommitWorkOptions,
): Promise<CommitSummary> => {
  const { lake, run } = seen
  const { loader, sink } = tools
  const names = new NamesOfRun({ ...plan.limits, listAllItems: sink.stagedRows === undefined })
  const finished = finishedOf(work, names)
  const partitions = finished.map(({ partition }) => partition)
  const staged: StagedRun = { lake, run, partitions, loader, sink }
  const rules = await rulesOf(staged, plan, options)
  const root = await newestRoot(lake)
  let adds = false
  for (const { look } of rules) if ((await look?.(root)) === 'adds') adds = true
  const { sources, pulls } = work
  const summary = (): CommitSummary => ({
    ...{ run, snapshot: undefined, partitions: [], ...unloadedOf(sources) },
    ...Object.fromEntries(rules.flatMap(({ report }) => Object.entries(report?.() ?? {}))),
  })
  const isEmpty = onlyRows
    ? await (await import('./brings-nothing.ts')).bringsNothing(staged, root)
    : partitions.length === 0 && pulls.length === 0
  if (isEmpty && !adds) return summary()
  onCommitting?.(partitions.length)
  const runFiles = await dictionaryOf(staged, finished, attempt)
  await sink.commit([...(isPlaced ? [] : byInstant(partitions).flatMap(({ files }) => files)), ...runFiles])
  const outcome = await commitPartitions({
    ...{ lease: seen, pipeline: plan.pipeline, tool: TOOL, again: plan.again, rules },
    ...{ partitions, runFiles, pulls, now: () => new Date(), random: randomBytes, signal: options.signal },
  })
  const dropped = new Set(outcome.dropped.map(({ id }) => id))
  const shown = new Map(outcome.kind === 'nothing' ? [] : outcome.shown.map((one) => [one.id, one]))
  const first = [...new Set(outcome.dropped.flatMap(sourcesOf).map(({ name }) => name))]
  // The commit that was first reports its own marks.
  const { skipped, gone, ...more } = summary()
  const said = { ...more, ...(gone && outcome.kind !== 'already' && { gone }) }
  return {
    ...said,
    snapshot: outcome.kind === 'nothing' ? undefined : outcome.snapshot,
    partitions: partitions
      .filter(({ id }) => !dropped.has(id))
      .map((one) => ({ ...one, ...placeInOrder(shown.get(one.id)) })),
    skipped: [
      ...skipped,
      ...first.map((source) => ({ source, reason: 'already loaded by a concurrent run' })),
    ],
  }
}
