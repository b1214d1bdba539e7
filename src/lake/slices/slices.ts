/** Parts the current rows of a lake into slices that fit into memory: views of a session, one set at a time. */

import { join } from 'node:path'
import type { Content } from '../../contract/objects.ts'
import type { CommittedPartition, PartitionEntry, Snapshot } from '../../core/partition.ts'
import { isCompaction } from '../../core/source-kinds.ts'
import type { FetchOptions } from '../../storage/storage.ts'
import type { Session } from '../duckdb/engine.ts'
import { ident, pathsSql } from '../duckdb/sql.ts'
import { type FetchTablesOptions, filesOfTables } from '../files/fetch-tables.ts'
import { copiesOfLake, type FileAccess } from '../files/file-access.ts'
import { dictionaryOf } from '../tables/dictionary-of.ts'
import { dictionaryTable, mainTables, type Table, type TableName, tablesOf } from '../tables/tables.ts'
import {
  currentOfVersion,
  filesOf,
  HIDDEN_SCHEMA,
  makeSuperseded,
  readTable,
  supersededVersions,
  type VersionedFile,
  versionFacts,
  versionFilesOf,
  versionsHolding,
} from '../views/current-versions.ts'
import {
  type CutTable,
  type Slice,
  type SliceRows,
  slicesByQuantiles,
  slicesOfCompacted,
  slicesOfIds,
} from './cut-slices.ts'

export type { SliceRows } from './cut-slices.ts'

/** Records to restore in a session where `prepareRestore` ran, or whose superseded tables stand already. */
export interface SessionRequest {
  /** Looks for the ids in every partition: the lists of versions may not know all of them. @default false */
  readonly inEvery?: boolean | undefined
  readonly session: Session
  /** A folder, or `s3://bucket/prefix`: then files are fetched, partition by partition. */
  readonly lake: string
  /** The snapshot that the superseded tables of the session were made of. */
  readonly snapshot: Snapshot
  /** Only the records of these InternalIds. @default all */
  readonly ids?: readonly bigint[] | undefined
  readonly signal?: AbortSignal | undefined
  /** How far the fetch and check of files are. */
  readonly onFetch?: FetchTablesOptions['onProgress']
  /** Files that this work has hashed already. */
  readonly known?: FetchTablesOptions['known']
  /** How the session reads files. @default copies that are hashed at every read */
  readonly access?: FileAccess | undefined
  /** Folder for what has to stand on this machine. Needed where `access` reads in place. */
  readonly scratch?: string | undefined
}

const accessOf = ({ access, lake, known }: SessionRequest): FileAccess =>
  access ?? copiesOfLake(lake, { known })

/** Makes a session's hidden schema and its tables of superseded versions. @param content default: of both */
export const prepareRestore = async (request: SessionRequest, content?: Content): Promise<void> => {
  const { session, snapshot } = request
  const access = accessOf(request)
  await session.run(`CREATE SCHEMA IF NOT EXISTS ${HIDDEN_SCHEMA}`)
  for (const main of mainTables()) {
    if (content === undefined || main.content === content) {
      const facts = versionFacts(versionFilesOf(snapshot, 'superseded', main))
      await accessOf(request).makeReadable(facts, fetching(request))
      await session.run(makeSuperseded(snapshot, access.placeOf, main))
    }
  }
}

const fetching = ({ signal, onFetch }: SessionRequest): Omit<FetchOptions, 'known'> => ({
  signal,
  onProgress: onFetch,
})

/** The name of the view of a table's rows in the current slice; `line_items` is that of the run that loaded them. */
export const sliceView = (table: TableName): string => ident(`part_${table}`)

/** A slice whose views stand in the session. */
export interface MadeSlice {
  /** The files of a table that hold its rows, beside rows of other slices and of superseded records. */
  filesOf(table: TableName): readonly string[]
}

/**
 * Makes the views of one slice after the other; each holds whole records. Of a partition each slice holds greater ids than
 * those before it, or, where a compaction has written it, later ones in the order of country and id.
 */
export async function* slicesOf(
  request: SessionRequest,
  content: Content,
  mostRows: SliceRows,
): AsyncGenerator<MadeSlice> {
  const { session, snapshot, signal } = request
  const found = await session.rows(supersededVersions(content))
  const superseded = new Set(found.map(({ version }) => Number(version)))
  const holding = await versionsOfIds(request, content)
  for (const partition of snapshot.partitions) {
    const { version } = partition
    if (partition.content !== content || partition.counts.records === 0) continue
    if (holding?.has(version) === false) continue
    await fetchOf(request, partition, content)
    await makeDictionary(request, partition)
    const tables = tablesToCut(request, partition, version)
    const rowsOf: RowsOf = (table, files) =>
      superseded.has(version)
        ? currentOfVersion(table, readTable(table, files), { content, version })
        : readTable(table, files)
    for (const slice of await slicesOfPartition(request, partition, tables, rowsOf, mostRows)) {
      signal?.throwIfAborted()
      await makeViews(request, tables, rowsOf, slice)
      const copied = await copySeries(request, content)
      yield { filesOf: (name) => copied.get(name) ?? neededFiles(tables, slice, name) }
    }
  }
}

/** Tables whose files are read without DuckDB. */
const SERIES = ['financials', 'employees'] as const

/** Copies the rows of a slice of a lake that is read in place into files of this machine; copies nothing of others. */
const copySeries = async (
  request: SessionRequest,
  content: Content,
): Promise<ReadonlyMap<TableName, readonly string[]>> => {
  const { session, scratch } = request
  const copied = new Map<TableName, readonly string[]>()
  if (accessOf(request).isLocal || scratch === undefined || content !== 'companies') return copied
  for (const table of SERIES) {
    const path = join(scratch, `${table}.parquet`)
    await session.copy(`SELECT * FROM ${sliceView(table)}`, path, { kind: 'parquet' })
    copied.set(table, [path])
  }
  return copied
}

/** The versions that hold the records of the ids asked for, so that no other is opened; `undefined`: of all records. */
const versionsOfIds = async (
  request: SessionRequest,
  content: Content,
): Promise<ReadonlySet<number> | undefined> => {
  const { session, snapshot, ids } = request
  const main = mainTables().find((table) => table.content === content)
  if (ids === undefined || request.inEvery || main === undefined) return undefined
  const facts = versionFacts(snapshot.versions.filter(({ table }) => table === main.name))
  await accessOf(request).makeReadable(facts, fetching(request))
  if (facts.length === 0) return new Set()
  const listed = pathsSql(facts.map(({ path }) => accessOf(request).placeOf(path)))
  const rows = await session.rows(versionsHolding(main, listed, ids))
  return new Set(rows.map(({ version }) => Number(version)))
}

/** The current rows in files of a partition. */
type RowsOf = (table: Table, files: readonly VersionedFile[]) => string

const WHOLE: Slice = { conditions: () => ['true'] }

const slicesOfPartition = async (
  request: SessionRequest,
  { content, source }: PartitionEntry,
  tables: readonly CutTable[],
  rowsOf: RowsOf,
  mostRows: SliceRows,
): Promise<readonly Slice[]> => {
  const { session, ids } = request
  const [main, compacted] = [sliceView(content), isCompaction(source)]
  if (compacted && ids === undefined) return slicesOfCompacted(session, tables, mostRows)
  await makeViews(request, tables, rowsOf, WHOLE)
  return ids === undefined
    ? slicesByQuantiles(session, main, tables, mostRows)
    : slicesOfIds(session, ids, tables, { main, compacted })
}

/** The dictionary of what the partition's run has loaded: it says which figures were scaled. */
const dictionariesFor = ({ snapshot }: SessionRequest, { run }: PartitionEntry): Snapshot['files'] => {
  const found = dictionaryOf(snapshot.files, run)
  return found ? [found] : []
}

/** Fetches the files of a partition and the dictionary of its run. */
const fetchOf = (request: SessionRequest, partition: CommittedPartition, content: Content): Promise<void> => {
  const files = dictionariesFor(request, partition)
  const tables = [...tablesOf(content), dictionaryTable()].map(({ name }) => name)
  const needed = filesOfTables({ partitions: [partition], files }, tables)
  return accessOf(request).makeReadable(needed, fetching(request))
}

const tablesToCut = (
  request: SessionRequest,
  partition: PartitionEntry,
  version: number,
): readonly CutTable[] => {
  const { placeOf } = accessOf(request)
  return tablesOf(partition.content).map((table) => ({
    table,
    files: partition.files
      .filter((file) => file.table === table.name)
      .map(({ path, bytes }) => ({ path: placeOf(path), bytes, version, partition })),
    rows: partition.counts.rows[table.name] ?? 0,
  }))
}

/** The files of a table that hold rows of a slice. */
const neededOf = ({ table, files }: CutTable, slice: Slice): readonly VersionedFile[] => {
  const places = slice.files?.get(table.name)
  return places ? files.filter((_, at) => places.has(at)) : files
}

const neededFiles = (tables: readonly CutTable[], slice: Slice, name: TableName): readonly string[] =>
  tables
    .filter(({ table }) => table.name === name)
    .flatMap((one) => neededOf(one, slice).map(({ path }) => path))

const makeViews = async (
  { session }: SessionRequest,
  tables: readonly CutTable[],
  rowsOf: RowsOf,
  slice: Slice,
): Promise<void> => {
  for (const one of tables) {
    const { table } = one
    const rows = rowsOf(table, neededOf(one, slice))
    const parts = slice.conditions(table).map((condition) => `SELECT * FROM (${rows}) WHERE ${condition}`)
    await session.run(
      `CREATE OR REPLACE TEMP VIEW ${ident(`part_${table.name}`)} AS ${parts.join('\nUNION ALL\n')}`,
    )
  }
}

const makeDictionary = async (request: SessionRequest, partition: PartitionEntry): Promise<void> => {
  const { session, snapshot } = request
  const table = dictionaryTable()
  const own = { ...snapshot, partitions: [], files: dictionariesFor(request, partition) }
  await session.run(
    `CREATE OR REPLACE TEMP VIEW ${sliceView('line_items')} AS ${readTable(table, filesOf(own, accessOf(request).placeOf, table.name))}`,
  )
}
