/**
 * Flat columns of a row group, each in memory that is used again for the next group. Reads what DuckDB writes: pages of the first version,
 * plain or by dictionary, plain bytes or Zstandard.
 */

import { zstdDecompressSync } from 'node:zlib'
import { numberField, type ParquetFile, type RowGroup, structField, ThriftReader } from './parquet-file.ts'

const UNCOMPRESSED = 0
const ZSTD = 6
const DATA_PAGE = 0
const DICTIONARY_PAGE = 2
const PLAIN = 0
const PLAIN_DICTIONARY = 2
const RLE_DICTIONARY = 8
const NO_BYTES = Buffer.alloc(0)

interface Page {
  readonly isDictionary: boolean
  readonly values: number
  readonly encoding: number
  readonly bytes: Buffer
}

function* pagesOf(file: ParquetFile, name: string, { columns }: RowGroup): Generator<Page> {
  const chunk = columns.get(name)
  if (chunk === undefined) throw new RangeError(`Cannot find column "${name}"`)
  const bytes = file.read(chunk.from, chunk.bytes)
  const header = new ThriftReader(bytes)
  for (let values = 0; values < chunk.values; ) {
    const page = header.struct()
    const [kind, size, packed] = [numberField(page, 1), numberField(page, 2), numberField(page, 3)]
    const stored = bytes.subarray(header.at, header.at + packed)
    header.at += packed
    if (kind !== DATA_PAGE && kind !== DICTIONARY_PAGE)
      throw new RangeError(`Cannot read column "${name}": a page is of kind ${kind}`)
    const about = structField(page, kind === DATA_PAGE ? 5 : 7)
    const count = numberField(about, 1)
    if (kind === DATA_PAGE) values += count
    yield {
      isDictionary: kind === DICTIONARY_PAGE,
      values: count,
      encoding: numberField(about, 2),
      bytes: unpacked(stored, chunk.codec, size),
    }
  }
}

const unpacked = (stored: Buffer, codec: number, size: number): Buffer => {
  if (codec === UNCOMPRESSED) return Buffer.from(stored)
  if (codec !== ZSTD) throw new RangeError(`Cannot read a page that is compressed by codec ${codec}`)
  // A chunk that is filled to its end would be followed by another one.
  return zstdDecompressSync(stored, { chunkSize: size + SPARE_BYTES })
}
const SPARE_BYTES = 64

/** A column by places in a dictionary; a page of plain values is one of its own, in which each stands once. */
export class CodedColumn {
  readonly #name: string
  /** Per row. */
  codes = new Uint32Array(0)
  /** The dictionary's plain values one behind the other. */
  dictionary: Buffer = NO_BYTES
  /** Values of the dictionary. */
  size = 0

  constructor(name: string) {
    this.#name = name
  }

  /** @throws {RangeError} where a row has no value, or another encoding than known here */
  read(file: ParquetFile, group: RowGroup): void {
    if (this.codes.length < group.rows) this.codes = new Uint32Array(group.rows)
    this.size = 0
    const parts: Buffer[] = []
    let rows = 0
    for (const page of pagesOf(file, this.#name, group)) {
      if (page.isDictionary) {
        parts.push(page.bytes)
        this.size = page.values
        continue
      }
      const { values } = page
      const levels = readLevels(page)
      if (levels.present < values) throw new RangeError(`Cannot read column "${this.#name}": a row is NULL`)
      if (page.encoding === PLAIN) {
        parts.push(page.bytes.subarray(levels.end))
        for (let row = 0; row < values; row++) this.codes[rows + row] = this.size + row
        this.size += values
      } else readCodes(page, levels.end, this.codes, rows, values)
      rows += values
    }
    this.dictionary = parts[0] !== undefined && parts.length === 1 ? parts[0] : Buffer.concat(parts)
  }
}

/** A column of doubles. */
export class DoubleColumn {
  readonly #name: string
  #codes = new Uint32Array(0)
  /** Per row; anything where a row is NULL. */
  values = new Float64Array(0)
  /** Per row, whether it has a value, where some have one; `false` where all are NULL, `true` where none is. */
  isThere: Uint8Array | boolean = true
  #isThere = new Uint8Array(0)

  constructor(name: string) {
    this.#name = name
  }

  /** @throws {RangeError} at another encoding than known here */
  read(file: ParquetFile, group: RowGroup): void {
    if (this.values.length < group.rows) {
      this.values = new Float64Array(group.rows)
      this.#isThere = new Uint8Array(group.rows)
    }
    let dictionary = new Float64Array(0)
    let [rows, present] = [0, 0]
    for (const page of pagesOf(file, this.#name, group)) {
      if (page.isDictionary) {
        dictionary = new Float64Array(page.values)
        copyDoubles(page.bytes, 0, dictionary, 0, page.values)
        continue
      }
      const levels = readLevels(page)
      this.#put(page, levels, rows, dictionary)
      rows += page.values
      present += levels.present
    }
    this.isThere = present === rows ? true : present === 0 ? false : this.#isThere
  }

  #put(page: Page, { levels, present, end }: Levels, rows: number, dictionary: Float64Array): void {
    const { values } = this
    const isPlain = page.encoding === PLAIN
    if (isPlain) copyDoubles(page.bytes, end, values, rows, present)
    else {
      if (this.#codes.length < present) this.#codes = new Uint32Array(present)
      readCodes(page, end, this.#codes, 0, present)
      for (let at = 0; at < present; at++) values[rows + at] = dictionary[this.#codes[at] ?? 0] ?? 0
    }
    if (present === page.values || present === 0) {
      this.#isThere.fill(present === 0 ? 0 : 1, rows, rows + page.values)
      return
    }
    // They stand together: from the last one on each moves to its row.
    for (let row = page.values - 1, at = present - 1; row >= 0; row--) {
      const isThere = levels[row] ?? 0
      this.#isThere[rows + row] = isThere
      if (isThere === 1) values[rows + row] = values[rows + at--] ?? 0
    }
  }
}

interface Levels {
  /** Per row, 1 where there is a value; only where some are NULL and others are not. They stand until the next page is read. */
  readonly levels: Uint32Array
  readonly present: number
  /** Place behind the levels. */
  readonly end: number
}

let levelMemory = new Uint32Array(0)

/** The definition levels before the values of a page: columns are OPTIONAL, and there is one level. */
const readLevels = ({ bytes, values }: Page): Levels => {
  const end = LENGTH_BYTES + bytes.readUInt32LE(0)
  const only = onlyRun(bytes, LENGTH_BYTES, values)
  if (only !== undefined) return { levels: levelMemory, present: only * values, end }
  if (levelMemory.length < values) levelMemory = new Uint32Array(values)
  readHybrid(bytes, LENGTH_BYTES, { width: 1, into: levelMemory, from: 0, count: values })
  let present = 0
  for (let row = 0; row < values; row++) present += levelMemory[row] ?? 0
  return { levels: levelMemory, present, end }
}
const LENGTH_BYTES = 4

const readCodes = (
  { bytes, encoding }: Page,
  start: number,
  into: Uint32Array,
  from: number,
  count: number,
): void => {
  if (encoding !== PLAIN_DICTIONARY && encoding !== RLE_DICTIONARY)
    throw new RangeError(`Cannot read a page of encoding ${encoding}`)
  if (count > 0) readHybrid(bytes, start + 1, { width: bytes.readUInt8(start), into, from, count })
}

/** A copy, because values are not aligned in a page. */
const copyDoubles = (bytes: Buffer, start: number, into: Float64Array, from: number, count: number): void => {
  bytes.copy(new Uint8Array(into.buffer), 8 * from, start, start + 8 * count)
}

/** Values of 64 bits of a dictionary. */
export const dictionaryLongs = ({ dictionary, size }: CodedColumn): bigint[] =>
  Array.from({ length: size }, (_, at) => dictionary.readBigInt64LE(8 * at))

/** Values of 32 bits. */
export const dictionaryIntegers = ({ dictionary, size }: CodedColumn): Int32Array =>
  Int32Array.from({ length: size }, (_, at) => dictionary.readInt32LE(4 * at))

export const dictionaryStrings = ({ dictionary, size }: CodedColumn): string[] => {
  let at = 0
  return Array.from({ length: size }, () => {
    const from = at + 4
    at = from + dictionary.readUInt32LE(at)
    return dictionary.toString('utf8', from, at)
  })
}

/** Parquet's hybrid of runs and packed bits, in which places in dictionaries and definition levels stand. */

/** Widest number that is unpacked: with seven bits more it fits into a word. */
const MOST_BITS = 24

/** Reads heads of runs of equal numbers, and of eight times as many numbers that are packed: one object for them all. */
class HeadReader {
  isPacked = false
  count = 0
  /** Place behind it. */
  end = 0

  read(bytes: Uint8Array, start: number): void {
    let head = 0
    let at = start
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++]
      if (byte === undefined) throw new RangeError(`Cannot unpack numbers: the page ends at byte ${at - 1}`)
      head |= (byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    this.isPacked = (head & 1) === 1
    this.count = head >>> 1
    this.end = at
  }
}
const head = new HeadReader()

/** The number of one bit that all are; `undefined` where they stand in several runs. */
export const onlyRun = (bytes: Uint8Array, start: number, count: number): number | undefined => {
  if (count === 0) return 0
  head.read(bytes, start)
  return !head.isPacked && head.count >= count ? bytes[head.end] : undefined
}

/** Unpacks `count` numbers of `width` bits each. @returns the place behind them */
export const readHybrid = (
  bytes: Uint8Array,
  start: number,
  {
    width,
    into,
    from,
    count,
  }: { readonly width: number; readonly into: Uint32Array; readonly from: number; readonly count: number },
): number => {
  if (width > MOST_BITS)
    throw new RangeError(`Cannot unpack numbers of ${width} bits, expected at most ${MOST_BITS}`)
  const end = from + count
  let at = start
  let to = from
  while (to < end) {
    head.read(bytes, at)
    at = head.end
    if (!head.isPacked) {
      let value = 0
      for (let shift = 0; shift < width; shift += 8) value |= (bytes[at++] ?? 0) << shift
      const stop = Math.min(end, to + head.count)
      // Most runs are short: a call of `fill` would cost more.
      while (to < stop) into[to++] = value
    } else {
      const stop = Math.min(end, to + 8 * head.count)
      unpack(bytes, at, width, into, to, stop)
      at += head.count * width
      to = stop
    }
  }
  return at
}

const unpack = (
  bytes: Uint8Array,
  start: number,
  width: number,
  into: Uint32Array,
  from: number,
  to: number,
): void => {
  const mask = (1 << width) - 1
  let at = start
  let held = 0
  let bits = 0
  for (let place = from; place < to; place++) {
    while (held < width) {
      bits |= (bytes[at++] ?? 0) << held
      held += 8
    }
    into[place] = bits & mask
    bits >>>= width
    held -= width
  }
}
