/**
 * The quick way through figures: nine of ten bytes of a company are figures in the plain form
 * `{"BalanceSheet":{"TotalAssets":{"2020":1.5,"2021":-3}}}`, without white space and escapes, of line items of the contract,
 * with years in order. Any other form is left to the careful way.
 */

import { CATEGORIES, LINE_ITEMS } from '../../contract/line-items.ts'
import { AS_TEXT, EXACT, type SeriesRows } from '../../rows/series-rows.ts'
import { JSON_BYTES } from '../../support/json-bytes.ts'
import { KEY_SLACK, KeyWords } from '../scan/read-key.ts'

const { QUOTE, COMMA, MINUS, POINT, ZERO, COLON, CLOSE_BRACE } = JSON_BYTES

/** Most decimals whose power of ten is a double. */
const MOST_DECIMALS = 22
/** A longer number may not be finite. */
const MOST_CHARACTERS = 290
const YEAR_1000 = 0x31303030
/** `null` as four bytes. */
const NULL = 0x6e756c6c

/** Four bytes read as one number, the first one highest: less these the digits among them are 0 to 9. */
const ZEROS = 0x30303030
/** With how many digits four bytes, less `ZEROS`, begin. */
const digitsIn = (bytes: number): number => Math.clz32((bytes | (bytes + 0x06060606)) & 0xf0f0f0f0) >> 3
/** The number that four digits, less `ZEROS`, spell. */
const numberOf = (digits: number): number => {
  const pairs = ((digits >> 8) & 0x000f000f) * 10 + (digits & 0x000f000f)
  return (pairs >> 16) * 100 + (pairs & 0xffff)
}
/** Powers of ten, at the place of their exponent. */
const POWERS = Int32Array.of(1, 10, 100, 1000, 10_000)

/**
 * Appends the rows of a series in the plain form, which is not empty; `open` is its brace.
 * @returns its end; 0 where it has another form, and then no row is appended
 */
export const plainSeries = (buffer: Buffer, view: DataView, open: number, rows: SeriesRows): number => {
  const last = buffer.length - KEY_SLACK
  const lastWord = buffer.length - 4
  const { figures, decimals } = rows
  const { recordStart } = figures
  const { year: years, value } = figures.columns
  let row = figures.length
  let at = open + 1
  let yearBefore = YEAR_1000 - 1
  while (at < last) {
    if (buffer[at] !== QUOTE || buffer[at + 5] !== QUOTE || buffer[at + 6] !== COLON) return 0
    // Four digits as one number sort like the year they spell.
    const year = view.getInt32(at + 1)
    if (year <= yearBefore || digitsIn(year ^ ZEROS) < 4) return 0
    yearBefore = year
    at += 7
    const start = at
    const isNegative = buffer[at] === MINUS
    if (isNegative) at++
    const whole = at
    let digits = 0
    let fraction = 0
    let byte: number
    for (;;) {
      let count = 4
      while (count === 4 && at <= lastWord) {
        const bytes = view.getInt32(at) ^ ZEROS
        count = digitsIn(bytes)
        if (count > 0) digits = digits * POWERS[count]! + numberOf(bytes >>> ((4 - count) * 8))
        at += count
      }
      // Another digit, at the end of a block or before a byte that carries into it, ends no figure and is left to the careful way.
      byte = buffer[at]!
      if (byte !== POINT || fraction > 0) break
      fraction = ++at
    }
    const end = fraction > 0 ? fraction - 1 : at
    const places = fraction > 0 ? at - fraction : 0
    if (end === whole) {
      // No figure is no row.
      if (at !== start || at > lastWord || view.getInt32(at) !== NULL) return 0
      at += 4
      byte = buffer[at]!
    } else {
      if (buffer[whole] === ZERO && end > whole + 1) return 0
      if (fraction > 0 && places === 0) return 0
      // As long as the digits are below 2^53 each step to them was exact.
      if (digits < EXACT && places <= MOST_DECIMALS) {
        // A whole number has no negative zero.
        value[row] = isNegative ? (places === 0 ? 0 - digits : -digits) : digits
        decimals[row - recordStart] = places
      } else {
        if (at - start > MOST_CHARACTERS) return 0
        value[row] = start
        decimals[row - recordStart] = AS_TEXT
      }
      years[row] = numberOf(year ^ ZEROS)
      row++
    }
    at++
    if (byte === CLOSE_BRACE) {
      figures.length = row
      return at
    }
    if (byte !== COMMA) return 0
  }
  return 0
}

/** Names as keys of JSON objects that hold objects, `"TotalAssets":{`. */
class PlainKeys extends KeyWords {
  readonly #count: number

  constructor(names: readonly string[]) {
    super(names.map((name) => Buffer.from(`${name}":{`)))
    this.#count = names.length
  }

  /** The key that stands at `at`, behind its opening quote, looked for from `first` on; -1 where it is none of these. */
  find(view: DataView, at: number, first: number): number {
    let key = first
    for (let tried = 0; tried < this.#count; tried++) {
      if (this.isAt(view, at, key)) return key
      if (++key === this.#count) key = 0
    }
    return -1
  }

  /** The one that follows in the contract. */
  after(key: number): number {
    return key + 1 === this.#count ? 0 : key + 1
  }
}

const CATEGORY_KEYS = new PlainKeys(CATEGORIES)
const ITEM_KEYS = new PlainKeys(LINE_ITEMS.map(({ lineItem }) => lineItem))
const CATEGORY_OF_ITEM = Uint8Array.from(LINE_ITEMS, ({ category }) => CATEGORIES.indexOf(category))
const FIRST_ITEM_OF = CATEGORIES.map((_, category) => CATEGORY_OF_ITEM.indexOf(category))

/** Reads statements in the plain form. Learns which line item follows which, so that most are found at first sight. */
export class PlainFigures {
  readonly #next = new Int16Array(LINE_ITEMS.length)
  readonly #firstOf = Int16Array.from(FIRST_ITEM_OF)
  readonly #stamps = new Int32Array(LINE_ITEMS.length)
  #stamp = 0

  /**
   * Appends the rows of a statement in the plain form; `open` is its brace.
   * @returns its end; 0 where it has another form, and then no row is appended
   */
  read(buffer: Buffer, view: DataView, open: number, statement: number, rows: SeriesRows): number {
    const { figures, series } = rows
    const [figuresBefore, seriesBefore] = [figures.length, series.length]
    const end = this.#categories(buffer, view, open, statement, rows)
    if (end === 0) {
      figures.length = figuresBefore
      series.length = seriesBefore
    }
    return end
  }

  #categories(buffer: Buffer, view: DataView, open: number, statement: number, rows: SeriesRows): number {
    const last = buffer.length - KEY_SLACK
    let at = open + 1
    if (buffer[at] === CLOSE_BRACE) return at + 1
    let seen = 0 // one bit a category
    let next = 0
    while (at < last) {
      if (buffer[at] !== QUOTE) return 0
      const category = CATEGORY_KEYS.find(view, at + 1, next)
      if (category < 0 || (seen & (1 << category)) !== 0) return 0
      seen |= 1 << category
      next = CATEGORY_KEYS.after(category)
      at = this.#lineItems(buffer, view, at + CATEGORY_KEYS.lengthOf(category), statement, category, rows)
      if (at === 0) return 0
      const byte = buffer[at++]
      if (byte === CLOSE_BRACE) return at
      if (byte !== COMMA) return 0
    }
    return 0
  }

  #lineItems(
    buffer: Buffer,
    view: DataView,
    open: number,
    statement: number,
    category: number,
    rows: SeriesRows,
  ): number {
    const last = buffer.length - KEY_SLACK
    let at = open + 1
    if (buffer[at] === CLOSE_BRACE) return at + 1
    const stamp = ++this.#stamp
    let before = -1
    while (at < last) {
      if (buffer[at] !== QUOTE) return 0
      const likely = before < 0 ? this.#firstOf[category]! : this.#next[before]!
      let item = likely
      if (!ITEM_KEYS.isAt(view, at + 1, likely)) {
        // The item that follows in the contract is looked for first.
        item = ITEM_KEYS.find(view, at + 1, before < 0 ? FIRST_ITEM_OF[category]! : ITEM_KEYS.after(before))
        if (item < 0) return 0
        if (before < 0) this.#firstOf[category] = item
        else this.#next[before] = item
      }
      if (CATEGORY_OF_ITEM[item] !== category || this.#stamps[item] === stamp) return 0
      this.#stamps[item] = stamp
      before = item
      at += ITEM_KEYS.lengthOf(item)
      if (buffer[at + 1] === CLOSE_BRACE) at += 2
      else {
        at = plainSeries(buffer, view, at, rows)
        if (at === 0) return 0
        rows.endSeries(statement, category, item)
      }
      const byte = buffer[at++]
      if (byte === CLOSE_BRACE) return at
      if (byte !== COMMA) return 0
    }
    return 0
  }
}
