/** Opens a snapshot for questions in SQL, also one that is not shown. */

import { unlookedSince } from '../../core/last-listings.ts'
import { queryMemory } from '../../core/memory-shares.ts'
import { type LakeQuery, type LakeQueryOptions, openLakeQuery } from '../../lake/query/lake-query.ts'
import { computedOfLake } from '../form/projections.ts'
import { readFactsOf } from './read-facts.ts'
import { listOf, readTableListed, type SnapshotRoot } from './snapshot-root.ts'

interface RootQuestions
  extends Pick<LakeQueryOptions, 'lake' | 'threads' | 'check' | 'aroundFetch' | 'outFolder'> {
  /** Peak memory in all, in bytes. */
  readonly memoryBytes?: number | undefined
  /** A further folder whose files statements may read. */
  readonly files?: string | undefined
  /** Whether files are compared with their hashes before they are read. */
  readonly checked?: boolean | undefined
}

export const openRoot = async (root: SnapshotRoot, options: RootQuestions): Promise<LakeQuery> => {
  const { lake, memoryBytes, threads, check, aroundFetch, outFolder, files } = options
  return openLakeQuery({
    ...{ lake, threads, check, aroundFetch, outFolder, ...(files !== undefined && { files: [files] }) },
    snapshot: (table, withMerged) => readTableListed(lake, root, table, withMerged),
    facts: readFactsOf(lake, root),
    computed: await computedOfLake(root),
    unlookedSince: async () => unlookedSince(await listOf(lake, root, 'pulls')),
    inPlace: check !== 'every-read' && options.checked !== true,
    memoryBytes: queryMemory(memoryBytes),
  })
}
