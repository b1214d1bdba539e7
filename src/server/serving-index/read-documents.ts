/** Reads documents by their places out of one open file, and proves each by its checksum. */

import { closeSync, openSync, readSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { crc32, zstdDecompressSync } from 'node:zlib'
import { BLOCK_BYTES, type DocumentKind, type DocumentPlace } from './index-form.ts'

/** Bytes of documents between two turns of other requests: to decompress a megabyte takes two milliseconds. */
const BYTES_A_TURN = 1 << 20

/** Other bytes than those that were written. */
export class DamagedDocument extends Error {}

const documentOf = (content: Buffer, { blockAt, at, bytes, crc32: expected }: DocumentPlace): Buffer => {
  const document = content.subarray(at, at + bytes)
  // A copy, so that a page of scattered documents does not hold all that stands around them.
  if (document.length === bytes && crc32(document) === expected) return Buffer.from(document)
  throw new DamagedDocument(
    `the document at byte ${at} of the block at byte ${blockAt} does not match its checksum`,
  )
}

/**
 * An open file of documents. Reads are synchronous: out of the page cache one takes microseconds, while an
 * asynchronous one waits for a thread of Node's pool, of which running queries may hold all.
 */
export class DocumentFile {
  readonly #file: number
  /** Memory for the content of a block; larger ones take several of these. What is too much here, garbage collection pays for. */
  readonly #contentBytes: number
  #open = true

  constructor(path: string, kind: DocumentKind) {
    this.#file = openSync(path, 'r')
    this.#contentBytes = BLOCK_BYTES[kind] * 1.5
  }

  /**
   * Hands on the document of each place with the number that it has among them, block by block.
   * @throws {DamagedDocument} where one is not what it was
   */
  async read(
    places: readonly DocumentPlace[],
    numbers: readonly number[],
    use: (document: Buffer, number: number) => void,
  ): Promise<void> {
    const atOf = (number: number): number => places[number]?.blockAt ?? 0
    let content: Buffer | undefined
    let contentAt = -1
    let sinceTurn = 0
    for (const number of [...numbers].sort((a, b) => atOf(a) - atOf(b))) {
      const place = places[number]
      if (place === undefined) continue
      if (content === undefined || place.blockAt !== contentAt) {
        if (sinceTurn >= BYTES_A_TURN) {
          await setImmediate()
          sinceTurn = 0
        }
        content = this.#contentOf(place)
        contentAt = place.blockAt
        sinceTurn += content.length
      }
      use(documentOf(content, place), number)
    }
  }

  close(): void {
    if (this.#open) closeSync(this.#file)
    this.#open = false
  }

  #contentOf({ blockAt, blockBytes }: DocumentPlace): Buffer {
    const block = this.#readBytes(blockAt, blockBytes)
    try {
      return zstdDecompressSync(block, { chunkSize: this.#contentBytes })
    } catch {
      throw new DamagedDocument(`the block at byte ${blockAt} cannot be decompressed`)
    }
  }

  #readBytes(from: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    for (let done = 0; done < length; ) {
      const read = readSync(this.#file, bytes, done, length - done, from + done)
      if (read === 0)
        throw new DamagedDocument(`it ends at byte ${from + done}, expected ${length - done} bytes more`)
      done += read
    }
    return bytes
  }
}
