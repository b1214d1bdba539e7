/** Read-only queries over one snapshot of a lake, locked down so that a statement can only read the lake. */

import { resolve } from 'node:path'
import { definitionNames } from '../../analysis/definitions.ts'
import { messageOf, ToolkitError } from '../../core/errors.ts'
import type { Commit } from '../../core/partition.ts'
import type { CopyFormat, CopyReceipt, TableRows } from '../../core/sink.ts'
import { filesOfThisWork } from '../../storage/check-files.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { formatInstant } from '../../support/format.ts'
import { atMost } from '../../support/side-by-side.ts'
import { newSpillFolder, type SpillFolder } from '../duckdb/database-files.ts'
import { Engine, type Parsed, type Session, type ValueColumn } from '../duckdb/engine.ts'
import { mayNameParquet, namedParquet } from '../duckdb/named-parquet.ts'
import { ident, patternOf } from '../duckdb/sql.ts'
import {
  findWrongCall,
  findWrongCallInText,
  mentionedTables,
  namedTables,
  type SoughtRows,
  soughtRows,
  type WrongCall,
} from '../duckdb/statement-tree.ts'
import { type AccessOptions, type AccessReport, type FileAccess, openAccess } from '../files/file-access.ts'
import type { ComputedColumn } from '../projection/computed-columns.ts'
import { TABLES, type Table } from '../tables/tables.ts'
import { howToRead } from '../views/catalog.ts'
import type { Listed } from '../views/current-versions.ts'
import type { ReadFacts } from '../views/fact-columns.ts'
import { type AroundFetch, LakeViews, type NarrowedView, type ReadListed } from '../views/lake-views.ts'
import { checkFolder, type NamedFiles, refuseUnlisted } from './named-files.ts'
import { markedLine, statementMessage } from './statement-errors.ts'
import { notesOn } from './sum-notes.ts'

export interface LakeQueryOptions extends Pick<AccessOptions, 'inPlace'> {
  /** A folder, or `s3://bucket/prefix`. */
  readonly lake: string
  /** The entries of the snapshot, or a function that reads those of the tables that a statement names. */
  readonly snapshot: Listed | ReadListed
  /** Since when nobody has looked for companies that left, for a note. @default none */
  readonly unlookedSince?: (() => Promise<string | undefined>) | undefined
  /** DuckDB's memory in bytes. */
  readonly memoryBytes: number
  readonly threads?: number | undefined
  /** A further folder, absolute, for the files that relations are copied to. */
  readonly outFolder?: string | undefined
  /** Further folders whose files statements may read, Parquet too. @default none */
  readonly files?: readonly string[] | undefined
  /** Further folders, absolute, of which `prepare` opens files. @default none */
  readonly opens?: readonly string[] | undefined
  /** Done around each fetch and check of files. @default without progress and signal */
  readonly aroundFetch?: AroundFetch | undefined
  /** When copies are compared with their hashes. @default the first time that this machine reads them */
  readonly check?: AccessOptions['check']
  /** Whether `progress` says how far statements are. @default false */
  readonly countsProgress?: boolean | undefined
  /** Facts of the manifest, for the views about the lake itself. @default they refuse to be read */
  readonly facts?: ReadFacts | undefined
  /** Further columns of the tables, as the lake declares them. @default none */
  readonly computed?: readonly ComputedColumn[] | undefined
  /** Whether the rows of a table come in the same order each time, and those of a statement where nothing is joined. @default false */
  readonly inOrder?: boolean | undefined
}

/** The answer to a statement, while it is read. */
export interface QueryResult {
  readonly columns: readonly ValueColumn[]
  /**
   * Rows as lists of values, chunk by chunk. What a value is follows from the type of its column, inside lists and
   * structs too: integers are numbers (bigint beyond 2^53), DOUBLE numbers, DECIMAL the text of its digits, date-times
   * ISO 8601 in UTC. A column's `shape` says what JSON makes of them.
   */
  readonly rows: AsyncIterable<readonly (readonly unknown[])[]>
}

/** A table with its views and the rows of each. */
interface TableListing {
  readonly table: Table
  /** Rows of the current versions, and of all versions. */
  readonly rows: number
  readonly historyRows: number
}

/**
 * Views of a snapshot: each table's current versions under its name, all versions as `<table>_history`. Of a lake in
 * a bucket only the files of tables that a statement names are fetched, each once, or, in place, only what it needs of
 * them. Nothing outside the lake can be read, nothing can be written, and no setting can be changed.
 */
export class LakeQuery {
  readonly #engine: Engine
  readonly #session: Session
  readonly #views: LakeViews
  readonly #spill: SpillFolder
  readonly #access: FileAccess
  readonly #named: Omit<NamedFiles, 'paths'>
  /** A statement is bound before the next one begins: that may need other rows of the same table. */
  readonly #inTurn = atMost(1)
  /** Macros that statements may call. */
  readonly #macros = new Set(definitionNames())
  readonly #unlookedSince: LakeQueryOptions['unlookedSince']
  #parsed: { readonly sql: string; readonly parsed: Parsed } | undefined
  /** Kind of the last relation. */
  #relation: 'VIEW' | 'TABLE' = 'VIEW'
  private constructor(opened: Opened) {
    this.#engine = opened.engine
    this.#session = opened.session
    this.#views = opened.views
    this.#spill = opened.spill
    this.#access = opened.access
    this.#unlookedSince = opened.unlookedSince
    this.#named = { ...opened.named, listed: () => opened.views.files() }
  }

  static async open(options: LakeQueryOptions): Promise<LakeQuery> {
    const { lake, snapshot, memoryBytes, threads, outFolder, aroundFetch } = options
    const { check = 'first-read', inPlace, facts, computed, inOrder, countsProgress = false } = options
    const { opens = [] } = options
    const folders = (options.files ?? []).map((folder) => resolve(folder))
    for (const folder of folders) await checkFolder(folder)
    const spill = await newSpillFolder()
    const engine = await Engine.open({
      memoryBytes,
      ...(threads !== undefined && { threads }),
      spillFolder: spill.path,
      readsFromHere: inPlace === true,
      keepsOrder: inOrder === true,
    })
    try {
      const session = await engine.connect()
      const access = await openAccess(session, lake, { check, known: filesOfThisWork(), inPlace })
      const views = await LakeViews.open(session, access, snapshot, { aroundFetch, facts, computed, inOrder })
      const read = [...access.allowed, ...folders]
      // In the copy of a plan DuckDB takes the names of the files that it has found for patterns.
      if (read.some((folder) => patternOf(folder) !== folder))
        await session.run("SET disabled_optimizers = 'cte_inlining'")
      if (countsProgress) await session.countProgress()
      await session.lock([...read, ...opens, ...(outFolder === undefined ? [] : [outFolder])])
      return new LakeQuery({
        engine,
        session,
        views,
        spill,
        access,
        unlookedSince: options.unlookedSince,
        named: { folders, local: storageOf(lake).local },
      })
    } catch (error) {
      engine.close()
      spill.remove()
      throw error
    }
  }

  /**
   * Runs one statement that reads: SELECT (also WITH, FROM, VALUES, PIVOT, UNPIVOT, DESCRIBE, SUMMARIZE, SHOW) or EXPLAIN
   * of one.
   *
   * @param values of its parameters `$1`, `$2`, …: texts, which the statement casts
   * @throws {ToolkitError} QUERY_REFUSED, QUERY_FAILED; of a bucket LAKE_DAMAGED, STORAGE_REFUSED, STORAGE_FAILED
   */
  async run(sql: string, values?: readonly string[]): Promise<QueryResult> {
    return this.#reading(
      sql,
      async (reading) => {
        const { columns, rows } = await this.#session.streamRows(reading.sql, values)
        return { columns, rows: this.#reportedRows(rows, sql) }
      },
      { rows: 'sought' },
    )
  }

  /**
   * The rows of one SELECT, for a sink. The next relation takes the place of this one.
   * @throws {ToolkitError} as `run`
   */
  async relation(sql: string): Promise<TableRows> {
    return this.#reading(
      sql,
      async (reading) => {
        await this.#session.run(`DROP ${this.#relation} IF EXISTS ${RELATION}`)
        // Columns that come from the data are none for a view.
        this.#relation = reading.kind === 'pivot' ? 'TABLE' : 'VIEW'
        // A view takes a statement as it is written, with a comment or a semicolon at its end.
        await this.#session.run(`CREATE TEMP ${this.#relation} ${RELATION_NAME} AS\n${reading.sql}`)
        return this.#session.relation(`SELECT * FROM ${RELATION}`)
      },
      { linesBefore: 1 },
    )
  }

  /** How far the statement that is running is, from 0 to 1; 0 while that is not known. */
  progress(): number {
    return this.#session.progress()
  }

  /**
   * Writes the rows of one SELECT, at most `limit`, to a new file in the folder `outFolder`.
   * @throws {ToolkitError} as `run`; DISK_FULL, WRITE_FAILED
   */
  async copy(sql: string, path: string, format: CopyFormat, limit?: number): Promise<CopyReceipt> {
    const answer = await this.relation(sql)
    const rows =
      limit === undefined ? answer : answer.select((from) => `SELECT * FROM ${from} LIMIT ${limit}`)
    try {
      return await rows.copyTo(path, format)
    } catch (error) {
      throw this.#failed(error, sql)
    }
  }

  /**
   * Works a view out once: statements that come read the rows that it has now, also by other views.
   * @throws {ToolkitError} as `run`
   */
  async workOut(view: string): Promise<void> {
    const sql = `FROM ${ident(view)}`
    // A temporary name takes precedence over a permanent one.
    await this.#reading(sql, () => this.#session.run(`CREATE TEMP TABLE ${ident(view)} AS ${sql}`))
  }

  /** Has views show less of their tables to the statements that come, whatever reads them. */
  async narrow(views: readonly NarrowedView[]): Promise<void> {
    await this.#views.narrow(views)
  }

  /** Has macros made that statements call. @param names of them, in lower case */
  async prepare(names: readonly string[], make: (session: Session) => Promise<void>): Promise<void> {
    await make(this.#session)
    for (const name of names) this.#macros.add(name)
  }

  /** The cost of reading the lake so far. */
  report(): AccessReport {
    return this.#access.report()
  }

  /**
   * Notes on a statement that was run: what its sums of figures add that does not add up, and names that do not occur.
   * @param tookMs how long it took: the notes take a fifth of it, 0.1 s at least
   */
  async notes(sql: string, tookMs = 0): Promise<readonly string[]> {
    const parsed = await this.#parse(sql.replace(EXPLAIN, ''))
    const tables = parsed.kind === 'selects' ? namedTables(parsed.statements) : null
    if (parsed.kind !== 'selects' || tables === null) return []
    const left = /\bgone_since\b/i.test(sql) ? await this.#unlookedSince?.() : undefined
    const notes = await this.#inTurn(() =>
      notesOn(parsed.statements, tables, tookMs, {
        session: this.#session,
        read: (names) => this.#views.makeReadable(names),
      }),
    )
    return left === undefined
      ? notes
      : [
          ...notes,
          `gone_since knows the companies that had left by ${formatInstant(left)}: nobody has looked for them since`,
        ]
  }

  /** For a statement that read all versions after a compaction dropped past rows: since when all are there. */
  historyBegins(): Commit | undefined {
    return this.#views.historyBegins
  }

  /** Stops the statement that is running, if one is. */
  interrupt(): void {
    this.#session.interrupt()
  }

  /** The tables with their row counts. */
  async tables(): Promise<TableListing[]> {
    await this.#views.makeReadable(new Set(TABLES.flatMap(({ name }) => [name, `${name}_history`])))
    const listings: TableListing[] = []
    for (const table of TABLES) {
      const [row] = await this.#session.rows(
        `SELECT (SELECT count(*) FROM ${ident(table.name)}) AS current, (SELECT count(*) FROM ${ident(`${table.name}_history`)}) AS history`,
      )
      listings.push({ table, rows: Number(row?.current), historyRows: Number(row?.history) })
    }
    return listings
  }

  close(): void {
    this.#session.close()
    this.#engine.close()
    this.#access.close()
    this.#spill.remove()
  }

  /**
   * Runs a statement that reads, once what it reads, describes or lists is there.
   *
   * @param rows whether all rows of its tables are made readable, or those that it needs: it is bound when `run` ends
   * @param linesBefore lines that `run` puts before it
   */
  async #reading<T>(
    sql: string,
    run: (reading: ReadingStatement) => Promise<T>,
    {
      rows = 'all',
      linesBefore = 0,
    }: { readonly rows?: 'all' | 'sought'; readonly linesBefore?: number } = {},
  ): Promise<T> {
    const reading = await this.#refuseAllButReading(sql)
    return this.#inTurn(async () => {
      try {
        await this.#views.makeReadable(reading.tables, rows === 'sought' ? reading.sought : undefined)
        if (COMMENTED.test(sql)) await this.#views.describe()
        else await this.#views.define(LISTING.test(sql) ? null : mentionedTables(sql))
        return await run(reading)
      } catch (error) {
        throw this.#failed(error, sql, linesBefore + (reading.kind === 'pivot' ? PIVOT_LINES : 0))
      }
    })
  }

  /** @param sql the statement that failed, as it was written */
  #failed(error: unknown, sql: string, linesBefore = 0): ToolkitError {
    const found = this.#access.errorOf(error)
    return found instanceof ToolkitError
      ? found
      : new ToolkitError('QUERY_FAILED', statementMessage(messageOf(found), sql, linesBefore), {}, found)
  }

  /** Fails with the query's error also where only the reading of its rows does. */
  async *#reportedRows(rows: QueryResult['rows'], sql: string): QueryResult['rows'] {
    try {
      yield* rows
    } catch (error) {
      throw this.#failed(error, sql)
    }
  }

  /** The tree of a statement, which is asked for again for its notes. */
  async #parse(sql: string): Promise<Parsed> {
    const parsed = this.#parsed?.sql === sql ? this.#parsed.parsed : await this.#session.parse(sql)
    this.#parsed = { sql, parsed }
    return parsed
  }

  async #refuseAllButReading(sql: string): Promise<ReadingStatement> {
    // EXPLAIN ANALYZE runs what it explains, and that may be a COPY.
    const explained = sql.replace(EXPLAIN, '')
    const parsed = await this.#parse(explained)
    if (parsed.kind === 'wrong') throw await this.#parserError(sql, parsed.reason)
    if (parsed.kind === 'other') {
      const pivot = PIVOT.test(sql) ? await this.#pivotOf(sql) : undefined
      if (pivot !== undefined) return pivot
      throw new ToolkitError(
        'QUERY_REFUSED',
        'Cannot run the statement: only a SELECT (or PIVOT, UNPIVOT, or EXPLAIN, DESCRIBE, SUMMARIZE of one) is allowed',
      )
    }
    const { statements } = parsed
    if (statements.length === 0) {
      throw new ToolkitError('QUERY_REFUSED', 'Cannot run an empty statement: expected a SELECT')
    }
    if (statements.length > 1) {
      throw new ToolkitError(
        'QUERY_REFUSED',
        `Cannot run ${statements.length} statements: expected exactly one SELECT`,
      )
    }
    refuse(await findWrongCall(this.#session, statements, this.#macros), sql, explained)
    const paths = await namedParquet(this.#session, statements)
    await refuseUnlisted({ ...this.#named, paths })
    const [statement] = statements
    return { kind: 'select', sql, tables: namedTables(statement), sought: soughtRows(statement) }
  }

  /** DuckDB says where a text is wrong when it is asked to prepare it, and runs nothing of it. */
  async #parserError(sql: string, reason: string): Promise<ToolkitError> {
    const message = await this.#session.describe(sql).then(() => reason, messageOf)
    return new ToolkitError('QUERY_FAILED', statementMessage(message, sql))
  }

  /**
   * A query with a PIVOT whose columns come from the data. DuckDB takes it for several statements, types of the columns
   * before the SELECT, and has no tree of them. Without a semicolon a text is one statement, and one that begins with
   * `FROM (` is a SELECT: so that is what is run. `undefined` where it is none.
   */
  async #pivotOf(sql: string): Promise<ReadingStatement | undefined> {
    const one = sql.replace(/[\s;]+$/, '')
    if (one.includes(';'))
      throw new ToolkitError(
        'QUERY_REFUSED',
        'Cannot run the PIVOT: it holds a semicolon, expected one statement without any; or name the columns, ON … IN (…)',
      )
    const wrapped = `FROM (\n${one}\n)`
    if ((await this.#session.parse(wrapped)).kind === 'wrong') return undefined
    refuse(await findWrongCallInText(this.#session, one), one)
    if (mayNameParquet(one))
      throw new ToolkitError(
        'QUERY_REFUSED',
        'Cannot run the PIVOT: it names Parquet files and takes its columns from the data, expected named columns, ON … IN (…)',
      )
    return { kind: 'pivot', sql: wrapped, tables: mentionedTables(one) }
  }
}

interface Opened {
  readonly engine: Engine
  readonly session: Session
  readonly views: LakeViews
  readonly spill: SpillFolder
  readonly access: FileAccess
  readonly named: Pick<NamedFiles, 'folders' | 'local'>
  readonly unlookedSince: LakeQueryOptions['unlookedSince']
}

/** A statement that reads, as it is run, and the tables whose rows it may read; `null`: possibly all. */
interface ReadingStatement {
  readonly kind: 'select' | 'pivot'
  readonly sql: string
  readonly tables: ReadonlySet<string> | null
  /** The rows that suffice for it. @default all */
  readonly sought?: SoughtRows | undefined
}

/** @param parsed the end of the statement, in which the call was found @default all of it */
const refuse = (call: WrongCall | undefined, sql: string, parsed = sql): void => {
  if (call === undefined) return
  const code = call.kind === 'refused' ? 'QUERY_REFUSED' : 'QUERY_FAILED'
  const how = call.kind === 'unknown' ? howToRead(call.name) : undefined
  const hint = how === undefined ? '' : `; ${how}`
  const { offsetBytes } = call
  const before = Buffer.from(parsed).subarray(0, offsetBytes).toString()
  const offset = sql.length - parsed.length + before.length
  const marked = offsetBytes === undefined ? '' : `\n\n${markedLine(sql, offset)}`
  throw new ToolkitError(code, `Cannot run the statement: ${call.reason}${hint}${marked}`)
}

const RELATION_NAME = 'firmlake_relation'
const RELATION = `temp.main.${RELATION_NAME}`

/** The word EXPLAIN before a query; behind it the text has to be a query by itself. */
const EXPLAIN = /^(\s|--.*\n)*explain\s+(?=select|with|from|values|pivot|unpivot)/i
/** Statements that list what there is. */
const LISTING = /\bshow\b|\bpragma_|\bsqlite_/i
/** Statements that list comments too. */
const COMMENTED = /\bduckdb_|\binformation_schema\b/i
const PIVOT = /\bpivot(_wider)?\b/i
/** Lines that are put before a PIVOT. */
const PIVOT_LINES = 1

export const openLakeQuery = (options: LakeQueryOptions): Promise<LakeQuery> => LakeQuery.open(options)
