/** What was pulled from services, and where less or more came than was announced. Pure. */

import type { PartitionEntry, PullEntry, Snapshot } from '../../core/partition.ts'
import { type Announcement, announcementOf } from '../../core/source-kinds.ts'
import { loadedPartitions, sourceOf } from '../form/loaded-sources.ts'

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
