/** How much of a run came by one of its loads. Pure. */

import type { LineCounts, PartitionEntry } from '../../core/partition.ts'
import type { Source } from '../../core/source.ts'
import { filteredOf } from '../../manifest/form/totals.ts'

type Counted = Pick<PartitionEntry, 'source' | 'sources' | 'counts'>

/** By the names of sources, which no two loads of a run share. */
const countsBySource = ({ source, sources, counts }: Counted): readonly (readonly [string, LineCounts])[] =>
  sources ? sources.map((one) => [one.name, one.counts] as const) : [[source.name, counts]]

/** @param sources of that load, by the names that the run has for them */
export const linesOfPart = (
  partitions: readonly Counted[],
  sources: readonly Pick<Source, 'name'>[],
): LineCounts => {
  const names = new Set(sources.map(({ name }) => name))
  const own = partitions
    .flatMap(countsBySource)
    .filter(([name]) => names.has(name))
    .map(([, counts]) => counts)
  const sum = (of: (counts: LineCounts) => number): number => own.reduce((total, one) => total + of(one), 0)
  return {
    lines: sum(({ lines }) => lines),
    records: sum(({ records }) => records),
    quarantined: sum(({ quarantined }) => quarantined),
    ...filteredOf(own),
  }
}
