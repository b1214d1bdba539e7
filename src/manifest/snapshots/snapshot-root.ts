/**
 * The root of a snapshot: what it says of itself, its totals, and its lists, of which each reader opens the parts that it
 * needs.
 */

import type {
  CommittedPartition,
  PullEntry,
  Snapshot,
  SnapshotHead,
  VersionFile,
} from '../../core/partition.ts'
import { QUARANTINE, type Table } from '../../lake/tables/tables.ts'
import type { WithCompactions } from '../form/compactions.ts'
import type { Forgotten } from '../form/forgotten.ts'
import type { WithTaken } from '../form/projections.ts'
import type { Totals } from '../form/totals.ts'
import type { WithVersions } from '../form/version-numbers.ts'
import { countEntries, entriesOf, type ListName, type Lists, type Part, type PartFilter } from './parts.ts'

export interface SnapshotRoot extends SnapshotHead, Forgotten, WithTaken, WithVersions, WithCompactions {
  readonly totals: Totals
  readonly lists: { readonly [Name in ListName]: readonly Part[] }
  readonly versions: readonly VersionFile[]
}

/** The fields of a snapshot without its entries. */
export const headOf = ({ snapshot, parent, run, pipeline, tool, time }: SnapshotHead): SnapshotHead => ({
  snapshot,
  parent,
  run,
  pipeline,
  tool,
  time,
})

/** Entries of a list in memory. @throws {ToolkitError} `SNAPSHOT_DAMAGED`, `LAKE_NEWER` */
export const listOf = async <Name extends ListName>(
  lake: string,
  { lists }: Pick<SnapshotRoot, 'lists'>,
  name: Name,
  filter?: PartFilter,
): Promise<readonly Lists[Name][]> => {
  const entries: Lists[Name][] = []
  for await (const some of entriesOf(lake, name, lists[name], filter))
    for (const one of some.entries) entries.push(one)
  return entries
}

/** Everything that a snapshot lists, or only the parts that pass the filter. @throws as `listOf` */
export const readAllListed = async (
  lake: string,
  root: SnapshotRoot,
  filter?: PartFilter,
): Promise<Snapshot> => {
  const { lists, versions } = root
  return {
    ...headOf(root),
    versions,
    partitions: await listOf(lake, root, 'partitions', filter),
    files: await listOf(lake, root, 'files'),
    ...(countEntries(lists.pulls) > 0 && { pulls: await listOf(lake, root, 'pulls') }),
    ...(countEntries(lists.merged) > 0 && { merged: await listOf(lake, root, 'merged', filter) }),
  }
}

/** The files and versions that a snapshot lists. Sources are left out: very many may share a partition. @throws as `listOf` */
export const readWithoutSources = async (
  lake: string,
  { lists, versions }: SnapshotRoot,
): Promise<Required<Pick<Snapshot, 'partitions' | 'files' | 'merged' | 'versions'>>> => {
  const found = { partitions: [] as CommittedPartition[], merged: [] as CommittedPartition[] }
  for (const name of ['partitions', 'merged'] as const)
    for await (const { entries } of entriesOf(lake, name, lists[name]))
      for (const { sources: _, ...one } of entries) found[name].push(one)
  return { ...found, files: await listOf(lake, { lists }, 'files'), versions }
}

/**
 * Everything that a snapshot lists of a table, and of the other tables of its content.
 *
 * @param withMerged whether the loads are listed, too, that compactions have put together. @default of the quarantine
 * @throws as `listOf`
 */
export const readTableListed = async (
  lake: string,
  root: SnapshotRoot,
  { name, content }: Pick<Table, 'name' | 'content'>,
  withMerged = false,
): Promise<Pick<Snapshot, 'partitions' | 'files' | 'merged' | 'versions'>> => {
  const { versions } = root
  if (name === QUARANTINE.name) return readAllListed(lake, root, ({ quarantine = 0 }) => quarantine > 0)
  if (content === undefined) return { partitions: [], files: await listOf(lake, root, 'files'), versions }
  const own = async (list: 'partitions' | 'merged'): Promise<readonly CommittedPartition[]> => {
    const some = await listOf(lake, root, list, ({ contents }) => contents?.includes(content) ?? false)
    return some.filter((one) => one.content === content)
  }
  return {
    ...{ partitions: await own('partitions'), files: [], versions },
    ...(withMerged && { merged: await own('merged') }),
  }
}

/** The pulls from services, in the order of commits; `null` for a lake without a snapshot. */
export const readPulls = async (
  lake: string,
  root: SnapshotRoot | null,
): Promise<{ readonly pulls: readonly PullEntry[] } | null> =>
  root && { pulls: await listOf(lake, root, 'pulls') }
