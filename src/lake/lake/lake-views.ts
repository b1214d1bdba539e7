/**
 * The views of a snapshot in a session: each table's current versions under its name, all versions as
 * `<table>_history`. A view reads files only once it was asked for; until then it has its columns and refuses to be read.
 */

import type { Snapshot } from '../../core/partition.ts'
import { filesOfThisWork } from '../../storage/check-files.ts'
import type { FetchOptions } from '../../storage/storage.ts'
import { atMost } from '../../support/side-by-side.ts'
import type { Session } from '../duckdb/engine.ts'
import { ident, literal } from '../duckdb/sql.ts'
import { mainTables, QUARANTINE, TABLES, type Table } from '../tables/tables.ts'
import { currentRows, filesOf, HIDDEN_SCHEMA, makeSuperseded, readTable } from './current-versions.ts'
import { type FileCheck, fetchFiles, listedFilesOf } from './fetch-tables.ts'
import { readQuarantine } from './read-quarantine.ts'

interface View {
  readonly name: string
  readonly table: Table
  /** Whether it shows current versions only. */
  readonly current: boolean
}

const VIEWS: readonly View[] = [
  ...TABLES.flatMap((table) => [
    { name: `${table.name}_history`, table, current: false },
    { name: table.name, table, current: true },
  ]),
  { name: QUARANTINE.name, table: QUARANTINE, current: false },
]

/** Runs a fetch of files with options, such as one that shows progress and can be interrupted. */
export type AroundFetch = (fetch: (options: Omit<FetchOptions, 'known'>) => Promise<void>) => Promise<void>

/** The part of a snapshot that lists files. */
export type Listed = Pick<Snapshot, 'partitions' | 'files' | 'merged'>

/**
 * Reads the part of a snapshot that lists the files of a table: asked once of all tables of a content, and only when one
 * of them is.
 */
export type ReadListed = (table: Table) => Promise<Listed>

export interface ViewsOptions {
  /** When files are compared with their hashes. @default before every read */
  readonly check?: FileCheck | undefined
  /** @default without progress and signal */
  readonly aroundFetch?: AroundFetch | undefined
}

export class LakeViews {
  readonly #session: Session
  readonly #lake: string
  readonly #read: ReadListed
  /** By content; of tables without one by name. */
  readonly #listed = new Map<string, Promise<Listed>>()
  readonly #aroundFetch: AroundFetch
  readonly #check: FileCheck | undefined
  readonly #known = filesOfThisWork()
  readonly #readable = new Set<string>()
  /** Main tables whose superseded versions are known. */
  readonly #superseded = new Set<string>()
  /** One after the other: two requests may want the same views. */
  readonly #inTurn = atMost(1)

  private constructor(session: Session, lake: string, read: ReadListed, options: ViewsOptions) {
    this.#session = session
    this.#lake = lake
    this.#read = read
    this.#check = options.check
    this.#aroundFetch = options.aroundFetch ?? ((fetch) => fetch({}))
  }

  static async open(
    session: Session,
    lake: string,
    snapshot: Listed | ReadListed,
    options: ViewsOptions = {},
  ): Promise<LakeViews> {
    await session.run(`CREATE SCHEMA ${HIDDEN_SCHEMA}`)
    for (const view of VIEWS) await session.run(unreadable(view))
    const read: ReadListed = typeof snapshot === 'function' ? snapshot : async () => snapshot
    return new LakeViews(session, lake, read, options)
  }

  /**
   * Makes views readable, those of other names are left alone: fetches the files of their tables and reads which
   * versions are current.
   *
   * @param names `null`: all views
   * @throws {ToolkitError} as `fetchTables`; DuckDB's error when a file is none of its kind
   */
  makeReadable(names: ReadonlySet<string> | null): Promise<void> {
    const requested = VIEWS.filter(({ name }) => names === null || names.has(name))
    return this.#inTurn(() => this.#make(requested))
  }

  async #make(views: readonly View[]): Promise<void> {
    const contents = new Set(views.flatMap(({ table, current }) => (current ? (table.content ?? []) : [])))
    const main = mainTables().filter(
      ({ content, name }) => contents.has(content) && !this.#superseded.has(name),
    )
    const tables = new Set([...views.map(({ table }) => table), ...main])
    const files = await Promise.all(
      [...tables].map(async (table) => listedFilesOf(await this.#listedFor(table), table)),
    )
    // Again for those that are readable: copies that were not used for a long time may be gone.
    const [check, known] = [this.#check, this.#known]
    await this.#aroundFetch((options) => fetchFiles(this.#lake, files.flat(), { ...options, check, known }))
    for (const table of main) {
      await this.#session.run(makeSuperseded(await this.#listedFor(table), this.#lake, table))
      this.#superseded.add(table.name)
    }
    for (const view of views) {
      if (this.#readable.has(view.name)) continue
      await this.#session.run(`CREATE OR REPLACE VIEW ${ident(view.name)} AS ${await this.#rowsOf(view)}`)
      this.#readable.add(view.name)
    }
  }

  /** The same for all tables of a content: a version is a place in what was read. */
  #listedFor(table: Table): Promise<Listed> {
    const key = table.content ?? table.name
    const listed = this.#listed.get(key) ?? this.#read(table)
    this.#listed.set(key, listed)
    return listed
  }

  async #rowsOf({ table, current }: View): Promise<string> {
    const files = filesOf(await this.#listedFor(table), this.#lake, table.name)
    if (table === QUARANTINE) return readQuarantine(files)
    return current ? currentRows(table, readTable(table, files, 'with-version')) : readTable(table, files)
  }
}

/** A view with the columns of one that can be read. Whoever reads it all the same must not take it for empty. */
const unreadable = ({ name, table }: View): string => {
  const columns = [
    ...(table === QUARANTINE ? [`NULL::VARCHAR AS ${ident('partition')}`] : []),
    ...table.columns.map((column) => `NULL::${column.type} AS ${ident(column.name)}`),
  ]
  const refusal = literal(`Cannot read "${name}" in this way: name it in the statement itself`)
  return `CREATE VIEW ${ident(name)} AS SELECT ${columns.join(', ')} WHERE error(${refusal})::BOOLEAN`
}
