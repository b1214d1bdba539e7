/** What the drift says when records are gone. Which names only they had is not worked out. Pure. */

import type { CommittedPartition, Drift, Snapshot } from '../../core/partition.ts'
import { isCompaction } from '../../core/source-kinds.ts'
import { moreDrift, nameKey } from '../../core/unknown-names.ts'
import { firstLayerOf } from '../../run/work/partition-entry.ts'
import type { Identifiers } from './identifiers.ts'

const isNamed = ({ kind }: Drift): boolean => kind !== 'more'

/** Names that tell of the forgotten are counted and not named. */
export const withoutTelling = (drift: readonly Drift[], { standIn }: Identifiers): readonly Drift[] => {
  const kept = drift.filter((one) => isNamed(one) && !standIn(one.name))
  if (kept.length === drift.filter(isNamed).length) return drift
  const others = drift.filter((one) => !kept.includes(one))
  const names = others.reduce((sum, one) => sum + (one.names ?? 1), 0)
  return [...kept, moreDrift(names, Math.max(...others.map(({ records }) => records)))]
}

/** What names the drift of a lake. */
type DriftLists = Required<Pick<Snapshot, 'partitions' | 'merged'>>

/** The drift of a block stands at its first layer. */
const blockOf = ({ run, id }: CommittedPartition): string => `${run} ${firstLayerOf(id)}`

const isCompacted = ({ source }: CommittedPartition): boolean => isCompaction(source)

export interface DroppedDrift extends DriftLists {
  /** What stood there, as `nameKey`, but for names that tell of the forgotten. */
  readonly names: readonly string[]
}

/**
 * The lists without the drift of partitions that have lost records. Of what a compaction has put together nobody knows which
 * load had a record: the drift of all loads goes that were merged.
 */
export const dropDrift = (
  { partitions, merged }: DriftLists,
  affected: readonly CommittedPartition[],
  { standIn }: Identifiers,
): DroppedDrift => {
  const blocks = new Set(affected.filter((one) => !isCompacted(one)).map(blockOf))
  const contents = new Set(affected.filter(isCompacted).map(({ content }) => content))
  const names: string[] = []
  const without = (one: CommittedPartition): CommittedPartition => {
    for (const { kind, name } of one.drift)
      if (kind !== 'more' && !standIn(name)) names.push(nameKey({ content: one.content, kind, name }))
    return { ...one, drift: [] }
  }
  return {
    partitions: partitions.map((one) => (blocks.has(blockOf(one)) ? without(one) : one)),
    merged: merged.map((one) => (contents.has(one.content) ? without(one) : one)),
    names,
  }
}
