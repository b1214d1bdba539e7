/**
 * The manifest's record of compactions whose partitions others have merged again: no entry names them any more, and a target
 * may still show them.
 */

import type { CommittedPartition } from '../../core/partition.ts'
import { isCompaction } from '../../core/source-kinds.ts'
import { anyText, count, list, optional, shapeOf } from '../../support/json-form.ts'

/** A snapshot as a target names it. */
export interface NamedSnapshot {
  readonly snapshot: number
  readonly run: string
}

/** A field of the root of a snapshot; absent where there was none. */
export interface WithCompactions {
  readonly compactions?: readonly NamedSnapshot[]
}

export const COMPACTIONS = optional(list(shapeOf<NamedSnapshot>({ snapshot: count, run: anyText })))

/** A target that shows an older one gets all rows of the newest compaction in any case. */
const COMPACTIONS_KEPT = 100

/** The compactions on record once some partitions are merged. */
export const compactionsWith = (
  { compactions = [] }: WithCompactions,
  merged: readonly CommittedPartition[],
): WithCompactions => {
  const more = merged
    .filter(({ source }) => isCompaction(source))
    .map(({ run, committed: { snapshot } }) => ({ snapshot, run }))
  const known = new Map([...compactions, ...more].map((one) => [one.run, one]))
  return known.size === 0 ? {} : { compactions: [...known.values()].slice(-COMPACTIONS_KEPT) }
}
