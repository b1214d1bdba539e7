/** Sources of bytes for the tests of this room: the same text in every compression, cut anywhere. */

import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib'
import type { Block } from '../../src/core/lines.ts'
import { type DecodeOptions, decodeBlocks } from '../../src/decode/decode-blocks.ts'
import type { Compression } from '../../src/decode/decompress.ts'

/** A BOM, characters of two to four bytes, CRLF, blank lines, and no newline at the end. */
export const TRICKY = Buffer.from(
  '\ufeff{"name":"Müller & Söhne","city":"Köln"}\r\n\n{"name":"東京電力"}\n \n{"sign":"🏭🏭"}\r\n\r\n{"last":"ß"}',
)

export const COMPRESS = {
  brotli: (bytes: Buffer) =>
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }) as Buffer,
  gzip: (bytes: Buffer) => gzipSync(bytes) as Buffer,
  zstd: (bytes: Buffer) =>
    zstdCompressSync(bytes, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }) as Buffer,
  none: (bytes: Buffer) => bytes,
} as const satisfies Record<Compression, (bytes: Buffer) => Buffer>

/** The three that compress, each with the ending of its file names. */
export const COMPRESSED = [
  ['brotli', 'br'],
  ['gzip', 'gz'],
  ['zstd', 'zst'],
] as const

/** The bytes as chunks that begin at the given offsets. */
export async function* chunksAt(
  bytes: Buffer,
  borders: readonly number[] = [],
): AsyncGenerator<Buffer, void> {
  let start = 0
  for (const border of [...borders].sort((a, b) => a - b)) {
    yield bytes.subarray(start, border)
    start = border
  }
  yield bytes.subarray(start)
}

export const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

export const blocksOf = (
  bytes: Buffer,
  options: Partial<DecodeOptions> = {},
  borders: readonly number[] = [],
): Promise<Block[]> => collect(decodeBlocks(() => chunksAt(bytes, borders), { name: 'source', ...options }))

export const textOf = (blocks: readonly Block[]): string =>
  Buffer.concat(blocks.map((block) => block.bytes)).toString()
