/**
 * Zstandard (RFC 8878): frame after frame, without skippable frames. The frames' structure is followed here:
 * node:zlib drops what follows a frame, and before Node 24 says nothing when a frame is cut short.
 */

import { createZstdDecompress } from 'node:zlib'
import type { ByteFeed } from './byte-feed.ts'
import { CHUNK_BYTES, PIECE_BYTES } from './decode-limits.ts'
import { runDecoder } from './run-decoder.ts'
import { StreamFault, trailingAt, truncatedAt } from './stream-fault.ts'

const MAGIC = 0xfd2fb528
/** Skippable frames have sixteen magics: the last four bits are free. */
const SKIPPABLE_MAGIC = 0x184d2a5
const DICTIONARY_ID_BYTES = [0, 1, 2, 4]
const CONTENT_SIZE_BYTES = [0, 2, 4, 8]
const RLE_BLOCK = 1
const RESERVED_BLOCK = 3

export const isZstdMagic = (head: Buffer): boolean => {
  if (head.length < 4) return false
  const magic = head.readUInt32LE()
  return magic === MAGIC || magic >>> 4 === SKIPPABLE_MAGIC
}

/** What the walk over a frame needs next: bytes to look at, or bytes to pass over. */
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
    if (magic === MAGIC) yield* frameBytes(feed)
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
  const frames = contentFrames(feed)
  let first = await frames.next()
  if (first.done) return
  yield* runDecoder(createZstdDecompress({ chunkSize: CHUNK_BYTES }), {
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
