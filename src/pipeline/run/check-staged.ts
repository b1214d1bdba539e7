/** What an earlier attempt of a run has staged, before it may be committed: damage would get a snapshot of its own. */

import type { PartitionEntry } from '../../core/partition.ts'
import { inLake, stagedPath } from '../../lake/lake/layout.ts'
import type { JournalEntry } from '../../manifest/journal.ts'
import type { RunLease } from '../../manifest/run-lease.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { sideBySide } from '../../support/side-by-side.ts'

const ENTRIES_AT_ONCE = 2

export interface CheckedEntries {
  readonly whole: readonly JournalEntry[]
  /** Partitions of which a file is missing or not what was staged. */
  readonly damaged: readonly PartitionEntry[]
}

/** Hashes the files of finished partitions, staged or in their places already. */
export const checkStaged = async (
  { lake, run }: RunLease,
  entries: readonly JournalEntry[],
  signal?: AbortSignal,
): Promise<CheckedEntries> => {
  const storage = storageOf(lake)
  const checked = await sideBySide(
    entries,
    ENTRIES_AT_ONCE,
    async (entry) => {
      for (const file of entry.partition.files)
        if (!(await storage.isStaged(inLake(lake, stagedPath(run, file)), file, signal)))
          return { entry, whole: false }
      return { entry, whole: true }
    },
    signal,
  )
  return {
    whole: checked.flatMap(({ entry, whole }) => (whole ? [entry] : [])),
    damaged: checked.flatMap(({ entry, whole }) => (whole ? [] : [entry.partition])),
  }
}
