/**
 * Cuts decoded bytes into blocks of whole lines. Knows `\n` and a BOM at the start; `\r` and blank lines stay
 * in the blocks for the loader. Holds one block and one unfinished line.
 */

import { checkLimit, DECODE_LIMITS, OVERLONG_HEAD_BYTES } from '../core/decode-limits.ts'
import type { Block } from '../core/lines.ts'
import { JSON_BYTES } from '../support/json-bytes.ts'

const { LINE_FEED } = JSON_BYTES

const BOM = Buffer.from([0xef, 0xbb, 0xbf])

/** Memory of the first block in bytes, until it needs `blockBytes`. 1 MiB: many sources are small. */
const FIRST_BYTES = 1024 * 1024

/**
 * Memory of blocks, used again: fresh memory for each would be cleared page by page by the system. It is shared, for threads that
 * check, and as V8 does not weigh shared memory: blocks of 33 MB would bring it to collect garbage where there is none.
 */
export class BlockMemory {
  readonly #free: Buffer[] = []

  /** A buffer of at least `size` bytes with any content. */
  take(size: number): Buffer {
    const at = this.#free.findIndex((buffer) => buffer.length >= size)
    const [found] = at < 0 ? [] : this.#free.splice(at, 1)
    return found ?? Buffer.from(new SharedArrayBuffer(size))
  }

  /** Takes a buffer back; nobody may use it any more. */
  give(buffer: Buffer): void {
    this.#free.push(buffer)
  }
}

export interface CutOptions {
  /** Largest block in bytes; a longer line makes a block of its own. @default DECODE_LIMITS.blockBytes */
  readonly blockBytes?: number | undefined
  /** Longest line in bytes, without its `\n` (a `\r` counts). @default DECODE_LIMITS.maxLineBytes */
  readonly maxLineBytes?: number | undefined
  /** Memory for blocks; the consumer then calls `release` of each block. @default fresh memory */
  readonly memory?: BlockMemory | undefined
}

/**
 * A block begins at the place within eight bytes at which its first ones stood in their chunk. Memory that is shared is copied
 * word by word only where both sides are equally aligned, and else byte by byte, at a quarter of the speed.
 */
const WORD_BYTES = 8
const placeInWord = (part: Buffer): number => part.byteOffset % WORD_BYTES

/** A copy that stands at the same place within eight bytes. */
const alignedCopy = (part: Buffer): Buffer => {
  const from = placeInWord(part)
  const copy = Buffer.allocUnsafe(from + part.length).subarray(from)
  part.copy(copy)
  return copy
}

/** A line above the limit, as far as it was seen. */
interface LongLine {
  readonly head: Buffer
  readonly sizeBytes: number
}

const NO_BYTES = Buffer.alloc(0)
const NO_LINE: LongLine = { head: NO_BYTES, sizeBytes: 0 }

const extendLongLine = (line: LongLine, parts: readonly Buffer[]): LongLine => {
  const sizeBytes = parts.reduce((sum, part) => sum + part.length, line.sizeBytes)
  if (line.head.length === OVERLONG_HEAD_BYTES) return { head: line.head, sizeBytes }
  return { head: Buffer.concat([line.head, ...parts], Math.min(sizeBytes, OVERLONG_HEAD_BYTES)), sizeBytes }
}

/**
 * The cutting itself, chunk by chunk. Each byte is copied once, into its block. A class: generators that are made anew for each
 * source outlive it, and V8 keeps with them whatever they close over until it collects all garbage.
 */
class BlockCutter {
  readonly #blockBytes: number
  readonly #maxLineBytes: number
  readonly #memory: BlockMemory | undefined
  #offset: number
  #firstLine = 1
  // Whole lines are copied out of their chunks at once: kept slices would keep all chunks of a block alive.
  #block: Buffer = NO_BYTES
  #full = false
  /** Offset of the block in its memory. */
  #start = 0
  #copiedBytes = 0
  #wholeBytes = 0
  #lines = 0
  #open: Buffer[] = []
  #openBytes = 0
  #long: LongLine | undefined

  constructor(
    blockBytes: number,
    maxLineBytes: number,
    startOffset: number,
    memory: BlockMemory | undefined,
  ) {
    this.#blockBytes = blockBytes
    this.#maxLineBytes = maxLineBytes
    this.#offset = startOffset
    this.#memory = memory
  }

  *push(chunk: Buffer): Generator<Block, void> {
    // From `run` to `at` stand whole lines of the block that are not copied yet.
    let run = 0
    let at = 0
    while (at < chunk.length) {
      const newline = chunk.indexOf(LINE_FEED, at)
      const end = newline === -1 ? chunk.length : newline
      const lineBytes = this.#openBytes + end - at
      if (this.#long || lineBytes > this.#maxLineBytes) {
        this.#copy(chunk.subarray(run, at))
        run = at
        this.#long = extendLongLine(this.#long ?? NO_LINE, [...this.#open, chunk.subarray(at, end)])
        this.#open = []
        this.#openBytes = 0
        if (newline === -1) return
        yield this.#close(this.#long)
      } else {
        if (newline === -1) break
        if (this.#wouldExceed(lineBytes + 1)) {
          this.#copy(chunk.subarray(run, at))
          run = at
          yield this.#close()
        }
        this.#finishOpenLine(lineBytes + 1)
      }
      at = newline + 1
      if (this.#wholeBytes === 0) run = at
    }
    this.#copy(chunk.subarray(run, at))
    // A copy: the chunk's memory may be used again.
    if (at < chunk.length) this.#open.push(alignedCopy(chunk.subarray(at)))
    this.#openBytes += chunk.length - at
  }

  *end(): Generator<Block, void> {
    if (this.#openBytes > 0) {
      if (this.#wouldExceed(this.#openBytes + 1)) yield this.#close()
      this.#open.push(Buffer.from([LINE_FEED]))
      this.#finishOpenLine(this.#openBytes + 1)
    }
    if (this.#long || this.#wholeBytes > 0) yield this.#close(this.#long)
    if (this.#block.length > 0) this.#memory?.give(this.#block)
  }

  #reserve(size: number): void {
    const room = size + WORD_BYTES
    if (room <= this.#block.length) return
    const targetBytes =
      this.#full || room > FIRST_BYTES
        ? this.#blockBytes + WORD_BYTES
        : Math.min(FIRST_BYTES, this.#blockBytes)
    const bytes = Math.max(room, targetBytes)
    const grown = this.#memory?.take(bytes) ?? Buffer.allocUnsafe(bytes)
    if (this.#copiedBytes > 0)
      this.#block.copy(grown, this.#start, this.#start, this.#start + this.#copiedBytes)
    if (this.#block.length > 0) this.#memory?.give(this.#block)
    this.#block = grown
  }

  #copy(part: Buffer): void {
    if (part.length === 0) return
    this.#reserve(this.#copiedBytes + part.length)
    if (this.#copiedBytes === 0) this.#start = placeInWord(part)
    part.copy(this.#block, this.#start + this.#copiedBytes)
    this.#copiedBytes += part.length
  }

  #takeBytes(): Pick<Block, 'bytes' | 'release'> {
    const bytes = this.#block.subarray(this.#start, this.#start + this.#copiedBytes)
    this.#copiedBytes = 0
    // A block that fills little of its memory, as the last one may, is given as a copy of the right size.
    if (2 * bytes.length < this.#block.length) return { bytes: Buffer.from(bytes) }
    this.#full ||= this.#block.length >= this.#blockBytes
    const memory = this.#memory
    const taken = this.#block
    this.#block = NO_BYTES
    return memory ? { bytes, release: () => memory.give(taken) } : { bytes }
  }

  #close(overlong?: LongLine): Block {
    const line = this.#firstLine + this.#lines
    const end = this.#offset + this.#wholeBytes
    const closed: Block = {
      ...this.#takeBytes(),
      firstLine: this.#firstLine,
      offset: this.#offset,
      overlong: overlong ? [{ line, offset: end, ...overlong }] : [],
    }
    this.#offset = end + (overlong ? overlong.sizeBytes + 1 : 0)
    this.#firstLine = line + (overlong ? 1 : 0)
    this.#wholeBytes = 0
    this.#lines = 0
    this.#long = undefined
    return closed
  }

  #finishOpenLine(sizeBytes: number): void {
    if (this.#open.length > 0) {
      this.#reserve(this.#copiedBytes + sizeBytes)
      for (const part of this.#open) this.#copy(part)
      this.#open = []
    }
    this.#openBytes = 0
    this.#wholeBytes += sizeBytes
    this.#lines++
  }

  #wouldExceed(sizeBytes: number): boolean {
    return this.#wholeBytes > 0 && this.#wholeBytes + sizeBytes > this.#blockBytes
  }
}

/** The chunks with the first of them long enough to show a BOM, unless the source is shorter than one. */
async function* withWholeStart(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let start: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of chunks) {
    if (start === undefined) yield chunk
    else {
      start = Buffer.concat([start, chunk])
      if (start.length < BOM.length) continue
      yield start
      start = undefined
    }
  }
  if (start !== undefined && start.length > 0) yield start
}

/**
 * Cuts chunks into blocks of whole lines.
 *
 * A block closes before the line that would make it larger than `blockBytes`, and after a line above
 * `maxLineBytes`, which is reported in the block it closes and never held. So the cuts depend on the bytes and
 * the two limits alone, never on where chunks begin, and a block's bytes and lines are contiguous.
 *
 * A BOM at the very start is dropped and counts in offsets. A missing last `\n` is added and counts in the
 * block's size. No lines, no blocks.
 *
 * Units: bytes of the decoded source; lines from 1.
 *
 * @throws {RangeError} when a limit is not a whole number above 0
 */
export async function* cutBlocks(
  chunks: AsyncIterable<Buffer>,
  options: CutOptions = {},
): AsyncGenerator<Block, void> {
  const blockBytes = checkLimit('blockBytes', options.blockBytes ?? DECODE_LIMITS.blockBytes)
  const maxLineBytes = checkLimit('maxLineBytes', options.maxLineBytes ?? DECODE_LIMITS.maxLineBytes)
  let cutter: BlockCutter | undefined
  for await (const chunk of withWholeStart(chunks)) {
    if (cutter !== undefined) yield* cutter.push(chunk)
    else {
      const start = chunk.subarray(0, BOM.length).equals(BOM) ? BOM.length : 0
      cutter = new BlockCutter(blockBytes, maxLineBytes, start, options.memory)
      yield* cutter.push(chunk.subarray(start))
    }
  }
  if (cutter !== undefined) yield* cutter.end()
}
