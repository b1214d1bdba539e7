/** One table of a compaction: its current rows sorted, whole or in pieces that fit the local disk and DuckDB's memory, and written to files. */

import { join } from 'node:path'
import { listingEntry } from '../../commit/listing-entry.ts'
import type { FileEntry, PartitionEntry } from '../../core/partition.ts'
import type { SinkRun } from '../../core/sink.ts'
import { ident } from '../../lake/duckdb/sql.ts'
import { cutByBytes } from '../../lake/files/fetch-tables.ts'
import { type SortedRows, sortRows } from '../../lake/tables/sort-rows.ts'
import { LISTINGS, type Table } from '../../lake/tables/tables.ts'
import { currentRows, HIDDEN_SCHEMA, readTable } from '../../lake/views/current-versions.ts'
import { latestInstant } from '../../manifest/form/sources.ts'
import { stageFile } from '../../sink/stage-file.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { removeIfThere } from '../../support/durable-files.ts'
import { sizesOf, type Work, watchSort } from './compact-work.ts'
import { cutPieces } from './cut-pieces.ts'
import { type CompactContent, compactedId, filesAtOnce, sortedAtOnce } from './plan-compaction.ts'
import { type GroupRows, type InputFile, inputsOf, readGroup } from './read-group.ts'
import { sortRanges } from './sort-ranges.ts'
import { CompactedWriter } from './write-compacted.ts'

/** Rows that are sorted at once. */
interface Piece {
  readonly files: readonly InputFile[]
  readonly select: (read: GroupRows) => string
  readonly remove: () => Promise<void>
}

const piecesOf = async (work: Work, table: Table, content: CompactContent): Promise<readonly Piece[]> => {
  const files = inputsOf(work.snapshot, table)
  const sizes = sizesOf(files)
  const mostBytes = Math.min(work.pieceBytes, sortedAtOnce(work.memory, table, sizes))
  if (sizes.bytes <= mostBytes && sizes.files <= filesAtOnce(table))
    return [
      { files, select: ({ versioned }) => currentRows(table, versioned), remove: async () => undefined },
    ]
  return (await cutPieces(work, table, content, files, mostBytes)).map((parts) => ({
    files: parts,
    select: ({ rows }) => rows,
    remove: () => storageOf(work.lake).remove(parts.map(({ path }) => path)),
  }))
}

export const compactTable = async (
  work: Work,
  sink: SinkRun,
  table: Table,
  content: CompactContent,
): Promise<readonly FileEntry[]> => {
  const { session, spill, targetBytes, signal, report } = work
  const before = sizesOf(content.files.filter((file) => file.table === table.name))
  if (before.rows === 0) {
    // They go away with the others, so they are to be what the manifest says too.
    for (const group of cutByBytes(inputsOf(work.snapshot, table), work.pieceBytes, filesAtOnce(table)))
      await readGroup(work, table, group, async () => undefined)
    return []
  }
  signal?.throwIfAborted()
  const pieces = await piecesOf(work, table, content)
  const [path, rest] = [join(spill, `${table.name}.duckdb`), join(spill, 'rest.parquet')]
  let sortedRows = 0
  const onShare = (share: number): void => {
    const rows = Math.round((share * before.rows) / pieces.length)
    report({
      kind: 'progress',
      phase: 'sorting',
      table: table.name,
      rows: sortedRows + rows,
      of: before.rows,
    })
  }
  const writer = new CompactedWriter({
    sink,
    table: table.name,
    id: compactedId(content),
    targetBytes,
    bytesPerRow: before.bytes / before.rows,
    onRows: (rows) =>
      report({ kind: 'progress', phase: 'writing', table: table.name, rows, of: before.rows }),
    signal,
  })
  const sortPiece = ({ files, select }: Piece, hasRest: boolean): Promise<SortedRows> => {
    const before = hasRest ? readTable(table, [{ path: rest, version: 0 }]) : undefined
    return readGroup(work, table, files, async (read) => {
      const ranges = await sortRanges(work, table, content.content, read)
      return watchSort(session, ranges, onShare, (onRange) =>
        sortRows({ session, table, path, rows: select(read), texts: read.rows, before, ranges, onRange }),
      )
    })
  }
  let hasRest = false
  for (const [at, piece] of pieces.entries()) {
    signal?.throwIfAborted()
    const sorted = await sortPiece(piece, hasRest)
    await piece.remove()
    await removeIfThere(rest)
    const written = await writer.write(sorted, at === pieces.length - 1)
    // Too few for a file: they stand before the next piece.
    hasRest = written < sorted.rows
    if (hasRest) await stageFile(rest, sorted.slice(written, sorted.rows), { kind: 'parquet' })
    sortedRows += written
    await sorted.close()
    await removeIfThere(path)
  }
  return writer.files
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
