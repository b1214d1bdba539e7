/** Small sources that share a partition: each keeps an entry of its own. Pure. */

import type { PartitionEntry, SharedSource, SourceEntry } from '../../core/partition.ts'
import { sha256Of } from '../../support/hash.ts'

/** The sources of a partition, in their order. */
export const sourcesOf = ({
  source,
  sources,
}: Pick<PartitionEntry, 'source' | 'sources'>): readonly SourceEntry[] => sources ?? [source]

/** Several small sources as one: its hash is that of the list of theirs. */
export const togetherAs = (
  sources: readonly Omit<SharedSource, 'counts' | 'block' | 'firstLine' | 'offset' | 'last'>[],
): SourceEntry => {
  const [first] = sources
  if (first === undefined) throw new RangeError('Cannot share a partition: expected a source')
  return {
    kind: first.kind,
    name: `${first.name} and ${sources.length - 1} more`,
    bytes: sources.reduce((sum, { bytes }) => sum + bytes, 0),
    sha256: sha256Of(sources.map(({ sha256 }) => `${sha256}\n`).join('')),
    ...{ block: 0, firstLine: 1, offset: 0, last: true },
  }
}
