/** What `status` reports of a lake: its newest snapshot in numbers and the runs that are not finished. */

import type {
  BatchEntry,
  DateRange,
  Drift,
  PartitionEntry,
  Snapshot,
  WindowEntry,
} from '../core/partition.ts'
import { mergeDrift } from '../jobs/run-report.ts'
import { loadedPartitions } from '../manifest/loaded-sources.ts'
import { listRuns, type RunSummary } from '../manifest/runs.ts'
import { newestSnapshot, readSnapshot } from '../manifest/snapshots.ts'
import { type SnapshotSummary, summariseSnapshot } from '../manifest/summarise-snapshot.ts'

export interface PartitionStatus {
  readonly id: string
  readonly run: string
  readonly content: string
  readonly source: string
  readonly block: number
  /** Its rows stand in the partition of a compaction now. */
  readonly merged?: true
  readonly lines: number
  readonly records: number
  readonly quarantined: number
  readonly requested: DateRange['requested']
  readonly observed: DateRange['observed']
  /** Of a search and of a batch file of a service: what was asked for and announced. */
  readonly window?: WindowEntry
  readonly batch?: BatchEntry
  readonly files: number
  readonly bytes: number
}

export interface LakeStatus {
  readonly lake: string
  /** `null` before the first commit. */
  readonly summary: SnapshotSummary | null
  readonly made: Pick<Snapshot, 'pipeline' | 'tool'> | null
  readonly drift: readonly Drift[]
  readonly unfinished: readonly RunSummary[]
  readonly partitions: readonly PartitionStatus[]
}

const partitionStatus = ({
  id,
  run,
  content,
  source,
  counts,
  range,
  files,
}: PartitionEntry): PartitionStatus => ({
  id,
  run,
  content,
  source: source.name,
  block: source.block,
  lines: counts.lines,
  records: counts.records,
  quarantined: counts.quarantined,
  requested: range.requested,
  observed: range.observed,
  ...(source.window && { window: source.window }),
  ...(source.batch && { batch: source.batch }),
  files: files.length,
  bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
})

/** @throws {ToolkitError} LAKE_NOT_FOUND, SNAPSHOT_NOT_FOUND, SNAPSHOT_DAMAGED */
export const readStatus = async (lake: string, number?: number): Promise<LakeStatus> => {
  const snapshot = number === undefined ? await newestSnapshot(lake) : await readSnapshot(lake, number)
  return {
    lake,
    summary: snapshot && summariseSnapshot(snapshot),
    made: snapshot && { pipeline: snapshot.pipeline, tool: snapshot.tool },
    drift: mergeDrift(snapshot ? loadedPartitions(snapshot) : []),
    unfinished: await listRuns(lake, { now: new Date() }),
    partitions: [
      ...(snapshot?.merged ?? []).map((one): PartitionStatus => ({ ...partitionStatus(one), merged: true })),
      ...(snapshot?.partitions ?? []).map(partitionStatus),
    ],
  }
}
