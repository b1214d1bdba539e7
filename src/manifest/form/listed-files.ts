/** Which files a snapshot lists. Pure. */

import type { FileEntry, Snapshot } from '../../core/partition.ts'

/** All files of a snapshot: those of its partitions, the quarantine of merged ones, and those of runs. */
export const listedFiles = ({
  partitions,
  merged = [],
  files,
}: Pick<Snapshot, 'partitions' | 'merged' | 'files'>): readonly FileEntry[] => [
  ...[...merged, ...partitions].flatMap((one) => one.files),
  ...files,
]
