/** Marks the rows of a record batch's column that have a value: a bit a row, and none at all while no row is NULL. */

const isSet = (bits: Uint8Array, row: number): boolean => ((bits[row >> 3] ?? 0) & (1 << (row & 7))) !== 0

/** The bits of eight rows from any row on. */
const eightFrom = (bits: Uint8Array, row: number): number => {
  const [at, shift] = [row >> 3, row & 7]
  const first = bits[at] ?? 0
  return shift === 0 ? first : ((first >> shift) | ((bits[at + 1] ?? 0) << (8 - shift))) & 0xff
}

/** How many bits of each byte are not set. */
const ZEROS = Uint8Array.from({ length: 256 }, (_, byte) => {
  let zeros = 8
  for (let rest = byte; rest > 0; rest >>= 1) zeros -= rest & 1
  return zeros
})

/** Calls for each run of rows that are NULL. @param put first row and number, counted from `from` */
export const eachNullRun = (
  bits: Uint8Array,
  from: number,
  count: number,
  put: (at: number, rows: number) => void,
): void => {
  let row = 0
  while (row < count) {
    // Eight rows at once, as long as all of them are alike.
    while (row < count && eightFrom(bits, from + row) === 0xff) row += 8
    while (row < count && isSet(bits, from + row)) row++
    const start = row
    while (row + 8 <= count && eightFrom(bits, from + row) === 0) row += 8
    while (row < count && !isSet(bits, from + row)) row++
    if (row > start) put(start, row - start)
  }
}

export class Validity {
  readonly #bits: ByteBuffer
  #rows = 0
  #nulls = 0
  constructor(memory: Memory) {
    this.#bits = new ByteBuffer(memory)
  }

  append(source: Uint8Array | undefined, from: number, count: number): void {
    const before = this.#rows
    this.#rows += count
    if (source === undefined) {
      if (this.#nulls > 0) this.#fill(before)
      return
    }
    const nulls = nullsOf(source, from, count)
    if (this.#nulls === 0) {
      if (nulls === 0) return
      this.#fill(0)
    }
    this.#nulls += nulls
    this.#copy(source, from, before)
  }

  /** Bytes for all rows, and one into which the last eight of a copy may reach. */
  #reserve(): Uint8Array {
    return this.#bits.grow(Math.max(0, (this.#rows >> 3) + 2 - this.#bits.size)).bytes
  }

  /** Sets the bits of all rows from one on. */
  #fill(row: number): void {
    const bytes = this.#reserve()
    const at = row >> 3
    const below = (1 << (row & 7)) - 1
    const first = bytes[at] ?? 0
    bytes.fill(0xff, at, (this.#rows >> 3) + 1)
    bytes[at] = (first & below) | (0xff & ~below)
  }

  /** Puts the bits of all rows from one on. */
  #copy(source: Uint8Array, from: number, row: number): void {
    const bytes = this.#reserve()
    const shift = row & 7
    const below = (1 << shift) - 1
    for (let to = row; to < this.#rows; to += 8) {
      const bits = eightFrom(source, from + to - row) << shift
      bytes[to >> 3] = ((bytes[to >> 3] ?? 0) & below) | (bits & 0xff)
      bytes[(to >> 3) + 1] = bits >> 8
    }
  }

  /** Arrow's buffer of validity and what goes with it; starts again. */
  take(): {
    readonly length: number
    readonly nullCount: number
    readonly nullBitmap: Uint8Array | undefined
  } {
    const [length, nullCount] = [this.#rows, this.#nulls]
    this.#rows = 0
    this.#nulls = 0
    if (nullCount === 0) return { length, nullCount, nullBitmap: undefined }
    const bits = this.#bits.take().subarray(0, (length + 7) >> 3)
    // Bits behind the last row are zero, whatever the rows.
    if (length % 8 !== 0) bits[bits.length - 1] = (bits.at(-1) ?? 0) & ((1 << (length % 8)) - 1)
    return { length, nullCount, nullBitmap: bits }
  }
}

const nullsOf = (bits: Uint8Array, from: number, count: number): number => {
  let nulls = 0
  const whole = count & ~7
  for (let row = 0; row < whole; row += 8) nulls += ZEROS[eightFrom(bits, from + row)] ?? 0
  for (let row = whole; row < count; row++) if (!isSet(bits, from + row)) nulls++
  return nulls
}

/** Bytes that grow at their end, and may be taken again and again. */

const FIRST_BYTES = 4096
const NOTHING = new Uint8Array(0)

/** Whether memory that was taken is used again when it has been taken once more. */
export type Memory = 'fresh' | 'in-turn'

export class ByteBuffer {
  #bytes = NOTHING
  #other = NOTHING
  #size = 0
  readonly #inTurn: boolean
  /** @param memory fresh whenever it was taken, or two memories in turn: large ones cost much to make and to collect */
  constructor(memory: Memory) {
    this.#inTurn = memory === 'in-turn'
  }

  /** Bytes in it. */
  get size(): number {
    return this.#size
  }

  /** Makes room for more bytes. @returns the memory, and where they are to be put */
  grow(more: number): { readonly bytes: Uint8Array<ArrayBuffer>; readonly at: number } {
    const at = this.#size
    this.#size += more
    if (this.#size > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#size, this.#bytes.length * 2, FIRST_BYTES))
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    return { bytes: this.#bytes, at }
  }

  append(source: Uint8Array, start: number, end: number): void {
    const { bytes, at } = this.grow(end - start)
    // Short texts are most: a view of each would cost more than its bytes.
    if (end - start > 64) bytes.set(source.subarray(start, end), at)
    else for (let from = start; from < end; from++) bytes[at + from - start] = source[from] ?? 0
  }

  /** Takes the bytes, after which there are none. In turn with another they stay as they are until they were taken once more. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.subarray(0, this.#size)
    const other = this.#inTurn ? this.#other : NOTHING
    this.#other = this.#bytes
    this.#bytes = other.length >= this.#bytes.length ? other : new Uint8Array(this.#bytes.length)
    this.#size = 0
    return taken
  }
}
