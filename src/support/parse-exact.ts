/**
 * JSON with whole numbers that JavaScript cannot hold. Ids have 64 bits; beyond 2^53 `JSON.parse` rounds them without a
 * word. Ordinary texts go the ordinary, faster way.
 */

declare global {
  interface JSON {
    /** Of ECMAScript 2026, in Node since 22: a value that `JSON.stringify` writes as this very text. */
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

/** As `JSON.parse`; a whole number beyond 2^53 becomes a bigint. @throws {SyntaxError} */
export const parseExact = (text: string): unknown =>
  MANY_DIGITS.test(text)
    ? parseWith(text, (_, value, { source }) => {
        const digits = longWhole(value, source)
        return digits === undefined ? value : BigInt(digits)
      })
    : JSON.parse(text)
