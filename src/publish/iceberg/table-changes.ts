/**
 * The changes that a snapshot of the lake makes in an Iceberg table.
 *
 * In a table of all versions: files, each of them whole. In a table of current rows: the data files are the lake's,
 * and files of deleted positions say which of their rows are superseded; a file without a current row is not in the
 * table.
 *
 * Source: Apache Iceberg, table specification, version 2, "Position Delete Files".
 */

import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { literal } from '../../lake/duckdb/sql.ts'
import type { Storage } from '../../storage/storage.ts'
import { measureAll } from '../file-statistics.ts'
import type { PublishContext, SnapshotToPublish, TableChange } from '../publication.ts'
import { type CountedFile, type SinceShown, sinceShown } from '../superseded-rows.ts'
import type { ShownSnapshot, TableFile } from '../table-files.ts'
import { dataFiles, differenceOf, type FileDifference } from './data-files.ts'
import { type LiveFile, type LiveFiles, readLiveFiles, readManifestList } from './live-files.ts'
import {
  type DataFileRecord,
  DELETE_FIELD_IDS,
  FILE_CONTENT,
  type ManifestFileRecord,
  NO_PARTITION,
} from './manifest-schemas.ts'
import type { EntryChanges } from './next-snapshot.ts'
import { absolutePath, pathInLake, type TableLayout } from './table-layout.ts'
import { conflict, type TableMetadata } from './table-metadata.ts'

/** A published table as it is. */
export interface TableState {
  readonly context: PublishContext
  readonly storage: Storage
  readonly layout: TableLayout
  /** The manifests that name its files. */
  readonly manifests: readonly ManifestFileRecord[]
  readonly shown: ShownSnapshot | null
}

export interface IcebergChanges extends TableChange {
  readonly data: EntryChanges
  readonly deletes?: EntryChanges
  /** Whether the table has other rows then. @default true */
  readonly changesRows?: boolean
  /** Whether a snapshot is written although nothing changes, so that the table shows the lake's newest. */
  readonly always?: boolean
  /** Paths in the lake of files that were written for it. */
  readonly written: readonly string[]
}

export type FindChanges = (state: TableState, snapshot: SnapshotToPublish) => Promise<IcebergChanges>

const FIELD_IDS = `{file_path: ${DELETE_FIELD_IDS.file_path}, pos: ${DELETE_FIELD_IDS.pos}}`

interface WrittenDeletes {
  readonly path: string
  readonly record: DataFileRecord
}

/** Writes a file of deleted positions. Nobody reads it before a snapshot names it. */
const writeDeletes = async (
  { context, storage, layout }: TableState,
  { file, positions }: CountedFile,
  of: 'all' | 'fresh',
): Promise<WrittenDeletes> => {
  const { session, scratch } = context
  const dataPath = absolutePath(storage, file.path)
  const name = `${randomUUID()}.parquet`
  const local = join(scratch, name)
  const { rows } = await session.copy(
    `SELECT ${literal(dataPath)} AS file_path, pos::BIGINT AS pos FROM (${positions(of)})`,
    local,
    { kind: 'parquet', fieldIds: FIELD_IDS },
  )
  const bytes = await readFile(local)
  const path = `${layout.deletes}/${name}`
  await storage.create(path, bytes)
  const bound = [{ key: DELETE_FIELD_IDS.file_path, value: Buffer.from(dataPath) }]
  return {
    path,
    record: {
      content: FILE_CONTENT.deletes,
      file_path: absolutePath(storage, path),
      file_format: 'PARQUET',
      partition: NO_PARTITION,
      record_count: rows,
      file_size_in_bytes: bytes.length,
      value_counts: [
        { key: DELETE_FIELD_IDS.file_path, value: rows },
        { key: DELETE_FIELD_IDS.pos, value: rows },
      ],
      null_value_counts: [
        { key: DELETE_FIELD_IDS.file_path, value: 0 },
        { key: DELETE_FIELD_IDS.pos, value: 0 },
      ],
      // Equal and uncut: by them a reader knows the data file without opening this one.
      lower_bounds: bound,
      upper_bounds: bound,
      sort_order_id: null,
    },
  }
}

/** The data file that a file of deletes is for. */
const dataFileOf = ({ entry }: LiveFile): string =>
  entry.data_file.lower_bounds?.find(({ key }) => key === DELETE_FIELD_IDS.file_path)?.value.toString() ?? ''

/** Files of deletes by the data file that they are for. */
const deletesByFile = (deletes: LiveFiles): ReadonlyMap<string, readonly LiveFile[]> =>
  Map.groupBy(deletes.values(), dataFileOf)

/** Paths in the lake of the files of deletes that any snapshot of a table names. */
export const deletesOf = async (
  storage: Storage,
  root: string,
  { snapshots = [] }: TableMetadata,
): Promise<ReadonlySet<string>> => {
  const manifests = new Map<string, ManifestFileRecord>()
  for (const snapshot of snapshots)
    for (const manifest of await readManifestList(storage, root, snapshot))
      if (manifest.content === FILE_CONTENT.deletes) manifests.set(manifest.manifest_path, manifest)
  const files = await readLiveFiles(storage, root, [...manifests.values()])
  return new Set([...files.keys()].flatMap((path) => pathInLake(storage, path) ?? []))
}

const standing = ({ storage, layout }: TableState, live: LiveFiles, path: string): LiveFile => {
  const absolute = absolutePath(storage, path)
  const file = live.get(absolute)
  if (file) return file
  throw conflict(layout.root, `its metadata does not name "${absolute}", which was published`)
}

/** The table's files are read only where some of them go or change. */
const difference = async (state: TableState, snapshot: SnapshotToPublish): Promise<FileDifference> => {
  const { storage, layout, manifests, shown } = state
  const changes = shown && (await snapshot.changesSince(shown))
  if (changes && changes.removed.length === 0) return { added: changes.added, removed: [] }
  const live = await readLiveFiles(storage, layout.root, manifests)
  if (!changes) return differenceOf(storage, live, await snapshot.files())
  const removed = changes.removed.map(({ path }) => standing(state, live, path))
  return { added: changes.added, removed }
}

export const historyChanges: FindChanges = async (state, snapshot) => {
  const { storage, layout, context } = state
  const { added, removed } = await difference(state, snapshot)
  return {
    added: added.length,
    removed: removed.length,
    data: {
      added: dataFiles(
        { storage, layout, measure: (files) => measureAll(context, layout.table, files) },
        added,
      ),
      removed,
    },
    written: [],
  }
}

/** So many files of deletes of one data file become one: whoever reads the file opens each of them. */
const MOST_DELETE_FILES = 7

/** The records of one manifest, none where there are no deletes. */
const together = function* (deletes: readonly WrittenDeletes[]): Generator<readonly DataFileRecord[]> {
  if (deletes.length > 0) yield deletes.map(({ record }) => record)
}

/** Changes, as they are gathered file by file. */
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

/** A file of the snapshot of which something may change. */
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
  // A file that comes may have rows that were superseded before: older data than the table shows.
  const due = live ? fresh : superseded
  if (due > 0) changes.deletes.push(await writeDeletes(state, counted, again ? 'all' : 'fresh'))
}

const gather = async (
  state: TableState,
  snapshot: SnapshotToPublish,
  since: SinceShown | null,
): Promise<Gathered> => {
  const { context, layout, storage } = state
  const standing = await readTable(state)
  const changes = new Gathered()
  const asked = { table: layout.table, snapshot, since: since?.since ?? 0 }
  const files = await snapshot.files()
  const touched = since && new Set(await context.superseded.touched(asked, files))
  const chosen = files.filter((file) => !touched || touched.has(file) || since?.added.has(file.path))
  await context.superseded.count(asked, chosen, async (some) => {
    for (const counted of some) await takeFile(state, standing, since, counted, changes)
  })
  if (since !== null && !since.isRearranged) return changes
  const listed = new Set(files.map(({ path }) => absolutePath(storage, path)))
  for (const [path, live] of standing.data) if (!listed.has(path)) changes.removed.push(live)
  for (const [path, before] of standing.deletes) if (!listed.has(path)) changes.removedDeletes.push(...before)
  return changes
}

export const currentChanges: FindChanges = async (state, snapshot) => {
  const { storage, layout, context } = state
  const since = await sinceShown(snapshot, state.shown)
  const { added, removed, deletes, removedDeletes } = await gather(state, snapshot, since)
  const measure = (files: readonly TableFile[]) => measureAll(context, layout.table, files)
  return {
    added: added.length + deletes.length,
    removed: removed.length + removedDeletes.length,
    data: { added: dataFiles({ storage, layout, measure }, added), removed },
    deletes: { added: together(deletes), removed: removedDeletes },
    changesRows: !since?.isRearranged,
    always: true,
    written: deletes.map(({ path }) => path),
  }
}
