/** What decoding hands to loading: runs of whole lines, and lines too long to be held. */

import { JSON_BYTES } from '../support/json-bytes.ts'

const { LINE_FEED } = JSON_BYTES

/** A run of whole lines: of one source, or of several small ones, where `places` name the source of each line. */
export interface Block {
  /** Whole lines; every line ends with `\n`, the last one too (added where the source lacks it). */
  readonly bytes: Buffer
  /** Line number of the first line in the decoded source, from 1. Blank lines count. */
  readonly firstLine: number
  /** Offset of the first byte in the decoded source. */
  readonly offset: number
  /** Lines of this range that are longer than the limit, in order; they are not in `bytes`. */
  readonly overlong: readonly OverlongLine[]
  /**
   * Where each line stood in its source; absent where lines and offsets follow from the first (all sources but a
   * quarantine, whose lines have gaps between them, and small ones together). None of the lines is blank then.
   */
  readonly places?: readonly LinePlace[]
  /** Returns the memory of `bytes` for later blocks; afterwards nothing may read them. */
  readonly release?: () => void
}

/** Where a line stood in its decoded source: its number from 1 and the offset of its first byte. */
export interface LinePlace {
  readonly line: number
  readonly offset: number
  /** Name of the source, in a block whose lines are of several. */
  readonly source?: string | undefined
}

/** Where the line that begins at `start` in a block's bytes stood in its source. */
export const placeOf = ({ bytes, firstLine, offset, places }: Block, start: number): LinePlace => {
  let before = 0
  for (let at = bytes.indexOf(LINE_FEED); at >= 0 && at < start; at = bytes.indexOf(LINE_FEED, at + 1))
    before++
  return places?.[before] ?? { line: firstLine + before, offset: offset + start }
}

export interface OverlongLine {
  readonly line: number
  readonly offset: number
  /** Whole length of the line in bytes, without its line end. */
  readonly sizeBytes: number
  /** Name of the source, where the block's lines are of several. */
  readonly source?: string | undefined
  /** The first bytes of the line, at most 64 KiB. */
  readonly head: Buffer
}
