/** The summary of a snapshot in memory, as `summariseRoot` makes it of one on disk. */

import type { Snapshot } from '../../src/core/partition.ts'
import { totalsOf } from '../../src/manifest/form/totals.ts'
import {
  latestPulls,
  type SnapshotSummary,
  standingDifferences,
} from '../../src/manifest/snapshots/summarise-snapshot.ts'

export const summariseSnapshot = (listed: Snapshot): SnapshotSummary => {
  const { snapshot, run, time, partitions, merged = [] } = listed
  const totals = totalsOf(listed)
  return {
    ...{ snapshot, run, time },
    ...totals,
    partitions: partitions.length,
    merged: merged.length,
    bytes: totals.tables.reduce((sum, { bytes }) => sum + bytes, 0),
    pulls: latestPulls(listed),
    differences: standingDifferences(listed),
  }
}
