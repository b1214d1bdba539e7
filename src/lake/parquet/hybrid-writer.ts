/** Writes Parquet's hybrid of runs and packed bits, which `hybrid-runs.ts` reads. */

import type { ByteWriter } from '../../support/byte-writer.ts'
import { writeUnsigned } from './thrift-writer.ts'

/** Bits that places in so many values need. */
export const bitsFor = (values: number): number => (values < 2 ? 1 : 32 - Math.clz32(values - 1))

/** Appends numbers of `width` bits, at most 16, as packed bits. */
export const writePacked = (out: ByteWriter, values: Uint16Array, count: number, width: number): void => {
  const eights = Math.ceil(count / 8)
  writeUnsigned(out, eights * 2 + 1)
  const from = out.length
  const end = from + eights * width
  out.reserve(eights * width + 8)
  if (width < 8) packEights(out.words, from, values, eights, width)
  else packAny(out.bytes, from, values, 8 * eights, width)
  // What stands behind the numbers counts for nothing.
  const bits = count * width
  const last = from + (bits >> 3)
  out.bytes[last]! &= (1 << (bits & 7)) - 1
  out.bytes.fill(0, last + 1, Math.max(end, last + 1))
  out.length = end
}

/** Eight numbers are two words, of which the next ones overwrite what is too much. */
const packEights = (
  words: DataView,
  from: number,
  values: Uint16Array,
  eights: number,
  width: number,
): void => {
  const half = 4 * width
  for (let next = 0, at = from; next < 8 * eights; next += 8, at += width) {
    const low = fourOf(values, next, width)
    const high = fourOf(values, next + 4, width)
    words.setInt32(at, low | (high << half), true)
    words.setInt32(at + 4, high >>> (32 - half), true)
  }
}

/** Four numbers of at most seven bits, behind one another. */
const fourOf = (values: Uint16Array, at: number, width: number): number =>
  values[at]! |
  (values[at + 1]! << width) |
  (values[at + 2]! << (2 * width)) |
  (values[at + 3]! << (3 * width))

const packAny = (bytes: Buffer, from: number, values: Uint16Array, count: number, width: number): void => {
  let at = from
  let held = 0
  let bits = 0
  for (let next = 0; next < count; next++) {
    bits |= values[next]! << held
    held += width
    while (held >= 8) {
      bytes[at++] = bits
      bits >>>= 8
      held -= 8
    }
  }
}

/** Runs of equal numbers, one behind the other: which, and how many times, below 2^30. Their memory is used again. */
export class Runs {
  #values = new Int32Array(FIRST_RUNS)
  #counts = new Uint32Array(FIRST_RUNS)
  #runs = 0

  clear(): void {
    this.#runs = 0
  }

  add(value: number, count: number): void {
    const last = this.#runs - 1
    if (last >= 0 && this.#values[last] === value) {
      this.#counts[last]! += count
      return
    }
    if (this.#runs === this.#values.length) this.#grow()
    this.#values[this.#runs] = value
    this.#counts[this.#runs++] = count
  }

  #grow(): void {
    const values = new Int32Array(2 * this.#runs)
    const counts = new Uint32Array(2 * this.#runs)
    values.set(this.#values)
    counts.set(this.#counts)
    this.#values = values
    this.#counts = counts
  }

  /** Appends those that are not negative, as numbers of `width` bits. */
  write(out: ByteWriter, width: number): void {
    out.reserve(this.#runs * MOST_RUN_BYTES)
    const { bytes } = out
    let at = out.length
    for (let run = 0; run < this.#runs; run++) {
      const value = this.#values[run]!
      if (value < 0) continue
      let twice = this.#counts[run]! << 1
      for (; twice >= 0x80; twice >>= 7) bytes[at++] = (twice & 0x7f) | 0x80
      bytes[at++] = twice
      for (let shift = 0; shift < width; shift += 8) bytes[at++] = value >>> shift
    }
    out.length = at
  }

  /** Adds a run of 0 for each that is negative, and of 1 for each that is not. */
  addLevels(levels: Runs): void {
    for (let run = 0; run < this.#runs; run++) levels.add(this.#values[run]! < 0 ? 0 : 1, this.#counts[run]!)
  }
}
const FIRST_RUNS = 1024
/** A count in bytes of seven bits, and a number. */
const MOST_RUN_BYTES = 5 + 4
