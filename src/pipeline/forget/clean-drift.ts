/** What the drift says when records are gone: names that only the forgotten had are gone too. Pure. */

import type { CommittedPartition, Drift, Snapshot } from '../../core/partition.ts'
import { moreDrift } from '../../core/unknown-names.ts'
import { firstLayerOf } from '../run/partition-entry.ts'
import type { Identifiers } from './identifiers.ts'

/** By `driftKey`: numbers of records. */
export type DriftCounts = ReadonlyMap<string, number>
export const driftKey = ({ kind, name }: Pick<Drift, 'kind' | 'name'>): string => `${kind} ${name}`

export const isNamed = ({ kind }: Drift): boolean => kind !== 'more'

/** What `before` has more than `after`. */
export const lessBy = (before: DriftCounts, after: DriftCounts): DriftCounts =>
  new Map([...before].map(([key, records]) => [key, records - (after.get(key) ?? 0)]))

/** One entry in place of all names. */
const withoutNames = (drift: readonly Drift[]): readonly Drift[] => {
  if (drift.length === 0) return drift
  const names = drift.reduce((sum, one) => sum + (one.names ?? 1), 0)
  return [moreDrift(names, Math.max(...drift.map(({ records }) => records)))]
}

/** The names that are to stay, and the number of the others. */
export const withNames = (drift: readonly Drift[], stays: (one: Drift) => boolean): readonly Drift[] => {
  const named = drift.filter(isNamed)
  const kept = named.filter(stays)
  if (kept.length === named.length) return drift
  return [...kept, ...withoutNames(drift.filter((one) => !kept.includes(one)))]
}

/** Names that tell of the forgotten are counted and not named. */
export const withoutTelling = (drift: readonly Drift[], { standIn }: Identifiers): readonly Drift[] =>
  withNames(drift, ({ name }) => !standIn(name))

/** What names the drift of a lake. */
export type DriftLists = Required<Pick<Snapshot, 'partitions' | 'merged'>>

/** Which entries name what the records of a partition have: it itself, the first layer of its block, or all that were merged. */
const holdersOf = ({
  source,
  run,
  id,
  content,
}: CommittedPartition): {
  readonly list: keyof DriftLists
  readonly isOne: (one: CommittedPartition) => boolean
} => {
  if (source.kind === 'compaction') return { list: 'merged', isOne: (one) => one.content === content }
  const first = firstLayerOf(id)
  return { list: 'partitions', isOne: (one) => one.run === run && one.id === first }
}

/** Whether anything is named of the records of a partition. */
export const hasDrift = (
  { partitions, merged = [] }: Pick<Snapshot, keyof DriftLists>,
  of: CommittedPartition,
): boolean => {
  const { list, isOne } = holdersOf(of)
  return { partitions, merged }[list].some((one) => isOne(one) && one.drift.length > 0)
}

/**
 * The drift without what records of a partition had. Of those that were merged nobody knows which had the record: it is taken
 * from the last one that has the name, as the others were superseded.
 */
export const withoutGone = <Some extends DriftLists>(
  listed: Some,
  of: CommittedPartition,
  gone: DriftCounts,
): Some => {
  if (gone.size === 0) return listed
  const left = new Map(gone)
  const { list, isOne } = holdersOf(of)
  const takeAway = (one: Drift): readonly Drift[] => {
    const [key, { records }] = [driftKey(one), one]
    const away = isNamed(one) ? Math.min(records, left.get(key) ?? 0) : 0
    left.set(key, (left.get(key) ?? 0) - away)
    return away === 0 ? [one] : records > away ? [{ ...one, records: records - away }] : []
  }
  const entries = listed[list]
    .toReversed()
    .map((one) => (isOne(one) ? { ...one, drift: one.drift.flatMap(takeAway) } : one))
    .toReversed()
  return { ...listed, [list]: entries }
}
