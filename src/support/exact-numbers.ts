/**
 * Numbers that a double of JavaScript would change: ids of 64 bits, which `JSON.parse` rounds beyond 2^53 without a word,
 * and decimals times a power of ten, of which a product of two doubles may be a binary neighbour.
 */

declare global {
  interface JSON {
    /** ECMAScript 2026, in Node since 22: a value that `JSON.stringify` writes as this very text. */
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
  }
}

/** The reviver as Node calls it: it also gets the text that a number was read from. The types know less of it. */
type Reviver = (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown
export const parseWith = (text: string, reviver: Reviver): unknown =>
  Reflect.apply(JSON.parse, JSON, [text, reviver])

/** Fewer digits than these are exact. */
export const MANY_DIGITS = /\d{16}/
const WHOLE = /^-?\d+$/

/** A number as JSON has it that is whole, and beyond 2^53: all of its digits; `undefined` for any other value. */
export const longWhole = (value: unknown, source: string | undefined): string | undefined =>
  typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && WHOLE.test(source)
    ? source
    : undefined

/** As `JSON.parse`, and as fast for ordinary texts; an integer beyond 2^53 becomes a bigint. @throws {SyntaxError} */
export const parseExact = (text: string): unknown =>
  MANY_DIGITS.test(text)
    ? parseWith(text, (_, value, { source }) => {
        const digits = longWhole(value, source)
        return digits === undefined ? value : BigInt(digits)
      })
    : JSON.parse(text)

/** An id that a caller gives. @throws {RangeError} for a number that is no integer, or was rounded before it came here */
export const exactId = (id: bigint | number): bigint => {
  if (typeof id === 'bigint' || Number.isSafeInteger(id)) return BigInt(id)
  throw new RangeError(`Cannot use the id ${id}: expected an integer, beyond 2^53 a bigint`)
}

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
