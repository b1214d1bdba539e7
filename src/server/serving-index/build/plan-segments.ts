/** Which segments an index has: those of an earlier index that still hold, and one of all partitions behind them. */

import type { CommittedPartition, Snapshot } from '../../../core/partition.ts'
import { LISTINGS, tablesOf } from '../../../lake/tables/tables.ts'
import { sha256Of } from '../../../support/hash.ts'
import {
  INDEX_CONTRACT,
  INDEX_VERSION,
  type IndexDescription,
  type SegmentDescription,
} from '../index-form.ts'

const NAME_CHARACTERS = 16

/** The name of the segment of consecutive partitions: of all that decides what stands in it. */
export const segmentName = (
  { files }: Pick<Snapshot, 'files'>,
  partitions: readonly CommittedPartition[],
  { name, dimensions }: IndexDescription['embedder'],
): string => {
  const runs = new Set(partitions.map(({ run }) => run))
  const read = partitions.map((partition) => {
    const tables = new Set<string>([...tablesOf(partition.content), LISTINGS].map((table) => table.name))
    return [
      partition.id,
      ...partition.files.filter(({ table }) => tables.has(table)).map(({ sha256 }) => sha256),
    ]
  })
  const dictionaries = files.filter(({ run }) => runs.has(run)).map(({ sha256 }) => sha256)
  const decides = [INDEX_VERSION, INDEX_CONTRACT, name, dimensions, read, dictionaries]
  return sha256Of(JSON.stringify(decides)).slice(0, NAME_CHARACTERS)
}

/** An index that is there, and the folder in which its files stand. */
export interface EarlierIndex {
  readonly folder: string
  readonly description: IndexDescription
}

const recordsOf = ({ records }: Pick<SegmentDescription, 'records'>): number =>
  records.companies + records.relations
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

/** The first segments of an index that are the same of a snapshot. */
const commonSegments = (
  { segments, embedder }: IndexDescription,
  snapshot: Snapshot,
): readonly SegmentDescription[] => {
  let from = 0
  const common: SegmentDescription[] = []
  for (const segment of segments) {
    const to = from + segment.partitions
    const partitions = snapshot.partitions.slice(from, to)
    if (to > snapshot.partitions.length || segmentName(snapshot, partitions, embedder) !== segment.name) break
    common.push(segment)
    from = to
  }
  return common
}

/** A merged segment holds at most this share of all records: what a night costs at most beside its own records. */
const MERGED_SHARE = 8
/** All is made anew when segments hold so many times the records that there are: the others take room and time. */
const MOST_SUPERSEDED = 1.5
/** Every query looks into all of them. */
const MOST_SEGMENTS = 16

/**
 * The segments of earlier indexes to be used. What is loaded night by night is merged as a counter carries, so that of
 * a hundred nights some ten segments are left.
 *
 * @returns the index to take them from and how many of its first ones; `null` where all is to be made
 */
export const usableSegments = (
  earlier: readonly EarlierIndex[],
  snapshot: Snapshot,
): { readonly folder: string; readonly segments: readonly SegmentDescription[] } | null => {
  const found = earlier
    .map(({ folder, description }) => ({
      folder,
      description,
      common: commonSegments(description, snapshot),
    }))
    .sort((a, b) => sum(b.common.map(recordsOf)) - sum(a.common.map(recordsOf)))[0]
  if (found === undefined || found.common.length === 0) return null
  const { folder, description } = found
  const used = [...found.common]
  const behind = snapshot.partitions.slice(sum(used.map(({ partitions }) => partitions)))
  let fresh = sum(behind.map(({ counts }) => counts.records))
  const all = sum(used.map(recordsOf)) + fresh
  if (all > MOST_SUPERSEDED * (recordsOf(description) + fresh)) return null
  for (let last = used.at(-1); last !== undefined && behind.length > 0; last = used.at(-1)) {
    const merged = fresh + recordsOf(last)
    if (recordsOf(last) > fresh || merged * MERGED_SHARE > all) break
    used.pop()
    fresh = merged
  }
  return used.length >= MOST_SEGMENTS || used.length === 0 ? null : { folder, segments: used }
}
