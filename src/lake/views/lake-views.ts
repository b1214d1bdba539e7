/**
 * The views of a snapshot in a session: each table's current versions under its name, all versions as `<table>_history`,
 * and the analysis layer. Nothing is made before it was named, and nothing read before it was asked for; until then views have
 * their columns and refuse to be read.
 */

import { type Definition, definitionNames, definitionsFor } from '../../analysis/definitions.ts'
import type { Commit } from '../../core/partition.ts'
import type { FetchOptions } from '../../storage/storage.ts'
import { atMost } from '../../support/side-by-side.ts'
import type { Session } from '../duckdb/engine.ts'
import { pathSql } from '../duckdb/sql.ts'
import type { SoughtRows } from '../duckdb/statement-tree.ts'
import { filesOfTables } from '../files/fetch-tables.ts'
import type { FileAccess } from '../files/file-access.ts'
import type { ComputedColumn } from '../projection/computed-columns.ts'
import { historySince, pastOf } from '../tables/past-tables.ts'
import { LISTINGS, mainTables, QUARANTINE, type RecordTable, TABLES, type Table } from '../tables/tables.ts'
import {
  ALL_COMPANIES,
  baseSelects,
  baseViews,
  chainMacro,
  orderedViews,
  plainHistory,
  versionGroup,
  viewStatement,
} from './base-views.ts'
import { baseComments, commentSql, commentsOf } from './comments.ts'
import {
  HIDDEN_SCHEMA,
  isOneVersion,
  type Listed,
  makeSuperseded,
  pathList,
  supersededTable,
  versionFacts,
  versionFilesOf,
  versionsWith,
} from './current-versions.ts'
import { FACT_NAMES, type FactName, type ReadFacts } from './fact-columns.ts'
import { markOld } from './rows-in-order.ts'
import {
  chainOfLists,
  countedRows,
  factMacroName,
  factStatements,
  groupTables,
  historyOfTable,
  loadsOf,
  noChain,
  noLoads,
  noneOld,
  oldFrom,
  rowsOfTable,
  unreadableFacts,
  unreadableRows,
  unreadableVersions,
} from './source-macros.ts'
import { chainFacts, standInsOf } from './version-chain.ts'

/** Stands among what is made once views and macros have their comments. */
const COMMENTS = 'comments'

/** Stands there once all rows of a table can be read. */
const rowsOf = ({ name }: Table): string => `rows of ${name}`

interface View {
  readonly name: string
  readonly table: Table
}

const historyName = ({ name }: Pick<Table, 'name'>): string => `${name}_history`

const VIEWS: readonly View[] = [
  ...TABLES.flatMap((table) => [
    { name: historyName(table), table },
    { name: table.name, table },
  ]),
  { name: QUARANTINE.name, table: QUARANTINE },
  { name: LISTINGS.name, table: LISTINGS },
  ...[LISTINGS, ...mainTables().filter(({ content }) => content === LISTINGS.content)].map((table) => ({
    name: ALL_COMPANIES,
    table,
  })),
]

const factName = (name: FactName): string => factMacroName(name).slice(HIDDEN_SCHEMA.length + 1)

/** Names by which statements, and definitions that they name, read the lake. */
const ALL_NAMES: ReadonlySet<string> = new Set([
  ...VIEWS.map(({ name }) => name),
  ...FACT_NAMES.map(factName),
])

/** A view that shows less than its table has, or less of it. */
export interface NarrowedView {
  readonly name: string
  /** @param rowsOf gives all rows of a view, as SQL in brackets */
  readonly select: (rowsOf: (view: string) => string) => string
}

/** The compaction that dropped past rows, and since when all are there; `undefined` where none is missing. */
const historyBegin = ({ partitions }: Listed): Commit | undefined => {
  for (const one of partitions) {
    const time = historySince(one)
    if (time !== undefined) return { snapshot: one.committed.snapshot, time }
  }
  return undefined
}

/** Runs a fetch of files with options, such as one that shows progress and can be interrupted. */
export type AroundFetch = (fetch: (options: Omit<FetchOptions, 'known'>) => Promise<void>) => Promise<void>

/**
 * Reads the part of a snapshot that lists the files of a table: asked once of all tables of a content, and only when one
 * of them is; once more, `withMerged` entries of loads that compactions have put together, when their history is.
 */
export type ReadListed = (table: Table, withMerged: boolean) => Promise<Listed>

export interface ViewsOptions {
  /** @default without progress and signal */
  readonly aroundFetch?: AroundFetch | undefined
  /** Facts of the manifest, for the views about the lake itself. @default they refuse to be read */
  readonly facts?: ReadFacts | undefined
  /** Further columns of the tables. @default none */
  readonly computed?: readonly ComputedColumn[] | undefined
  /** Whether rows of tables come in the order of their files. @default false */
  readonly inOrder?: boolean | undefined
}

export class LakeViews {
  readonly #session: Session
  readonly #access: FileAccess
  readonly #read: ReadListed
  /** Keyed by content; of tables without one by name. */
  readonly #listed = new Map<string, Promise<Listed>>()
  readonly #aroundFetch: AroundFetch
  readonly #facts: ReadFacts | undefined
  readonly #computed: readonly ComputedColumn[] | undefined
  readonly #inOrder: boolean
  /** Names of what is made: tables whose rows can be read, contents whose old versions are known, facts, definitions. */
  readonly #made = new Set<string>()
  /** Names of what was made that could not be read. */
  #begun: ReadonlySet<string> = new Set()
  /** Views whose rows a narrowed one reads. */
  readonly #readBy = new Map<string, ReadonlySet<string>>()
  #historyBegins: Commit | undefined
  /** Requests run in turn: two requests may want the same views. */
  readonly #inTurn = atMost(1)

  private constructor(session: Session, access: FileAccess, read: ReadListed, options: ViewsOptions) {
    this.#session = session
    this.#access = access
    this.#read = read
    this.#facts = options.facts
    this.#computed = options.computed
    this.#inOrder = options.inOrder ?? false
    this.#aroundFetch = options.aroundFetch ?? ((fetch) => fetch({}))
  }

  static async open(
    session: Session,
    access: FileAccess,
    snapshot: Listed | ReadListed,
    options: ViewsOptions = {},
  ): Promise<LakeViews> {
    await session.run(`CREATE SCHEMA ${HIDDEN_SCHEMA}`)
    const read: ReadListed = typeof snapshot === 'function' ? snapshot : async () => snapshot
    return new LakeViews(session, access, read, options)
  }

  /**
   * Makes views readable, those of other names are left alone: fetches the files of their tables and reads which
   * versions are current. Of the analysis layer it makes what is named, and makes readable what that reads.
   *
   * @param names of views and macros; `null`: all
   * @param sought the rows that suffice; the next call makes the others readable. @default all
   * @throws {ToolkitError} as `fetchFiles`; DuckDB's error when a file is none of its kind
   */
  makeReadable(names: ReadonlySet<string> | null, sought?: SoughtRows): Promise<void> {
    const definitions = definitionsFor(names ?? definitionNames())
    const words = new Set(definitions.flatMap(({ sql }) => sql.match(/\w+/g) ?? []))
    const named = VIEWS.filter(({ name }) => names === null || names.has(name) || words.has(name))
    const read = new Set(named.flatMap(({ name }) => [name, ...(this.#readBy.get(name) ?? [])]))
    const requested = VIEWS.filter(({ name }) => read.has(name))
    const facts = FACT_NAMES.filter((name) => words.has(factName(name)))
    const [only, ...others] = requested
    return this.#inTurn(async () => {
      await this.#begin(new Set([...(names ?? ALL_NAMES), ...read, ...words]))
      // A narrowed view filters by columns, which a number of rows does not have.
      const isPart =
        only?.name === sought?.table &&
        others.length + definitions.length === 0 &&
        !this.#readBy.has(only?.name ?? '')
      const suffices = only && sought && isPart ? await this.#makeSought(only, sought) : false
      if (!suffices) await this.#make(requested)
      for (const name of facts) await this.#makeFacts(name)
      await this.#define(definitions)
    })
  }

  /** Paths of the Parquet files that the snapshot lists, below the lake. */
  async files(): Promise<ReadonlySet<string>> {
    const files = [...TABLES, LISTINGS].map(async (table) =>
      filesOfTables(await this.#listedFor(table), [table.name]),
    )
    return new Set((await Promise.all(files)).flat().map(({ path }) => path))
  }

  /** Makes views and macros of the analysis layer whose rows need not be readable. @param names `null`: all */
  define(names: ReadonlySet<string> | null): Promise<void> {
    return this.#inTurn(async () => {
      await this.#begin(names ?? ALL_NAMES)
      await this.#define(definitionsFor(names ?? definitionNames()))
    })
  }

  /** Comments on all views and macros, for statements that list them. */
  describe(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#begin(ALL_NAMES)
      await this.#define(definitionsFor())
      if (this.#made.has(COMMENTS)) return
      const comments = [...baseComments(this.#computed), ...definitionsFor().map(commentsOf)]
      await this.#session.run(comments.map((one) => commentSql(one)).join(';\n'))
      this.#made.add(COMMENTS)
    })
  }

  /** Makes views again that show less. Those of an earlier call stay as they are until they are named again. */
  narrow(views: readonly NarrowedView[]): Promise<void> {
    const selects = baseSelects(this.#computed)
    const statements = views.map(({ name, select }) => {
      const read = new Set<string>()
      const narrowed = select((view) => {
        read.add(view)
        return `(${selects.get(view)})`
      })
      this.#readBy.set(name, read)
      return viewStatement(name, narrowed)
    })
    const names = views.flatMap(({ name }) => [name, ...(this.#readBy.get(name) ?? [])])
    return this.#inTurn(async () => {
      await this.#begin(new Set(names))
      await this.#session.run(statements.join(';\n'))
    })
  }

  /** For a question about all versions after a compaction dropped past rows: since when all are there. */
  get historyBegins(): Commit | undefined {
    return this.#historyBegins
  }

  /**
   * Makes views that are named, on macros that refuse to be read. Each is made once, before anything takes its place: to make all of
   * them takes as long as to start DuckDB, twice.
   */
  async #begin(names: ReadonlySet<string>): Promise<void> {
    // A statement may be stopped: what it was to make counts once it is there.
    const begun = new Set(this.#begun)
    const isNew = (what: string): boolean => !begun.has(what) && begun.add(what).size > 0
    const named = new Set(VIEWS.flatMap(({ name, table }) => (names.has(name) ? [table] : [])))
    const tables = [...named].filter((table) => isNew(rowsOf(table)))
    const facts = FACT_NAMES.filter((name) => names.has(factName(name)) && isNew(factName(name)))
    if (tables.length + facts.length === 0) return
    const groups = new Set(tables.map(versionGroup).filter((group) => isNew(`versions of ${group}`)))
    const isNewGroup = (table: Table): boolean => groups.has(versionGroup(table))
    // A view of two tables comes with the second one.
    const isWhole = (view: string): boolean =>
      VIEWS.every(({ name, table }) => name !== view || begun.has(rowsOf(table)))
    const views = [...baseViews(this.#computed)].filter(([name]) => isWhole(name) && isNew(name))
    const statements = [
      ...mainTables().filter(isNewGroup).flatMap(unreadableVersions),
      ...groupTables().filter(isNewGroup).map(noLoads),
      ...tables.map(unreadableRows),
      ...TABLES.filter(({ name }) => tables.some((table) => table.name === name)).map(plainHistory),
      ...facts.map(unreadableFacts),
      ...views.map(([, sql]) => sql),
    ]
    await this.#session.run(statements.join(';\n'))
    this.#begun = begun
  }

  async #define(definitions: readonly Definition[]): Promise<void> {
    const missing = definitions.filter(({ name }) => !this.#made.has(name))
    if (missing.length === 0) return
    await this.#begin(new Set(missing.flatMap(({ words }) => [...words])))
    await this.#session.run(missing.map(({ sql }) => sql).join(';\n'))
    for (const { name } of missing) this.#made.add(name)
  }

  async #makeFacts(name: FactName): Promise<void> {
    const macro = factMacroName(name)
    if (this.#facts === undefined || this.#made.has(macro)) return
    for await (const sql of factStatements(name, this.#facts(name))) await this.#session.run(sql)
    this.#made.add(macro)
  }

  /** Makes rows readable that suffice for one statement. @returns whether there are such, and not all already */
  async #makeSought({ name, table }: View, sought: SoughtRows): Promise<boolean> {
    const main = mainTables().find(({ content }) => content === table.content)
    if (main === undefined || !TABLES.includes(table) || this.#made.has(rowsOf(table))) return false
    const listed = await this.#listedFor(table)
    // A row of a compaction is of several versions.
    if (name === historyName(table) && standInsOf(listed, main) !== undefined) return false
    if (sought.kind === 'count') {
      const isCurrent = name === table.name
      if (isCurrent && table.name !== main.name && !isOneVersion(listed, main)) return false
      const own = listed.partitions.filter(({ counts }) => (counts.rows[table.name] ?? 0) > 0)
      const rows = own.reduce((sum, { counts }) => sum + (counts.rows[table.name] ?? 0), 0)
      await this.#aroundFetch((options) =>
        this.#access.makeReadable(versionFacts(versionFilesOf(listed, 'superseded', main)), options),
      )
      await this.#makeOld([main])
      const old = isCurrent ? await this.#countOld(main, own) : 0
      await this.#session.run(countedRows(table, rows - old))
      await this.#session.run(noChain(main))
    } else {
      const lists = versionFacts(
        (['last', 'superseded'] as const).flatMap((kind) => versionFilesOf(listed, kind, main)),
      )
      if (sought.column !== table.owner || lists.length === 0) return false
      await this.#aroundFetch((options) => this.#access.makeReadable(lists, options))
      const paths = pathList(lists, (path) => pathSql(this.#access.placeOf(path)))
      const found = await this.#session.rows(versionsWith(main, paths, sought.values))
      const versions = new Set(found.map(({ version }) => Number(version)))
      const some = { ...listed, partitions: listed.partitions.filter(({ version }) => versions.has(version)) }
      const files = filesOfTables(some, [table.name])
      await this.#aroundFetch((options) => this.#access.makeReadable(files, options))
      await this.#makeOld([main])
      await this.#session.run(loadsOf(table, listed))
      await this.#session.run(chainOfLists(main, listed, this.#access.placeOf))
      await this.#makeRows(table, some)
    }
    this.#noteHistory({ name, table }, listed)
    return true
  }

  async #make(views: readonly View[]): Promise<void> {
    if (views.length === 0) return
    const contents = new Set(views.map(({ table }) => table.content))
    const main = mainTables().filter(
      ({ content }) => contents.has(content) && !this.#made.has(supersededTable(content)),
    )
    const tables = new Set(views.map(({ table }) => table))
    const ofHistory = new Set(
      views.flatMap(({ name, table }) => (name === historyName(table) ? [table] : [])),
    )
    const contentsOfHistory = new Set([...ofHistory].map(({ content }) => content))
    const chained = mainTables().filter(({ content }) => contentsOfHistory.has(content))
    const files = await Promise.all([
      ...[...ofHistory].map(async (table) =>
        filesOfTables(await this.#listedFor(table), [pastOf(table).name]),
      ),
      ...[...tables].map(async (table) => filesOfTables(await this.#listedFor(table), [table.name])),
      ...main.map(async (table) =>
        versionFacts(versionFilesOf(await this.#listedFor(table), 'superseded', table)),
      ),
      ...chained.map(async (table) => chainFacts(await this.#listedFor(table), table)),
    ])
    // Again for those that are readable: copies that were not used for a long time may be gone.
    await this.#aroundFetch((options) => this.#access.makeReadable(files.flat(), options))
    await this.#makeOld(main)
    for (const view of views) {
      const { table } = view
      const listed = await this.#listedFor(table)
      this.#noteHistory(view, listed)
      if (this.#made.has(rowsOf(table))) continue
      await this.#makeRows(table, listed)
      this.#made.add(rowsOf(table))
    }
    for (const table of chained)
      await this.#session.run(chainOfLists(table, await this.#listedFor(table), this.#access.placeOf))
    for (const table of ofHistory) await this.#makeHistory(table)
  }

  /** Works the chain out once where rows of a compaction are joined with it several times. */
  async #makeChain({ content }: Table, listed: Listed): Promise<string | undefined> {
    const main = mainTables().find((table) => table.content === content)
    if (main === undefined || standInsOf(listed, main) === undefined) return undefined
    const made = `${HIDDEN_SCHEMA}.chain_${main.content}`
    if (!this.#made.has(made))
      await this.#session.run(`CREATE OR REPLACE TABLE ${made} AS FROM ${chainMacro(main)}()`)
    this.#made.add(made)
    return made
  }

  async #makeHistory(table: Table): Promise<void> {
    const made = `history of ${table.name}`
    if (this.#made.has(made)) return
    const listed = await this.#listedFor(table, true)
    await this.#session.run(loadsOf(table, listed))
    const chain = await this.#makeChain(table, listed)
    await this.#session.run(historyOfTable(table, listed, this.#access.placeOf, undefined, chain))
    this.#made.add(made)
  }

  /** Makes known which versions are old. Their lists are readable. */
  async #makeOld(main: readonly RecordTable[]): Promise<void> {
    for (const table of main) {
      const made = supersededTable(table.content)
      if (this.#made.has(made)) continue
      const listed = await this.#listedFor(table)
      await this.#session.run(makeSuperseded(listed, this.#access.placeOf, table))
      await this.#session.run(isOneVersion(listed, table) ? noneOld(table) : oldFrom(table, made))
      this.#made.add(made)
    }
  }

  /** Counts the records of a content that partitions have and that are old: a listing makes versions without a record. */
  async #countOld({ content }: RecordTable, partitions: Listed['partitions']): Promise<number> {
    const versions = partitions.map(({ version }) => version).join(', ')
    const [row] = await this.#session.rows(`SELECT count(*)::INTEGER AS n FROM (
  SELECT DISTINCT owner, version FROM ${supersededTable(content)} WHERE version IN (${versions || 'NULL'}))`)
    return Number(row?.n)
  }

  async #makeRows(table: Table, listed: Listed): Promise<void> {
    if (this.#inOrder && TABLES.includes(table)) {
      const isOld = await markOld(this.#session, table, listed, this.#access.placeOf)
      await this.#session.run(rowsOfTable(table, listed, this.#access.placeOf, undefined, isOld))
      await this.#session.run(orderedViews(table, this.#computed).join(';\n'))
    } else await this.#session.run(rowsOfTable(table, listed, this.#access.placeOf))
  }

  #noteHistory({ name, table }: View, listed: Listed): void {
    if (name === historyName(table)) this.#historyBegins = historyBegin(listed) ?? this.#historyBegins
  }

  /** The listing of a table, read once for all tables of its content. */
  #listedFor(table: Table, withMerged = false): Promise<Listed> {
    const key = `${versionGroup(table)}${withMerged ? ' with merged' : ''}`
    const listed = this.#listed.get(key) ?? this.#read(table, withMerged)
    this.#listed.set(key, listed)
    return listed
  }
}
