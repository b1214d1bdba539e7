/** Why a line cannot be loaded. The code goes to the quarantine with the line; the text names no content. */

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
  REFUSED_BY_ENGINE: 'DuckDB refused the line although it passed every check (by earlier versions)',
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
