/** Rows of a relation with one column of text to a writable of Node, such as standard output. */

import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { RawChunk, TableRows } from '../core/sink.ts'
import type { StreamOptions } from './file-format.ts'

/**
 * Writes a text, then the texts of a relation with one column, waiting while the reader is slow. They are written as
 * the bytes that DuckDB has, so that no row becomes a value.
 *
 * @returns rows
 */
export const writeTexts = async (
  target: Writable,
  header: string,
  texts: TableRows,
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
  const { chunks } = await texts.chunks()
  for await (const chunk of chunks) {
    rows += chunk.rows
    await write(textsOf(chunk))
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
const textsOf = ({ rows, columns: [column] }: RawChunk): Uint8Array => {
  const parts: Uint8Array[] = []
  let run: Run = { bytes: NO_BYTES, start: 0, end: 0 }
  const take = (): void => {
    if (run.end > run.start) parts.push(run.bytes.subarray(run.start, run.end))
  }
  column?.texts(0, rows, (bytes, start, end) => {
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
