/** Lines to Brotli batch files, one line after the other: memory does not grow with the number of lines. */

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { constants, createBrotliCompress } from 'node:zlib'

/** Bytes gathered before they are given to the compressor; small writes are slow. */
const CHUNK_BYTES = 1 << 20

/**
 * Writes lines, each with a line end, to a Brotli file.
 *
 * @param quality of Brotli, 0 to 11
 * @returns records and bytes before compression
 */
export const writeBatch = async (
  path: string,
  lines: Iterable<string>,
  quality: number,
): Promise<{ records: number; decodedBytes: number }> => {
  const compress = createBrotliCompress({
    chunkSize: CHUNK_BYTES,
    params: { [constants.BROTLI_PARAM_QUALITY]: quality },
  })
  const written = pipeline(compress, createWriteStream(path))
  // The wait comes before the next write, so that lines are made while the compressor works on its thread.
  let drained: Promise<unknown> = Promise.resolve()
  let records = 0
  let decodedBytes = 0
  let waiting = ''
  const flush = async () => {
    const chunk = Buffer.from(waiting, 'utf8')
    waiting = ''
    decodedBytes += chunk.length
    await Promise.race([drained, written])
    if (!compress.write(chunk)) drained = once(compress, 'drain')
  }
  for (const line of lines) {
    records++
    waiting += `${line}\n`
    if (waiting.length >= CHUNK_BYTES) await flush()
  }
  await flush()
  compress.end()
  await written
  return { records, decodedBytes }
}
