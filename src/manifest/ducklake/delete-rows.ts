/**
 * The superseded rows of current tables, as positions in their files with the snapshot from which on they are deleted. They stand
 * in the catalog itself; where a table has very many of them, in a file for each of its data files, as every query reads them.
 */

import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolkitError } from '../../core/errors.ts'
import { ident, literal, pathSql, pathsSql, readParquet } from '../../lake/duckdb/sql.ts'
import { type PlaceOf, withFiles } from '../../lake/files/fetch-tables.ts'
import { deleteFilePath } from '../../lake/files/layout.ts'
import type { Table } from '../../lake/tables/tables.ts'
import { recordKey, versionFacts, versionFilesOf } from '../../lake/views/current-versions.ts'
import { storageOf } from '../../storage/open-storage.ts'
import type { FileFacts } from '../../storage/storage.ts'
import { sha256Of } from '../../support/hash.ts'
import { FILE_TABLES, type FileTable, inlinedDeletes } from './catalog-layout.ts'
import { insertRows } from './catalog-tables.ts'
import { VERSION_BITS } from './catalog-views.ts'
import { NEW_FILES } from './file-rows.ts'
import { eachPlaced } from './placed-files.ts'
import type { StatementQueue } from './statement-queue.ts'
import type { Step } from './step-entries.ts'

/** Above it the deletes of a table move into files: each query of the table reads 60 bytes of each. */
const MOST_INLINED = 100_000
/** Files that are joined at once. */
const FILES_AT_ONCE = 64

const FRESH = 'temp.fresh'
/** A variable: between which keys those of that table are. Of a table that is not committed DuckDB does not know it, and reads all rows. */
const FRESH_RANGE = 'fresh_range'

/** Folders of this machine: for copies of the lake's files, and for what is being made. */
export interface WorkFolders {
  readonly scratch: string
  readonly folder: string
}

type CurrentTable = FileTable & { readonly current: number }
const CURRENT_TABLES = FILE_TABLES.filter((one): one is CurrentTable => one.current !== undefined)

/** Tables whose rows say which of others are current, each with these; a dictionary says it of its own. */
const GROUPS = Map.groupBy(CURRENT_TABLES, ({ table }) => table.content ?? table.name)

/**
 * Puts what a snapshot supersedes into the catalog.
 *
 * @param mostInlined deletes of a table that stand in the catalog itself
 * @returns the ids of the tables whose files have new deletes
 */
export const insertDeletes = async (
  statements: StatementQueue,
  step: Step,
  folders: WorkFolders,
  mostInlined = MOST_INLINED,
): Promise<readonly number[]> => {
  const touched: number[] = []
  for (const [main, tables] of GROUPS) {
    const key = tables.find(({ table }) => table.name === main)
    const files = key && (await touchedFiles(statements, step, key, tables, folders))
    if (files === undefined) continue
    for (const one of tables) {
      const own = files.get(one.current)
      if (own === undefined) continue
      await insertPositions(statements, step, one, own)
      touched.push(one.current)
    }
  }
  if (touched.length > 0) await endEmptied(statements, step, touched)
  await statements.run(`UPDATE ducklake_delete_file SET end_snapshot = ${step.after.snapshot} WHERE end_snapshot IS NULL
  AND data_file_id IN (SELECT data_file_id FROM ducklake_data_file WHERE end_snapshot = ${step.after.snapshot})`)
  if (touched.length > 0)
    for (const current of await overfull(statements, touched, mostInlined))
      await moveIntoFiles(statements, step.lake, current, folders)
  return touched
}

/** Makes the table of keys that were superseded since the snapshot before, and of all in new files; and says where these begin and end. */
const freshSql = (
  { before, after }: Step,
  table: Table,
  listed: readonly FileFacts[],
  placeOf: PlaceOf,
): string => {
  const keys = recordKey(table).map((name, at) => `${ident(name)} AS k${at}`)
  // A compaction supersedes nothing in the files that it leaves: a next version is another number for what it has put together.
  const isFresh = after.pipeline === 'compact' ? '' : `next >= ${before?.nextVersion ?? 0} OR `
  return `CREATE OR REPLACE TEMP TABLE fresh AS SELECT ${keys.join(', ')}, version
FROM ${readParquet(pathsSql(listed.map(({ path }) => placeOf(path))))}
WHERE ${isFresh}version IN (SELECT version FROM ${NEW_FILES});
SET VARIABLE ${FRESH_RANGE} = (SELECT [min(k0), max(k0)] FROM ${FRESH})`
}

interface TouchedFile {
  readonly id: number
  readonly path: string
  readonly version: number
}

/** The files that have rows of superseded versions, by table. @param key table whose rows say which are superseded */
const touchedFiles = async (
  statements: StatementQueue,
  step: Step,
  { table }: FileTable,
  tables: readonly CurrentTable[],
  { scratch }: WorkFolders,
): Promise<ReadonlyMap<number, readonly TouchedFile[]> | undefined> => {
  const listed = versionFacts(versionFilesOf(step.after, 'superseded', table))
  if (listed.length === 0) return
  // A list that is damaged says so: it is small, and what it says cannot be seen in the rows.
  const rows = await withFiles(step.lake, listed, join(scratch, 'versions'), {}, async (placeOf) => {
    await statements.run(freshSql(step, table, listed, placeOf))
    return statements.rows(
      `SELECT table_id, data_file_id AS id, path, row_id_start >> ${VERSION_BITS} AS version FROM ducklake_data_file
WHERE table_id IN (${tables.map(({ current }) => current).join(', ')}) AND end_snapshot IS NULL
  AND row_id_start >> ${VERSION_BITS} IN (SELECT version FROM ${FRESH}) ORDER BY id`,
    )
  })
  const found = new Map<number, TouchedFile[]>()
  for (const { table_id, id, path, version } of rows) {
    const own = found.get(Number(table_id)) ?? []
    own.push({ id: Number(id), path: String(path), version: Number(version) })
    found.set(Number(table_id), own)
  }
  return found
}

/** Finds the superseded rows in the files of their versions. */
const insertPositions = async (
  statements: StatementQueue,
  { lake, after }: Step,
  { table, current }: CurrentTable,
  files: readonly TouchedFile[],
): Promise<void> => {
  const key = recordKey(table)
  const same = key.map((name, at) => `f.k${at} = r.${ident(name)}`).join(' AND ')
  const inRange = `${ident(key[0] ?? '')} BETWEEN getvariable('${FRESH_RANGE}')[1] AND getvariable('${FRESH_RANGE}')[2]`
  await eachPlaced(lake, files, FILES_AT_ONCE, async (some, placeOf) => {
    const of = (value: 'id' | 'version'): string =>
      `[${some.map((one) => one[value]).join(', ')}][file_index::BIGINT + 1]`
    await statements.run(`INSERT INTO ${inlinedDeletes(current)} SELECT r.id, r.pos, ${after.snapshot} FROM (
  SELECT ${key.map(ident).join(', ')}, file_row_number AS pos, ${of('id')} AS id, ${of('version')} AS version
  FROM ${readParquet(pathsSql(some.map(({ path }) => placeOf(path))), 'union_by_name = true', 'file_row_number = true')} WHERE ${inRange}
) AS r JOIN ${FRESH} AS f ON ${same} AND f.version = r.version`)
    if (storageOf(lake).isRemote) await statements.flush()
  })
}

/** Files whose rows are all deleted are shown no more, rather than read for nothing. */
const endEmptied = async (
  statements: StatementQueue,
  { before, after }: Step,
  touched: readonly number[],
): Promise<void> => {
  const { snapshot } = after
  const deletes = touched.map((current) => `SELECT file_id FROM ${inlinedDeletes(current)}`)
  const tables = await statements.rows(`CREATE OR REPLACE TEMP TABLE emptied AS
SELECT d.data_file_id AS id, d.table_id FROM ducklake_data_file AS d
JOIN (SELECT file_id, count(*) AS n FROM (${deletes.join(' UNION ALL ')}) GROUP BY file_id) AS i ON i.file_id = d.data_file_id
LEFT JOIN ducklake_delete_file AS f ON f.data_file_id = d.data_file_id
WHERE d.end_snapshot IS NULL AND d.record_count = i.n + coalesce(f.delete_count, 0);
SELECT DISTINCT table_id FROM temp.emptied`)
  if (tables.length === 0) return
  const isOne = 'IN (SELECT id FROM temp.emptied)'
  // Versions that no kept snapshot shows are skipped.
  const isNeverShown = before === null ? 'true' : `begin_snapshot >= ${snapshot}`
  for (const sql of [
    ...tables.map(
      ({ table_id }) =>
        `DELETE FROM ${inlinedDeletes(Number(table_id))} WHERE begin_snapshot = ${snapshot} AND file_id ${isOne}`,
    ),
    `DELETE FROM ducklake_data_file WHERE data_file_id ${isOne} AND ${isNeverShown}`,
    `UPDATE ducklake_data_file SET end_snapshot = ${snapshot} WHERE data_file_id ${isOne}`,
  ])
    await statements.run(sql)
}

/** Tables with more deletes in the catalog itself than may stand there. */
const overfull = async (
  statements: StatementQueue,
  touched: readonly number[],
  mostInlined: number,
): Promise<readonly number[]> => {
  const counts = touched.map(
    (current) => `SELECT ${current} AS id, count(*) AS n FROM ${inlinedDeletes(current)}`,
  )
  const found = await statements.rows(
    `SELECT id FROM (${counts.join(' UNION ALL ')}) WHERE n > ${mostInlined}`,
  )
  return found.map(({ id }) => Number(id))
}

/** Moves the deletes of a table into files. */
const moveIntoFiles = async (
  statements: StatementQueue,
  lake: string,
  current: number,
  folders: WorkFolders,
): Promise<void> => {
  const files = await statements.rows(
    `SELECT d.data_file_id AS id, any_value(d.path) AS path, any_value(d.end_snapshot) AS end_snapshot, any_value(f.path) AS older
FROM ${inlinedDeletes(current)} AS i JOIN ducklake_data_file AS d ON d.data_file_id = i.file_id
LEFT JOIN ducklake_delete_file AS f ON f.data_file_id = d.data_file_id GROUP BY d.data_file_id ORDER BY id`,
  )
  for (const { id, path, end_snapshot, older } of files) {
    const own = `SELECT row_id AS pos, begin_snapshot AS since FROM ${inlinedDeletes(current)} WHERE file_id = ${id}`
    const write = (rows: string): Promise<object> =>
      writeDeleteFile(statements, lake, String(path), rows, folders)
    const facts =
      older === null
        ? await write(own)
        : await readDeletes(lake, String(older), (local) =>
            write(`${own} UNION ALL SELECT pos, _ducklake_internal_snapshot_id
FROM ${readParquet(pathSql(local))}`),
          )
    // There is one for each data file: two of them would delete twice.
    await statements.run(`DELETE FROM ducklake_delete_file WHERE data_file_id = ${id}`)
    const row = { delete_file_id: id, data_file_id: id, table_id: current, end_snapshot, ...facts }
    await statements.run(insertRows('delete_file', [{ ...row, path_is_relative: true, format: 'parquet' }]))
  }
  await statements.run(`DELETE FROM ${inlinedDeletes(current)}`)
}

/** Reads a file of deletes. @throws {ToolkitError} `LAKE_DAMAGED`: DuckDB would read other bytes without a word */
const readDeletes = async <T>(lake: string, path: string, use: (local: string) => Promise<T>): Promise<T> => {
  const read = await storageOf(lake).examine(path, {}, async ({ sha256 }, local) =>
    deleteFilePath(sha256) === path ? ([await use(local)] as const) : null,
  )
  if (read !== null) return read[0]
  throw new ToolkitError('LAKE_DAMAGED', `Cannot read "${path}": it is missing or not what was written`, {
    path,
  })
}

/** Puts a file of deletes into its place. What stands there and is not its bytes is damaged. */
const placeDeletes = async (lake: string, path: string, bytes: Buffer): Promise<void> => {
  const storage = storageOf(lake)
  if (await storage.create(path, bytes)) return
  if (!(await storage.read(path).catch(() => null))?.equals(bytes)) await storage.replace(path, bytes)
}

/** Writes a file of deletes, which is named after its bytes. */
const writeDeleteFile = async (
  statements: StatementQueue,
  lake: string,
  dataPath: string,
  rows: string,
  { folder }: WorkFolders,
): Promise<object> => {
  const local = join(folder, 'deletes.parquet')
  await statements.copy(
    `SELECT ${literal(dataPath)} AS file_path, pos, since AS _ducklake_internal_snapshot_id FROM (${rows}) ORDER BY pos`,
    local,
  )
  const [facts] = await statements.rows(
    `SELECT count(*) AS n, min(_ducklake_internal_snapshot_id) AS least, max(_ducklake_internal_snapshot_id) AS greatest
FROM ${readParquet(pathSql(local))}`,
  )
  const bytes = await readFile(local)
  await rm(local, { force: true })
  const path = deleteFilePath(sha256Of(bytes))
  await placeDeletes(lake, path, bytes)
  return {
    ...{ path, file_size_bytes: bytes.length, delete_count: facts?.n },
    ...{ begin_snapshot: facts?.least, partial_max: facts?.greatest },
  }
}
