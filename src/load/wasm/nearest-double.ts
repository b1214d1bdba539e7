/**
 * The double nearest to a whole number times a power of ten: exact, by the algorithm of Eisel and Lemire (D. Lemire, "Number
 * parsing at a gigabyte per second", 2021), which never leaves a doubt for the powers that are taken here.
 */

/** The least power of ten that is taken; the greatest is 9. */
export const LEAST_POWER: i32 = -27
/** Of each power of five, from the least on, 128 bits of which the first one is 1: the upper half, then the lower. */
export const POWERS_OF_FIVE: usize = memory.data(592, 8)

const MANTISSA_BITS: i32 = 52
const EXPONENT_BIAS: i32 = 1023
/** Bits of a product behind the mantissa, the bit for rounding and one that may be 0. */
const BEHIND_MANTISSA: u64 = 0x1ff
/** Only these powers give products that lie halfway between two doubles. */
const LEAST_HALFWAY: i32 = -4

let upper: u64 = 0
let lower: u64 = 0
/** The whole product of two numbers, in `upper` and `lower`. */
function multiply(a: u64, b: u64): void {
  const aLow = a & 0xffffffff
  const aHigh = a >> 32
  const bLow = b & 0xffffffff
  const bHigh = b >> 32
  const low = aLow * bLow
  const middle = aHigh * bLow + (low >> 32)
  const other = aLow * bHigh + (middle & 0xffffffff)
  upper = aHigh * bHigh + (middle >> 32) + (other >> 32)
  lower = (other << 32) | (low & 0xffffffff)
}

/** @param power of ten, from -27 to 9 */
export function nearestDouble(whole: i64, power: i32): f64 {
  if (whole === 0) return 0
  const isNegative = whole < 0
  const digits: u64 = isNegative ? -whole : whole
  const zeros = <i32>clz(digits)
  const five = POWERS_OF_FIVE + ((<usize>(power - LEAST_POWER)) << 4)
  const shifted = digits << (<u64>zeros)
  multiply(shifted, load<u64>(five))
  if ((upper & BEHIND_MANTISSA) === BEHIND_MANTISSA) {
    // What the lower half of the power adds may carry into the mantissa.
    const high = upper
    const low = lower
    multiply(shifted, load<u64>(five + 8))
    const sum = low + upper
    lower = sum
    upper = sum < low ? high + 1 : high
  }
  const upperBit = <i32>(upper >> 63)
  const shift = <u64>(upperBit + 64 - MANTISSA_BITS - 3)
  let mantissa = upper >> shift
  let exponent = (((152170 + 65536) * power) >> 16) + 63 + upperBit - zeros + EXPONENT_BIAS
  if (lower <= 1 && power >= LEAST_HALFWAY && (mantissa & 3) === 1 && mantissa << shift === upper) {
    // Halfway between two doubles, of which the lower one is even.
    mantissa &= ~1
  }
  mantissa = (mantissa + (mantissa & 1)) >> 1
  if (mantissa >= (<u64>2) << MANTISSA_BITS) {
    mantissa = (<u64>1) << MANTISSA_BITS
    exponent++
  }
  mantissa &= ~((<u64>1) << MANTISSA_BITS)
  const value = reinterpret<f64>(((<u64>exponent) << MANTISSA_BITS) | mantissa)
  return isNegative ? -value : value
}
