/** From a source's raw bytes to blocks of whole lines: detect, decompress, split a document into records, cut. */

import type { BrotliOrigin } from '../core/brotli.ts'
import { checkLimit, DECODE_LIMITS, DETECT_HEAD_BYTES } from '../core/decode-limits.ts'
import { ToolkitError } from '../core/errors.ts'
import type { Block } from '../core/lines.ts'
import { type ByteFeed, byteFeed } from './byte-feed.ts'
import { type BlockMemory, cutBlocks } from './cut-blocks.ts'
import { type Compression, decompress, detectCompression } from './decompress.ts'
import { detectForm } from './source-form.ts'

export interface DecodeOptions {
  /** Name of the source: for messages, and its extension shows the compression where the content does not. */
  readonly name: string
  /** @default detected from the first bytes and the name, see `detectCompression` */
  readonly compression?: Compression | undefined
  /** Origin of its bytes. @default 'file' */
  readonly origin?: BrotliOrigin | undefined
  /** Largest block in bytes. @default 32 MiB - 64 KiB, DECODE_LIMITS.blockBytes */
  readonly blockBytes?: number | undefined
  /** Longest line in bytes that is held. @default 16 MiB, DECODE_LIMITS.maxLineBytes */
  readonly maxLineBytes?: number | undefined
  /** Memory for blocks; the consumer then calls `release` of each. @default fresh memory */
  readonly memory?: BlockMemory | undefined
  /** Most decoded bytes for one compressed byte, past the first 16 MiB. @default 250, DECODE_LIMITS.maxRatio */
  readonly maxRatio?: number | undefined
  /** Receives the size of each raw chunk as it is taken in, in bytes; the sum is the progress in the file. */
  readonly onInput?: ((bytes: number) => void) | undefined
  /** Stops between chunks with the signal's reason. A source that can wait for long needs it too. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Decodes a source to blocks. `open` is called once, when the first block is asked for; on every way out,
 * also when the consumer stops early, the decoder is freed and the source is closed.
 *
 * @throws {RangeError} when a limit is not a whole number above 0
 * @throws {ToolkitError} `DECODE_TRUNCATED`, `DECODE_DAMAGED`, `DECODE_TRAILING`, `DECODE_LIMIT`, `NODE_VULNERABLE`,
 * `SOURCE_FORM`, `DOCUMENT_DAMAGED`, and what the source throws
 */
export async function* decodeBlocks(
  open: () => AsyncIterable<Buffer>,
  options: DecodeOptions,
): AsyncGenerator<Block, void> {
  const { name, origin, signal, onInput } = options
  const maxRatio = checkLimit('maxRatio', options.maxRatio ?? DECODE_LIMITS.maxRatio)
  const feed = byteFeed(open(), { onInput, signal })
  try {
    const compression =
      options.compression ?? detectCompression(await feed.peek(DETECT_HEAD_BYTES), name, origin)
    const decoded = decompress(feed, { name, compression, origin, maxRatio, signal })
    yield* cutBlocks(recordLines(decoded, name), options)
  } finally {
    await feed.close()
  }
}

/** Decoded bytes with a record a line: JSON Lines as they are, documents split. */
async function* recordLines(decoded: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer, void> {
  const feed = byteFeed(decoded)
  try {
    const head = await feed.peek(DETECT_HEAD_BYTES)
    const form = detectForm(head, head.length < DETECT_HEAD_BYTES)
    if (form.kind === 'unusable')
      throw new ToolkitError(
        'SOURCE_FORM',
        `Cannot load "${name}": it looks like ${form.looks}, expected JSON Lines; ${form.action}`,
        { source: name, looks: form.looks },
      )
    const chunks = chunksOf(feed)
    if (form.kind === 'document') {
      const { splitRecords } = await import('./split-records.ts')
      yield* splitRecords(chunks, form.form, name)
    } else yield* chunks
  } finally {
    await feed.close()
  }
}

async function* chunksOf(feed: ByteFeed): AsyncGenerator<Buffer, void> {
  for (let chunk = await feed.next(); chunk !== undefined; chunk = await feed.next()) yield chunk
}
