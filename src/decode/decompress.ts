/** Compressed bytes to decoded chunks, with the limit on expansion. Knows streams, not lines. */

import { type ErrorCode, ToolkitError } from '../core/errors.ts'
import { decodeBrotli } from './brotli-streams.ts'
import type { ByteFeed } from './byte-feed.ts'
import { DECODE_LIMITS } from './decode-limits.ts'
import type { Compression } from './detect-compression.ts'
import { decodeGzip } from './gzip-members.ts'
import { StreamFault, type StreamFaultKind } from './stream-fault.ts'
import { decodeZstd } from './zstd-frames.ts'

async function* passThrough(feed: ByteFeed): AsyncGenerator<Buffer, void> {
  for (let chunk = await feed.next(); chunk !== undefined; chunk = await feed.next()) yield chunk
}

const DECODERS: Readonly<Record<Compression, (feed: ByteFeed) => AsyncGenerator<Buffer, void>>> = {
  brotli: decodeBrotli,
  gzip: decodeGzip,
  zstd: decodeZstd,
  none: passThrough,
}

const FAULTS: Readonly<Record<StreamFaultKind, { readonly code: ErrorCode; readonly expected: string }>> = {
  truncated: { code: 'DECODE_TRUNCATED', expected: 'the end of its stream' },
  damaged: { code: 'DECODE_DAMAGED', expected: 'sound data' },
  trailing: { code: 'DECODE_TRAILING', expected: 'the end of the source or a further stream' },
  window: { code: 'DECODE_LIMIT', expected: 'a window of at most 128 MiB' },
}

const count = (value: number) => value.toLocaleString('en-US')

export interface DecompressOptions {
  /** Name of the source, for messages. */
  readonly name: string
  readonly compression: Compression
  /** Most decoded bytes for one compressed byte, past the first 16 MiB. @default DECODE_LIMITS.maxRatio */
  readonly maxRatio?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Decodes all streams of a source, one after the other.
 *
 * Memory: one piece of input and two chunks of output, whatever the ratio. Chunks have at most 1 MiB when
 * compressed, and their own size when not.
 *
 * @throws {ToolkitError} `DECODE_TRUNCATED`, `DECODE_DAMAGED`, `DECODE_TRAILING` or `DECODE_LIMIT`, with
 * `source`, `offset` (compressed, where decoding stood) and `decodedBytes` (given before) in its context
 */
export async function* decompress(feed: ByteFeed, options: DecompressOptions): AsyncGenerator<Buffer, void> {
  const { name, compression, signal, maxRatio = DECODE_LIMITS.maxRatio } = options
  let decodedBytes = 0
  const failure = (code: ErrorCode, offset: number, what: string, cause?: unknown) =>
    new ToolkitError(
      code,
      `Cannot decode "${name}" as ${compression}: at compressed byte ${count(offset)}, ` +
        `after ${count(decodedBytes)} decoded bytes, ${what}`,
      { source: name, offset, decodedBytes },
      cause,
    )
  try {
    for await (const chunk of DECODERS[compression](feed)) {
      signal?.throwIfAborted()
      const total = decodedBytes + chunk.length
      if (total > DECODE_LIMITS.ratioFreeBytes && total > feed.position() * maxRatio) {
        throw failure('DECODE_LIMIT', feed.position(), `it expands more than the limit of ${maxRatio} : 1`)
      }
      decodedBytes = total
      yield chunk
    }
  } catch (error) {
    if (!(error instanceof StreamFault)) throw error
    const { code, expected } = FAULTS[error.kind]
    throw failure(code, error.offset, `${error.message}, expected ${expected}`, error)
  }
}
