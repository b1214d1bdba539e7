/** Writes sorted rows to files of a target size: each is measured, and the next one, or the same again, sized by that. */

import type { FileEntry } from '../../core/partition.ts'
import type { SinkRun } from '../../core/sink.ts'
import type { SortedRows } from '../../lake/lake/sort-rows.ts'
import { LEAST_ROWS } from './plan-compaction.ts'

export interface CompactedFilesRequest {
  readonly sink: SinkRun
  readonly table: string
  readonly sorted: SortedRows
  /** What the files' names begin with; their number follows. */
  readonly id: string
  readonly targetBytes: number
  /** Bytes of a row, as far as they are known; the first file is written again where it does not fit. */
  readonly bytesPerRow: number
  readonly onRows: (rows: number) => void
  readonly signal?: AbortSignal | undefined
}

/** A file nearer to the target than this is left as it is. Half of what is allowed, for those that cannot be met. */
const NEAR = 0.05
const MAX_ATTEMPTS = 4

/** `3f2a…-00012`: by name the files of a table stand in the order of their rows. */
const compactedName = (id: string, number: number): string => `${id}-${String(number).padStart(5, '0')}`

/** @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED` */
export const writeCompacted = async (request: CompactedFilesRequest): Promise<readonly FileEntry[]> => {
  const { sink, table, sorted, id, targetBytes, onRows, signal } = request
  const files: FileEntry[] = []
  let { bytesPerRow } = request
  const writeNext = async (from: number): Promise<FileEntry> => {
    const name = compactedName(id, files.length)
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted()
      const left = sorted.rows - from
      const rows = Math.min(left, Math.max(LEAST_ROWS, Math.round(targetBytes / bytesPerRow)))
      const { files: written } = await sink.write(name, table, sorted.slice(from, from + rows))
      const [file] = written
      if (file === undefined) throw new TypeError(`Cannot compact table "${table}": its sink wrote no file`)
      bytesPerRow = file.bytes / rows
      const share = file.bytes / targetBytes
      // The last rows are as many as they are; too many of them become two files.
      const near = share <= 1 + NEAR && (share >= 1 - NEAR || rows === left)
      if (near || (share > 1 && rows <= LEAST_ROWS) || attempt === MAX_ATTEMPTS) return file
    }
  }
  for (let from = 0; from < sorted.rows; ) {
    const file = await writeNext(from)
    files.push(file)
    from += file.rows
    onRows(from)
  }
  return files
}
