/** Detects how a source is compressed, from its first bytes and its name. */

import { brotliDecompressSync, constants } from 'node:zlib'
import { systemCode } from '../core/errors.ts'
import { isGzipMagic } from './gzip-members.ts'
import { isZstdMagic } from './zstd-frames.ts'

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

/** Whether the head decodes as Brotli, as far as it goes, to the start of a JSON object or a list of them. */
const isBrotliOfJson = (head: Buffer): boolean => {
  try {
    const finishFlush = constants.BROTLI_OPERATION_FLUSH
    const decoded = brotliDecompressSync(head, { finishFlush, maxOutputLength: MAX_SAMPLE_BYTES })
    return startsAsJson(decoded) || LIST_START.test(decoded.toString('latin1', 0, TEXT_BYTES))
  } catch (error) {
    return systemCode(error) === 'ERR_BUFFER_TOO_LARGE'
  }
}

/** What the extension of a name says; `undefined` where it says nothing. */
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
export const detectCompression = (head: Buffer, name: string): Compression => {
  if (isZstdMagic(head)) return 'zstd'
  // A Brotli stream of 2,188 bytes with the largest window begins with the magic of gzip.
  if (isGzipMagic(head)) return isBrotliOfJson(head) ? 'brotli' : 'gzip'
  if (startsAsJson(head)) return 'none'
  return compressionOfName(name) ?? (isBrotliOfJson(head) ? 'brotli' : 'none')
}
