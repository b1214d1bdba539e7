/** Brotli: one stream after the other, as `cat a.br b.br` makes them. Brotli has no magic and no checksum. */

import { createBrotliDecompress } from 'node:zlib'
import type { ByteFeed } from './byte-feed.ts'
import { CHUNK_BYTES } from './decode-limits.ts'
import { everyStream } from './every-stream.ts'
import { runDecoder } from './run-decoder.ts'
import { StreamFault, trailingAt } from './stream-fault.ts'

/** What fails after a whole stream without giving a byte was no stream. Other garbage shows as bad lines later. */
async function* decodeOne(feed: ByteFeed): AsyncGenerator<Buffer, void> {
  const start = feed.position()
  let given = false
  try {
    for await (const chunk of runDecoder(createBrotliDecompress({ chunkSize: CHUNK_BYTES }), feed)) {
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
 * @throws {StreamFault} `truncated`, `damaged` or `trailing`
 */
export const decodeBrotli = (feed: ByteFeed): AsyncGenerator<Buffer, void> => everyStream(feed, decodeOne)
