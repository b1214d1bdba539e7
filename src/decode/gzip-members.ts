/**
 * gzip (RFC 1952): member after member. Headers and trailers are read here, and only the deflate data goes to
 * node:zlib, because its own gzip decoder drops what follows a member and cannot say where a member ended.
 */

import { crc32, createInflateRaw } from 'node:zlib'
import type { ByteFeed } from './byte-feed.ts'
import { CHUNK_BYTES } from './decode-limits.ts'
import { everyStream } from './every-stream.ts'
import { runDecoder } from './run-decoder.ts'
import { StreamFault, trailingAt } from './stream-fault.ts'

/** The third byte is the method: deflate is the only one there is. */
const MAGIC = Buffer.from([0x1f, 0x8b, 8])
const FLAG = { headerCrc: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 } as const

/** Longest name or comment in bytes. 64 KiB: none is longer, and a file without a NUL must not be searched. */
const MAX_TEXT_BYTES = 64 * 1024

export const isGzipMagic = (head: Buffer): boolean => head.subarray(0, MAGIC.length).equals(MAGIC)

const skipText = async (feed: ByteFeed): Promise<void> => {
  const head = await feed.peek(MAX_TEXT_BYTES)
  const end = head.indexOf(0)
  if (end === -1 && head.length === MAX_TEXT_BYTES) {
    throw new StreamFault('damaged', feed.position(), 'the data is damaged (gzip header too long)')
  }
  await feed.take(end === -1 ? MAX_TEXT_BYTES : end + 1)
}

const skipHeader = async (feed: ByteFeed): Promise<void> => {
  const start = feed.position()
  const magic = await feed.peek(MAGIC.length)
  if (!magic.equals(MAGIC.subarray(0, magic.length))) {
    if (start > 0) throw trailingAt(start)
    throw new StreamFault('damaged', start, 'the data is damaged (no gzip header)')
  }
  const flags = (await feed.take(10)).readUInt8(3)
  if (flags & FLAG.reserved) throw new StreamFault('damaged', start, 'the data is damaged (gzip header)')
  if (flags & FLAG.extra) await feed.take((await feed.take(2)).readUInt16LE())
  if (flags & FLAG.name) await skipText(feed)
  if (flags & FLAG.comment) await skipText(feed)
  if (flags & FLAG.headerCrc) await feed.take(2)
}

async function* decodeMember(feed: ByteFeed): AsyncGenerator<Buffer, void> {
  await skipHeader(feed)
  let checksum = 0
  let size = 0
  for await (const chunk of runDecoder(createInflateRaw({ chunkSize: CHUNK_BYTES }), feed)) {
    checksum = crc32(chunk, checksum)
    size += chunk.length
    yield chunk
  }
  const at = feed.position()
  const trailer = await feed.take(8)
  if (trailer.readUInt32LE(0) !== checksum || trailer.readUInt32LE(4) !== size % 2 ** 32) {
    throw new StreamFault('damaged', at, 'the data is damaged (checksum or length differ)')
  }
}

/**
 * Decodes all gzip members of a feed; an empty feed is truncated.
 *
 * @throws {StreamFault} `truncated`, `damaged` or `trailing`
 */
export const decodeGzip = (feed: ByteFeed): AsyncGenerator<Buffer, void> => everyStream(feed, decodeMember)
