/**
 * What a snapshot of the lake changes in a table of current rows: its data files are the lake's, and files of deletes
 * say which of their rows are superseded. A file without a current row is not in the table.
 */

import { type SinceShown, sinceShown } from '../current/since-shown.ts'
import type { CountedFile } from '../current/superseded-rows.ts'
import { measureAll } from '../file-statistics.ts'
import type { SnapshotToPublish } from '../publication.ts'
import type { TableFile } from '../table-files.ts'
import { dataFiles } from './data-files.ts'
import { deletesByFile, type WrittenDeletes, writeDeletes } from './delete-files.ts'
import { absolutePath } from './lake-paths.ts'
import { type LiveFile, readLiveFiles } from './live-files.ts'
import { type DataFileRecord, FILE_CONTENT } from './manifest-schemas.ts'
import type { FindChanges, TableState } from './table-changes.ts'

/** So many files of deletes of one data file become one: whoever reads the file opens each of them. */
const MOST_DELETE_FILES = 7

/** Of one manifest. */
const together = function* (deletes: readonly WrittenDeletes[]): Generator<readonly DataFileRecord[]> {
  if (deletes.length > 0) yield deletes.map(({ record }) => record)
}

/** What changes, as it is gathered file by file. */
class Gathered {
  readonly added: TableFile[] = []
  readonly removed: LiveFile[] = []
  readonly deletes: WrittenDeletes[] = []
  readonly removedDeletes: LiveFile[] = []
}

/** The table as it is: its data files, and their deletes. */
const readTable = async ({ storage, layout, manifests }: TableState) => {
  const read = (content: number) =>
    readLiveFiles(
      storage,
      layout.root,
      manifests.filter((one) => one.content === content),
    )
  const data = await read(FILE_CONTENT.data)
  return { data, deletes: deletesByFile(await read(FILE_CONTENT.deletes)) }
}

type Standing = Awaited<ReturnType<typeof readTable>>

/** One file of the snapshot of which something may change. */
const takeFile = async (
  state: TableState,
  { data, deletes }: Standing,
  since: SinceShown | null,
  counted: CountedFile,
  changes: Gathered,
): Promise<void> => {
  const { file, superseded, fresh } = counted
  const path = absolutePath(state.storage, file.path)
  const [live, before] = [data.get(path), deletes.get(path) ?? []]
  if (superseded === file.rows) {
    if (live) changes.removed.push(live)
    changes.removedDeletes.push(...before)
    return
  }
  if (!live) changes.added.push(file)
  const again = since === null || !live || before.length >= MOST_DELETE_FILES
  if (since === null || (again && fresh > 0)) changes.removedDeletes.push(...before)
  if (fresh > 0) changes.deletes.push(await writeDeletes(state, counted, again ? 'all' : 'fresh'))
}

const gather = async (state: TableState, snapshot: SnapshotToPublish): Promise<Gathered> => {
  const { context, layout, storage, shown } = state
  const since = await sinceShown(snapshot, shown)
  const standing = await readTable(state)
  const changes = new Gathered()
  const asked = {
    ...{ table: layout.table, snapshot, since: since?.since ?? 0 },
    always: ({ path }: TableFile) => since === null || since.added.has(path),
  }
  await context.superseded.count(asked, async (some) => {
    for (const counted of some) await takeFile(state, standing, since, counted, changes)
  })
  if (since !== null) return changes
  const listed = new Set((await snapshot.files()).map(({ path }) => absolutePath(storage, path)))
  for (const [path, live] of standing.data) if (!listed.has(path)) changes.removed.push(live)
  for (const [path, before] of standing.deletes) if (!listed.has(path)) changes.removedDeletes.push(...before)
  return changes
}

export const currentChanges: FindChanges = async (state, snapshot) => {
  const { storage, layout, context } = state
  const { added, removed, deletes, removedDeletes } = await gather(state, snapshot)
  const measure = (files: readonly TableFile[]) => measureAll(context, layout.table, files)
  return {
    added: added.length + deletes.length,
    removed: removed.length + removedDeletes.length,
    data: { added: dataFiles({ storage, layout, measure }, added), removed },
    deletes: { added: together(deletes), removed: removedDeletes },
    always: true,
    written: deletes.map(({ path }) => path),
  }
}
