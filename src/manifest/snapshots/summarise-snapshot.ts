/** A snapshot in a few numbers, for `status`. */

import type { PartitionEntry, PullEntry, Snapshot } from '../../core/partition.ts'
import { type Announcement, announcementOf } from '../../core/source-kinds.ts'
import { loadedPartitions, sourceOf } from '../form/sources.ts'
import type { ContentTotals, TableTotals } from '../form/totals.ts'
import { countEntries, type PartFilter } from './parts.ts'
import { listOf, type SnapshotRoot } from './snapshot-root.ts'

export interface SnapshotSummary {
  readonly snapshot: number
  readonly run: string
  readonly time: string
  readonly runs: number
  readonly partitions: number
  /** Partitions whose rows a compaction has put together with others; not among `partitions`. */
  readonly merged: number
  readonly bytes: number
  readonly contents: readonly ContentTotals[]
  readonly tables: readonly TableTotals[]
  /** The newest pull of each search. */
  readonly pulls: readonly LatestPull[]
  /** The sources of which less or more came than was announced. */
  readonly differences: readonly Difference[]
}

/** Summarises a snapshot; opens only the parts with pulls, and those with sources of which another number came than announced. */
export const summariseRoot = async (lake: string, root: SnapshotRoot): Promise<SnapshotSummary> => {
  const { snapshot, run, time, lists } = root
  const { runs, contents, tables } = root.totals
  const differing: PartFilter = (part) => (part.differing ?? 0) > 0
  const listed = {
    partitions: await listOf(lake, root, 'partitions', differing),
    merged: await listOf(lake, root, 'merged', differing),
    pulls: await listOf(lake, root, 'pulls'),
  }
  return {
    ...{ snapshot, run, time, runs },
    partitions: countEntries(lists.partitions),
    merged: countEntries(lists.merged),
    bytes: tables.reduce((sum, { bytes }) => sum + bytes, 0),
    ...{ contents, tables },
    pulls: latestPulls(listed),
    differences: standingDifferences(listed),
  }
}

/** The newest pull of one search, and how often it was pulled in all. */
export interface LatestPull extends PullEntry {
  readonly pulls: number
}

/** A window, batch file or pull that gave another number of records than was announced. */
export interface Difference {
  readonly kind: Announcement['what'] | 'pull'
  readonly run: string
  /** Name of the source; of a pull its content. */
  readonly name: string
  readonly announced: number
  readonly received: number
}

const searchKey = ({ content, service, search, currency }: PullEntry): string =>
  JSON.stringify([content, service, currency, Object.entries(search).sort()])

/** The newest pull of each search, in the order of commits. */
export const latestPulls = ({ pulls = [] }: Pick<Snapshot, 'pulls'>): readonly LatestPull[] =>
  [...Map.groupBy(pulls, searchKey).values()].flatMap((same) => {
    const newest = same.at(-1)
    return newest ? [{ ...newest, pulls: same.length }] : []
  })

const linesOf = (partitions: readonly PartitionEntry[]): number =>
  partitions.reduce((sum, { counts }) => sum + counts.lines, 0)

const sourceDifference = (partitions: readonly PartitionEntry[]): Difference[] => {
  const [first] = partitions
  if (first === undefined) return []
  const { run, source } = first
  const said = announcementOf(source)
  if (said?.announced === undefined) return []
  const { what, announced, received = linesOf(partitions) } = said
  return announced === received ? [] : [{ kind: what, run, name: source.name, announced, received }]
}

/** Windows and batch files of which not all came that was announced, or more. */
export const differencesOf = (partitions: readonly PartitionEntry[]): readonly Difference[] =>
  [...Map.groupBy(partitions, (one) => `${one.run} ${sourceOf(one)}`).values()].flatMap(sourceDifference)

const pullDifference = ({ run, content, announced, received }: PullEntry): Difference[] =>
  announced === received ? [] : [{ kind: 'pull', run, name: content, announced, received }]

/** Differences that still matter: of a search pulled again only those of the newest pull. */
export const standingDifferences = (
  snapshot: Pick<Snapshot, 'partitions' | 'merged' | 'pulls'>,
): readonly Difference[] => {
  const latest = latestPulls(snapshot)
  const replaced = new Set((snapshot.pulls ?? []).map(({ run }) => run))
  for (const { run } of latest) replaced.delete(run)
  const sources = differencesOf(loadedPartitions(snapshot).filter(({ run }) => !replaced.has(run)))
  return [...latest.flatMap(pullDifference), ...sources]
}
