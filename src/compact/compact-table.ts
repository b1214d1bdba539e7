/** A table of a compaction: its current rows and its past ones sorted, whole or in pieces that fit the local disk and DuckDB's memory, and written to files. */

import { join } from 'node:path'
import { listingEntry } from '../commit/listing-entry.ts'
import type { FileEntry, PartitionEntry } from '../core/partition.ts'
import type { SinkRun } from '../core/sink.ts'
import type { Session } from '../lake/duckdb/engine.ts'
import { ident, pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import { cutByBytes } from '../lake/files/fetch-tables.ts'
import { pastOf, withFirstVersion } from '../lake/tables/past-tables.ts'
import { makeEnums, type SortedRows, type SortRequest, sortRows } from '../lake/tables/sort-rows.ts'
import { LISTINGS, type Table } from '../lake/tables/tables.ts'
import { currentRows, HIDDEN_SCHEMA } from '../lake/views/current-versions.ts'
import { latestInstant } from '../manifest/form/sources.ts'
import { stageFile } from '../sink/stage-file.ts'
import { storageOf } from '../storage/open-storage.ts'
import { removeIfThere } from '../support/durable-files.ts'
import { sizesOf, type Work, watchSort } from './compact-work.ts'
import { cutPieces } from './cut-pieces.ts'
import type { FoundVersions, IntervalTables } from './find-superseded.ts'
import type { HistoryLimit } from './history-limit.ts'
import { type Intervals, intervalsOf, intervalsOfPiece, withWrittenRows } from './interval-rows.ts'
import { type CompactContent, compactedId, filesAtOnce, sortedAtOnce } from './plan-compaction.ts'
import { allInputsOf, type GroupRows, type InputFile, inputsOf, readGroup } from './read-group.ts'
import { sortRanges } from './sort-ranges.ts'
import { CompactedWriter } from './write-compacted.ts'

/** Rows that are sorted at once. */
interface Piece {
  readonly files: readonly InputFile[]
  readonly read: <T>(use: (rows: GroupRows, intervals: Intervals) => Promise<T>) => Promise<T>
  readonly remove: () => Promise<void>
}

const piecesOf = async (
  work: Work,
  table: Table,
  content: CompactContent,
  intervals: IntervalTables | undefined,
): Promise<readonly Piece[]> => {
  const files = allInputsOf(work.snapshot, table)
  const sizes = sizesOf(files)
  const mostBytes = Math.min(work.pieceBytes, sortedAtOnce(work.memory, table, sizes))
  if (sizes.bytes <= mostBytes && sizes.files <= filesAtOnce(table))
    return [
      {
        files,
        read: (use) =>
          readGroup(work, table, files, (read) => use(read, intervalsOf(table, read, intervals))),
        remove: async () => undefined,
      },
    ]
  return (await cutPieces(work, table, content, intervals, files, mostBytes)).map((parts) => ({
    files: parts,
    read: (use) =>
      readGroup(work, pastOf(table), parts, (read) => use(read, intervalsOfPiece(table, read, intervals))),
    remove: () => storageOf(work.lake).remove(parts.map(({ path }) => path)),
  }))
}

/** Reports how far a sort is. */
type Watch = (sort: (onRange: () => void) => Promise<SortedRows>) => Promise<SortedRows>

/** Rows on their way into the files of a table. What is too little for a file stands before the next piece. */
class PiecewiseWriter {
  readonly #session: Session
  readonly #table: Table
  readonly #writer: CompactedWriter
  readonly #path: string
  readonly #rest: string
  #hasRest = false
  rows = 0

  constructor({ session, spill }: Work, table: Table, writer: CompactedWriter) {
    this.#session = session
    this.#table = table
    this.#writer = writer
    this.#path = join(spill, `${table.name}.duckdb`)
    this.#rest = join(spill, `${table.name}-rest.parquet`)
  }

  /** SQL of the rows that wait for the next piece. */
  get restRows(): readonly string[] {
    return this.#hasRest ? [`FROM ${readParquet(pathsSql([this.#rest]))}`] : []
  }

  /** Sorts a piece and writes it. @param isLast whether no other one follows */
  async write(
    request: Pick<SortRequest, 'rows' | 'enums' | 'ranges'>,
    isLast: boolean,
    watch: Watch,
  ): Promise<void> {
    const [session, table, path, rest] = [this.#session, this.#table, this.#path, this.#rest]
    const [before] = this.restRows
    const sorted = await watch((onRange) => sortRows({ ...request, session, table, path, before, onRange }))
    await removeIfThere(rest)
    const written = await this.#writer.write(sorted, isLast)
    this.#hasRest = written < sorted.rows
    if (this.#hasRest) await stageFile(rest, sorted.slice(written, sorted.rows), { kind: 'parquet' })
    this.rows += written
    await sorted.close()
    await removeIfThere(path)
  }
}

export const compactTable = async (
  work: Work,
  sink: SinkRun,
  table: Table,
  content: CompactContent,
  { intervals, limit }: FoundVersions & { readonly limit: HistoryLimit },
): Promise<readonly FileEntry[]> => {
  const { session, targetBytes, signal, report } = work
  const before = sizesOf(allInputsOf(work.snapshot, table))
  if (before.rows === 0) {
    // They go away with the others, so they are to be what the manifest says too.
    for (const group of cutByBytes(inputsOf(work.snapshot, table), work.pieceBytes, filesAtOnce(table)))
      await readGroup(work, table, group, async () => undefined)
    return []
  }
  signal?.throwIfAborted()
  const pieces = await piecesOf(work, table, content, intervals)
  const writerOf = (written: Table): CompactedWriter =>
    new CompactedWriter({
      sink,
      table: written.name,
      id: compactedId(content),
      targetBytes,
      bytesPerRow: before.bytes / before.rows,
      onRows: (rows) =>
        report({ kind: 'progress', phase: 'writing', table: written.name, rows, of: before.rows }),
      signal,
    })
  const [ofCurrent, ofPast] = [writerOf(table), writerOf(pastOf(table))]
  const current = new PiecewiseWriter(work, withFirstVersion(table), ofCurrent)
  const past = new PiecewiseWriter(work, pastOf(table), ofPast)
  const onShare = (share: number): void => {
    const rows = Math.round((share * before.rows) / pieces.length)
    report({
      kind: 'progress',
      phase: 'sorting',
      table: table.name,
      rows: Math.min(before.rows, current.rows + past.rows + rows),
      of: before.rows,
    })
  }
  for (const [at, piece] of pieces.entries()) {
    signal?.throwIfAborted()
    const isLast = at === pieces.length - 1
    await piece.read(async (read, found) => {
      const ranges = await sortRanges(work, table, content.content, read)
      const enums = await makeEnums(session, table, [read.rows, ...current.restRows, ...past.restRows])
      await withWrittenRows(work, table, found, { intervals, limit, ranges, enums }, async (rows) => {
        const watch: Watch = (sort) => watchSort(session, ranges, onShare, sort)
        await current.write({ rows: rows.current, enums, ranges }, isLast, watch)
        if (rows.past !== undefined) await past.write({ rows: rows.past, enums, ranges }, isLast, watch)
      })
    })
    await piece.remove()
  }
  return [...ofCurrent.files, ...ofPast.files]
}

const GONE = `${HIDDEN_SCHEMA}.gone`

export const compactListings = async (work: Work, sink: SinkRun): Promise<readonly PartitionEntry[]> => {
  const { session, snapshot, signal, run } = work
  const listings = inputsOf(snapshot, LISTINGS)
  if (listings.length === 0) return []
  signal?.throwIfAborted()
  await readGroup(work, LISTINGS, listings, ({ versioned }) =>
    session.run(`CREATE TABLE ${GONE} AS ${currentRows(LISTINGS, versioned)}`),
  )
  const columns = LISTINGS.columns.map(({ name }) => ident(name)).join(', ')
  const rows = session.relation(`SELECT ${columns} FROM ${GONE} ORDER BY internal_id`)
  const { files } = await sink.write(LISTINGS.name, LISTINGS.name, rows)
  await session.run(`DROP TABLE ${GONE}`)
  if (files.every((file) => file.rows === 0)) return []
  const listed = snapshot.partitions.filter((one) => one.files.some(({ table }) => table === LISTINGS.name))
  return [listingEntry(run, 'compaction', latestInstant(listed), files)]
}
