/** Counts of a partition when records and lines of it are gone. What is gone counts as filtered. Pure. */

import type { CommittedPartition, LineCounts } from '../../core/partition.ts'
import { QUARANTINE } from '../../lake/tables/tables.ts'
import type { QuarantineChange } from './rewrite-quarantine.ts'

/** Takes lines away from counts: as records, or as quarantined. */
export const filteredFrom = <Some extends LineCounts>(
  counts: Some,
  what: 'records' | 'quarantined',
  lines: number,
): Some =>
  lines === 0 ? counts : { ...counts, [what]: counts[what] - lines, filtered: (counts.filtered ?? 0) + lines }

/**
 * Takes records away from the small sources that share a partition.
 *
 * @param places of the records among those of the partition, from 0: they stand in the order of the sources
 */
export const withoutRecords = (
  sources: NonNullable<CommittedPartition['sources']>,
  places: readonly number[],
): NonNullable<CommittedPartition['sources']> => {
  let from = 0
  return sources.map((source) => {
    const until = from + source.counts.records
    const own = places.filter((place) => place >= from && place < until).length
    from = until
    return { ...source, counts: filteredFrom(source.counts, 'records', own) }
  })
}

export const addUp = (counts: Iterable<number>): number => [...counts].reduce((a, b) => a + b, 0)

/** A partition whose quarantine was written again. */
export const withQuarantine = (
  partition: CommittedPartition,
  changes: readonly QuarantineChange[],
): CommittedPartition => {
  if (changes.length === 0) return partition
  const byPath = new Map(changes.map((change) => [change.file.path, change]))
  const files = partition.files.flatMap((file) => {
    const change = byPath.get(file.path)
    return change === undefined ? [file] : change.written ? [change.written] : []
  })
  const goneOf = (source: string): number => addUp(changes.map(({ gone }) => gone.get(source) ?? 0))
  const gone = addUp(changes.flatMap((change) => [...change.gone.values()]))
  const counts = filteredFrom(partition.counts, 'quarantined', gone)
  const { [QUARANTINE.name]: rows, ...others } = counts.rows
  return {
    ...partition,
    files,
    counts: {
      ...counts,
      rows: rows === undefined ? others : { ...others, [QUARANTINE.name]: rows - gone },
    },
    ...(partition.sources && {
      sources: partition.sources.map((source) => ({
        ...source,
        counts: filteredFrom(source.counts, 'quarantined', goneOf(source.name)),
      })),
    }),
  }
}
