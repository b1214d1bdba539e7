/**
 * JSON with whole numbers that JavaScript cannot hold. Ids and codes have 64 bits; beyond 2^53 `JSON.parse` rounds
 * them. Ordinary texts go the ordinary, faster way.
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
const parseWith = (text: string, reviver: Reviver): unknown =>
  Reflect.apply(JSON.parse, JSON, [text, reviver])

/** Fewer digits than these are exact. */
const MANY_DIGITS = /\d{16}/
const WHOLE = /^-?\d+$/

/**
 * A request's body. Whole numbers beyond 2^53 in arrays, where filter values stand, become texts of all their digits,
 * which the filters take as well.
 * @throws {SyntaxError} when the text is no JSON
 */
export const parseBody = (text: string): unknown =>
  MANY_DIGITS.test(text)
    ? parseWith(text, function (_, value, { source }) {
        const isLong = typeof value === 'number' && !Number.isSafeInteger(value)
        return isLong && Array.isArray(this) && source !== undefined && WHOLE.test(source) ? source : value
      })
    : JSON.parse(text)

/**
 * A text that will be written again by `JSON.stringify`: numbers that JavaScript would write otherwise are kept as
 * they stood (as `JSON.rawJSON`, which is an object).
 */
export const parseToRewrite = (text: string): unknown =>
  MANY_DIGITS.test(text)
    ? parseWith(text, (_, value, { source }) =>
        typeof value === 'number' && source !== undefined && String(value) !== source
          ? JSON.rawJSON(source)
          : value,
      )
    : JSON.parse(text)

export type ExactObject = Record<string, unknown>
export const isJsonObject = (value: unknown): value is ExactObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
