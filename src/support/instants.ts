/** Texts of date-times as instants. */

const DAY = /^\d{4}-\d\d-\d\d$/
const WITHOUT_ZONE = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/

import { DAY_MS } from './quantities.ts'

/**
 * The instant of a date or a date-time, at most a given one: without a zone it is UTC, a day is its end, and what is later is
 * none.
 *
 * @param untilMs milliseconds since 1970
 * @returns ISO 8601 in UTC
 */
export const instantUntil = (text: string, untilMs: number): string | undefined => {
  const ms = Date.parse(WITHOUT_ZONE.test(text) ? `${text}Z` : text)
  if (!(ms <= untilMs)) return undefined
  return new Date(DAY.test(text) ? Math.min(ms + DAY_MS - 1, untilMs) : ms).toISOString()
}
