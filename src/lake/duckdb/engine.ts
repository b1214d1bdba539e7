/** Knows DuckDB's package, with the other files of this folder alone: an engine with fixed limits, statements, COPY with its receipt. */

import { mkdir } from 'node:fs/promises'
import { type DuckDBConnection, DuckDBInstance, type DuckDBResult, type DuckDBValue } from '@duckdb/node-api'
import { memoryError, messageOf, openFilesError, ToolkitError, writeError } from '../../core/errors.ts'
import type { CopyFormat, CopyReceipt, RawChunks, TableRows } from '../../core/sink.ts'
import { PRIVATE_FOLDER } from '../../support/file-modes.ts'
import { timesLeft } from '../../support/left-behind.ts'
import { atMost } from '../../support/side-by-side.ts'
import { type AddedTable, type ColumnTable, ColumnTables } from './column-tables.ts'
import type { ValueShape } from './duckdb-values.ts'
import { checkWhole, chunksOf, rawChunks } from './raw-chunks.ts'
import { ident, isEnumerable, literal, patternOf } from './sql.ts'

export interface EngineOptions {
  /** Memory DuckDB may use, in bytes. */
  readonly memoryBytes: number
  /** Worker threads. @default 2 */
  readonly threads?: number
  /** Folder where DuckDB may put what does not fit into memory; without it nothing is put aside. */
  readonly spillFolder?: string
  /** Whether its statements wait for answers of this very process, which needs threads of Node for them. @default false */
  readonly readsFromHere?: boolean
  /** Whether rows come in the order of their files where nothing is joined: it takes memory for each thread. @default false */
  readonly keepsOrder?: boolean
}

/** Runs a call of DuckDB, which takes a thread of Node until it ends. */
type Turn = <T>(call: () => Promise<T>) => Promise<T>

const AT_ONCE: Turn = (call) => call()
/** Node has four threads unless told otherwise, and whoever resolves a host's name needs one. */
const newTurns = (): Turn => atMost(2)
let turns = { take: newTurns(), timesLeft: 0 }

/** Turns of all engines together. Statements that were left behind keep theirs: engines opened since then have others. */
const inTurn = (): Turn => {
  if (turns.timesLeft !== timesLeft()) turns = { take: newTurns(), timesLeft: timesLeft() }
  return turns.take
}

/** Trees of statements that select (also DESCRIBE, SUMMARIZE, SHOW), a statement of another kind, or text that is none. */
export type Parsed =
  | { readonly kind: 'selects'; readonly statements: readonly unknown[] }
  | { readonly kind: 'other' }
  | { readonly kind: 'wrong'; readonly reason: string }

/** The answer of `json_serialize_sql`. */
interface Serialized {
  readonly error: boolean
  readonly error_type?: string
  readonly error_message?: string
  readonly statements?: readonly unknown[]
}
const isSerialized = (value: unknown): value is Serialized =>
  typeof value === 'object' && value !== null && 'error' in value && typeof value.error === 'boolean'

/** A constant such as 1e400 in DuckDB's tree of a statement, which is no JSON; inside a text the quotes are escaped. */
const INFINITE = /"value":-?(Infinity|NaN)/g

export interface ResultColumn {
  readonly name: string
  /** DuckDB's name of it. */
  readonly type: string
}

/** A column of rows that are read, and what JSON makes of its values. */
export interface ValueColumn extends ResultColumn {
  readonly shape: ValueShape
}

export type Row = Readonly<Record<string, unknown>>

/** A connection to an in-memory DuckDB. Statements of one session run one after the other. */
export class Session {
  readonly #connection: DuckDBConnection
  readonly #turn: Turn
  readonly #memoryLimit: string
  constructor(connection: DuckDBConnection, memoryLimit: string, turn: Turn) {
    this.#connection = connection
    this.#memoryLimit = memoryLimit
    // A caller must not take files for damaged that only could not be opened.
    this.#turn = (call) =>
      turn(call).catch((error: unknown) => {
        throw openFilesError('Cannot read or write files with DuckDB', error) ?? error
      })
  }

  async run(sql: string, values?: readonly DuckDBValue[]): Promise<void> {
    await this.#turn(() => this.#connection.run(sql, values as DuckDBValue[] | undefined))
  }

  /** Runs a query whose chunks are fetched one by one. */
  async #stream(sql: string, values?: readonly DuckDBValue[]): Promise<DuckDBResult> {
    const result = await this.#turn(() => this.#connection.stream(sql, values as DuckDBValue[] | undefined))
    const fetchChunk = result.fetchChunk.bind(result)
    result.fetchChunk = () => this.#turn(fetchChunk)
    return result
  }

  /** The columns that a query would give. */
  async describe(sql: string): Promise<readonly ResultColumn[]> {
    const prepared = await this.#turn(() => this.#connection.prepare(sql))
    try {
      return Array.from({ length: prepared.columnCount }, (_, at) => ({
        name: prepared.columnName(at),
        type: String(prepared.columnType(at)),
      }))
    } finally {
      prepared.destroySync()
    }
  }

  /** The rows as objects of JSON values (64-bit integers as text beyond 2^53). For small results. */
  async rows(sql: string, values?: readonly DuckDBValue[]): Promise<Row[]> {
    const reader = await this.#turn(() =>
      this.#connection.runAndReadAll(sql, values as DuckDBValue[] | undefined),
    )
    return reader.getRowObjectsJson()
  }

  /** The rows of a query as objects of JSON values, chunk by chunk, in bounded memory. */
  async *stream(sql: string): AsyncGenerator<Row[]> {
    const result = await this.#stream(sql)
    yield* wholeRows(result, result.yieldRowObjectJson())
  }

  /** A query's columns, and its rows as lists of values as `toValue` makes them, chunk by chunk. */
  async streamRows(
    sql: string,
    values?: readonly DuckDBValue[],
  ): Promise<{
    readonly columns: readonly ValueColumn[]
    readonly rows: AsyncIterable<readonly (readonly unknown[])[]>
  }> {
    const { toValue, valueShapeOf } = await import('./duckdb-values.ts')
    const result = await this.#stream(sql, values)
    const names = result.columnNames()
    return {
      columns: result
        .columnTypes()
        .map((type, at) => ({ name: names[at] ?? '', type: String(type), shape: valueShapeOf(type) })),
      rows: wholeRows(result, result.yieldConvertedRows(toValue)),
    }
  }

  /** The rows of a query chunk by chunk, as columns of DuckDB's values: 64-bit integers are bigint. */
  async *streamColumns(sql: string): AsyncGenerator<readonly (readonly DuckDBValue[])[]> {
    for await (const chunk of chunksOf(await this.#stream(sql))) yield chunk.getColumns()
  }

  /** A query's columns and its rows as raw memory, chunk by chunk. */
  async rawChunks(sql: string): Promise<RawChunks> {
    return rawChunks(await this.#stream(sql))
  }

  /** The texts of a query's first column. */
  async *streamStrings(sql: string): AsyncGenerator<string> {
    const result = await this.#stream(sql)
    for await (const rows of result.yieldRows()) for (const [text] of rows) yield String(text)
    checkWhole(result)
  }

  /**
   * The kind of a statement. It is parsed and not prepared, because preparing
   * `EXPORT DATABASE` makes the folder.
   */
  async parse(sql: string): Promise<Parsed> {
    const [row] = await this.rows('SELECT json_serialize_sql($1::VARCHAR) AS parsed', [sql])
    const parsed: unknown = JSON.parse(String(row?.parsed).replace(INFINITE, '"value":null'))
    if (!isSerialized(parsed)) throw new TypeError('Cannot understand what DuckDB says of a statement')
    if (!parsed.error) return { kind: 'selects', statements: parsed.statements ?? [] }
    return parsed.error_type === 'not implemented'
      ? { kind: 'other' }
      : { kind: 'wrong', reason: parsed.error_message ?? '' }
  }

  /**
   * Writes a query's rows to one file. The file is neither synced nor renamed: that is the sink's part.
   * @throws {ToolkitError} DISK_FULL, WRITE_FAILED
   */
  async copy(sql: string, path: string, format: CopyFormat): Promise<CopyReceipt> {
    try {
      const [row] = await this.rows(`COPY (${sql}) TO ${literal(path)} (${copyOptions(format)})`)
      return { rows: Number(row?.count ?? row?.Count), statistics: statisticsOf(row) }
    } catch (error) {
      throw /IO Error/.test(messageOf(error)) ? writeError(`Cannot write "${path}"`, error) : error
    }
  }

  /** Has DuckDB count how far statements are, which it else does for its own bar alone. */
  async countProgress(): Promise<void> {
    for (const one of [
      'enable_progress_bar = true',
      'enable_progress_bar_print = false',
      'progress_bar_time = 0',
    ])
      await this.run(`SET ${one}`)
  }

  /** How far the statement that is running is, from 0 to 1, after `countProgress`; 0 while that is not known. */
  progress(): number {
    return Math.max(0, this.#connection.progress.percentage) / 100
  }

  /** Stops the statement that is running, if one is: its promise fails. The next statement is unaffected. */
  interrupt(): void {
    this.#connection.interrupt()
  }

  /**
   * Gives the system the memory that statements have left. DuckDB keeps up to its limit of it for statements to come, and
   * takes more beside where these need pieces of other sizes. It does so whenever its limit is set, to whichever.
   */
  releaseMemory(): Promise<void> {
    return this.run(`SET memory_limit = ${literal(this.#memoryLimit)}`)
  }

  /**
   * From now on no statement of any session opens a file outside these folders, and none changes a setting. Databases that are
   * attached already stay as they are, and so does an engine that is locked already.
   */
  async lock(folders: readonly string[] = []): Promise<void> {
    const [found] = await this.rows("SELECT current_setting('lock_configuration') AS locked")
    if (found?.locked === true) return
    // DuckDB compares a pattern with this list before it looks for files, and then each file.
    const allowed = new Set([...folders, ...folders.map(patternOf)])
    await this.run(`SET allowed_directories = [${[...allowed].map(literal).join(', ')}];
SET enable_external_access = false; SET lock_configuration = true`)
  }

  relation(sql: string): TableRows {
    return {
      columns: () => this.describe(sql),
      select: (wrap) => this.relation(wrap(`(${sql})`)),
      copyTo: (path, format) => this.copy(sql, path, format),
      rows: () => this.stream(sql),
      chunks: () => this.rawChunks(sql),
    }
  }

  /** Sets this session's ENUM type of the given values; plain text where they are none for an ENUM. */
  async setEnum(name: string, values: readonly string[]): Promise<void> {
    const type = isEnumerable(values) ? `ENUM (${values.map(literal).join(', ')})` : 'VARCHAR'
    await this.run(`CREATE OR REPLACE TEMP TYPE ${ident(name)} AS ${type}`)
  }

  close(): void {
    this.#connection.closeSync()
  }
}

async function* wholeRows<Rows>(result: DuckDBResult, rows: AsyncIterable<Rows>): AsyncGenerator<Rows> {
  yield* rows
  checkWhole(result)
}

/** JSON has no statistics to return, nor has CSV. */
const copyOptions = (format: CopyFormat): string => {
  switch (format.kind) {
    case 'parquet': {
      const { dictionaryLimit, compressionLevel, fieldIds, rowGroupRows } = format
      const limit = dictionaryLimit === undefined ? '' : `, DICTIONARY_SIZE_LIMIT ${dictionaryLimit}`
      const level = compressionLevel === undefined ? '' : `, COMPRESSION_LEVEL ${compressionLevel}`
      const ids = fieldIds === undefined ? '' : `, FIELD_IDS ${fieldIds}`
      const group = rowGroupRows === undefined ? '' : `, ROW_GROUP_SIZE ${rowGroupRows}`
      return `FORMAT parquet, COMPRESSION zstd, RETURN_STATS${level}${limit}${ids}${group}`
    }
    case 'csv':
      return `FORMAT csv, HEADER ${format.header}, NULLSTR ${literal(format.nullText)}${format.wholeRecords ? ", QUOTE ''" : ''}${format.gzip ? ', COMPRESSION gzip' : ''}`
    case 'json-lines':
      return 'FORMAT json'
  }
}

const statisticsOf = (row: Row | undefined): CopyReceipt['statistics'] => {
  const statistics = new Map<string, { min?: string; max?: string }>()
  const columns: unknown = row?.column_statistics
  if (!Array.isArray(columns)) return statistics
  for (const { key, value } of columns as { key: string; value: { key: string; value: string }[] }[]) {
    const found = new Map(value.map((entry) => [entry.key, entry.value]))
    const min = found.get('min')
    const max = found.get('max')
    statistics.set(key.replaceAll('"', ''), {
      ...(min !== undefined && { min }),
      ...(max !== undefined && { max }),
    })
  }
  return statistics
}

/** DuckDB's message, under several names of errors, when a file cannot be written. */
const FAILED_WRITE =
  /no space left|not enough disk space|input\/output error|fsync failed|could not (write|truncate|sync)|failed to offload/i

/** An error of a statement: where a write of DuckDB's own failed or its memory did not suffice, said as everywhere. */
export const engineError = (action: string, error: unknown): unknown =>
  !(error instanceof ToolkitError) && FAILED_WRITE.test(messageOf(error))
    ? writeError(action, error)
    : (memoryError(action, error) ?? error)

/** A DuckDB instance in memory, in UTC, with row order given up for speed unless it is asked for. */
export class Engine {
  readonly #instance: DuckDBInstance
  readonly #memoryLimit: string
  readonly #turn: Turn
  #tables: Promise<ColumnTables> | undefined
  private constructor(instance: DuckDBInstance, memoryLimit: string, turn: Turn) {
    this.#instance = instance
    this.#memoryLimit = memoryLimit
    this.#turn = turn
  }

  static async open(options: EngineOptions): Promise<Engine> {
    const { spillFolder } = options
    // DuckDB would make it by the umask, which may let everybody read.
    if (spillFolder !== undefined) await mkdir(spillFolder, { mode: PRIVATE_FOLDER }).catch(() => undefined)
    const memoryLimit = `${Math.floor(options.memoryBytes / 1024)}KiB`
    const settings: Record<string, string> = {
      threads: String(options.threads ?? 2),
      memory_limit: memoryLimit,
      preserve_insertion_order: String(options.keepsOrder === true),
      // The system keeps what was read of files on this machine; a second copy would take the memory of statements.
      enable_external_file_cache: 'false',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      temp_directory: spillFolder ?? '',
    }
    try {
      const instance = await DuckDBInstance.create(':memory:', settings)
      const connection = await instance.connect()
      // For every connection to come: once the configuration is locked none can set its own.
      await connection.run("SET GLOBAL TimeZone = 'UTC'")
      // Statements that read many files side by side would each hold what the ends of all of them say.
      await connection.run('SET GLOBAL parquet_metadata_cache = true')
      connection.closeSync()
      return new Engine(instance, memoryLimit, options.readsFromHere === true ? inTurn() : AT_ONCE)
    } catch (error) {
      throw (
        openFilesError('Cannot start DuckDB', error) ??
        new ToolkitError('ENGINE_FAILED', `Cannot start DuckDB: ${messageOf(error)}`, {}, error)
      )
    }
  }

  async connect(): Promise<Session> {
    return new Session(await this.#instance.connect(), this.#memoryLimit, this.#turn)
  }

  /** Lets statements of all sessions select from columns in JavaScript's memory, until the table is removed. */
  async addTable(table: ColumnTable): Promise<AddedTable> {
    this.#tables ??= this.#instance.connect().then((connection) => new ColumnTables(connection))
    return (await this.#tables).add(table)
  }

  close(): void {
    this.#instance.closeSync()
  }
}
