/** Bodies of requests and stored records, with the whole numbers that JavaScript cannot hold. */

import { longWhole, MANY_DIGITS, parseWith } from './exact-numbers.ts'

/**
 * A request's body. Whole numbers beyond 2^53 in arrays, where filter values stand, become texts of all their digits,
 * which the filters take as well.
 * @throws {SyntaxError} when the text is no JSON
 */
export const parseBody = (text: string): unknown =>
  MANY_DIGITS.test(text)
    ? parseWith(text, function (_, value, { source }) {
        return (Array.isArray(this) ? longWhole(value, source) : undefined) ?? value
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
