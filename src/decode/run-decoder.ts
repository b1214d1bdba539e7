/** Drives one decoder of node:zlib over a feed. Decoding runs off the main thread. */

import type { Transform } from 'node:stream'
import { systemCode } from '../core/errors.ts'
import { freeChunk } from '../support/buffers.ts'
import type { ByteFeed } from './byte-feed.ts'
import { CHUNK_BYTES, PIECE_BYTES } from './decode-limits.ts'
import { StreamFault, truncatedAt } from './stream-fault.ts'

/** A decoder of node:zlib: a transform that counts the bytes it used. */
export interface Decoder extends Transform {
  readonly bytesWritten: number
}

const faultOf = (error: Error, offset: number): StreamFault => {
  const code = systemCode(error)
  if (code === 'Z_BUF_ERROR') return truncatedAt(offset, error)
  const kind = code === 'ZSTD_error_frameParameter_windowTooLarge' ? 'window' : 'damaged'
  return new StreamFault(kind, offset, `the data is damaged (${error.message})`, error)
}

/**
 * Decodes from where the feed stands to the end of the decoder's stream, and returns what it did not use.
 *
 * A decoder shows the end of its stream in one way only: it leaves bytes of a piece unused. Pieces are pulled
 * while the consumer waits, so nothing is pending when the consumer stops; within a piece the decoder works
 * ahead by one chunk. A chunk may be read until the next one is asked for.
 *
 * @throws {StreamFault} `truncated`, `damaged` or `window`
 */
export async function* runDecoder(
  decoder: Decoder,
  feed: Pick<ByteFeed, 'next' | 'unread' | 'position'>,
): AsyncGenerator<Buffer, void> {
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
          freeChunk(chunk, CHUNK_BYTES)
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
