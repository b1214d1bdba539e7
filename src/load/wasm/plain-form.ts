/** Reads figures in the plain form. */

import { CATEGORY_KEYS, categories, find, isAt, KEY_BYTES, Key, LINE_ITEM_KEYS, lineItems } from './keys'
import { LEAST_POWER } from './nearest-double'
import { AS_LONG, AS_TEXT, addSeries, FIGURES, Rows } from './rows'
import { EXACT, MOST_DECIMALS } from './values'

const QUOTE: u32 = 0x22
const COMMA: u32 = 0x2c
const MINUS: u32 = 0x2d
const POINT: u32 = 0x2e
const ZERO: u32 = 0x30
const CLOSE_BRACE: u32 = 0x7d
/** Its four letters, the first one lowest. */
const NULL: u32 = 0x6c6c756e

/** By the digits of a word; and below which a number has room for them, as it is to be one of 18 digits. */
const STEPS = memory.data<u64>([1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000])
const ROOM = memory.data<u64>([
  1000000000000000000, 100000000000000000, 10000000000000000, 1000000000000000, 100000000000000,
  10000000000000, 1000000000000, 100000000000, 10000000000,
])

/** A longer number may not be finite. */
const MOST_CHARACTERS: usize = 290
const YEAR_1000: i32 = 1000

/** Eight bytes less these are, where they are digits, 0 to 9. */
const ZEROS: u64 = 0x3030303030303030

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
