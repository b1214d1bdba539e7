/** Writes sorted rows to files of a target size: each is measured, and the next one, or the same again, sized by that. */

import type { FileEntry } from '../core/partition.ts'
import type { SinkRun } from '../core/sink.ts'
import type { SortedRows } from '../lake/tables/sort-rows.ts'
import { MIN_ROWS } from './plan-compaction.ts'

interface CompactedFilesRequest {
  readonly sink: SinkRun
  readonly table: string
  /** The beginning of the files' names; their number follows. */
  readonly id: string
  readonly targetBytes: number
  /** Bytes of a row, as far as they are known; the first file is written again where it does not fit. */
  readonly bytesPerRow: number
  /** Called with the rows that are written so far. */
  readonly onRows: (rows: number) => void
  readonly signal?: AbortSignal | undefined
}

/** A file nearer to the target than this is left as it is. Half of what is allowed, for those that cannot be met. */
const NEAR = 0.05
const MAX_ATTEMPTS = 4

/** `3f2a…-00012`: by name the files of a table stand in the order of their rows. */
const compactedName = (id: string, number: number): string => `${id}-${String(number).padStart(5, '0')}`

/** The files of one table, from rows that are sorted piece by piece. */
export class CompactedWriter {
  readonly #request: CompactedFilesRequest
  readonly #files: FileEntry[] = []
  #bytesPerRow: number
  #rows = 0

  constructor(request: CompactedFilesRequest) {
    this.#request = request
    this.#bytesPerRow = request.bytesPerRow
  }

  get files(): readonly FileEntry[] {
    return this.#files
  }

  /**
   * Writes the files of a piece.
   *
   * @param isLast whether no other rows follow: without them the last ones may be too few for a file
   * @returns how many of its rows are written
   * @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED`
   */
  async write(sorted: SortedRows, isLast: boolean): Promise<number> {
    let from = 0
    while (from < sorted.rows && (isLast || sorted.rows - from >= this.#rowsOfFile())) {
      const file = await this.#writeNext(sorted, from, isLast)
      if (file === undefined) break
      this.#files.push(file)
      from += file.rows
      this.#rows += file.rows
      this.#request.onRows(this.#rows)
    }
    return from
  }

  #rowsOfFile(): number {
    return Math.max(MIN_ROWS, Math.round(this.#request.targetBytes / this.#bytesPerRow))
  }

  /** The file from a row on; `undefined` where the rows turn out to be too few and others follow. */
  async #writeNext(sorted: SortedRows, from: number, isLast: boolean): Promise<FileEntry | undefined> {
    const { sink, table, id, targetBytes, signal } = this.#request
    const name = compactedName(id, this.#files.length)
    for (let attempt = 1; ; attempt += 1) {
      signal?.throwIfAborted()
      const left = sorted.rows - from
      if (!isLast && left < this.#rowsOfFile()) return undefined
      const rows = Math.min(left, this.#rowsOfFile())
      const { files: written } = await sink.write(name, table, sorted.slice(from, from + rows))
      const [file] = written
      if (file === undefined) throw new TypeError(`Cannot compact table "${table}": its sink wrote no file`)
      this.#bytesPerRow = file.bytes / rows
      const share = file.bytes / targetBytes
      // The last rows are as many as they are; too many of them become two files.
      const near = share <= 1 + NEAR && (share >= 1 - NEAR || (isLast && rows === left))
      if (near || (share > 1 && rows <= MIN_ROWS) || attempt === MAX_ATTEMPTS) return file
    }
  }
}
