/** The limits of decoding, each with its unit and its reason. All of them are options of `decodeBlocks`. */

const KIB = 1024
const MIB = 1024 * KIB

export const DECODE_LIMITS = {
  /**
   * Largest block in bytes. 32 MiB: at 16 MiB loading is slower, at 128 MiB it takes more memory. Less 64 KiB,
   * because glibc uses freed memory again only below 32 MiB: at 32 MiB sharp, cutting takes 1.8 times as long.
   */
  blockBytes: 32 * MIB - 64 * KIB,
  /** Longest line in bytes, without its `\n`. 16 MiB: what DuckDB takes as one object by default. */
  maxLineBytes: 16 * MIB,
  /** Most decoded bytes for one compressed byte. 250: company data has 5 to 30, a bomb over 1,000. */
  maxRatio: 250,
  /** Decoded bytes before `maxRatio` counts. 16 MiB: a short file of equal lines is no danger. */
  ratioFreeBytes: 16 * MIB,
} as const

/** First bytes kept of a line above `maxLineBytes`. 64 KiB: enough to see which record it was. */
export const OVERLONG_HEAD_BYTES = 64 * KIB

/** Bytes read to detect the compression of a source. 64 KiB: a Brotli header with its tables fits in. */
export const DETECT_HEAD_BYTES = 64 * KIB

/**
 * Most compressed bytes given to a decoder at once. 1 MiB: a chunk is decoded while the one before is used, but for the first
 * of each piece. The ratio is watched at this grain.
 */
export const PIECE_BYTES = MIB

/** Size of one decoded chunk in bytes. 1 MiB: at Node's 16 KiB half of the time goes into the stream. */
export const CHUNK_BYTES = MIB

/**
 * The same of a source that ends within its head. 64 KiB: V8 collects what decoders leave when their last chunks have
 * come to some 50 MiB; at 1 MiB that is every fifty files.
 */
export const SMALL_CHUNK_BYTES = 64 * KIB

/** Most compressed streams without content in a row. 1,000: real ones have one, a crafted file a billion. */
export const MAX_EMPTY_STREAMS = 1000

/** Refuses a limit that is not a whole number above 0. @throws {RangeError} naming the limit */
export const checkLimit = (name: string, value: number): number => {
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new RangeError(`Cannot use ${name} ${value}: it must be a whole number above 0`)
}
