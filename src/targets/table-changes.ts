/** The files of a table in a snapshot, and how they differ from those of an earlier one: opens the parts that differ. */

import type { Table } from '../lake/tables/tables.ts'
import {
  differingParts,
  entriesOf,
  type Leaf,
  type PartFilter,
  readEntries,
} from '../manifest/snapshots/parts.ts'
import { listOf, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { type FileChanges, filesOfPartitions, filesOfRuns, type TableFile } from '../publish/table-files.ts'

type TableName = Pick<Table, 'name' | 'content'>

const hasTable = ({ totals }: SnapshotRoot, { name }: TableName): boolean =>
  totals.tables.some(({ table }) => table === name)

const holds =
  ({ content }: TableName): PartFilter =>
  ({ contents }) =>
    content !== undefined && contents?.includes(content) === true

/** The files of a table. @throws {ToolkitError} `SNAPSHOT_DAMAGED`, `LAKE_NEWER` */
export const tableFilesOf = async (
  lake: string,
  root: SnapshotRoot,
  table: TableName,
): Promise<readonly TableFile[]> => {
  if (!hasTable(root, table)) return []
  const files: TableFile[] = []
  for await (const { entries } of entriesOf(lake, 'partitions', root.lists.partitions, holds(table)))
    for (const file of filesOfPartitions(entries, table)) files.push(file)
  return [...files, ...filesOfRuns(await listOf(lake, root, 'files'), table)]
}

const filesOfParts = async (
  lake: string,
  parts: readonly Leaf[],
  table: TableName,
): Promise<readonly TableFile[]> => {
  const files: TableFile[] = []
  for (const { part } of parts) {
    if (!holds(table)(part.ref)) continue
    const entries = await readEntries(lake, 'partitions', part)
    for (const file of filesOfPartitions(entries, table)) files.push(file)
  }
  return files
}

/** Files by their names: a file keeps its run and its version. */
const changesBetween = (before: readonly TableFile[], after: readonly TableFile[]): FileChanges => {
  const [known, left] = [before, after].map((files) => new Set(files.map(({ name }) => name)))
  return {
    added: after.filter(({ name }) => !known?.has(name)),
    removed: before.filter(({ name }) => !left?.has(name)),
  }
}

/** @throws {ToolkitError} `SNAPSHOT_DAMAGED`, `LAKE_NEWER` */
export const tableChanges = async (
  lake: string,
  before: SnapshotRoot,
  after: SnapshotRoot,
  table: TableName,
): Promise<FileChanges> => {
  // There is one dictionary for each run.
  if (table.content === undefined)
    return changesBetween(await tableFilesOf(lake, before, table), await tableFilesOf(lake, after, table))
  if (!hasTable(before, table) && !hasTable(after, table)) return { added: [], removed: [] }
  const differing = await differingParts(lake, before.lists.partitions, after.lists.partitions)
  return changesBetween(
    await filesOfParts(lake, differing.before, table),
    await filesOfParts(lake, differing.after, table),
  )
}
