/**
 * Writes documents one after the other to a new file, in blocks of Zstandard, and says where each stands. A line end follows each:
 * all blocks together are JSON Lines.
 */

import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { constants, crc32, createZstdCompress } from 'node:zlib'
import { ByteWriter } from '../../../support/buffers.ts'
import { PRIVATE_FILE } from '../../../support/file-modes.ts'
import type { DocumentPlace } from '../index-form.ts'

/** Blocks that are compressed while the next ones are written. */
const BLOCKS_AHEAD = 4
/** Takes a tenth of the room more than the best levels, and a tenth of their time. */
const LEVEL = 3
const LINE_END = 0x0a

/** Compresses blocks one after the other, each by itself, off this thread. One stream, because to make one takes longer than a block. */
class BlockCompressor {
  readonly #stream = createZstdCompress({
    chunkSize: 1 << 17,
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_checksumFlag]: 1 },
  })
  #pieces: Buffer[] = []
  #last: Promise<unknown> = Promise.resolve()

  constructor() {
    this.#stream.on('data', (piece: Buffer) => this.#pieces.push(piece))
    // The caller that waits for a block gets the error.
    this.#stream.on('error', () => undefined)
  }

  compress(block: Buffer): Promise<Buffer> {
    const compressed = this.#last.then(() => this.#compress(block))
    compressed.catch(() => undefined)
    this.#last = compressed
    return compressed
  }

  close(): void {
    this.#stream.destroy()
  }

  #compress(block: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#stream.write(block, (error) => {
        if (error) reject(error)
      })
      this.#stream.flush(constants.ZSTD_e_end, () => {
        const bytes = Buffer.concat(this.#pieces)
        this.#pieces = []
        resolve(bytes)
      })
    })
  }
}

/** Called with a document's place in its segment when its block is written. */
type OnPlaced = (place: Omit<DocumentPlace, 'segment'>) => void

interface Block {
  readonly compressed: Promise<Buffer>
  readonly told: readonly ((blockAt: number, blockBytes: number) => void)[]
}

/**
 * Documents are written synchronously into memory; `room` is to be awaited between them, so that no more blocks than a few wait.
 * Errors are the system's (`ENOSPC`, …).
 */
export class DocumentWriter {
  readonly #file: number
  readonly #block = new ByteWriter()
  readonly #compressor = new BlockCompressor()
  readonly #hash = createHash('sha256')
  readonly #waiting: Block[] = []
  #told: ((blockAt: number, blockBytes: number) => void)[] = []
  #start = 0
  #flushed = 0
  #open = true

  readonly #blockBytes: number

  /** @param blockBytes a block ends behind the document that reaches them: larger ones take less room, and longer for a document */
  constructor(path: string, blockBytes: number) {
    this.#blockBytes = blockBytes
    this.#file = openSync(path, 'wx', PRIVATE_FILE)
  }

  /** Bytes of the document so far. */
  get at(): number {
    return this.#block.length - this.#start
  }

  /** @returns the piece's length in bytes */
  write(piece: string | Uint8Array): number {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    this.#block.append(bytes)
    return bytes.length
  }

  endDocument(told: OnPlaced): void {
    const [at, end] = [this.#start, this.#block.length]
    const place = { at, bytes: end - at, crc32: crc32(this.#block.bytes.subarray(at, end)) }
    this.#told.push((blockAt, blockBytes) => told({ ...place, blockAt, blockBytes }))
    this.#block.byte(LINE_END)
    this.#start = this.#block.length
    if (this.#start >= this.#blockBytes) this.#endBlock()
  }

  /** Waits while many blocks are on their way. */
  async room(): Promise<void> {
    while (this.#waiting.length > BLOCKS_AHEAD) await this.#writeBlock()
  }

  /** Brings what was written to the disk and closes the file. */
  async finish(): Promise<{ readonly bytes: number; readonly sha256: string }> {
    if (this.#block.length > 0) this.#endBlock()
    while (this.#waiting.length > 0) await this.#writeBlock()
    fsyncSync(this.#file)
    this.close()
    return { bytes: this.#flushed, sha256: this.#hash.digest('hex') }
  }

  /** Closes the file as it is. */
  close(): void {
    if (this.#open) closeSync(this.#file)
    this.#compressor.close()
    this.#open = false
  }

  #endBlock(): void {
    const compressed = this.#compressor.compress(Buffer.from(this.#block.written()))
    this.#waiting.push({ compressed, told: this.#told })
    this.#told = []
    this.#block.clear()
    this.#start = 0
  }

  async #writeBlock(): Promise<void> {
    const block = this.#waiting.shift()
    if (block === undefined) return
    const bytes = await block.compressed
    // A write may take only a part, also just before the disk is full.
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done)
    this.#hash.update(bytes)
    for (const tell of block.told) tell(this.#flushed, bytes.length)
    this.#flushed += bytes.length
  }
}
