/**
 * A partition without the forgotten: its files, counts, drift and range. Records that had them as entities keep the
 * rest.
 */

import { basename, join } from 'node:path'
import type { Content } from '../contract/objects.ts'
import type { Identifiers } from '../core/identifiers.ts'
import type { CommittedPartition, FileEntry } from '../core/partition.ts'
import type { Receipt, SinkRun, TableRows } from '../core/sink.ts'
import { isCompaction } from '../core/source-kinds.ts'
import { ident, literal, pathSql, pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import {
  hasOwnVersions,
  historyTablesOf,
  versionsTable,
  withFirstVersion,
} from '../lake/tables/past-tables.ts'
import { compactOrder, withIdsOf } from '../lake/tables/sort-rows.ts'
import { LISTINGS, TABLES, type Table, tablesOf } from '../lake/tables/tables.ts'
import { HIDDEN_SCHEMA } from '../lake/views/current-versions.ts'
import { observedOf } from '../load/loader.ts'
import { removeIfThere } from '../support/durable-files.ts'
import { cleanSearchText, filteredFrom, withoutRecords } from './clean-entries.ts'
import { type ForgottenEntities, withoutForgotten } from './clean-record.ts'
import type { Held } from './find-held.ts'
import { COMPANY_IDS, type ForgetWork, freshFolder, makeIdTable, withLakeFiles } from './forget-work.ts'
import { type PastRecord, restoredRecords, withIntervals } from './past-records.ts'
import { reload } from './reload.ts'

/** Records by their versions, each with what is left of it. */
async function* byVersion(
  records: AsyncIterable<PastRecord>,
  content: Content,
  forgotten: ForgottenEntities,
): AsyncGenerator<{ readonly version: number; readonly strings: AsyncIterable<string> }> {
  const iterator = records[Symbol.asyncIterator]()
  let next = await iterator.next()
  while (!next.done) {
    const { version } = next.value
    yield {
      version,
      strings: (async function* () {
        for (; !next.done && next.value.version === version; next = await iterator.next())
          yield withoutForgotten(content, next.value.text, forgotten).text
      })(),
    }
  }
}

/** Loads what is left of changed records again. @returns files of this machine by table */
const reloadChanged = async (
  work: ForgetWork,
  partition: CommittedPartition,
  { changed }: Held,
  forgotten: ForgottenEntities,
  folder: string,
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const reloaded = new Map<number, ReadonlyMap<string, readonly string[]>>()
  if (changed.size === 0) return new Map()
  const { content } = partition
  const records = restoredRecords(work, partition, [...changed])
  for await (const { version, strings } of byVersion(records, content, forgotten))
    reloaded.set(version, await reload(work, content, strings, join(folder, String(version))))
  return hasOwnVersions(partition)
    ? withIntervals(work, partition, reloaded, folder)
    : (reloaded.get(partition.version) ?? new Map())
}

/** Rows of each table that a partition names, or has files of. */
const rowsOf = (
  { counts }: CommittedPartition,
  files: readonly FileEntry[],
): CommittedPartition['counts']['rows'] =>
  Object.fromEntries(
    [...new Set([...Object.keys(counts.rows), ...files.map(({ table }) => table)])].map((table) => [
      table,
      files.filter((file) => file.table === table).reduce((sum, { rows }) => sum + rows, 0),
    ]),
  )

/** The places of records that go, among all records of the partition; of a partition of one file. */
const placesOf = (content: string, files: readonly HeldFile[], { removed }: Held): readonly number[] =>
  files
    .filter(({ table }) => table.name === content)
    .flatMap(({ owners }) => [...owners].flatMap(([id, place]) => (removed.has(id) ? [place] : [])))

/** A partition whose tables were written again. */
interface RewrittenRows {
  readonly partition: CommittedPartition
  readonly written: readonly FileEntry[]
}

/** The partition's drift, which may stand elsewhere, stays. @param files of it that hold rows of theirs */
export const rewritePartition = async (
  work: ForgetWork,
  sink: SinkRun,
  partition: CommittedPartition,
  held: Held,
  files: readonly HeldFile[],
  forgotten: ForgottenEntities,
): Promise<RewrittenRows> => {
  const { content, source, sources } = partition
  const { changed } = held
  const folder = freshFolder(work, 'reloaded')
  const again = await reloadChanged(work, partition, held, forgotten, folder)
  const { receipts, added } = await rewriteFiles(work, sink, partition, files, held, again)
  await removeIfThere(folder)
  const left = [...partition.files.map((file) => receipts.get(file.path)?.files[0] ?? file), ...added]
  const places = placesOf(content, files, held)
  const observed = observedOf(content, [...receipts.values()])
  const isRanged = !isCompaction(source) && receipts.size > 0 && places.length + changed.size > 0
  return {
    written: [...[...receipts.values()].flatMap((receipt) => receipt.files), ...added],
    partition: {
      ...partition,
      ...(sources && { sources: withoutRecords(sources, places) }),
      range: { ...partition.range, ...(isRanged && { observed }) },
      counts: {
        ...filteredFrom(partition.counts, 'records', places.length),
        rows: rowsOf(partition, left),
      },
      files: left,
    },
  }
}

/** A file that holds rows of theirs. */
interface HeldFile {
  readonly file: FileEntry
  readonly table: Table
  /** Rows that go, or stand in a record that is written again. */
  readonly rows: number
  /** Columns that get other values, as DuckDB's list of replacements. */
  readonly replace?: string | undefined
  /** The records, and where the first row of each stands in the file, from 0. */
  readonly owners: ReadonlyMap<bigint, number>
}

const TOUCHED = `${HIDDEN_SCHEMA}.touched`

const fileSql = (paths: readonly string[]): string => readParquet(pathsSql(paths), 'union_by_name = true')

/** Tables whose rows say nothing of others: that a company is not listed any more, and which versions a record had. */
const isOfIds = (table: Table): boolean =>
  table === LISTINGS || (table.content !== undefined && table.name === versionsTable(table.content).name)

/** Rows that go or come again. */
const touchedOf = (table: Table): string => (isOfIds(table) ? COMPANY_IDS : TOUCHED)

const tablesIn = ({ content }: CommittedPartition): readonly Table[] => [
  ...tablesOf(content),
  ...historyTablesOf(content),
  ...(content === LISTINGS.content ? [LISTINGS] : []),
]

/** Searches in rows of listings that tell of the forgotten, as what they become. */
const searchesOf = async (
  { session }: ForgetWork,
  path: string,
  identifiers: Identifiers,
): Promise<string | undefined> => {
  const rows = await session.rows(`SELECT DISTINCT search FROM ${fileSql([path])} WHERE search IS NOT NULL`)
  const cases = rows.flatMap(({ search }) => {
    const [before, after] = [String(search), cleanSearchText(String(search), identifiers)]
    return before === after ? [] : [`WHEN ${literal(before)} THEN ${literal(after)}`]
  })
  return cases.length === 0 ? undefined : `CASE search ${cases.join(' ')} ELSE search END AS search`
}

/** The files of a partition that hold rows of some records, and how many. */
export const findFiles = async (
  work: ForgetWork,
  partition: CommittedPartition,
  { removed, changed }: Held,
  identifiers: Identifiers,
): Promise<readonly HeldFile[]> => {
  const { session, signal } = work
  await makeIdTable(session, TOUCHED, [...removed, ...changed])
  const found: HeldFile[] = []
  for (const table of tablesIn(partition))
    for (const file of partition.files.filter((one) => one.table === table.name && one.rows > 0)) {
      signal?.throwIfAborted()
      const [rows, replace] = await withLakeFiles(work, [file], async (placeOf) => [
        await session.rows(`SELECT ${table.owner} AS owner, count(*) AS rows, min(file_row_number) AS at
FROM ${readParquet(pathSql(placeOf(file.path)), 'file_row_number = true')}
WHERE ${table.owner} IN (FROM ${touchedOf(table)}) GROUP BY ALL`),
        table === LISTINGS ? await searchesOf(work, placeOf(file.path), identifiers) : undefined,
      ])
      if (rows.length === 0 && replace === undefined) continue
      found.push({
        ...{ file, table, replace },
        rows: rows.reduce((sum, one) => sum + Number(one.rows), 0),
        owners: new Map(rows.map(({ owner, at }) => [BigInt(String(owner)), Number(at)])),
      })
    }
  return found
}

/** Name of a file without its ending: unlike that of any other of its table. */
const nameOf = ({ path }: FileEntry): string => basename(path).replace(/\.[^.]*$/, '')

interface RewrittenFiles {
  /** Receipts of what was written in the place of each, by its path. */
  readonly receipts: ReadonlyMap<string, Receipt>
  /** Rows of tables of which no file held any of the records before: what was one row may be two now. */
  readonly added: readonly FileEntry[]
}

/**
 * Writes the files again.
 *
 * @param reloaded files on this machine with what is left of the changed records, by table
 */
const rewriteFiles = async (
  work: ForgetWork,
  sink: SinkRun,
  partition: CommittedPartition,
  held: readonly HeldFile[],
  { removed, changed }: Held,
  reloaded: ReadonlyMap<string, readonly string[]>,
): Promise<RewrittenFiles> => {
  const { session, signal } = work
  const isCompacted = isCompaction(partition.source)
  const write = (name: string, table: Table, rows: string): Promise<Receipt> =>
    sink.write(name, table.name, rowsWithIds(hasOwnVersions(partition), table, session.relation(rows)))
  await makeIdTable(session, TOUCHED, [...removed, ...changed])
  const written = new Map<string, Receipt>()
  /** Records whose rest is written: one may stand in two files of a compaction. */
  const placed = new Set<string>()
  for (const { file, table, owners, replace } of held) {
    signal?.throwIfAborted()
    const own = [...owners.keys()].filter((id) => changed.has(id) && !placed.has(`${table.name} ${id}`))
    for (const id of own) placed.add(`${table.name} ${id}`)
    const rest = reloaded.get(table.name) ?? []
    const owner = ident(table.owner ?? '')
    const again =
      own.length > 0 && rest.length > 0
        ? `\nUNION ALL BY NAME SELECT * FROM ${fileSql(rest)} WHERE ${owner} IN (${own.join(', ')})`
        : ''
    // Files of a compaction stand in an order that readers rely on, and what goes does not disturb.
    const order = isCompacted && again !== '' ? ` ORDER BY ${compactOrder(table).map(ident).join(', ')}` : ''
    const receipt = await withLakeFiles(work, [file], (placeOf) => {
      const columns = replace === undefined ? '*' : `* REPLACE (${replace})`
      const kept = `SELECT ${columns} FROM ${fileSql([placeOf(file.path)])} WHERE ${owner} NOT IN (FROM ${touchedOf(table)})`
      return write(nameOf(file), table, `SELECT * FROM (${kept}${again})${order}`)
    })
    written.set(file.path, receipt)
  }
  const added: FileEntry[] = []
  for (const table of hasOwnVersions(partition) ? tablesIn(partition) : []) {
    const owner = ident(table.owner ?? '')
    const done = [...changed].filter((id) => placed.has(`${table.name} ${id}`))
    const left = (reloaded.get(table.name) ?? []).map(
      (path) => `SELECT * FROM ${fileSql([path])} WHERE ${owner} NOT IN (${[...done, -1n].join(', ')})`,
    )
    if (left.length === 0) continue
    const rows = `${left.join('\nUNION ALL ')} ORDER BY ${compactOrder(table).map(ident).join(', ')}`
    const receipt = await write(`${partition.id}-${table.name}`, table, rows)
    if (receipt.rows > 0) added.push(...receipt.files)
  }
  return { receipts: written, added }
}

/** Rows that are written with the ids of all their columns. */
const rowsWithIds = (hasFirstVersions: boolean, table: Table, rows: TableRows): TableRows =>
  hasFirstVersions && TABLES.includes(table) ? withIdsOf(withFirstVersion(table), rows) : rows
