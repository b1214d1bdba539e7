/** Rows of a relation as text to a writable of Node, such as standard output. */

import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { RawChunk, Relation } from '../core/relation.ts'
import { csvRelation } from '../sink/csv.ts'
import { jsonRelation } from '../sink/json-lines.ts'

/** Formats that need no seeking. */
export const STREAM_FORMATS = ['csv', 'jsonl', 'arrows'] as const
export type StreamFormat = (typeof STREAM_FORMATS)[number]

interface Streaming {
  readonly neutralise?: boolean | undefined
  readonly table?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Told of rows and bytes written so far. */
  readonly onProgress: (rows: number, bytes: number) => void
}

/**
 * Writes a text, then the texts of a relation with one column, waiting while the reader is slow. They are written as
 * the bytes that DuckDB has, so that no row becomes a value.
 *
 * @returns rows
 */
const writeTexts = async (
  target: Writable,
  header: string,
  texts: Relation,
  { signal, onProgress }: Streaming,
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

/** @returns the number of rows. @throws errors of the writable and of the engine as they come */
export const streamRows = async (
  target: Writable,
  format: StreamFormat,
  rows: Relation,
  options: Streaming,
): Promise<number> => {
  switch (format) {
    case 'csv': {
      const records = await csvRelation(rows, options)
      const [column] = await records.columns()
      const texts = records.select((from) => `SELECT COLUMNS(*) || chr(10) AS record FROM ${from}`)
      return writeTexts(target, `${column?.name ?? ''}\n`, texts, options)
    }
    case 'jsonl': {
      const values = await jsonRelation(rows)
      // A column of the row's name would be taken for it.
      const row = '"firmlake row"'
      const texts = values.select(
        (from) => `SELECT to_json(${row})::VARCHAR || chr(10) AS record FROM ${from} AS ${row}`,
      )
      return writeTexts(target, '', texts, options)
    }
    case 'arrows': {
      const { writeArrowStream } = await import('../sink/arrow/arrow-file.ts')
      return writeArrowStream(target, rows, { kind: 'stream', table: options.table, signal: options.signal })
    }
  }
}
