/**
 * A format of files as a target is one object of this, and one line in `targets.ts`; and how rows
 * become a file or a stream of text.
 */

import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Writable } from 'node:stream'
import { writeError } from '../core/errors.ts'
import type { RawChunk, Sink, TableRows } from '../core/sink.ts'

/** Characters that may stand between two cells of CSV. */
export const CSV_DELIMITERS = [',', ';', '\t', '|'] as const
export type CsvDelimiter = (typeof CSV_DELIMITERS)[number]

/** Options of files, whatever their format: a format uses those that mean something to it. */
export interface FormatOptions {
  /** Makes texts harmless that a spreadsheet would take for formulas. @default true */
  readonly neutralise?: boolean | undefined
  /** CSV: between two cells. @default ',' */
  readonly delimiter?: CsvDelimiter | undefined
  /** CSV: begins with a byte order mark. @default false */
  readonly bom?: boolean | undefined
  /** Table of the lake whose rows these are; absent for those of a statement. */
  readonly table?: string | undefined
  /** Name of the rows, where a file says so inside. */
  readonly name?: string | undefined
}

export interface StreamOptions extends FormatOptions {
  readonly signal?: AbortSignal | undefined
  /** Called with the rows and bytes written so far. */
  readonly onProgress: (rows: number, bytes: number) => void
}

export interface WrittenFile {
  readonly rows: number
  readonly bytes: number
  /** Warnings for a person, such as texts that the format has no room for. @default none */
  readonly warnings?: readonly string[]
}

export interface FileFormat {
  /**
   * Files in a folder as a sink: `<table>/load=<run>/<partition>.<suffix>`, staged out of sight until commit; absent of a
   * format that runs cannot be delivered in.
   */
  readonly folder?: (directory: string, options: Pick<FormatOptions, 'neutralise'>) => Sink
  /** Writes all rows to a new file. It is not synced. @throws {ToolkitError} DISK_FULL, WRITE_FAILED */
  readonly write: (path: string, rows: TableRows, options: FormatOptions) => Promise<WrittenFile>
  /**
   * Writes several relations to one new file, each opened when those before are written; absent of a format whose files hold one.
   * @returns of each its rows and bytes
   */
  readonly writeAll?: (
    path: string,
    relations: readonly { readonly name: string; readonly open: () => Promise<TableRows> }[],
  ) => Promise<readonly WrittenFile[]>
  /**
   * Writes all rows to a writable, waiting while its reader is slow; absent of a format that needs a file.
   *
   * @returns the number of rows
   * @throws errors of the writable and of the engine as they come
   */
  readonly stream?: (target: Writable, rows: TableRows, options: StreamOptions) => Promise<number>
}

/** Rows and bytes of a file that the engine wrote. @throws {ToolkitError} WRITE_FAILED */
export const writtenFile = async (path: string, rows: number): Promise<WrittenFile> => {
  const { size } = await stat(path).catch((error: unknown) => {
    throw writeError(`Cannot write "${basename(path)}"`, error)
  })
  return { rows, bytes: size }
}

/**
 * Writes a text, then the texts of a relation with one column, waiting while the reader is slow. They are written as
 * the bytes that DuckDB has, so that no row becomes a value.
 *
 * @returns rows
 */
export const writeStrings = async (
  target: Writable,
  header: string,
  strings: TableRows,
  { signal, onProgress }: StreamOptions,
): Promise<number> => {
  let [rows, bytes] = [0, 0]
  const write = async (part: Uint8Array): Promise<void> => {
    signal?.throwIfAborted()
    bytes += part.byteLength
    if (part.byteLength > 0 && !target.write(part)) await once(target, 'drain', signal && { signal })
    onProgress(rows, bytes)
  }
  await write(Buffer.from(header))
  const { chunks } = await strings.chunks()
  for await (const chunk of chunks) {
    rows += chunk.rows
    await write(stringsOf(chunk))
  }
  return rows
}

interface Run {
  readonly bytes: Uint8Array
  readonly start: number
  end: number
}
const NO_BYTES = new Uint8Array(0)

/** The texts of a chunk's one column, put together. What stands together in DuckDB's memory is taken at once. */
const stringsOf = ({ rows, columns: [column] }: RawChunk): Uint8Array => {
  const parts: Uint8Array[] = []
  let run: Run = { bytes: NO_BYTES, start: 0, end: 0 }
  const take = (): void => {
    if (run.end > run.start) parts.push(run.bytes.subarray(run.start, run.end))
  }
  column?.strings(0, rows, (bytes, start, end) => {
    if (bytes === run.bytes && start === run.end) {
      run.end = end
      return
    }
    take()
    run = { bytes, start, end }
  })
  take()
  // A copy: DuckDB's memory is good until the next chunk, and the writable may keep it for longer.
  return Buffer.concat(parts)
}
