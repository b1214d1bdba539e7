/**
 * Compressed streams one after the other, as `cat a.br b.br` makes them, by format.
 *
 * - Brotli has no magic and no checksum.
 * - gzip (RFC 1952): headers and trailers are read here, and only the deflate data goes to node:zlib, because its own gzip
 *   decoder drops what follows a member and cannot say where a member ended.
 * - Zstandard (RFC 8878): the frames' structure is followed here, because node:zlib drops what follows a frame, and before
 *   Node 24 says nothing when a frame is cut short. Skippable frames are passed over.
 */

import type { Transform } from 'node:stream'
import { crc32, createInflateRaw, createZstdDecompress } from 'node:zlib'
import {
  CHUNK_BYTES,
  DETECT_HEAD_BYTES,
  MAX_EMPTY_STREAMS,
  PIECE_BYTES,
  SMALL_CHUNK_BYTES,
} from '../core/decode-limits.ts'
import { systemCode } from '../core/errors.ts'
import { freeChunk } from '../support/buffers.ts'
import { type ByteFeed, StreamFault, trailingAt, truncatedAt } from './byte-feed.ts'

/** A decoder of node:zlib: a transform that counts the bytes it used. */
interface Decoder extends Transform {
  readonly bytesWritten: number
}

type CreateDecoder = (options: { readonly chunkSize: number }) => Decoder

const faultOf = (error: Error, offset: number): StreamFault => {
  const code = systemCode(error)
  if (code === 'Z_BUF_ERROR') return truncatedAt(offset, error)
  const kind = code === 'ZSTD_error_frameParameter_windowTooLarge' ? 'window' : 'damaged'
  return new StreamFault(kind, offset, `the data is damaged (${error.message})`, error)
}

/** Size of the decoded chunks of what follows in the feed. */
const chunkBytesOf = async (feed: ByteFeed): Promise<number> =>
  (await feed.peek(DETECT_HEAD_BYTES)).length < DETECT_HEAD_BYTES ? SMALL_CHUNK_BYTES : CHUNK_BYTES

/**
 * Decodes from where the feed stands to the end of the decoder's stream, and returns what it did not use.
 *
 * A decoder shows the end of its stream in one way only: it leaves bytes of a piece unused. Pieces are pulled
 * while the consumer waits, so nothing is pending when the consumer stops; within a piece the decoder works
 * ahead by one chunk. A chunk may be read until the next one is asked for.
 *
 * @throws {StreamFault} `truncated`, `damaged` or `window`
 */
async function* runDecoder(
  create: CreateDecoder,
  chunkSize: number,
  feed: Pick<ByteFeed, 'next' | 'unread' | 'position'>,
): AsyncGenerator<Buffer, void> {
  const decoder = create({ chunkSize })
  let failure: Error | undefined
  let wake = () => {}
  const onChange = () => wake()
  decoder.on('readable', onChange).on('end', onChange)
  decoder.on('error', (error: Error) => {
    failure = error
    wake()
  })
  try {
    while (!decoder.readableEnded) {
      const piece = await feed.next(PIECE_BYTES)
      const usedBefore = decoder.bytesWritten
      let accepted = false
      const unused = () => (piece?.length ?? 0) - (decoder.bytesWritten - usedBefore)
      const settled = () => failure !== undefined || decoder.readableEnded || (accepted && unused() === 0)
      if (piece === undefined) decoder.end()
      else {
        decoder.write(piece, () => {
          accepted = true
          wake()
        })
      }
      for (;;) {
        const chunk: Buffer | null = decoder.read()
        if (chunk !== null) {
          yield chunk
          freeChunk(chunk, chunkSize)
        } else if (settled()) break
        else {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      }
      if (failure !== undefined) throw faultOf(failure, feed.position() - unused())
      if (piece !== undefined && unused() > 0) feed.unread(piece.subarray(piece.length - unused()))
    }
  } finally {
    decoder.destroy()
  }
}

/**
 * Decodes stream after stream, at least one; `decodeOne` leaves the feed at the first byte after its stream.
 *
 * @throws {StreamFault} of `decodeOne`; `trailing` at the first of too many streams without content in a row
 */
async function* everyStream(
  feed: ByteFeed,
  decodeOne: (feed: ByteFeed) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void> {
  let firstEmpty = 0
  let emptyInRow = 0
  do {
    const start = feed.position()
    let given = false
    for await (const chunk of decodeOne(feed)) {
      given = true
      yield chunk
    }
    if (!given && emptyInRow === 0) firstEmpty = start
    emptyInRow = given ? 0 : emptyInRow + 1
    if (emptyInRow > MAX_EMPTY_STREAMS) throw trailingAt(firstEmpty)
  } while ((await feed.peek(1)).length > 0)
}

/** Bytes after a whole stream that fail without giving a byte were no stream. Other garbage shows as bad lines later. */
async function* decodeOne(create: CreateDecoder, feed: ByteFeed): AsyncGenerator<Buffer, void> {
  const start = feed.position()
  let given = false
  try {
    for await (const chunk of runDecoder(create, await chunkBytesOf(feed), feed)) {
      given = true
      yield chunk
    }
  } catch (error) {
    throw start > 0 && !given && error instanceof StreamFault ? trailingAt(start, error) : error
  }
}

/**
 * Decodes all Brotli streams of a feed; an empty feed is truncated.
 *
 * @param create makes the decoder of one stream
 * @throws {StreamFault} `truncated`, `damaged` or `trailing`
 */
export const decodeBrotli = (feed: ByteFeed, create: CreateDecoder): AsyncGenerator<Buffer, void> =>
  everyStream(feed, (one) => decodeOne(create, one))

/** The third byte is the method: deflate is the only one there is. */
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b, 8])
const FLAG = { headerCrc: 2, extra: 4, name: 8, comment: 16, reserved: 0xe0 } as const

/** Longest name or comment in bytes. 64 KiB: none is longer, and a file without a NUL must not be searched. */
const MAX_TEXT_BYTES = 64 * 1024

export const isGzipMagic = (head: Buffer): boolean => head.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC)

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
  const magic = await feed.peek(GZIP_MAGIC.length)
  if (!magic.equals(GZIP_MAGIC.subarray(0, magic.length))) {
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
  for await (const chunk of runDecoder(createInflateRaw, await chunkBytesOf(feed), feed)) {
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

const ZSTD_MAGIC = 0xfd2fb528
/** Skippable frames have sixteen magics: the last four bits are free. */
const SKIPPABLE_MAGIC = 0x184d2a5
const DICTIONARY_ID_BYTES = [0, 1, 2, 4]
const CONTENT_SIZE_BYTES = [0, 2, 4, 8]
const RLE_BLOCK = 1
const RESERVED_BLOCK = 3

export const isZstdMagic = (head: Buffer): boolean => {
  if (head.length < 4) return false
  const magic = head.readUInt32LE()
  return magic === ZSTD_MAGIC || magic >>> 4 === SKIPPABLE_MAGIC
}

/** Bytes that the walk over a frame needs next: to look at, or to pass over. */
type Want = { readonly kind: 'look' | 'pass'; readonly bytes: number }

const look = (bytes: number): Want => ({ kind: 'look', bytes })
const pass = (bytes: number): Want => ({ kind: 'pass', bytes })

/** Walks one frame from its magic to its end; is sent the bytes that it asks for. */
function* walkFrame(): Generator<Want, void, Buffer> {
  yield pass(4)
  const descriptor = (yield look(1)).readUInt8()
  const singleSegment = (descriptor & 0x20) !== 0
  const contentSizeFlag = descriptor >>> 6
  const contentSizeBytes = contentSizeFlag === 0 && singleSegment ? 1 : CONTENT_SIZE_BYTES[contentSizeFlag]!
  yield pass((singleSegment ? 0 : 1) + DICTIONARY_ID_BYTES[descriptor & 3]! + contentSizeBytes)
  for (let last = false; !last; ) {
    const header = (yield look(3)).readUIntLE(0, 3)
    const type = (header >>> 1) & 3
    // The decoder refuses such a block by itself; here its size is unknown.
    if (type === RESERVED_BLOCK) return
    yield pass(type === RLE_BLOCK ? 1 : header >>> 3)
    last = (header & 1) === 1
  }
  if (descriptor & 4) yield pass(4)
}

/** Passes the bytes of one frame on as they come; leaves the feed at the first byte after it. */
async function* frameBytes(feed: ByteFeed): AsyncGenerator<Buffer, void> {
  const walk = walkFrame()
  let want = walk.next()
  let missing = want.done ? 0 : want.value.bytes
  let seen: Buffer[] = []
  while (!want.done) {
    const piece = await feed.next(PIECE_BYTES)
    if (piece === undefined) throw truncatedAt(feed.position())
    let at = 0
    while (!want.done && (missing === 0 || at < piece.length)) {
      const part = piece.subarray(at, at + missing)
      at += part.length
      missing -= part.length
      if (want.value.kind === 'look') seen.push(part)
      if (missing > 0) break
      want = walk.next(Buffer.concat(seen))
      missing = want.done ? 0 : want.value.bytes
      seen = []
    }
    if (at < piece.length) feed.unread(piece.subarray(at))
    yield piece.subarray(0, at)
  }
}

const passSkippable = async (feed: ByteFeed): Promise<void> => {
  const header = await feed.take(8)
  for (let missing = header.readUInt32LE(4); missing > 0; ) {
    const piece = await feed.next(missing)
    if (piece === undefined) throw truncatedAt(feed.position())
    missing -= piece.length
  }
}

/** The bytes of all frames that hold content. */
async function* contentFrames(feed: ByteFeed): AsyncGenerator<Buffer, void> {
  do {
    const head = await feed.peek(4)
    const magic = head.length < 4 ? 0 : head.readUInt32LE()
    if (magic === ZSTD_MAGIC) yield* frameBytes(feed)
    else if (magic >>> 4 === SKIPPABLE_MAGIC) await passSkippable(feed)
    else if (feed.position() > 0) throw trailingAt(feed.position())
    else if (head.length < 4) throw truncatedAt(head.length)
    else throw new StreamFault('damaged', 0, 'the data is damaged (no zstd frame)')
  } while ((await feed.peek(1)).length > 0)
}

/**
 * Decodes all frames of a feed with one decoder; an empty feed is truncated.
 *
 * @throws {StreamFault} `truncated`, `damaged`, `trailing`, or `window` above 128 MiB
 */
export async function* decodeZstd(feed: ByteFeed): AsyncGenerator<Buffer, void> {
  const chunkSize = await chunkBytesOf(feed)
  const frames = contentFrames(feed)
  let first = await frames.next()
  if (first.done) return
  yield* runDecoder(createZstdDecompress, chunkSize, {
    position: feed.position,
    next: async () => {
      const { value } = first.done ? await frames.next() : first
      first = { done: true, value: undefined }
      return value ?? undefined
    },
    unread: () => {
      throw new StreamFault('damaged', feed.position(), 'the data is damaged (a frame ends inside itself)')
    },
  })
}
