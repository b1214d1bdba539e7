/**
 * Cuts decoded bytes into blocks of whole lines. Knows `\n` and a BOM at the start; `\r` and blank lines stay
 * in the blocks for the loader. Holds one block and one unfinished line.
 */

import type { Block } from '../core/block.ts'
import { JSON_BYTES } from '../support/json-bytes.ts'
import { checkLimit, DECODE_LIMITS, OVERLONG_HEAD_BYTES } from './decode-limits.ts'

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
  /** Where blocks get their memory; the consumer then calls `release` of each block. @default fresh memory */
  readonly memory?: BlockMemory | undefined
  /**
   * Called with the lines that the next block has so far, when a chunk has brought some. They begin that block, whose memory
   * may be another one by then: nothing may read them afterwards.
   */
  readonly onLines?: ((begun: Block) => void) | undefined
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

const NO_LINE: LongLine = { head: Buffer.alloc(0), sizeBytes: 0 }

const extendLongLine = (line: LongLine, parts: readonly Buffer[]): LongLine => {
  const sizeBytes = parts.reduce((sum, part) => sum + part.length, line.sizeBytes)
  if (line.head.length === OVERLONG_HEAD_BYTES) return { head: line.head, sizeBytes }
  return { head: Buffer.concat([line.head, ...parts], Math.min(sizeBytes, OVERLONG_HEAD_BYTES)), sizeBytes }
}

/** The cutting itself, chunk by chunk. Each byte is copied once, into its block. */
const blockCutter = (
  blockBytes: number,
  maxLineBytes: number,
  startOffset: number,
  memory: BlockMemory | undefined,
) => {
  let offset = startOffset
  let firstLine = 1
  // Whole lines are copied out of their chunks at once: kept slices would keep all chunks of a block alive.
  let block: Buffer = Buffer.alloc(0)
  let full = false
  /** Where the block begins in its memory. */
  let start = 0
  let copiedBytes = 0
  let wholeBytes = 0
  let lines = 0
  let open: Buffer[] = []
  let openBytes = 0
  let long: LongLine | undefined

  const reserve = (size: number) => {
    const room = size + WORD_BYTES
    if (room <= block.length) return
    const targetBytes =
      full || room > FIRST_BYTES ? blockBytes + WORD_BYTES : Math.min(FIRST_BYTES, blockBytes)
    const bytes = Math.max(room, targetBytes)
    const grown = memory?.take(bytes) ?? Buffer.allocUnsafe(bytes)
    if (copiedBytes > 0) block.copy(grown, start, start, start + copiedBytes)
    if (block.length > 0) memory?.give(block)
    block = grown
  }

  const copy = (part: Buffer) => {
    reserve(copiedBytes + part.length)
    if (copiedBytes === 0) start = placeInWord(part)
    part.copy(block, start + copiedBytes)
    copiedBytes += part.length
  }

  const copied = (): Buffer => block.subarray(start, start + copiedBytes)

  const takeBytes = (): Pick<Block, 'bytes' | 'release'> => {
    const bytes = copied()
    copiedBytes = 0
    // A block that fills little of its memory, as the last one may, is given as a copy of the right size.
    if (2 * bytes.length < block.length) return { bytes: Buffer.from(bytes) }
    full ||= block.length >= blockBytes
    const taken = block
    block = Buffer.alloc(0)
    return memory ? { bytes, release: () => memory.give(taken) } : { bytes }
  }

  const close = (overlong?: LongLine): Block => {
    const line = firstLine + lines
    const end = offset + wholeBytes
    const closed: Block = {
      ...takeBytes(),
      firstLine,
      offset,
      overlong: overlong ? [{ line, offset: end, ...overlong }] : [],
    }
    offset = end + (overlong ? overlong.sizeBytes + 1 : 0)
    firstLine = line + (overlong ? 1 : 0)
    wholeBytes = 0
    lines = 0
    long = undefined
    return closed
  }

  const finishOpenLine = (sizeBytes: number) => {
    if (open.length > 0) {
      reserve(copiedBytes + sizeBytes)
      for (const part of open) copy(part)
      open = []
    }
    openBytes = 0
    wholeBytes += sizeBytes
    lines++
  }

  const wouldExceed = (sizeBytes: number) => wholeBytes > 0 && wholeBytes + sizeBytes > blockBytes

  function* push(chunk: Buffer): Generator<Block, void> {
    // From `run` to `at` stand whole lines of the block that are not copied yet.
    let run = 0
    let at = 0
    const takeRun = () => {
      if (at > run) copy(chunk.subarray(run, at))
      run = at
    }
    while (at < chunk.length) {
      const newline = chunk.indexOf(LINE_FEED, at)
      const end = newline === -1 ? chunk.length : newline
      const lineBytes = openBytes + end - at
      if (long || lineBytes > maxLineBytes) {
        takeRun()
        long = extendLongLine(long ?? NO_LINE, [...open, chunk.subarray(at, end)])
        open = []
        openBytes = 0
        if (newline === -1) return
        yield close(long)
      } else {
        if (newline === -1) break
        if (wouldExceed(lineBytes + 1)) {
          takeRun()
          yield close()
        }
        finishOpenLine(lineBytes + 1)
      }
      at = newline + 1
      if (wholeBytes === 0) run = at
    }
    takeRun()
    // A copy: the chunk's memory may be used again.
    if (at < chunk.length) open.push(alignedCopy(chunk.subarray(at)))
    openBytes += chunk.length - at
  }

  function* end(): Generator<Block, void> {
    if (openBytes > 0) {
      if (wouldExceed(openBytes + 1)) yield close()
      open.push(Buffer.from([LINE_FEED]))
      finishOpenLine(openBytes + 1)
    }
    if (long || wholeBytes > 0) yield close(long)
    if (block.length > 0) memory?.give(block)
  }

  const begun = (): Block => ({ bytes: copied(), firstLine, offset, overlong: [] })

  return { push, end, begun }
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
  let cutter: ReturnType<typeof blockCutter> | undefined
  for await (const chunk of withWholeStart(chunks)) {
    if (cutter !== undefined) yield* cutter.push(chunk)
    else {
      const start = chunk.subarray(0, BOM.length).equals(BOM) ? BOM.length : 0
      cutter = blockCutter(blockBytes, maxLineBytes, start, options.memory)
      yield* cutter.push(chunk.subarray(start))
    }
    options.onLines?.(cutter.begun())
  }
  if (cutter !== undefined) yield* cutter.end()
}
