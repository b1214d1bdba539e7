/** When files became visible, also where an earlier release has not recorded it: as far as the snapshots are still there. */

import type { Commit } from '../../core/partition.ts'
import { commitsOfRuns } from '../../manifest/lake-facts.ts'
import type { FileChanges, TableFile } from '../../publish/table-files.ts'

export interface CompleteFiles {
  readonly files: (files: readonly TableFile[]) => Promise<readonly TableFile[]>
  readonly changes: (changes: FileChanges) => Promise<FileChanges>
}

/** Reads the snapshots once, and only where a file needs it. */
export const completeFiles = (lake: string): CompleteFiles => {
  let commits: Promise<ReadonlyMap<string, Commit>> | undefined
  const complete = async (files: readonly TableFile[]): Promise<readonly TableFile[]> => {
    if (files.every(({ committed }) => committed)) return files
    commits ??= commitsOfRuns(lake)
    const known = await commits
    return files.map((file) => ({ ...file, committed: file.committed ?? known.get(file.run) }))
  }
  return {
    files: complete,
    changes: async ({ added, moved, removed }) => ({
      added: await complete(added),
      moved: await complete(moved),
      removed: await complete(removed),
    }),
  }
}
