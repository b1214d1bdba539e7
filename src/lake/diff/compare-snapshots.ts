/**
 * Fills the tables of a comparison of two snapshots: of the files that hold a record to compare it reads the records to
 * compare, as many at once as fit into memory.
 */

import type { Content } from '../../contract/objects.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { CommittedPartition, FileEntry, Snapshot } from '../../core/partition.ts'
import type { Session } from '../duckdb/engine.ts'
import { type FetchTablesOptions, fetchFiles } from '../files/fetch-tables.ts'
import { inLake } from '../files/layout.ts'
import { LISTINGS, mainTables, type RecordTable, type Table, tablesOf } from '../tables/tables.ts'
import { oldVersions, type VersionedFile, versionFacts, versionFilesOf } from '../views/current-versions.ts'
import {
  type ComparedFiles,
  type ComparedPartition,
  candidatesTable,
  changedColumnsTable,
  differencesTable,
  factsOf,
  makeCandidates,
  makeChanges,
  makeFigureDifferences,
  makeMainDifferences,
  makeRecurrencied,
  makeRestatements,
  type OwnerRange,
  rangeStarts,
  rowsOf,
  type Side,
  selectChangedColumns,
  selectDifferences,
  selectFigures,
} from './diff-sql.ts'

export interface SnapshotsToCompare {
  readonly lake: string
  readonly from: Snapshot
  readonly to: Snapshot
  /** DuckDB's memory in bytes. */
  readonly memoryBytes: number
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: DiffProgress) => void) | undefined
  /** How far the fetch and check of files are. */
  readonly onFetch?: FetchTablesOptions['onProgress']
  /** When files are compared with their hashes. @default the first time that this machine reads them */
  readonly check?: FetchTablesOptions['check']
}

/** Tables compared, and in all; a table may be compared in several parts. */
export interface DiffProgress {
  readonly table: string
  readonly tablesDone: number
  readonly tables: number
  readonly part: number
  readonly parts: number
}

/** A partition with its number and its places. */
interface Compared extends ComparedPartition {
  readonly entry: CommittedPartition
}

/** Partitions of both snapshots, each once. */
const comparePartitions = (from: Snapshot, to: Snapshot): readonly Compared[] => {
  const entriesIn = ({ partitions }: Snapshot): ReadonlyMap<number, CommittedPartition> =>
    new Map(partitions.map((entry) => [entry.version, entry]))
  const [old, current] = [entriesIn(from), entriesIn(to)]
  return [...new Map([...old, ...current])].map(([version, entry], number) => ({
    ...{ number, version, entry },
    ...{ old: old.has(version), new: current.has(version) },
  }))
}

interface ComparedFile extends VersionedFile {
  readonly rows: number
}

/** The partitions of one side that hold records to compare, and the share of their records which these are. */
interface ComparedSide {
  readonly numbers: ReadonlySet<number>
  readonly share: number
}

const rowsIn = (files: readonly FileEntry[], { name }: Table): number =>
  files.reduce((sum, { table, rows }) => sum + (table === name ? rows : 0), 0)

/** Part of the memory that one side of a join may take by estimate: beside it stand its index and what is read. */
const JOIN_SHARE = 1 / 6
/** A value in a row of a join, and how much larger than in the file its text is. */
const VALUE_BYTES = 16
const TEXT_GROWTH = 4

/** About how much memory the rows of a table's files take in a join. */
const joinBytes = (table: Table, files: readonly ComparedFile[]): number =>
  files.reduce(
    (sum, { rows, bytes }) => sum + rows * table.columns.length * VALUE_BYTES + bytes * TEXT_GROWTH,
    0,
  )

const TABLES_TO_COMPARE = mainTables().flatMap(({ content }) => tablesOf(content)).length

class Comparison {
  readonly #session: Session
  readonly #lake: string
  readonly #partitions: readonly Compared[]
  readonly #options: SnapshotsToCompare
  #tablesDone = 0
  constructor(session: Session, options: SnapshotsToCompare) {
    this.#session = session
    this.#lake = options.lake
    this.#partitions = comparePartitions(options.from, options.to)
    this.#options = options
  }

  /** Stands before every longer step: a signal between two statements would be lost otherwise. */
  #report({ name }: Table, part = 0, parts = 1): void {
    const { signal, onProgress } = this.#options
    if (signal?.aborted) throw new ToolkitError('INTERRUPTED', 'Interrupted', {}, signal.reason)
    onProgress?.({ table: name, tablesDone: this.#tablesDone, tables: TABLES_TO_COMPARE, part, parts })
  }

  /** Files of a table, on this machine, with the numbers of their partitions as versions. */
  async #files(table: Table, isIncluded: (partition: Compared) => boolean): Promise<readonly ComparedFile[]> {
    const found = this.#partitions
      .filter(isIncluded)
      .flatMap(({ number, entry }) =>
        entry.files
          .filter((file) => file.table === table.name)
          .map((file) => ({ ...file, version: number, partition: entry })),
      )
    const { signal, onFetch: onProgress, check = 'first-read' } = this.#options
    await fetchFiles(this.#lake, found, { signal, onProgress, check })
    return found.map((file) => ({ ...file, path: inLake(this.#lake, file.path) }))
  }

  async #both(table: Table): Promise<ComparedFiles> {
    return {
      all: await this.#files(table, () => true),
      differing: await this.#files(table, (one) => !one.old || !one.new),
    }
  }

  /** The versions that a snapshot does not show, as SQL over its lists, which are on this machine then. */
  async #hidden(main: RecordTable, which: 'from' | 'to'): Promise<string> {
    const { signal, onFetch: onProgress, check = 'first-read' } = this.#options
    const snapshot = this.#options[which]
    const lists = versionFacts(versionFilesOf(snapshot, 'superseded', main))
    await fetchFiles(this.#lake, lists, { signal, onProgress, check })
    return oldVersions(snapshot, this.#lake, main)
  }

  /** Makes the tables of changes of a content. */
  async #compareContent(main: RecordTable): Promise<void> {
    const { content } = main
    this.#report(main)
    const files = await this.#both(main)
    const listings = content === LISTINGS.content ? (await this.#both(LISTINGS)).differing : []
    const hidden = { old: await this.#hidden(main, 'from'), new: await this.#hidden(main, 'to') }
    await this.#session.run(makeCandidates(main, this.#partitions, files, listings, hidden))
    const tables = tablesOf(content)
    const sides = { old: await this.#side(main, 'old'), new: await this.#side(main, 'new') }
    for (const table of tables) await this.#compareTable({ ...table, content }, sides, main)
    await this.#session.run(makeChanges(content, tables, factsOf(main, files.all)))
  }

  async #compareTable(
    table: RecordTable,
    sides: Readonly<Record<Side, ComparedSide>>,
    main: RecordTable,
  ): Promise<void> {
    const old = await this.#files(table, ({ number }) => sides.old.numbers.has(number))
    const current = await this.#files(table, ({ number }) => sides.new.numbers.has(number))
    const isFigures = table.name === 'financials'
    const isMain = table.name === main.name
    const [target, select] = isFigures
      ? ['figures', selectFigures]
      : isMain
        ? [changedColumnsTable(table.content), selectChangedColumns]
        : [differencesTable(table), selectDifferences]
    const bytes = Math.max(
      joinBytes(table, old) * sides.old.share,
      joinBytes(table, current) * sides.new.share,
    )
    const most = Math.ceil(bytes / (this.#options.memoryBytes * JOIN_SHARE))
    const ranges = await this.#ranges(table.content, most)
    for (const [at, range] of ranges.entries()) {
      this.#report(table, at, ranges.length)
      const rows = select(table, rowsOf(table, old, 'old', range), rowsOf(table, current, 'new', range))
      await this.#session.run(`${at === 0 ? `CREATE TABLE ${target} AS` : `INSERT INTO ${target}`} ${rows}`)
    }
    if (isMain) await this.#session.run(makeMainDifferences(main))
    this.#tablesDone += 1
    if (!isFigures) return
    await this.#session.run(makeFigureDifferences(table))
    await this.#session.run(makeRecurrencied(rowsOf(table, old, 'old'), rowsOf(table, current, 'new')))
    await this.#session.run(makeRestatements(rowsOf(table, old, 'old')))
  }

  /** Ranges that hold all records to compare; one that is open where there is no more to divide. */
  async #ranges(content: Content, most: number): Promise<readonly OwnerRange[]> {
    if (most < 2) return [{}]
    const starts = (await this.#session.rows(rangeStarts(content, most))).map(({ least }) => String(least))
    if (starts.length < 2) return [{}]
    return starts.map((least, at) => {
      const below = starts[at + 1]
      return below === undefined ? { least } : { least, below }
    })
  }

  /** The rows of one side to compare. */
  async #side(main: RecordTable, side: Side): Promise<ComparedSide> {
    const found = await this.#session.rows(
      `SELECT ${side}_p AS p, count(*) AS records FROM ${candidatesTable(main.content)}
WHERE old_p IS NOT NULL AND new_p IS NOT NULL GROUP BY ALL`,
    )
    const numbers = new Set(found.map(({ p }) => Number(p)))
    const records = found.reduce((sum, row) => sum + Number(row.records), 0)
    const held = this.#partitions
      .filter(({ number }) => numbers.has(number))
      .reduce((sum, { entry }) => sum + rowsIn(entry.files, main), 0)
    return { numbers, share: held === 0 ? 0 : records / held }
  }

  async compare(): Promise<void> {
    for (const main of mainTables()) await this.#compareContent(main)
  }
}

/** Makes the tables that the results are read from. */
export const compareSnapshots = (session: Session, snapshots: SnapshotsToCompare): Promise<void> =>
  new Comparison(session, snapshots).compare()
