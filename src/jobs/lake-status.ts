/** The report of `status` about a lake: its newest snapshot in numbers and the runs that are not finished. */

import type { CommittedPartition, DateRange, Drift, LineCounts, SnapshotHead } from '../core/partition.ts'
import { recordedFacts, type SourceFacts } from '../core/source-kinds.ts'
import type { ForgetReceipt } from '../manifest/form/forgotten.ts'
import type { Taken } from '../manifest/form/projections.ts'
import { loadedPartitions } from '../manifest/form/sources.ts'
import { currentRecords, filteredOf } from '../manifest/form/totals.ts'
import { listRuns, type RunSummary } from '../manifest/runs/runs.ts'
import { type DiscardedSource, readDiscarded } from '../manifest/snapshots/discarded.ts'
import { type HeldSnapshot, readHeld } from '../manifest/snapshots/held.ts'
import { readLakeId } from '../manifest/snapshots/lake-id.ts'
import type { PartFilter } from '../manifest/snapshots/parts.ts'
import { listOf, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { newestRoot, readRoot } from '../manifest/snapshots/snapshots.ts'
import { SourceIndex } from '../manifest/snapshots/source-index.ts'
import { type SnapshotSummary, summariseRoot } from '../manifest/snapshots/summarise-snapshot.ts'
import { mergeDrift } from '../run/run-report.ts'

interface SourceStatus extends LineCounts {
  readonly source: string
}

export interface PartitionStatus extends SourceFacts {
  readonly id: string
  readonly run: string
  readonly content: string
  readonly source: string
  /** The small sources that share the partition, each with its own counts. */
  readonly sources?: readonly SourceStatus[]
  readonly block: number
  /** When the service said what it holds; where its records have different instants, the latest. */
  readonly asOf: string
  /** The partition's rows stand in the partition of a compaction now. */
  readonly merged?: true
  readonly lines: number
  readonly records: number
  readonly quarantined: number
  readonly filtered?: number
  readonly requested: DateRange['requested']
  readonly observed: DateRange['observed']
  readonly files: number
  readonly bytes: number
}

export interface LakeStatus {
  readonly lake: string
  /** Id by which targets know the lake; `null` before the first commit. */
  readonly id: string | null
  /** `null` before the first commit. */
  readonly summary: SnapshotSummary | null
  /** Records that are current, by content. */
  readonly current: Readonly<Record<string, number>>
  readonly made: Pick<SnapshotHead, 'pipeline' | 'tool'> | null
  /**
   * The declarations of what the lake takes of the records, with their first snapshots; empty if it always took
   * everything.
   */
  readonly taken: readonly Taken[]
  readonly drift: readonly Drift[]
  /** The counts of forgotten companies and persons; absent if there are none. */
  readonly forgotten?: readonly ForgetReceipt[]
  /** The snapshot that is held back, and the checks that fail in it; absent where none is. */
  readonly held?: Pick<HeldSnapshot, 'run' | 'at' | 'checks'> & { readonly snapshot: number }
  /** Sources whose loads were discarded, and that the lake has not loaded since; absent where there are none. */
  readonly discarded?: readonly DiscardedSource[]
  readonly unfinished: readonly RunSummary[]
  /** Empty where they were not asked for. */
  readonly partitions: readonly PartitionStatus[]
}

const partitionStatus = ({
  id,
  run,
  content,
  source,
  sources,
  counts,
  range,
  files,
  asOf,
}: CommittedPartition): PartitionStatus => ({
  id,
  run,
  content,
  source: source.name,
  ...(sources && { sources: sources.map((one) => ({ source: one.name, ...one.counts })) }),
  block: source.block,
  asOf,
  lines: counts.lines,
  records: counts.records,
  quarantined: counts.quarantined,
  ...filteredOf([counts]),
  requested: range.requested,
  observed: range.observed,
  ...recordedFacts(source),
  files: files.length,
  bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
})

const hasDrift: PartFilter = ({ drift = 0 }) => drift > 0

const driftOf = async (lake: string, root: SnapshotRoot): Promise<readonly Drift[]> =>
  mergeDrift(
    loadedPartitions({
      merged: await listOf(lake, root, 'merged', hasDrift),
      partitions: await listOf(lake, root, 'partitions', hasDrift),
    }),
  )

const partitionsOf = async (lake: string, root: SnapshotRoot): Promise<readonly PartitionStatus[]> => [
  ...(await listOf(lake, root, 'merged')).map(
    (one): PartitionStatus => ({ ...partitionStatus(one), merged: true }),
  ),
  ...(await listOf(lake, root, 'partitions')).map(partitionStatus),
]

interface StatusRequest {
  /** @default the newest */
  readonly snapshot?: number | undefined
  /** Whether each partition is listed too. @default false */
  readonly partitions?: boolean | undefined
}

/** The loads that no snapshot shows. */
const notShown = async (
  lake: string,
  root: SnapshotRoot | null,
): Promise<Pick<LakeStatus, 'held' | 'discarded'>> => {
  const held = await readHeld(lake)
  const index = new SourceIndex(lake, root)
  const discarded: DiscardedSource[] = []
  for (const one of await readDiscarded(lake))
    if (!(await index.holds(one.content, one.sha256))) discarded.push(one)
  return {
    ...(held && {
      held: { snapshot: held.root.snapshot, run: held.run, at: held.at, checks: held.checks },
    }),
    ...(discarded.length > 0 && { discarded }),
  }
}

/** @throws {ToolkitError} LAKE_NOT_FOUND, SNAPSHOT_NOT_FOUND, SNAPSHOT_DAMAGED */
export const readStatus = async (
  lake: string,
  { snapshot: number, partitions = false }: StatusRequest = {},
): Promise<LakeStatus> => {
  const root = number === undefined ? await newestRoot(lake) : await readRoot(lake, number)
  return {
    lake,
    id: await readLakeId(lake),
    summary: root && (await summariseRoot(lake, root)),
    current: root ? currentRecords(root) : {},
    made: root && { pipeline: root.pipeline, tool: root.tool },
    taken: root?.taken ?? [],
    drift: root ? await driftOf(lake, root) : [],
    ...(root?.forgotten && { forgotten: root.forgotten }),
    ...(number === undefined && (await notShown(lake, root))),
    unfinished: await listRuns(lake, { now: new Date() }),
    partitions: root && partitions ? await partitionsOf(lake, root) : [],
  }
}
