/** Lines on their way into a lake: blocks that decoding hands to loading, lines that are set aside, and ids that are refused. */

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
   * The place of each line in its source; absent where lines and offsets follow from the first (all sources but a
   * quarantine, whose lines have gaps between them, and small ones together). None of the lines is blank then.
   */
  readonly places?: readonly LinePlace[]
  /** As of which its lines are, ISO 8601 in UTC, where not all lines of its source are of one instant. */
  readonly asOf?: string | undefined
  /** Returns the memory of `bytes` for later blocks; afterwards nothing may read them. */
  readonly release?: () => void
}

/** Place of a line in its decoded source: its number from 1 and the offset of its first byte. */
export interface LinePlace {
  readonly line: number
  readonly offset: number
  /** Name of the source, in a block whose lines are of several. */
  readonly source?: string | undefined
}

/** The place in the source of the line that begins at `start` in a block's bytes. */
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

/** Every reject code and what it means. */
export const REJECT_CODES = {
  NOT_JSON: 'the line is no JSON document',
  NOT_UTF8: 'the line holds bytes or escapes that are no Unicode text',
  WRONG_SHAPE: 'a value has another type than the contract says',
  DUPLICATE_KEY: 'an object names the same key twice',
  ID_MISSING: 'the record has no InternalId',
  ID_NOT_WHOLE: 'an InternalId is no whole number of 64 bits',
  NOT_A_NUMBER: 'text or a boolean stands where a number belongs',
  NOT_WHOLE: 'a fraction stands where a whole number belongs',
  NOT_FINITE: 'a number is infinite or not a number',
  YEAR_INVALID: 'a fiscal year is no year',
  SCALE_UNKNOWN: 'FinancialFigureScale is not in the contract',
  LINE_TOO_LONG: 'the line is longer than --max-line-bytes',
  TOO_DEEP: 'the record is nested deeper than --max-depth',
  TOO_MANY_UNKNOWN: 'the record has more names that the contract does not know than --max-unknown-per-record',
} as const

/** A code of `REJECT_CODES`. */
export type RejectCode = keyof typeof REJECT_CODES

/** A line set aside, with what is needed to find it again and to load it after a fix. */
export interface RejectedLine {
  /** Name of the source, where the block's lines are of several. */
  readonly source?: string | undefined
  /** Line number in the decoded source, from 1. */
  readonly line: number
  /** Offset of the line's first byte in the decoded source. */
  readonly offset: number
  /** Whole length of the line in bytes, without its line end. */
  readonly sizeBytes: number
  readonly code: RejectCode
  readonly reason: string
  /** The line as it came; of a line over the length limit the first 64 KiB. */
  readonly raw: Buffer
}

/** The records and entities that a load leaves out, because they were forgotten. */
export interface RefusedIds {
  /** A company with all its records. */
  readonly isCompany: (id: bigint) => boolean
  /** An entity in others' relations. */
  readonly isEntity: (id: bigint) => boolean
}
