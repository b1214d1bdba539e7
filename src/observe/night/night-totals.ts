/** What a night has made visible, summed over its commits. */

import { isCompaction } from '../../core/source-kinds.ts'
import type { CommittedWork } from '../../core/stages.ts'

type Sums = Map<string, number>

const add = (sums: Sums, name: string, value: number): void => {
  sums.set(name, (sums.get(name) ?? 0) + value)
}

export class NightTotals {
  readonly records: Sums = new Map()
  readonly quarantined: Sums = new Map()
  readonly rows: Sums = new Map()
  readonly bytes: Sums = new Map()
  /** The last one; absent where nothing came. */
  snapshot: number | undefined

  add({ snapshot, partitions }: CommittedWork): void {
    if (snapshot === undefined) return
    this.snapshot = snapshot.snapshot
    // A compaction brings nothing new.
    for (const { content, counts, files } of partitions.filter(({ source }) => !isCompaction(source))) {
      add(this.records, content, counts.records)
      add(this.quarantined, content, counts.quarantined)
      for (const { table, rows, bytes } of files) {
        add(this.rows, table, rows)
        add(this.bytes, table, bytes)
      }
    }
  }
}
