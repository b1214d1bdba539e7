/** Decimals times a power of ten, to the last bit: a product of two doubles would be one of their binary neighbours. */

/**
 * The double nearest to a decimal times a power of ten. Infinite where no double is so large.
 * @param decimal a number as JSON writes it
 * @example shiftDecimal('2130.7', 6) // 2130700000, where 2130.7 * 1e6 is 2130699999.9999998
 */
export const shiftDecimal = (decimal: string, power: number): number => {
  const at = decimal.search(/e/i)
  if (at < 0) return Number(`${decimal}e${power}`)
  const exponent = Number(decimal.slice(at + 1)) + power
  // Beyond that no mantissa has the digits to bring the number back: it is 0 or infinite.
  return Number.isSafeInteger(exponent) ? Number(`${decimal.slice(0, at)}e${exponent}`) : Number(decimal)
}

/** Up to here decimals have at most 15 digits, and no other one so short is read as the same double. */
const EXACT_DIGITS = 1e15

/** The double nearest to the shortest decimal of a number times a power of ten from 0 to 9. */
export const shiftNumber = (value: number, power: number): number => {
  const factor = 10 ** power
  const whole = Math.round(value * factor)
  // The quotient of two whole numbers is the double nearest to it: where that is the number, `whole` is the product.
  return Math.abs(whole) <= EXACT_DIGITS && whole / factor === value
    ? whole
    : shiftDecimal(String(value), power)
}
