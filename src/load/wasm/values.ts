/** From the digits of figures to their values: the doubles nearest to the exact products with the scale. */

import { KEY_BYTES, Key, LINE_ITEM_KEYS, lineItems } from './keys'
import { nearestDouble } from './nearest-double'
import { AS_LONG, AS_TEXT, keep, Rows } from './rows'

/** The double nearest to the number whose text stands at `at`, times a power of ten. */
declare function readDecimal(at: usize, power: i32): f64

/** Most decimals whose power of ten is a double. */
export const MOST_DECIMALS: i32 = 22
const POWERS = memory.data<f64>([
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
  1e20, 1e21, 1e22,
])

/** Up to here whole numbers are doubles. */
export const EXACT: u64 = 1 << 53

function powerOfTen(power: i32): f64 {
  return load<f64>(POWERS + ((<usize>power) << 3))
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
