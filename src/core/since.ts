/** A time in the past as a person says it. */

import { DAY_MS } from '../support/quantities.ts'
import { ToolkitError } from './errors.ts'

const UNITS_MS = { m: 60_000, h: 3_600_000, d: DAY_MS } as const
const SPAN = /^(\d{1,6})([mhd])$/
const MOMENT = /^\d{4}-\d\d-\d\d(T.+)?$/

/** When a time such as `24h` or `2026-11-21` (its beginning, in UTC) is, in milliseconds. @throws {ToolkitError} USAGE */
export const sinceMs = (since: string, now: Date, more = ''): number => {
  const [, count, unit] = SPAN.exec(since) ?? []
  if (unit === 'm' || unit === 'h' || unit === 'd') return now.getTime() - Number(count) * UNITS_MS[unit]
  const moment = MOMENT.test(since) ? Date.parse(since) : Number.NaN
  if (!Number.isNaN(moment)) return moment
  throw new ToolkitError(
    'USAGE',
    `Cannot compare since "${since}": expected a span such as 90m, 24h or 7d, or a day such as 2026-11-21${more}`,
  )
}
