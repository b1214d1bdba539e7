/** Exports tables of a lake's snapshot, or the answer to a query, to files, a folder, a database or a stream. */

import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { ToolkitError } from '../core/errors.ts'
import type { FileEntry } from '../core/partition.ts'
import type { AroundFetch } from '../lake/lake-views.ts'
import { type LakeQuery, openLakeQuery } from '../lake/query.ts'
import { ident } from '../lake/sql.ts'
import { TABLES } from '../lake/tables.ts'
import { readSnapshot } from '../manifest/snapshots.ts'
import type { FetchOptions } from '../storage/storage.ts'
import { newRunId } from '../support/run-ids.ts'
import { databaseSink, type FileFormat, type TargetAddress } from './choose-sink.ts'
import { checkTarget, openWorkshop, type Workshop, writeRows } from './export-files.ts'
import { type StreamFormat, streamRows } from './export-stream.ts'

export type ExportTarget =
  | TargetAddress
  | { readonly kind: 'stream'; readonly format: StreamFormat; readonly stream: Writable }

export interface ExportProgress {
  readonly table: string
  /** Tables finished, and in all. */
  readonly tablesDone: number
  readonly tables: number
  /** Rows of finished tables (of a stream: rows so far), and bytes written so far. */
  readonly rows: number
  readonly bytes: number
}

export interface ExportOptions {
  readonly lake: string
  readonly to: ExportTarget
  /** Tables to export. @default all; with `sql` its one name is that of the answer */
  readonly tables?: readonly string[] | undefined
  /** One SELECT over the views of the lake, in place of its tables. */
  readonly sql?: string | undefined
  /** All versions of each record in place of the current ones. @default false */
  readonly history?: boolean | undefined
  /** @default the newest */
  readonly snapshot?: number | undefined
  /** Replaces files that are there. Databases are always brought in step. @default false */
  readonly overwrite?: boolean | undefined
  /** CSV safe for spreadsheets. @default true */
  readonly neutralise?: boolean | undefined
  /** DuckDB's memory, in bytes. */
  readonly memoryBytes: number
  readonly threads?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: ExportProgress) => void) | undefined
  /** How far the fetch of a lake's files from a bucket is; several times, as tables are asked for. */
  readonly onFetch?: FetchOptions['onProgress']
}

export interface ExportedTable {
  readonly table: string
  readonly rows: number
  /** Of the file; absent where there is none. */
  readonly bytes?: number
  readonly path?: string
}

export interface ExportSummary {
  readonly snapshot: number
  readonly tables: readonly ExportedTable[]
  /** What a person should know: characters that a database could not hold. */
  readonly warnings: readonly string[]
}

/** What is exported under which name. */
interface Export {
  readonly name: string
  readonly sql: string
  /** The table whose rows these are. */
  readonly table?: string
}

const ANSWER = 'export'

/** @throws {ToolkitError} `USAGE` */
const exportsOf = ({ tables, sql, history = false }: ExportOptions): readonly Export[] => {
  if (sql !== undefined) return [{ name: tables?.[0] ?? ANSWER, sql }]
  const names = TABLES.map(({ name }) => name)
  const unknown = tables?.find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw new ToolkitError('USAGE', `Cannot export table "${unknown}": the lake has ${names.join(', ')}`)
  return [...new Set(tables ?? names)].map((table) => {
    const name = history ? `${table}_history` : table
    return { name, table, sql: `SELECT * FROM ${ident(name)}` }
  })
}

/** What needs exactly one relation. @throws {ToolkitError} `USAGE` */
const onlyOne = (exports: readonly Export[]): Export => {
  const [one, ...others] = exports
  if (one !== undefined && others.length === 0) return one
  throw new ToolkitError(
    'USAGE',
    `Cannot export ${exports.length} tables to one file: give one --table, --sql, or a folder such as csv:DIR`,
  )
}

/** A file of the target. */
interface OutFile {
  readonly export: Export
  readonly path: string
  readonly format: FileFormat
}

/** A bucket takes runs (`--sink`); files are put into place by the file system. @throws {ToolkitError} TARGET_REFUSED */
const localFolder = (directory: string): string => {
  if (!directory.includes('://')) return resolve(directory)
  throw new ToolkitError(
    'TARGET_REFUSED',
    `Cannot export to "${directory}": expected a folder of this machine`,
  )
}

const outFiles = (
  to: Extract<TargetAddress, { kind: 'file' | 'folder' }>,
  exports: readonly Export[],
): readonly OutFile[] =>
  to.kind === 'file'
    ? [{ export: onlyOne(exports), path: resolve(to.path), format: to.format }]
    : exports.map((one) => ({
        export: one,
        path: join(localFolder(to.directory), `${one.name}.${to.format}`),
        format: to.format,
      }))

/** Where unfinished files stand: on the disk of the target, so that they can be moved. */
const workFolder = (to: TargetAddress): string => {
  switch (to.kind) {
    case 'file':
      return dirname(resolve(to.path))
    case 'folder':
      return resolve(to.directory)
    case 'duckdb':
      return dirname(resolve(to.file))
    case 'postgres':
      return tmpdir()
  }
}

interface Exporting extends ExportOptions {
  readonly query: LakeQuery
  readonly exports: readonly Export[]
  /** Tells how far it is. */
  readonly tell: (now: {
    readonly table: string
    readonly done: readonly ExportedTable[]
    readonly bytes: number
  }) => void
}

const BETWEEN_LOOKS_MS = 200

/** Looks now and then how much the work has written. */
const whileWriting = async <T>(
  workshop: Workshop,
  onBytes: (bytes: number) => void,
  work: () => Promise<T>,
): Promise<T> => {
  const timer = setInterval(() => {
    workshop.bytes().then(onBytes, () => undefined)
  }, BETWEEN_LOOKS_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

const toFiles = async (
  files: readonly OutFile[],
  workshop: Workshop,
  { query, neutralise, overwrite = false, signal, tell }: Exporting,
): Promise<readonly ExportedTable[]> => {
  const done: ExportedTable[] = []
  const staged = ({ export: { name } }: OutFile): string => join(workshop.folder, name)
  for (const file of files) {
    signal?.throwIfAborted()
    const { name, sql, table } = file.export
    const onBytes = (bytes: number): void => tell({ table: name, done, bytes })
    onBytes(0)
    const written = await whileWriting(workshop, onBytes, async () =>
      writeRows(staged(file), file.format, await query.relation(sql), { neutralise, table }),
    )
    done.push({ table: name, rows: written.rows, bytes: written.bytes, path: file.path })
  }
  signal?.throwIfAborted()
  for (const file of files) await workshop.place(staged(file), file.path, overwrite)
  return done
}

const toDatabase = async (
  to: Extract<TargetAddress, { kind: 'duckdb' | 'postgres' }>,
  workshop: Workshop,
  { query, exports, memoryBytes, signal, tell }: Exporting,
): Promise<Pick<ExportSummary, 'tables' | 'warnings'>> => {
  const sink = await databaseSink(to, { staging: join(workshop.folder, 'staging'), memoryBytes })
  await sink.open(newRunId(new Date(), randomBytes))
  try {
    const done: ExportedTable[] = []
    const files: FileEntry[] = []
    for (const { name, sql } of exports) {
      signal?.throwIfAborted()
      const onBytes = (bytes: number): void => tell({ table: name, done, bytes })
      onBytes(0)
      const receipt = await whileWriting(workshop, onBytes, async () =>
        sink.write('export', name, await query.relation(sql)),
      )
      files.push(...receipt.files)
      done.push({ table: name, rows: receipt.rows })
    }
    signal?.throwIfAborted()
    await sink.commit(files)
    return { tables: done, warnings: sink.warnings ?? [] }
  } catch (error) {
    await sink.abort().catch(() => undefined)
    throw error
  }
}

const toStream = async (
  { stream, format }: Extract<ExportTarget, { kind: 'stream' }>,
  { query, exports, neutralise, signal, onProgress }: Exporting,
): Promise<readonly ExportedTable[]> => {
  const { name, sql, table } = onlyOne(exports)
  const rows = await streamRows(stream, format, await query.relation(sql), {
    neutralise,
    table,
    signal,
    onProgress: (count, bytes) => onProgress?.({ table: name, tablesDone: 0, tables: 1, rows: count, bytes }),
  })
  return [{ table: name, rows }]
}

/** DuckDB's memory for reading where a second one loads the target at the same time. */
const shared = (to: ExportTarget, memoryBytes: number): number =>
  to.kind === 'duckdb' ? Math.floor(memoryBytes / 2) : memoryBytes

/** Opens the snapshot for the export, and closes it in every case; a signal stops what runs. */
const withQuery = async <T>(
  options: ExportOptions,
  outFolder: string | undefined,
  use: (query: LakeQuery, snapshot: number) => Promise<T>,
): Promise<T> => {
  const { lake, memoryBytes, threads, signal, onFetch: onProgress } = options
  const snapshot = await readSnapshot(lake, options.snapshot)
  const aroundFetch: AroundFetch = (fetch) => fetch({ signal, onProgress })
  const query = await openLakeQuery({ lake, snapshot, memoryBytes, threads, outFolder, aroundFetch })
  const stop = (): void => query.interrupt()
  signal?.addEventListener('abort', stop)
  try {
    return await use(query, snapshot.snapshot)
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', stop)
    query.close()
  }
}

/**
 * Exports a snapshot. A file is seen when it is whole; until the end an older one stands. A database shows all of it
 * or nothing.
 *
 * @throws {ToolkitError} `USAGE`, `TARGET_REFUSED`, `TARGET_FAILED`, `QUERY_REFUSED`, `QUERY_FAILED`, `DISK_FULL`,
 *   `WRITE_FAILED`, and what reading the lake throws; the signal's reason when it is stopped
 */
export const exportLake = async (options: ExportOptions): Promise<ExportSummary> => {
  const { to, overwrite = false } = options
  const exports = exportsOf(options)
  const memoryBytes = shared(to, options.memoryBytes)
  const tell: Exporting['tell'] = ({ table, done, bytes }) =>
    options.onProgress?.({
      table,
      tablesDone: done.length,
      tables: exports.length,
      rows: done.reduce((sum, { rows }) => sum + rows, 0),
      bytes,
    })
  const parts = { ...options, memoryBytes, exports, tell }
  if (to.kind === 'stream') {
    onlyOne(exports)
    return withQuery(parts, undefined, async (query, snapshot) => ({
      snapshot,
      tables: await toStream(to, { ...parts, query }),
      warnings: [],
    }))
  }
  const files = to.kind === 'file' || to.kind === 'folder' ? outFiles(to, exports) : []
  for (const { path } of files) await checkTarget(path, overwrite)
  // Before anything is made beside the target, where the lake may be missing.
  await readSnapshot(options.lake, options.snapshot)
  const workshop = await openWorkshop(workFolder(to))
  try {
    return await withQuery(parts, workshop.folder, async (query, snapshot) => {
      const exporting = { ...parts, query }
      const result =
        to.kind === 'file' || to.kind === 'folder'
          ? { tables: await toFiles(files, workshop, exporting), warnings: [] }
          : await toDatabase(to, workshop, exporting)
      return { snapshot, ...result }
    })
  } finally {
    await workshop.remove()
  }
}
