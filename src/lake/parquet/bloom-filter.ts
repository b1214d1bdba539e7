/**
 * Parquet's bloom filter of numbers of 64 bits, by which a reader passes over row groups without a company. Hashes are
 * XXH64 with seed 0 of the value's eight bytes; a number of 64 bits is its two halves, for BigInt takes ten times as
 * long. Source: parquet-format, BloomFilter.md; xxHash, doc/xxhash_spec.md.
 */

/** A value that is not there is found in a hundredth of the filters, as with DuckDB's own. */
const BITS_A_VALUE = 9.7
const BLOCK_BYTES = 32
const WORDS = 8
const SALT = [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31]

/** @param values as halves, the lower one first */
export const bloomFilter = (values: Uint32Array): Buffer => {
  const needed = Math.ceil((BITS_A_VALUE * values.length) / 2 / 8)
  const size = Math.max(BLOCK_BYTES, 2 ** Math.ceil(Math.log2(needed)))
  const words = new Uint32Array(size / 4)
  for (let at = 0; at < values.length; at += 2) {
    hash(values[at]!, values[at + 1]!)
    // The place is the upper half times the number of blocks, divided by 2^32; which is a power of two.
    const block = Math.floor((high * (size / BLOCK_BYTES)) / 2 ** 32) * WORDS
    const key = low
    for (let word = 0; word < WORDS; word++) words[block + word]! |= 1 << (Math.imul(key, SALT[word]!) >>> 27)
  }
  return Buffer.from(words.buffer)
}

/** The number of 64 bits at hand. */
let low = 0
let high = 0

const times = (otherHigh: number, otherLow: number): void => {
  const upper = (Math.imul(high, otherLow) + Math.imul(low, otherHigh)) >>> 0
  const a = low >>> 16
  const b = low & 0xffff
  const c = otherLow >>> 16
  const d = otherLow & 0xffff
  const lowest = b * d
  const middle = a * d + (lowest >>> 16)
  const second = b * c + (middle & 0xffff)
  high = (upper + a * c + Math.floor(middle / 0x10000) + (second >>> 16)) >>> 0
  low = ((second << 16) | (lowest & 0xffff)) >>> 0
}

/** By fewer than 32 bits. */
const rotate = (bits: number): void => {
  const upper = (high << bits) | (low >>> (32 - bits))
  low = ((low << bits) | (high >>> (32 - bits))) >>> 0
  high = upper >>> 0
}

const add = (otherHigh: number, otherLow: number): void => {
  const sum = low + otherLow
  high = (high + otherHigh + (sum >= 2 ** 32 ? 1 : 0)) >>> 0
  low = sum >>> 0
}

const exclusiveOr = (otherHigh: number, otherLow: number): void => {
  high = (high ^ otherHigh) >>> 0
  low = (low ^ otherLow) >>> 0
}

/** Leaves the hash of a value in `low` and `high`. */
const hash = (valueLow: number, valueHigh: number): void => {
  low = valueLow
  high = valueHigh
  times(0xc2b2ae3d, 0x27d4eb4f)
  rotate(31)
  times(0x9e3779b1, 0x85ebca87)
  // The hash of no bytes, to which their number is added.
  exclusiveOr(0x27d4eb2f, 0x165667c5 + 8)
  rotate(27)
  times(0x9e3779b1, 0x85ebca87)
  add(0x85ebca77, 0xc2b2ae63)
  exclusiveOr(0, high >>> 1)
  times(0xc2b2ae3d, 0x27d4eb4f)
  exclusiveOr(high >>> 29, ((low >>> 29) | (high << 3)) >>> 0)
  times(0x165667b1, 0x9e3779f9)
  exclusiveOr(0, high)
}
