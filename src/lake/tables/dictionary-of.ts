/** The dictionary that has the line items of what a run has loaded. */

import type { FileOfRun } from '../../core/partition.ts'

/**
 * The dictionary of a run's partitions: its own, or the oldest of all, into which a compaction has put that of the run, also where it
 * left the run's partitions as they are.
 *
 * @param dictionaries of a snapshot
 */
export const dictionaryOf = (dictionaries: readonly FileOfRun[], run: string): FileOfRun | undefined =>
  dictionaries.find((file) => file.run === run) ??
  dictionaries.reduce<FileOfRun | undefined>(
    (oldest, file) => (oldest && oldest.version < file.version ? oldest : file),
    undefined,
  )
