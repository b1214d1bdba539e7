/**
 * The drift of what a compaction has merged, without names that only the forgotten may have had. A compaction keeps the newest
 * version of each record: of the others nobody knows any more which names they had.
 */

import type { Content } from '../../contract/objects.ts'
import type { CommittedPartition, Drift } from '../../core/partition.ts'
import { firstLayerOf } from '../run/partition-entry.ts'
import { borneNames } from './borne-names.ts'
import { type DriftLists, driftKey, isNamed, withNames, withoutGone } from './clean-drift.ts'
import type { ForgetWork } from './forget-work.ts'
import type { RewrittenRows } from './rewrite-partition.ts'

const sumOf = (partitions: readonly CommittedPartition[], count: 'lines' | 'records'): number =>
  partitions.reduce((sum, { counts }) => sum + counts[count], 0)

/** Whether a name is a record's own: entities, who may be in any record, stand in lists. */
const isOwn = (content: Content, { kind, name }: Drift): boolean =>
  content === 'companies' || (kind === 'field' && !name.includes('['))

const blockOf = ({ run, id }: CommittedPartition): string => `${run} ${firstLayerOf(id)}`

/** Names that no record is known to have had but such as are gone, or may be. */
const doubtfulIn = (
  before: readonly CommittedPartition[],
  loaded: readonly CommittedPartition[],
  records: number,
): Map<string, Drift> => {
  const left = new Set(loaded.flatMap(({ drift }) => drift.filter(isNamed).map(driftKey)))
  const layers = Map.groupBy(before, blockOf)
  const doubtful = new Map<string, Drift>()
  const known = new Set<string>()
  for (const partition of before) {
    // In each layer a record is there once.
    const mostGone = records * (layers.get(blockOf(partition))?.length ?? 0)
    for (const one of partition.drift) {
      if (!left.has(driftKey(one))) continue
      if (isOwn(partition.content, one) && one.records > mostGone) known.add(driftKey(one))
      doubtful.set(driftKey(one), one)
    }
  }
  for (const key of known) doubtful.delete(key)
  return doubtful
}

const keptIn = async (
  work: ForgetWork,
  content: Content,
  { partitions, merged }: DriftLists,
  gone: readonly RewrittenRows[],
): Promise<DriftLists['merged']> => {
  const isOf = (one: CommittedPartition): boolean => one.content === content
  const compacted = gone.map(({ partition }) => partition)
  const records = gone.reduce((sum, { removed }) => sum + removed, 0)
  // Where each record is still there, its names were taken away with it.
  if (sumOf(merged.filter(isOf), 'records') <= sumOf(compacted, 'lines')) return merged
  const doubtful = doubtfulIn((work.snapshot.merged ?? []).filter(isOf), merged.filter(isOf), records)
  for (const { drift } of partitions.filter(isOf)) for (const one of drift) doubtful.delete(driftKey(one))
  for (const one of compacted) {
    if (doubtful.size === 0) break
    for (const key of await borneNames(work, one, [...doubtful.values()])) doubtful.delete(key)
  }
  const hadOne = (key: string): boolean => gone.some(({ names }) => names.has(key))
  return merged.map((partition) => {
    if (!isOf(partition)) return partition
    // What the forgotten have had is theirs until another is known to have it; of the rest nobody can tell.
    const drift = partition.drift.filter((one) => !doubtful.has(driftKey(one)) || !hadOne(driftKey(one)))
    return { ...partition, drift: withNames(drift, (one) => !doubtful.has(driftKey(one))) }
  })
}

/** @param rewritten in the order of the snapshot @param isWritten whether their files are in the lake: else all names stay */
export const cleanDrift = async (
  work: ForgetWork,
  rewritten: readonly RewrittenRows[],
  merged: readonly CommittedPartition[],
  isWritten: boolean,
): Promise<DriftLists> => {
  let listed: DriftLists = { partitions: rewritten.map(({ partition }) => partition), merged }
  for (const { partition, names } of rewritten) listed = withoutGone(listed, partition, names)
  const { companies, persons } = work.ids
  if (!isWritten || merged.length === 0 || companies.size + persons.size === 0) return listed
  for (const content of ['companies', 'relations'] satisfies Content[]) {
    const compacted = rewritten.filter(
      ({ partition: { source, counts, ...own } }) =>
        own.content === content && source.kind === 'compaction' && counts.lines > 0,
    )
    listed = { ...listed, merged: await keptIn(work, content, listed, compacted) }
  }
  return listed
}
