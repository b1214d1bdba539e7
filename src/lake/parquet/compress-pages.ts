/**
 * Compresses pages with Zstandard, a frame each, on threads of Node's. A stream is used again and again: a call of
 * `zstdCompress` takes new memory each time, whose weight made V8 collect all garbage 46 times in 236 MB instead of 28.
 */

import { constants, createZstdCompress, type ZstdCompress } from 'node:zlib'

/**
 * For pages of doubles: of real figures 0.7 % larger than by level 3, DuckDB's own, in two fifths of its time; 4 % of
 * made-up ones, in 0.55 of it. Half of most figures' bytes are like those of their neighbours, so short matches count,
 * and a table that stays in a core's own memory finds them.
 */
const PARAMETERS = {
  [constants.ZSTD_c_compressionLevel]: 1,
  [constants.ZSTD_c_strategy]: constants.ZSTD_fast,
  [constants.ZSTD_c_windowLog]: 21,
  [constants.ZSTD_c_hashLog]: 15,
  [constants.ZSTD_c_minMatch]: 4,
}
/** Memory for what is compressed, until it is written. */
const CHUNK_BYTES = 1 << 19

class PageCompressor {
  readonly #stream: ZstdCompress
  #parts: Buffer[] = []

  constructor() {
    this.#stream = createZstdCompress({
      chunkSize: CHUNK_BYTES,
      // What is written at once is a frame.
      flush: constants.ZSTD_e_end,
      params: PARAMETERS,
    })
    this.#stream.on('data', (part: Buffer) => this.#parts.push(part))
  }

  /** One page after the other. @returns its frame, in pieces */
  async compress(page: Buffer): Promise<readonly Buffer[]> {
    const stream = this.#stream
    this.#parts = []
    await new Promise<void>((resolve, reject) => {
      stream.once('error', reject)
      stream.write(page, () => {
        stream.off('error', reject)
        // What a stream still holds it would give later, to the next page.
        while (stream.readableLength > 0) stream.read()
        resolve()
      })
    })
    return this.#parts
  }

  close(): void {
    this.#stream.destroy()
  }
}

/** Compresses a page. @returns its frame, in pieces */
export type CompressPage = (page: Buffer) => Promise<readonly Buffer[]>

/** Compressors for the files of one owner. */
export class PageCompressors {
  readonly #idle: PageCompressor[] = []

  /** Lets `use` compress one page after the other. A compressor that failed is used no more. */
  async lend<T>(use: (compress: CompressPage) => Promise<T>): Promise<T> {
    const compressor = this.#idle.pop() ?? new PageCompressor()
    const result = await use((page) => compressor.compress(page))
    this.#idle.push(compressor)
    return result
  }

  /** Gives their memory back. */
  close(): void {
    for (const compressor of this.#idle.splice(0)) compressor.close()
  }
}
