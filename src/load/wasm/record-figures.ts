/**
 * The figures of a record from text to values, as WebAssembly: nine of ten bytes of a company are figures. This is
 * AssemblyScript, TypeScript with the machine's numbers; `npm run wasm` compiles it to `record-figures.wasm`.
 *
 * Reads the plain form `{"BalanceSheet":{"TotalAssets":{"2020":1.5,"2021":-3}}}`, without white space and escapes, of line items
 * of the contract, with years in order. Any other form is left to the careful way, which adds its rows here too.
 * `record-figures.ts` of the room gives it the line with zeros behind it, the contract's names, and memory for rows.
 */

import { LEAST_POWER, nearestDouble } from './nearest-double'

export { POWERS_OF_FIVE } from './nearest-double'

const QUOTE: u32 = 0x22
const COMMA: u32 = 0x2c
const MINUS: u32 = 0x2d
const POINT: u32 = 0x2e
const ZERO: u32 = 0x30
const CLOSE_BRACE: u32 = 0x7d
/** Its four letters, the first one lowest. */
const NULL: u32 = 0x6c6c756e

/** The double nearest to the number whose text stands at `at`, times a power of ten. */
declare function readDecimal(at: usize, power: i32): f64

/** Figures in columns; where these stand. The room knows the order of the fields. */
@unmanaged
class Rows {
  rows: u32 = 0
  series: u32 = 0
  /** Figures that are kept beside their value. */
  kept: u32 = 0
  /** Of each row, as i16, f64 and i8. Until the record ends the digits of a figure as a whole number stand for its value. */
  year: usize = 0
  value: usize = 0
  decimals: usize = 0
  /** Of each series the row behind its last one, its statement, category and line item: as u32, u8, i32 and i32. */
  end: usize = 0
  statement: usize = 0
  category: usize = 0
  lineItem: usize = 0
  /** As u32 and f64. */
  keptRow: usize = 0
  keptFigure: usize = 0
}

/** In place of a figure's number of decimals: its text stands at the position given instead of its digits. */
const AS_TEXT: i32 = -1
/** Less the number of decimals: the digits are no double, and stand as i64. */
const AS_LONG: i32 = -2

/** A name as a key of an object that holds an object, `TotalAssets":{`. Its text stands behind these fields. */
@unmanaged
class Key {
  /** Which bits of its last eight bytes are its own. */
  lastMask: u64 = 0
  length: u8 = 0
  /** Of a line item the category, and that in which the scale applies to it: -1 where it never does. Of a category its first line item. */
  category: i8 = 0
  scaledIn: i8 = 0
  /** The line item that followed this one, or stood first in this category, the last time. */
  next: u8 = 0
  /** The object in which this line item was seen last. */
  seenIn: u32 = 0
}
const TEXT_AT: usize = 16
const KEY_BYTES: usize = 80

/** Where the room finds the figures of statements, the headcounts, and the keys of line items and of categories: 128 each. */
export const FIGURES: usize = memory.data(64, 8)
export const HEADCOUNTS: usize = memory.data(64, 8)
export const LINE_ITEM_KEYS: usize = memory.data(10240, 8)
export const CATEGORY_KEYS: usize = memory.data(10240, 8)
/** The room's own memory begins here. */
export const END: usize = __heap_base
let lineItems: i32 = 0
let categories: i32 = 0

/** Most decimals whose power of ten is a double. */
const MOST_DECIMALS: i32 = 22
const POWERS = memory.data<f64>([
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
  1e20, 1e21, 1e22,
])
/** By the digits of a word; and below which a number has room for them, as it is to be one of 18 digits. */
const STEPS = memory.data<u64>([1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000])
const ROOM = memory.data<u64>([
  1000000000000000000, 100000000000000000, 10000000000000000, 1000000000000000, 100000000000000,
  10000000000000, 1000000000000, 100000000000, 10000000000,
])

/** Up to here whole numbers are doubles. */
const EXACT: u64 = 1 << 53
/** A longer number may not be finite. */
const MOST_CHARACTERS: usize = 290
const YEAR_1000: i32 = 1000

/** Eight bytes less these are, where they are digits, 0 to 9. */
const ZEROS: u64 = 0x3030303030303030

function powerOfTen(power: i32): f64 {
  return load<f64>(POWERS + ((<usize>power) << 3))
}

/** With how many digits eight bytes, less `ZEROS`, begin. */
function digitsIn(word: u64): i32 {
  return <i32>(ctz((word | (word + 0x0606060606060606)) & 0xf0f0f0f0f0f0f0f0) >> 3)
}

/** The number that eight digits, less `ZEROS`, spell. */
function numberOf(word: u64): u64 {
  const pairs = word * 10 + (word >> 8)
  const first = (pairs & 0x000000ff000000ff) * 0x000f424000000064
  const second = ((pairs >> 16) & 0x000000ff000000ff) * 0x0000271000000001
  return (first + second) >> 32
}

/**
 * Appends the rows of a series in the plain form, which is not empty; `open` is its brace.
 * @returns its end; 0 where it has another form, and then no row is appended
 */
function plainSeries(open: usize, rows: Rows): usize {
  let row: usize = rows.rows
  let yearBefore = YEAR_1000 - 1
  let at = open + 1
  let behind: u32
  do {
    // `"2020":`, and the number's first byte.
    const head = load<u64>(at)
    if ((head & 0x00ffff00000000ff) !== 0x003a220000000022) return 0
    const digitsOfYear = <u32>(head >> 8) ^ <u32>ZEROS
    if (((digitsOfYear | (digitsOfYear + 0x06060606)) & 0xf0f0f0f0) !== 0) return 0
    const pairs = (digitsOfYear & 0x00ff00ff) * 10 + ((digitsOfYear >> 8) & 0x00ff00ff)
    const year = <i32>((pairs & 0xff) * 100 + (pairs >> 16))
    if (year <= yearBefore) return 0
    yearBefore = year
    const start = at + 7
    const isNegative = <u32>(head >> 56) === MINUS
    const whole = start + <usize>isNegative
    at = whole
    let digits: u64 = 0
    let isLonger = false
    let count: i32 = 0
    /** Digits before the point, once there was one. */
    let beforePoint: i32 = -1
    while (true) {
      let inWord: i32
      do {
        const word = load<u64>(at) ^ ZEROS
        inWord = digitsIn(word)
        if (inWord === 0) break
        at += inWord
        count += inWord
        if (digits >= load<u64>(ROOM + ((<usize>inWord) << 3))) isLonger = true
        digits =
          digits * load<u64>(STEPS + ((<usize>inWord) << 3)) + numberOf(word << ((<u64>(8 - inWord)) << 3))
      } while (inWord === 8)
      if (load<u8>(at) !== POINT || beforePoint >= 0) break
      beforePoint = count
      at++
    }
    const ofWhole = beforePoint < 0 ? count : beforePoint
    let places = count - ofWhole
    if (ofWhole > 1 && load<u8>(whole) === ZERO) return 0
    if (beforePoint >= 0 && places === 0) return 0
    const into = rows.value + (row << 3)
    if (ofWhole === 0) {
      // No figure is no row.
      if (at !== start || load<u32>(at) !== NULL) return 0
      at += 4
    } else if (!isLonger && digits < EXACT && places <= MOST_DECIMALS) {
      const value = <f64>(<i64>digits)
      // A whole number has no negative zero.
      store<f64>(into, isNegative ? (places === 0 ? 0 - value : -value) : value)
    } else if (!isLonger && digits > 0 && places <= -LEAST_POWER) {
      store<i64>(into, isNegative ? -(<i64>digits) : <i64>digits)
      places = AS_LONG - places
    } else {
      if (at - start > MOST_CHARACTERS) return 0
      store<f64>(into, <f64>start)
      places = AS_TEXT
    }
    if (ofWhole > 0) {
      store<i16>(rows.year + (row << 1), <i16>year)
      store<i8>(rows.decimals + row, <i8>places)
      row++
    }
    behind = load<u8>(at)
    at++
    if (behind === CLOSE_BRACE) {
      rows.rows = <u32>row
      return at
    }
  } while (behind === COMMA)
  return 0
}

/** Whether the text of a key stands at `at`. */
function isAt(at: usize, key: usize): bool {
  let text = key + TEXT_AT
  let left: i32 = changetype<Key>(key).length
  while (left > 8) {
    if (load<u64>(at) !== load<u64>(text)) return false
    at += 8
    text += 8
    left -= 8
  }
  return ((load<u64>(at) ^ load<u64>(text)) & changetype<Key>(key).lastMask) === 0
}

/** The key that stands at `at`, behind its opening quote, looked for from `first` on; -1 where it is none of these. */
function find(at: usize, keys: usize, count: i32, first: i32): i32 {
  let key = first
  for (let tried = 0; tried < count; tried++) {
    if (isAt(at, keys + <usize>key * KEY_BYTES)) return key
    if (++key === count) key = 0
  }
  return -1
}

/** Objects of line items so far. */
let objects: u32 = 0

/** The line items of a category; `open` is their brace. @returns their end; 0 where they have another form */
function plainLineItems(open: usize, statement: i32, category: i32, rows: Rows): usize {
  let at = open + 1
  if (load<u8>(at) === CLOSE_BRACE) return at + 1
  const object = ++objects
  // What was first, or came next, the last time is looked for first; then what comes next in the contract.
  let before = CATEGORY_KEYS + <usize>category * KEY_BYTES
  let next: i32 = changetype<Key>(before).category
  let behind: u32
  do {
    if (load<u8>(at) !== QUOTE) return 0
    at++
    let lineItem: i32 = changetype<Key>(before).next
    if (!isAt(at, LINE_ITEM_KEYS + <usize>lineItem * KEY_BYTES)) {
      lineItem = find(at, LINE_ITEM_KEYS, lineItems, next)
      if (lineItem < 0) return 0
      changetype<Key>(before).next = <u8>lineItem
    }
    next = lineItem + 1 === lineItems ? 0 : lineItem + 1
    before = LINE_ITEM_KEYS + <usize>lineItem * KEY_BYTES
    const key = changetype<Key>(before)
    if (key.category !== <i8>category || key.seenIn === object) return 0
    key.seenIn = object
    // Its own brace.
    at += key.length - 1
    if (load<u8>(at + 1) === CLOSE_BRACE) at += 2
    else {
      const rowsBefore = rows.rows
      at = plainSeries(at, rows)
      if (at === 0) return 0
      if (rows.rows !== rowsBefore) addSeries(rows, statement, category, lineItem)
    }
    behind = load<u8>(at)
    at++
    if (behind === CLOSE_BRACE) return at
  } while (behind === COMMA)
  return 0
}

function plainCategories(open: usize, statement: i32, rows: Rows): usize {
  let at = open + 1
  if (load<u8>(at) === CLOSE_BRACE) return at + 1
  let category = -1
  let seen: u32 = 0
  let behind: u32
  do {
    if (load<u8>(at) !== QUOTE) return 0
    at++
    category = find(at, CATEGORY_KEYS, categories, category + 1 === categories ? 0 : category + 1)
    if (category < 0 || (seen & (1 << category)) !== 0) return 0
    seen |= 1 << category
    const key = changetype<Key>(CATEGORY_KEYS + <usize>category * KEY_BYTES)
    at = plainLineItems(at + key.length - 1, statement, category, rows)
    if (at === 0) return 0
    behind = load<u8>(at)
    at++
    if (behind === CLOSE_BRACE) return at
  } while (behind === COMMA)
  return 0
}

function addSeries(rows: Rows, statement: i32, category: i32, lineItem: i32): void {
  const at: usize = rows.series
  store<u32>(rows.end + (at << 2), rows.rows)
  store<u8>(rows.statement + at, <u8>statement)
  store<i32>(rows.category + (at << 2), category)
  store<i32>(rows.lineItem + (at << 2), lineItem)
  rows.series = <u32>(at + 1)
}

function keep(rows: Rows, row: i32, figure: f64): void {
  const at: usize = rows.kept
  store<u32>(rows.keptRow + (at << 2), row)
  store<f64>(rows.keptFigure + (at << 3), figure)
  rows.kept = <u32>(at + 1)
}

/**
 * Gives the rows from one to another one their values times the scale, and keeps the figures that these divided by the scale do
 * not restore.
 * @returns the first row whose value is larger than any number, -1 where there is none
 */
function scale(rows: Rows, from: i32, to: i32, power: i32): i32 {
  const factor = powerOfTen(power)
  for (let row = from; row < to; row++) {
    const at = rows.value + ((<usize>row) << 3)
    const digits = load<f64>(at)
    const places: i32 = load<i8>(rows.decimals + <usize>row)
    let figure: f64
    let scaled: f64
    // Whole numbers and powers that are exact: each of these is rounded once.
    if (places > power) {
      figure = digits / powerOfTen(places)
      scaled = digits / powerOfTen(places - power)
    } else if (places === AS_TEXT) {
      figure = readDecimal(<usize>digits, 0)
      scaled = readDecimal(<usize>digits, power)
      if (abs(scaled) === Infinity) return row
    } else if (places <= AS_LONG) {
      figure = nearestDouble(load<i64>(at), places - AS_LONG)
      scaled = nearestDouble(load<i64>(at), places - AS_LONG + power)
    } else {
      scaled = digits * powerOfTen(power - places)
      if (abs(scaled) < <f64>EXACT) {
        // Not rounded at all, so the scale takes it back to the figure.
        store<f64>(at, scaled)
        continue
      }
      figure = digits / powerOfTen(places)
    }
    store<f64>(at, scaled)
    if (scaled / factor !== figure) keep(rows, row, figure)
  }
  return -1
}

/** Says how many keys the room has written. */
export function setKeys(ofLineItems: i32, ofCategories: i32): void {
  lineItems = ofLineItems
  categories = ofCategories
}

/**
 * Appends the figures of a statement in the plain form; `open` is its brace.
 * @returns its end; 0 where it has another form, and then no row is appended
 */
export function readStatement(open: usize, statement: i32): usize {
  const rows = changetype<Rows>(FIGURES)
  const rowsBefore = rows.rows
  const seriesBefore = rows.series
  const end = plainCategories(open, statement, rows)
  if (end === 0) {
    rows.rows = rowsBefore
    rows.series = seriesBefore
  }
  return end
}

/** Appends the rows of a series in the plain form, which is not empty, as `readStatement`. */
export function readSeries(open: usize, rows: usize): usize {
  return plainSeries(open, changetype<Rows>(rows))
}

/** Appends a figure whose text stands at `at`. */
export function addText(rows: usize, year: i32, at: usize): void {
  const columns = changetype<Rows>(rows)
  const row: usize = columns.rows
  store<i16>(columns.year + (row << 1), <i16>year)
  store<f64>(columns.value + (row << 3), <f64>at)
  store<i8>(columns.decimals + row, <i8>AS_TEXT)
  columns.rows = <u32>(row + 1)
}

/** Ends a series of figures; one without any is none. */
export function endSeries(rows: usize, statement: i32, category: i32, lineItem: i32): void {
  const columns = changetype<Rows>(rows)
  const last: usize = columns.series
  const from: u32 = last === 0 ? 0 : load<u32>(columns.end + ((last - 1) << 2))
  if (columns.rows !== from) addSeries(columns, statement, category, lineItem)
}

/**
 * Ends the record: each figure gets its value, the double nearest to the exact product of its decimal and the scale.
 *
 * @param power of the record's scale: 0 to 9
 * @returns the first row whose value is larger than any number, -1 where there is none
 */
export function endRecord(rows: usize, power: i32): i32 {
  const columns = changetype<Rows>(rows)
  let row: i32 = 0
  for (let series: usize = 0; series < <usize>columns.series; series++) {
    const end = load<i32>(columns.end + (series << 2))
    const lineItem = load<i32>(columns.lineItem + (series << 2))
    const isScaled =
      power > 0 && lineItem < lineItems && scaledIn(lineItem) === load<i32>(columns.category + (series << 2))
    if (isScaled) {
      const overflow = scale(columns, row, end, power)
      if (overflow >= 0) return overflow
      row = end
      continue
    }
    for (; row < end; row++) {
      const at = columns.value + ((<usize>row) << 3)
      const places: i32 = load<i8>(columns.decimals + <usize>row)
      if (places > 0) store<f64>(at, load<f64>(at) / powerOfTen(places))
      else if (places === AS_TEXT) store<f64>(at, readDecimal(<usize>load<f64>(at), 0))
      else if (places <= AS_LONG) store<f64>(at, nearestDouble(load<i64>(at), places - AS_LONG))
    }
  }
  return -1
}

function scaledIn(lineItem: i32): i32 {
  return changetype<Key>(LINE_ITEM_KEYS + <usize>lineItem * KEY_BYTES).scaledIn
}
