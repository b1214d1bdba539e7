/** Counts and drift of a partition when records and lines of it are gone. What is gone counts as filtered. Pure. */

import type { Drift, LineCounts, PartitionEntry } from '../../core/partition.ts'
import { moreDrift } from '../../core/unknown-names.ts'
import type { Identifiers } from './identifiers.ts'
import { type DriftCounts, driftKey } from './reload.ts'

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
  sources: NonNullable<PartitionEntry['sources']>,
  places: readonly number[],
): NonNullable<PartitionEntry['sources']> => {
  let from = 0
  return sources.map((source) => {
    const until = from + source.counts.records
    const own = places.filter((place) => place >= from && place < until).length
    from = until
    return { ...source, counts: filteredFrom(source.counts, 'records', own) }
  })
}

/** The drift with other numbers of records. @param changes by `driftKey` what is to be added */
export const withDriftChanges = (drift: readonly Drift[], changes: DriftCounts): readonly Drift[] =>
  drift.flatMap((one) => {
    const records = one.records + (changes.get(driftKey(one)) ?? 0)
    return one.kind === 'more' || records > 0 ? [one.kind === 'more' ? one : { ...one, records }] : []
  })

/** One entry in place of all names: nobody knows any more which records had them. */
export const withoutNames = (drift: readonly Drift[]): readonly Drift[] => {
  if (drift.length === 0) return drift
  const names = drift.reduce((sum, one) => sum + (one.names ?? 1), 0)
  return [moreDrift(names, Math.max(...drift.map(({ records }) => records)))]
}

/** Names that tell of the forgotten are counted and not named. */
export const withoutTelling = (drift: readonly Drift[], { standIn }: Identifiers): readonly Drift[] => {
  const telling = drift.filter(({ kind, name }) => kind !== 'more' && standIn(name))
  if (telling.length === 0) return drift
  const rest = drift.filter((one) => !telling.includes(one) && one.kind !== 'more')
  return [...rest, ...withoutNames([...telling, ...drift.filter(({ kind }) => kind === 'more')])]
}
