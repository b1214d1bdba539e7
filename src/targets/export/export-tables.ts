/** Exports tables of a lake's snapshot, or the answer to a query, to files, a folder, a database or a stream. */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { orInterrupted } from '../../core/errors.ts'
import { besideTarget, queryMemory } from '../../core/memory-shares.ts'
import type { FileEntry } from '../../core/partition.ts'
import type { TableRows } from '../../core/sink.ts'
import { interruptOn } from '../../lake/duckdb/stoppable.ts'
import { RATES_PATH } from '../../lake/files/layout.ts'
import type { CompiledProjection } from '../../lake/projection/compile-projection.ts'
import type { ComputedColumn } from '../../lake/projection/computed-columns.ts'
import { HASH } from '../../lake/projection/hash-key.ts'
import type { KeptTake } from '../../lake/projection/projection.ts'
import { type LakeQuery, openLakeQuery } from '../../lake/query/lake-query.ts'
import { withAllCompanies } from '../../lake/views/current-versions.ts'
import type { AroundFetch } from '../../lake/views/lake-views.ts'
import { computedOfLake, takenText } from '../../manifest/form/projections.ts'
import { readLakeId } from '../../manifest/snapshots/lake-id.ts'
import { readFactsOf } from '../../manifest/snapshots/read-facts.ts'
import { readTableListed, type SnapshotRoot } from '../../manifest/snapshots/snapshot-root.ts'
import { readRoot } from '../../manifest/snapshots/snapshots.ts'
import type { Read } from '../../options/entry.ts'
import { EXPORT } from '../../options/export.ts'
import type { ExportOptions } from '../../options/interfaces.ts'
import { job } from '../../options/job.ts'
import { exportName, shownText } from '../../sink/export-names.ts'
import type { FileFormat } from '../../sink/file-format.ts'
import { DATABASES, FILE_FORMATS, needsOneThread, type StreamFormatName } from '../../sink/targets.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { sha256Of } from '../../support/hash.ts'
import { VERSION } from '../../support/own-package.ts'
import { lostRuns } from '../lost-runs.ts'
import { readAddress, refuseLakeFile, type TargetAddress } from '../open-sink.ts'
import { layerOnTarget } from '../target-rows.ts'
import { byRanges, takenExports } from './export-rows.ts'
import {
  checkExport,
  type Export,
  exportsOf,
  exportWorkFolder,
  isDatabaseFile,
  type OutFile,
  onlyOne,
  refuseCsvOptions,
  withTableOfFile,
} from './plan-exports.ts'
import { openWorkshop, type Workshop } from './write-rows.ts'

export type ExportTarget =
  | TargetAddress
  | { readonly kind: 'stream'; readonly format: StreamFormatName; readonly stream: Writable }

export interface ExportProgress {
  readonly table: string
  /** Tables finished, and in all. */
  readonly tablesDone: number
  readonly tables: number
  /** Rows of finished tables (of a stream: rows so far), and bytes written so far. */
  readonly rows: number
  readonly bytes: number
  /** How much of the rows is written, by the bytes that the tables have in the lake, 0 to 1; of a statement by how far DuckDB is. */
  readonly share?: number
  /** Whether all rows are written and a database loads them now. */
  readonly loading?: boolean
}

export interface ExportedTable {
  readonly table: string
  readonly rows: number
  /** Length of the file; absent where there is none. */
  readonly bytes?: number
  readonly path?: string
}

/** Tables that an export wrote. */
export interface ExportSummary {
  readonly snapshot: number
  readonly tables: readonly ExportedTable[]
  /** Whether a database held the same before, so that nothing was written. */
  readonly already?: true
  /** Warnings for a person: characters that a database, texts that a cell could not hold, rows on further sheets. */
  readonly warnings: readonly string[]
}

type Asked = Read<ExportOptions, typeof EXPORT>

interface Exporting extends Asked {
  readonly query: LakeQuery
  readonly exports: readonly Export[]
  readonly compiled: CompiledProjection | undefined
  readonly declared: KeptTake
  /** Further columns that the lake's tables have. */
  readonly computed: readonly ComputedColumn[]
  /** Reports progress. */
  readonly report: (now: {
    readonly table: string
    readonly done: readonly ExportedTable[]
    readonly bytes: number
    /** How much of this table's rows is written, 0 to 1. */
    readonly share?: number
    readonly loading?: boolean
  }) => void
}

const BETWEEN_LOOKS_MS = 200

/** Polls how much the work has written. */
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
  { query, neutralise, delimiter, bom, overwrite = false, signal, report }: Exporting,
): Promise<Pick<ExportSummary, 'tables' | 'warnings'>> => {
  const done: ExportedTable[] = []
  const warnings: string[] = []
  const staged = ({ exports: [{ name }] }: OutFile): string => join(workshop.folder, name)
  for (const file of files) {
    const { write, writeAll }: FileFormat = await FILE_FORMATS[file.format].load()
    const [first] = file.exports
    let current = first.name
    // Rows of tables before it in the same file are counted when the file is whole.
    let before: readonly ExportedTable[] = done
    const progress = (bytes: number): void =>
      report({ table: current, done: before, bytes, share: query.progress() })
    const open = async ({ name, sql }: Export): Promise<TableRows> => {
      signal?.throwIfAborted()
      if (name !== current) before = [...before, { table: current, rows: 0 }]
      current = name
      progress(0)
      return query.relation(await byRanges(query, sql))
    }
    const { table, name } = first
    const written = await whileWriting(workshop, progress, async () =>
      writeAll === undefined
        ? [await write(staged(file), await open(first), { neutralise, delimiter, bom, table, name })]
        : writeAll(
            staged(file),
            file.exports.map((one) => ({ name: one.name, open: () => open(one) })),
          ),
    )
    file.exports.forEach((one, at) => {
      const { rows = 0, bytes = 0, warnings: own = [] } = written[at] ?? {}
      done.push({ table: one.name, rows, bytes, path: file.path })
      warnings.push(...own)
    })
  }
  signal?.throwIfAborted()
  for (const file of files) await workshop.place(staged(file), file.path, overwrite)
  return { tables: done, warnings }
}

/**
 * Names an export by all that its rows follow from, and by the runs that the database showed before it: where one of these is
 * the export itself with the others before it, nothing has come since.
 */
const exportId = ({ lake, root, about }: Content, before: Iterable<string>): string =>
  exportName(lake, root, sha256Of(JSON.stringify([about, ...[...before].sort()])))

/** Everything that the rows of whole tables follow from. */
interface Content {
  readonly lake: string
  readonly root: SnapshotRoot
  readonly about: string
}

const isShown = (content: Content, runs: ReadonlySet<string>): boolean =>
  [...runs].some(
    (one) =>
      one ===
      exportId(
        content,
        [...runs].filter((other) => other !== one),
      ),
  )

/** The content of an export; `undefined` for rows that may be others each time, such as an answer's. */
const contentOf = async (
  { lake, exports, sql, all = false, compiled, declared, computed }: Omit<Exporting, 'query'>,
  root: SnapshotRoot,
  id: string | null,
): Promise<Content | undefined> => {
  const isPlain = sql === undefined && compiled === undefined && Object.keys(declared).length === 0
  if (id === null || !isPlain || computed.length > 0) return undefined
  const rates = await storageOf(lake).read(RATES_PATH)
  const tables = exports.map(({ name, sql: rows }) => [name, rows])
  return { lake: id, root, about: JSON.stringify([VERSION, all, tables, rates && sha256Of(rates)]) }
}

const toDatabase = async (
  to: Extract<TargetAddress, { kind: 'database' }>,
  workshop: Workshop,
  exporting: Exporting,
): Promise<Pick<ExportSummary, 'tables' | 'warnings' | 'already'>> => {
  const { lake, snapshot, query, exports, memoryBytes, signal, report, declared } = exporting
  const { adopt = false, overwrite = false } = exporting
  const { sink: open } = await DATABASES[to.database].load()
  const sink = open(to.at)
  const root = await readRoot(lake, snapshot)
  const layer = layerOnTarget(lake, root)
  const taken = takenText(root, declared)
  const staging = join(workshop.folder, 'staging')
  const lent = { staging, memoryBytes, signal, what: 'the export', layer, taken }
  // A database that cannot be reached is reported before the rows are written, which takes long.
  const id = await readLakeId(lake)
  const warnings: string[] = []
  const lost = lostRuns(lake, id)
  const onAnew = (run: string): void => {
    warnings.push(`The database showed ${shownText(run)}, which the lake does not have: it was loaded anew`)
  }
  const claim = { lake: id, adopt, marks: false, lost, overwrite, onAnew }
  const shown = await sink.deliveredRuns({ ...lent, claim })
  const content = await contentOf(exporting, root, id)
  if (content !== undefined && !overwrite && isShown(content, shown))
    return { tables: [], warnings: [], already: true }
  const name =
    content === undefined ? exportName(id, root, randomBytes(8).toString('hex')) : exportId(content, shown)
  const run = await sink.open(name, { ...lent, anew: warnings.length > 0 })
  try {
    const done: ExportedTable[] = []
    const files: FileEntry[] = []
    for (const { name, sql } of exports) {
      signal?.throwIfAborted()
      const onBytes = (bytes: number): void => report({ table: name, done, bytes, share: query.progress() })
      onBytes(0)
      const receipt = await whileWriting(workshop, onBytes, async () =>
        run.write('export', name, await query.relation(await byRanges(query, sql))),
      )
      files.push(...receipt.files)
      done.push({ table: name, rows: receipt.rows })
    }
    signal?.throwIfAborted()
    report({ table: to.database, done, bytes: await workshop.bytes(), loading: true })
    await run.commit(files)
    return { tables: done, warnings: [...warnings, ...(run.warnings ?? [])] }
  } catch (error) {
    await run.abort().catch(() => undefined)
    throw error
  }
}

const toStream = async (
  { stream, format }: Extract<ExportTarget, { kind: 'stream' }>,
  { query, exports, neutralise, delimiter, bom, signal, onProgress }: Exporting,
): Promise<readonly ExportedTable[]> => {
  const { name, sql, table } = onlyOne(exports)
  const { stream: write } = await FILE_FORMATS[format].load()
  const rows = await write(stream, await query.relation(await byRanges(query, sql)), {
    ...{ neutralise, delimiter, bom, table, signal },
    onProgress: (count, bytes) =>
      onProgress?.({
        ...{ table: name, tablesDone: 0, tables: 1, rows: count, bytes },
        share: query.progress(),
      }),
  })
  return [{ table: name, rows }]
}

/** Opens the snapshot for the export, and closes it in every case; a signal stops what runs. */
const withQuery = async <T>(
  options: Omit<Exporting, 'query'>,
  outFolder: string | undefined,
  use: (query: LakeQuery, snapshot: number) => Promise<T>,
): Promise<T> => {
  const { lake, all = false, memoryBytes, threads, signal, onFetch: onProgress } = options
  const root = await readRoot(lake, options.snapshot)
  const aroundFetch: AroundFetch = (fetch) => fetch({ signal, onProgress })
  const query = await openLakeQuery({
    lake,
    snapshot: async (table, withMerged) => {
      const listed = await readTableListed(lake, root, table, withMerged)
      return all ? withAllCompanies(listed) : listed
    },
    facts: readFactsOf(lake, root),
    computed: options.computed,
    memoryBytes,
    threads,
    outFolder,
    aroundFetch,
    check: 'every-read',
    countsProgress: true,
    inOrder: true,
  })
  const exportEnded = interruptOn(query, signal)
  try {
    await query.prepare([HASH], async (session) => options.compiled?.prepare(session))
    return await orInterrupted('The export', signal, () => use(query, root.snapshot))
  } finally {
    exportEnded()
    query.close()
  }
}

const exported = async (options: Asked): Promise<ExportSummary> => {
  const to = typeof options.to === 'string' ? readAddress(options.to) : options.to
  refuseCsvOptions(to, options)
  const asked = exportsOf(withTableOfFile(to, options))
  const root = await readRoot(options.lake, options.snapshot)
  const computed = await computedOfLake(root)
  const { exports, take, declared, isJoined } = await takenExports(asked, computed, options)
  const total = queryMemory(options.memoryBytes)
  const memoryBytes = to.kind !== 'stream' && isDatabaseFile(to) ? besideTarget(total) : total
  const bytesOf = new Map(root.totals.tables.map(({ table, bytes }) => [table, bytes]))
  const weights = exports.map(({ table = '' }) => bytesOf.get(table) ?? 1)
  const sum = (some: readonly number[]): number => some.reduce((all, one) => all + one, 0)
  const report: Exporting['report'] = ({ table, done, bytes, share = 0, loading = false }) =>
    options.onProgress?.({
      table,
      tablesDone: done.length,
      tables: exports.length,
      rows: done.reduce((sum, { rows }) => sum + rows, 0),
      bytes,
      share: (sum(weights.slice(0, done.length)) + share * (weights[done.length] ?? 0)) / sum(weights),
      loading,
    })
  // When rows are joined, only one thread keeps their order.
  const threads = isJoined || ('format' in to && needsOneThread(to.format)) ? 1 : options.threads
  const parts = { ...options, threads, memoryBytes, exports, compiled: take, declared, computed, report }
  if (to.kind === 'stream') {
    onlyOne(exports)
    return withQuery(parts, undefined, async (query, snapshot) => ({
      snapshot,
      tables: await toStream(to, { ...parts, query }),
      warnings: [],
    }))
  }
  const files = await checkExport(to, exports, options)
  await refuseLakeFile(to, options.lake)
  const workshop = await openWorkshop(exportWorkFolder(to))
  try {
    return await withQuery(parts, workshop.folder, async (query, snapshot) => {
      const exporting = { ...parts, query }
      const result =
        to.kind === 'file' || to.kind === 'folder'
          ? await toFiles(files, workshop, exporting)
          : await toDatabase(to, workshop, exporting)
      return { snapshot, ...result }
    })
  } finally {
    await workshop.remove()
  }
}

/**
 * Exports the current versions of a snapshot's tables, or the answer to a SELECT, once. A file is seen when it is whole;
 * until the end an older one stands. A database shows all of it or nothing.
 *
 * @throws {ToolkitError} `USAGE`, `PROJECTION_INVALID`, `HASH_KEY_WRONG`, `TARGET_REFUSED`, `TARGET_AHEAD`, `TARGET_FAILED`, `QUERY_REFUSED`, `QUERY_FAILED`, `DISK_FULL`,
 *   `WRITE_FAILED`, and what reading the lake throws; `INTERRUPTED` when it is stopped
 * @example
 * import { convert, exportTables } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const { tables } = await exportTables({ lake: './lake', to: 'companies.csv', tables: ['companies'] })
 * console.log(tables[0]?.rows) // 3
 */
export const exportTables: (options: ExportOptions) => Promise<ExportSummary> = job(
  'exportTables',
  EXPORT,
  exported,
)
