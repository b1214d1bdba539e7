/** Detects how a source is compressed, and decodes it to chunks, with the limit on expansion. Knows streams, not lines. */

import { constants } from 'node:zlib'
import { type BrotliOrigin, brotliDecoders, mayDecodeBrotli } from '../core/brotli.ts'
import { DECODE_LIMITS } from '../core/decode-limits.ts'
import { type ErrorCode, systemCode, ToolkitError } from '../core/errors.ts'
import type { ByteFeed } from './byte-feed.ts'
import { StreamFault, type StreamFaultKind } from './byte-feed.ts'
import { decodeBrotli, decodeGzip, decodeZstd, isGzipMagic, isZstdMagic } from './compressed-streams.ts'

export type Compression = 'brotli' | 'gzip' | 'zstd' | 'none'

const SUFFIXES: ReadonlyMap<string, Compression> = new Map([
  ['br', 'brotli'],
  ['gz', 'gzip'],
  ['gzip', 'gzip'],
  ['zst', 'zstd'],
  ['zstd', 'zstd'],
])

/** A JSON object at the start of a text: a BOM and blanks may stand before it. No Brotli stream begins so. */
const JSON_START = /^(?:\xef\xbb\xbf)?[ \t\r\n]*\{[ \t\r\n]*(?:["}]|$)/

/** A JSON list of objects. A Brotli stream may begin with these bytes too: only what was decoded is compared. */
const LIST_START = /^(?:\xef\xbb\xbf)?[ \t\r\n]*\[[ \t\r\n]*(?:[{\]]|$)/

/** Bytes of a text that are read; a source that begins with more blanks needs the compression in its name. */
const TEXT_BYTES = 4096

const startsAsJson = (head: Buffer): boolean => JSON_START.test(head.toString('latin1', 0, TEXT_BYTES))

/** Most bytes the head may give, 16 MiB. What gives more is no text either, and meets the ratio's limit. */
const MAX_SAMPLE_BYTES = 16 * 1024 * 1024

/**
 * Whether the head decodes as Brotli, as far as it goes, to the start of a JSON object or a list of them. Where nothing may be
 * decoded, whether it is no text: control characters stand in all but the shortest streams.
 */
const isBrotliOfJson = (head: Buffer, origin: BrotliOrigin): boolean => {
  if (!mayDecodeBrotli(origin)) return head.some((byte) => byte < 9)
  try {
    const finishFlush = constants.BROTLI_OPERATION_FLUSH
    const { sync } = brotliDecoders('Cannot detect Brotli', origin)
    const decoded = sync(head, { finishFlush, maxOutputLength: MAX_SAMPLE_BYTES })
    return startsAsJson(decoded) || LIST_START.test(decoded.toString('latin1', 0, TEXT_BYTES))
  } catch (error) {
    return systemCode(error) === 'ERR_BUFFER_TOO_LARGE'
  }
}

/** The compression that the extension of a name says; `undefined` where it says nothing. */
export const compressionOfName = (name: string): Compression | undefined =>
  SUFFIXES.get(/\.(\w+)$/.exec(name.toLowerCase())?.[1] ?? '')

/**
 * Detects the compression of a source. Content takes precedence over the name where it is certain: a magic number, or
 * text that begins as a JSON object. Brotli has neither magic nor checksum: the name says so, or the head
 * decodes to JSON. A name ending in `.gz` or `.zst` is trusted too, so that a file cut to nothing is an error.
 *
 * @param head first bytes of the source; `DETECT_HEAD_BYTES` are enough, fewer only if the source ends there
 * @param name file name or other label; only its extension is used
 */
export const detectCompression = (head: Buffer, name: string, origin: BrotliOrigin = 'file'): Compression => {
  if (isZstdMagic(head)) return 'zstd'
  // A Brotli stream of 2,188 bytes with the largest window begins with the magic of gzip.
  if (isGzipMagic(head)) return mayDecodeBrotli(origin) && isBrotliOfJson(head, origin) ? 'brotli' : 'gzip'
  if (startsAsJson(head)) return 'none'
  return compressionOfName(name) ?? (isBrotliOfJson(head, origin) ? 'brotli' : 'none')
}

async function* passThrough(feed: ByteFeed): AsyncGenerator<Buffer, void> {
  for (let chunk = await feed.next(); chunk !== undefined; chunk = await feed.next()) yield chunk
}

type Decode = (feed: ByteFeed, options: DecompressOptions) => AsyncGenerator<Buffer, void>

const DECODERS: Readonly<Record<Compression, Decode>> = {
  brotli: (feed, { name, origin = 'file' }) =>
    decodeBrotli(feed, brotliDecoders(`Cannot decode "${name}"`, origin).stream),
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
  /** Origin of its bytes. @default 'file' */
  readonly origin?: BrotliOrigin | undefined
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
 * @throws {ToolkitError} NODE_VULNERABLE; `DECODE_TRUNCATED`, `DECODE_DAMAGED`, `DECODE_TRAILING` or `DECODE_LIMIT`, with
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
    for await (const chunk of DECODERS[compression](feed, options)) {
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
