/**
 * What differs between two snapshots of a lake: records new, changed and gone, and restated figures. Reads only the
 * records whose current version is in another partition, and of them only values: versions that are alike are equal.
 */

import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { Content } from '../contract/objects.ts'
import { ToolkitError, writeError } from '../core/errors.ts'
import type { FileEntry, PartitionEntry, Snapshot } from '../core/partition.ts'
import { storageOf } from '../storage/open-storage.ts'
import type { VersionedFile } from './current-versions.ts'
import {
  allRows,
  type ComparedPartition,
  candidatesTable,
  countriesOf,
  makeCandidates,
  makeChanges,
  makeDifferences,
  makeFigureDifferences,
  makeFigures,
  makeRecurrencied,
  makeRestatements,
  RECORD_ROWS,
  RESTATEMENT_ROWS,
  rowsOf,
  type Side,
} from './diff-sql.ts'
import { Engine, type Session } from './duckdb.ts'
import { inLake } from './layout.ts'
import type { QueryResult } from './query.ts'
import { mainTables, type Table, tablesOf } from './tables.ts'

/** Where what does not fit into memory is put aside while the process runs. */
const SPILL_FOLDER = `${tmpdir()}/firmlake-diff-${process.pid}`

export interface DiffOptions {
  readonly lake: string
  readonly from: Snapshot
  readonly to: Snapshot
  /** DuckDB's memory in bytes. */
  readonly memoryBytes: number
  readonly threads?: number | undefined
}

interface RecordCounts {
  readonly new: number
  readonly changed: number
  readonly gone: number
}

export interface DiffSummary {
  readonly from: { readonly snapshot: number; readonly time: string }
  readonly to: { readonly snapshot: number; readonly time: string }
  /** `currencyChanged`: of those changed, the ones whose amounts all came in another currency. */
  readonly companies: RecordCounts & { readonly currencyChanged: number }
  readonly relations: RecordCounts
  readonly restatements: {
    readonly changed: number
    readonly added: number
    readonly withdrawn: number
    /** How many companies have one. */
    readonly companies: number
  }
}

/** `records` has companies and relations, in columns of its own as `restatements`; `all` has one set of columns. */
export type DiffRows = 'records' | 'restatements' | 'all' | 'all-records' | 'all-restatements'

const ROWS: Readonly<Record<DiffRows, string>> = {
  records: RECORD_ROWS,
  restatements: RESTATEMENT_ROWS,
  all: allRows(`'company', 'relations', 'restatement'`),
  'all-records': allRows(`'company', 'relations'`),
  'all-restatements': allRows(`'restatement'`),
}

export interface LakeDiff {
  readonly summary: DiffSummary
  /** Rows in a stable order. One result at a time. */
  rows(which: DiffRows): Promise<QueryResult>
  close(): void
}

/** A partition with its number and its places. */
interface Compared extends ComparedPartition {
  readonly entry: PartitionEntry
}

/** Partitions of both snapshots, each once. */
const comparePartitions = (from: Snapshot, to: Snapshot): readonly Compared[] => {
  const keyOf = ({ run, id }: PartitionEntry): string => `${run}/${id}`
  const placesIn = ({ partitions }: Snapshot): ReadonlyMap<string, number> =>
    new Map(partitions.map((entry, place) => [keyOf(entry), place]))
  const [old, current] = [placesIn(from), placesIn(to)]
  const entries = new Map([...from.partitions, ...to.partitions].map((entry) => [keyOf(entry), entry]))
  return [...entries].map(([key, entry], number) => ({
    number,
    old: old.get(key),
    new: current.get(key),
    entry,
  }))
}

class Comparison {
  readonly #session: Session
  readonly #lake: string
  readonly #partitions: readonly Compared[]
  constructor(session: Session, lake: string, partitions: readonly Compared[]) {
    this.#session = session
    this.#lake = lake
    this.#partitions = partitions
  }

  /** Files of a table, on this machine, with the numbers of their partitions as versions. */
  async #files(table: Table, wanted: (partition: Compared) => boolean): Promise<readonly VersionedFile[]> {
    const found: (FileEntry & { readonly partition: Compared })[] = this.#partitions
      .filter(wanted)
      .flatMap((partition) =>
        partition.entry.files
          .filter((file) => file.table === table.name)
          .map((file) => ({ ...file, partition })),
      )
    await storageOf(this.#lake).fetch(found)
    return found.map(({ path, bytes, partition }) => ({
      path: inLake(this.#lake, path),
      bytes,
      version: partition.number,
      partition: partition.entry,
    }))
  }

  /** Makes the tables of changes of a content. */
  async compare(main: Table & { readonly content: Content }): Promise<void> {
    const { content } = main
    const files = await this.#files(main, () => true)
    const differing = await this.#files(main, (one) => one.old === undefined || one.new === undefined)
    await this.#session.run(makeCandidates(main, this.#partitions, files, differing))
    const tables = tablesOf(content)
    for (const table of tables) {
      const [old, current] = [
        await this.#rows(table, content, 'old'),
        await this.#rows(table, content, 'new'),
      ]
      if (table.name === 'financials') await this.#compareFigures(table, old, current)
      else await this.#session.run(makeDifferences(table, old, current))
    }
    await this.#session.run(makeChanges(content, tables, countriesOf(main, files)))
  }

  async #compareFigures(table: Table, old: string, current: string): Promise<void> {
    await this.#session.run(makeFigures(table, old, current))
    await this.#session.run(makeFigureDifferences(table))
    await this.#session.run(makeRecurrencied(old, current))
    await this.#session.run(makeRestatements(old))
  }

  /** Rows of one side, read from the partitions that have a candidate. */
  async #rows(table: Table, content: Content, side: Side): Promise<string> {
    const found = await this.#session.rows(
      `SELECT DISTINCT ${side}_p AS p FROM ${candidatesTable(content)} WHERE old_p IS NOT NULL AND new_p IS NOT NULL`,
    )
    const needed = new Set(found.map(({ p }) => Number(p)))
    const files = await this.#files(table, ({ number }) => needed.has(number))
    return rowsOf({ ...table, content }, files, side)
  }

  async summarize(from: Snapshot, to: Snapshot): Promise<DiffSummary> {
    const records = (content: Content): string => `(SELECT {
      'new': count(*) FILTER (change = 'new'), 'changed': count(*) FILTER (change = 'changed'),
      'gone': count(*) FILTER (change = 'gone')} FROM changes_${content})`
    const [row = {}] = await this.#session.rows(`SELECT to_json({
      'companies': ${records('companies')}, 'relations': ${records('relations')},
      'currencyChanged': (SELECT count(*) FROM recurrencied),
      'restatements': (SELECT {'changed': count(*) FILTER (change = 'changed'),
        'added': count(*) FILTER (change = 'added'), 'withdrawn': count(*) FILTER (change = 'withdrawn'),
        'companies': count(DISTINCT internal_id)} FROM restatements)})::VARCHAR AS summary`)
    const counts: Pick<DiffSummary, 'relations' | 'restatements'> & {
      readonly companies: RecordCounts
      readonly currencyChanged: number
    } = JSON.parse(String(row.summary))
    return {
      from: { snapshot: from.snapshot, time: from.time },
      to: { snapshot: to.snapshot, time: to.time },
      companies: { ...counts.companies, currencyChanged: counts.currencyChanged },
      relations: counts.relations,
      restatements: counts.restatements,
    }
  }
}

/** Ids as numbers where JavaScript holds them exactly; DuckDB's JSON values give them as text. */
async function* withIds(
  { columns }: Pick<QueryResult, 'columns'>,
  rows: QueryResult['rows'],
): QueryResult['rows'] {
  const at = columns.findIndex(({ name }) => name === 'internal_id')
  const numberOf = (id: unknown): unknown => (Number.isSafeInteger(Number(id)) ? Number(id) : id)
  for await (const chunk of rows)
    yield chunk.map((row) => row.map((value, column) => (column === at ? numberOf(value) : value)))
}

/** A full disk keeps its own code; whatever else the engine says is in its message. */
const diffFailed = (error: unknown): ToolkitError => {
  const failed = writeError('Cannot compare the snapshots', error)
  if (error instanceof ToolkitError || failed.code === 'DISK_FULL') return failed
  return new ToolkitError('QUERY_FAILED', failed.message, {}, error)
}

/**
 * Compares two snapshots of a lake, in either order.
 *
 * @throws {ToolkitError} QUERY_FAILED, DISK_FULL; LAKE_DAMAGED and a storage's errors where files must be fetched
 */
export const openDiff = async (options: DiffOptions): Promise<LakeDiff> => {
  const { lake, from, to, memoryBytes, threads } = options
  const engine = await Engine.open({
    memoryBytes,
    ...(threads !== undefined && { threads }),
    spillFolder: SPILL_FOLDER,
  })
  const session = await engine.connect()
  const close = (): void => {
    session.close()
    engine.close()
    rmSync(SPILL_FOLDER, { recursive: true, force: true })
  }
  try {
    const comparison = new Comparison(session, lake, comparePartitions(from, to))
    for (const main of mainTables()) await comparison.compare(main)
    const summary = await comparison.summarize(from, to)
    return {
      summary,
      rows: async (which) => {
        const { columns, rows } = await session.streamRows(ROWS[which])
        return { columns, rows: withIds({ columns }, rows) }
      },
      close,
    }
  } catch (error) {
    close()
    throw diffFailed(error)
  }
}
