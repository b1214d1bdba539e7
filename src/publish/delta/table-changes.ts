/**
 * The changes that a snapshot of the lake makes in a Delta table.
 *
 * In a table of all versions: files, each of them whole. In a table of current rows: copies of the lake's files
 * without the superseded rows; a copy is written again when its file lost rows, and a file without a current row has
 * none.
 */

import { randomBytes } from 'node:crypto'
import { copyFile, link } from 'node:fs/promises'
import { join } from 'node:path'
import { writeError } from '../../core/errors.ts'
import type { Session } from '../../lake/duckdb/engine.ts'
import { ident, pathSql, readParquet } from '../../lake/duckdb/sql.ts'
import { publishedHashPath, recordedHash } from '../../lake/files/layout.ts'
import { rowGroupRows } from '../../lake/tables/sort-rows.ts'
import type { Table } from '../../lake/tables/tables.ts'
import { storageOf } from '../../storage/open-storage.ts'
import type { FileFacts } from '../../storage/storage.ts'
import { fsyncFile } from '../../support/durable-files.ts'
import { adoptFile } from '../../support/file-modes.ts'
import { hashFile } from '../../support/hash.ts'
import { type MeasuredFile, measureFiles, measureLocal } from '../file-statistics.ts'
import type { PublishContext, SnapshotToPublish } from '../publication.ts'
import { type CountedFile, sinceShown } from '../superseded-rows.ts'
import type { TableFile } from '../table-files.ts'
import { type AddedFile, addedFile } from './actions.ts'
import type { DeltaLog } from './delta-log.ts'
import type { LoggedFile } from './log-form.ts'

/** A file that is gone from a table. */
interface RemovedFile {
  readonly name: string
  readonly file: LoggedFile
}

export interface DeltaChanges {
  /** Files that come, and how many they are. A file whose version changed is only added: the log's newest word on a path counts. */
  readonly files: AsyncIterable<AddedFile> | Iterable<AddedFile>
  readonly added: number
  readonly removed: readonly RemovedFile[]
  /** Whether a version is written although nothing changes, so that the table shows the lake's newest snapshot. */
  readonly always?: boolean
  /** Paths in the lake of files that were written for it. */
  readonly written: readonly string[]
}

/** A published table as it is. */
export interface TableState {
  readonly context: PublishContext
  readonly table: Table
  readonly log: DeltaLog
}

export type FindChanges = (state: TableState, snapshot: SnapshotToPublish) => Promise<DeltaChanges>

interface Difference {
  readonly added: readonly TableFile[]
  readonly removed: readonly RemovedFile[]
}

/** By all that the log says and all that the snapshot lists. */
const compareAll = async (log: DeltaLog, snapshot: SnapshotToPublish): Promise<Difference> => {
  const [logged, files] = [await log.files(), await snapshot.files()]
  const names = new Set(files.map(({ name }) => name))
  return {
    added: files.filter(({ name }) => !logged.has(name)),
    removed: [...logged].flatMap(([name, file]) => (names.has(name) ? [] : [{ name, file }])),
  }
}

/** By the parts of the manifest that differ, where the snapshot that the log shows is kept. */
const differenceOf = async (log: DeltaLog, snapshot: SnapshotToPublish): Promise<Difference> => {
  const changes = log.shown && (await snapshot.changesSince(log.shown))
  if (!changes) return compareAll(log, snapshot)
  const { added, removed } = changes
  return { added, removed: removed.map((file) => ({ name: file.name, file })) }
}

async function* withStatistics(
  { context, table }: TableState,
  added: readonly TableFile[],
): AsyncGenerator<AddedFile> {
  for await (const measured of measureFiles(context, table, added)) yield addedFile(measured)
}

export const historyChanges: FindChanges = async (state, snapshot) => {
  const { added, removed } = await differenceOf(state.log, snapshot)
  return { files: withStatistics(state, added), added: added.length, removed, written: [] }
}

const ENDING = '.parquet'

/** `<run>/<file>`: what the names of a file's copies begin with. */
const copySource = ({ run, name }: Pick<TableFile, 'run' | 'name'>): string =>
  `${run}/${name.slice(name.lastIndexOf('/') + 1, -ENDING.length)}`

/** The part of a copy's name that names its source. */
const sourceOfCopy = (name: string): string => name.slice(0, -`-${'0'.repeat(16)}${ENDING}`.length)

/** The file as a whole. Its bytes are there already: another name is enough. */
const takeWhole = async (from: string, to: string): Promise<void> => {
  try {
    await link(from, to)
  } catch {
    // Another file system, or one without links.
    await copyFile(from, to)
    await fsyncFile(to)
  }
}

const copyCurrent = async (
  session: Session,
  { columns }: Table,
  { place, positions }: CountedFile,
  to: string,
): Promise<void> => {
  const selected = columns.map(({ name, type }) => `CAST(f.${ident(name)} AS ${type}) AS ${ident(name)}`)
  const groupRows = rowGroupRows(columns)
  await session.copy(
    `SELECT ${selected.join(', ')}
FROM ${readParquet(pathSql(place), 'file_row_number = true')} AS f
ANTI JOIN (${positions('all')}) AS s ON s.pos = f.file_row_number ORDER BY f.file_row_number`,
    to,
    { kind: 'parquet', ...(groupRows !== undefined && { rowGroupRows: groupRows }) },
  )
}

/** Makes the file on this machine. @returns its length and hash */
const makeLocal = async (
  { context: { session, signal }, table }: TableState,
  counted: CountedFile,
  local: string,
): Promise<Pick<FileFacts, 'bytes' | 'sha256'>> => {
  const { file, place, superseded } = counted
  if (superseded > 0) await copyCurrent(session, table, counted, local)
  try {
    if (superseded === 0) {
      await takeWhole(place, local)
      return file
    }
    await adoptFile(local)
    await fsyncFile(local)
    return await hashFile(local, { signal })
  } catch (error) {
    throw writeError(`Cannot write "${local}"`, error)
  }
}

/** Writes a copy of a file's current rows. Nobody reads it before the log names it. @throws {ToolkitError} */
const writeCopy = async (state: TableState, counted: CountedFile): Promise<MeasuredFile> => {
  const { context, table, log } = state
  const { file, superseded } = counted
  const storage = storageOf(context.lake)
  const name = `${copySource(file)}-${randomBytes(8).toString('hex')}${ENDING}`
  const path = `${log.form.root}/${name}`
  const local = join(context.scratch, name.slice(name.indexOf('/') + 1))
  const { bytes, sha256 } = await makeLocal(state, counted, local)
  const [facts, rows] = [{ path, bytes, sha256 }, file.rows - superseded]
  const statistics = await measureLocal(context.session, table, local, rows)
  await storage.stage(local, facts)
  await storage.publish([{ from: local, to: path }])
  await storage.replace(publishedHashPath(path), recordedHash(facts.sha256))
  return {
    file: { ...file, ...facts, name, version: 0, rows },
    statistics,
  }
}

export const currentChanges: FindChanges = async (state, snapshot) => {
  const { context, table, log } = state
  const since = await sinceShown(snapshot, log.shown)
  const logged = [...(await log.files())].map(([name, file]): RemovedFile => ({ name, file }))
  const copies = Map.groupBy(logged, ({ name }) => sourceOfCopy(name))
  const removed: RemovedFile[] = since === null ? logged : []
  const files: AddedFile[] = []
  const asked = {
    ...{ table, snapshot, since: since?.since ?? 0 },
    always: ({ path }: TableFile) => since === null || since.added.has(path),
  }
  await context.superseded.count(asked, async (some) => {
    for (const counted of some) {
      context.signal?.throwIfAborted()
      const { file, superseded, fresh } = counted
      const before = since === null ? [] : (copies.get(copySource(file)) ?? [])
      if (before.length > 0 && fresh === 0) continue
      removed.push(...before)
      if (superseded < file.rows) files.push(addedFile(await writeCopy(state, counted)))
    }
  })
  const written = files.map(({ file }) => file.path)
  await storageOf(context.lake).sync(written)
  return { files, added: files.length, removed, always: true, written }
}
