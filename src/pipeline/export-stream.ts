/** Rows of a relation as text to a writable of Node, such as standard output. */

import { once } from 'node:events'
import type { Writable } from 'node:stream'
import type { Relation } from '../core/relation.ts'
import { csvRelation } from '../sink/csv.ts'

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

/** Writes the texts of a relation with one column, waiting while the reader is slow. @returns rows */
const writeTexts = async (
  target: Writable,
  texts: Relation,
  edges: { readonly before: string; readonly after: string },
  { signal, onProgress }: Streaming,
): Promise<number> => {
  let [rows, bytes] = [0, 0]
  const write = async (text: string): Promise<void> => {
    signal?.throwIfAborted()
    bytes += Buffer.byteLength(text)
    if (text !== '' && !target.write(text)) await once(target, 'drain', signal && { signal })
    onProgress(rows, bytes)
  }
  await write(edges.before)
  for await (const chunk of texts.rows()) {
    rows += chunk.length
    await write(chunk.map(({ record }) => String(record)).join(''))
  }
  await write(edges.after)
  return rows
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
      // A text that begins with a byte order mark would lose it on the way out of DuckDB: LF stands before it.
      const texts = records.select((from) => `SELECT chr(10) || COLUMNS(*) AS record FROM ${from}`)
      return writeTexts(target, texts, { before: column?.name ?? '', after: '\n' }, options)
    }
    case 'jsonl': {
      const texts = rows.select((from) => `SELECT to_json(r)::VARCHAR || chr(10) AS record FROM ${from} AS r`)
      return writeTexts(target, texts, { before: '', after: '' }, options)
    }
    case 'arrows': {
      const { writeArrowStream } = await import('../sink/arrow/arrow-file.ts')
      return writeArrowStream(target, rows, { kind: 'stream', table: options.table, signal: options.signal })
    }
  }
}
