/** One table of a compaction: its current rows sorted, whole or in pieces that fit the local disk and DuckDB's memory, and written to files. */

import { join } from 'node:path'
import type { FileEntry } from '../../core/partition.ts'
import type { SinkRun } from '../../core/sink.ts'
import { cutByBytes } from '../../lake/files/fetch-tables.ts'
import { type SortedRows, sortRows } from '../../lake/tables/sort-rows.ts'
import type { Table } from '../../lake/tables/tables.ts'
import { currentRows, readTable } from '../../lake/views/current-versions.ts'
import { stageFile } from '../../sink/stage-file.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { discard } from '../../support/durable-files.ts'
import { sizesOf, type Work } from './compact-work.ts'
import { cutPieces } from './cut-pieces.ts'
import { type CompactContent, compactedId } from './plan-compaction.ts'
import { type GroupRows, type InputFile, inputsOf, readGroup } from './read-group.ts'
import { filesAtOnce, sortedAtOnce } from './sorted-at-once.ts'
import { watchStatement } from './watch-statement.ts'
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
    return readGroup(work, table, files, (read) =>
      watchStatement(session, onShare, () =>
        sortRows({ session, table, path, rows: select(read), texts: read.rows, before }),
      ),
    )
  }
  let hasRest = false
  for (const [at, piece] of pieces.entries()) {
    signal?.throwIfAborted()
    const sorted = await sortPiece(piece, hasRest)
    await piece.remove()
    await discard(rest)
    const written = await writer.write(sorted, at === pieces.length - 1)
    // Too few for a file: they stand before the next piece.
    hasRest = written < sorted.rows
    if (hasRest) await stageFile(rest, sorted.slice(written, sorted.rows), { kind: 'parquet' })
    sortedRows += written
    await sorted.close()
    await discard(path)
  }
  return writer.files
}
