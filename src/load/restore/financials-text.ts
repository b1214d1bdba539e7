/**
 * Figures as JSON texts: the three levels that `financials.ts` lays flat, nested again. Written as bytes into
 * one buffer, because a string grown figure by figure takes three times as long and leaves as much to collect.
 */

import { YEAR_0, YEARS } from '../financials.ts'

/** A line item of a slice. */
export interface FigureItem {
  /** JSON text of its name. */
  readonly category: string
  /** JSON text of its name. */
  readonly lineItem: string
}

/** The statements of a company as object texts. */
export interface Statements {
  readonly financials: string | undefined
  readonly unconsolidated: string | undefined
}

/** What a figure takes at most: `,"-32768":-1.2345678901234567e-308`. */
const FIGURE_BYTES = 64
const COMMA = 0x2c
const QUOTE = 0x22
const COLON = 0x3a
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30

/** Writes the statements of a slice's companies from what `orderedFigures` gives. */
export class FigureWriter {
  readonly #items: readonly OpeningItem[]
  readonly #done: (string | undefined)[][] = [[], []]
  #bytes = Buffer.allocUnsafe(1 << 16)
  #length = 0
  #place = -1
  /** Company and consolidation in one; -1 before the first. */
  #statement = -1
  #category = -1

  constructor(items: readonly FigureItem[]) {
    this.#items = openingItems(items)
  }

  /** The company whose figures came last: all before it are complete. */
  get company(): number {
    return Math.max(0, this.#statement >> 1)
  }

  add(keys: Float64Array, figures: Float64Array): void {
    let at = this.#length
    for (let row = 0; row < keys.length; row++) {
      const key = keys[row] ?? 0
      const place = Math.floor(key / YEARS)
      if (at + FIGURE_BYTES > this.#bytes.length) {
        this.#length = at
        this.#grow(FIGURE_BYTES)
      }
      if (place === this.#place) this.#bytes[at++] = COMMA
      else {
        this.#length = at
        this.#open(place)
        at = this.#length
      }
      const bytes = this.#bytes
      at = writeYear(bytes, at, key - place * YEARS - YEAR_0)
      at = writeNumber(bytes, at, figures[row] ?? 0)
    }
    this.#length = at
  }

  /** Completes the last company. */
  end(): void {
    this.#close()
    this.#statement = -1
  }

  /** The statements of a complete company, once. */
  take(company: number): Statements {
    const [financials, unconsolidated] = this.#done.map((texts) => {
      const text = texts[company]
      texts[company] = undefined
      return text
    })
    return { financials, unconsolidated }
  }

  /** Begins the series of a line item, and its category and statement where they are others than before. */
  #open(place: number): void {
    const statement = Math.floor(place / this.#items.length)
    const item = this.#items[place - statement * this.#items.length]
    if (item === undefined) throw new RangeError(`Cannot find the line item at ${place}`)
    if (statement !== this.#statement) {
      this.#close()
      this.#statement = statement
      this.#append(item.first)
    } else {
      this.#append(item.category === this.#category ? item.further : item.inNextCategory)
    }
    this.#place = place
    this.#category = item.category
  }

  #close(): void {
    if (this.#statement < 0) return
    this.#append(END)
    const texts = this.#done[this.#statement & 1] ?? []
    texts[this.#statement >> 1] = this.#bytes.toString('utf8', 0, this.#length)
    this.#length = 0
  }

  #append(bytes: Buffer): void {
    this.#grow(bytes.length + FIGURE_BYTES)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  #grow(room: number): void {
    if (this.#length + room <= this.#bytes.length) return
    const larger = Buffer.allocUnsafe(2 * (this.#bytes.length + room))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#bytes = larger
  }
}

const END = Buffer.from('}}}')

/** What stands before a line item's series, by what stands before that. */
interface OpeningItem {
  readonly first: Buffer
  readonly inNextCategory: Buffer
  readonly further: Buffer
  /** Number of its category. */
  readonly category: number
}

const openingItems = (items: readonly FigureItem[]): OpeningItem[] => {
  const categories = new Map<string, number>()
  return items.map(({ category, lineItem }) => {
    if (!categories.has(category)) categories.set(category, categories.size)
    return {
      first: Buffer.from(`{${category}:{${lineItem}:{`),
      inNextCategory: Buffer.from(`}},${category}:{${lineItem}:{`),
      further: Buffer.from(`},${lineItem}:{`),
      category: categories.get(category) ?? 0,
    }
  })
}

/** Writes `"2023":` at a place of a buffer. @returns the place behind it, as all of these */
const writeYear = (bytes: Buffer, start: number, year: number): number => {
  let at = start
  bytes[at++] = QUOTE
  if (year >= 1000 && year <= 9999) {
    const hundreds = (year / 100) | 0
    at = writeTwoDigits(bytes, writeTwoDigits(bytes, at, hundreds), year - hundreds * 100)
  } else at = writeAscii(bytes, at, String(year))
  bytes[at++] = QUOTE
  bytes[at++] = COLON
  return at
}

const writeTwoDigits = (bytes: Buffer, at: number, value: number): number => {
  const tens = (value / 10) | 0
  bytes[at] = ZERO + tens
  bytes[at + 1] = ZERO + value - tens * 10
  return at + 2
}

/**
 * Writes a figure as `String` does, which is JSON; -0 keeps its sign. Most figures have few digits, of which at
 * most four are decimals: no other number so short is read as the same double, so these are the ones to write.
 */
const writeNumber = (bytes: Buffer, at: number, value: number): number => {
  const tenThousandths = Math.round(value * 10_000)
  if (Math.abs(tenThousandths) > 1e14 || tenThousandths / 10_000 !== value || Object.is(value, -0)) {
    return writeAscii(bytes, at, Object.is(value, -0) ? '-0' : String(value))
  }
  const size = Math.abs(tenThousandths)
  if (tenThousandths < 0) bytes[at++] = MINUS
  const whole = Math.floor(size / 10_000)
  const decimals = size - whole * 10_000
  const end = writeWhole(bytes, at, whole)
  return decimals === 0 ? end : writeDecimals(bytes, end, decimals)
}

/** Writes a whole number from 0 to 10^10, its digits from the last to the first. */
const writeWhole = (bytes: Buffer, start: number, value: number): number => {
  let end = start + 1
  for (let bound = 10; value >= bound; bound *= 10) end++
  let rest = value
  for (let at = end - 1; at >= start; at--) {
    const tenth = Math.floor(rest / 10)
    bytes[at] = ZERO + rest - tenth * 10
    rest = tenth
  }
  return end
}

/** Writes ten-thousandths behind a point, without zeros at the end. */
const writeDecimals = (bytes: Buffer, start: number, tenThousandths: number): number => {
  bytes[start] = POINT
  const hundredths = Math.floor(tenThousandths / 100)
  let end = writeTwoDigits(bytes, start + 1, hundredths)
  end = writeTwoDigits(bytes, end, tenThousandths - hundredths * 100)
  while (bytes[end - 1] === ZERO) end--
  return end
}

const writeAscii = (bytes: Buffer, start: number, text: string): number => {
  let at = start
  for (let index = 0; index < text.length; index++) bytes[at++] = text.charCodeAt(index)
  return at
}
