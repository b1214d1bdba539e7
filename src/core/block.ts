/** What decoding hands to loading: runs of whole lines, and lines too long to be held. */

/** A run of whole lines of one source. */
export interface Block {
  /** Whole lines; every line ends with `\n`, the last one too (added where the source lacks it). */
  readonly bytes: Buffer
  /** Line number of the first line in the decoded source, from 1. Blank lines count. */
  readonly firstLine: number
  /** Offset of the first byte in the decoded source. */
  readonly offset: number
  /** Lines of this stretch that are longer than the limit, in order; they are not in `bytes`. */
  readonly overlong: readonly OverlongLine[]
  /**
   * Where each line that is not blank stood in its source; absent where lines and offsets follow from the first
   * (all sources but a quarantine, whose lines have gaps between them).
   */
  readonly places?: readonly { readonly line: number; readonly offset: number }[]
  /** Gives the memory of `bytes` back for later blocks; afterwards nothing may read them. */
  readonly release?: () => void
}

export interface OverlongLine {
  readonly line: number
  readonly offset: number
  /** Whole length of the line in bytes, without its line end. */
  readonly sizeBytes: number
  /** The first bytes of the line, at most 64 KiB. */
  readonly head: Buffer
}
