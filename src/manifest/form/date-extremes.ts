/** Least and greatest of dates and instants as text. Pure. */

import type { DateRange } from '../../core/partition.ts'

/** As instants first: `…05Z` is before `…05.1Z`, although not as text. */
const byTime = (a: string, b: string): number => Date.parse(a) - Date.parse(b) || (a < b ? -1 : a > b ? 1 : 0)

const extremes = (times: readonly string[]): { least: string; greatest: string } | null => {
  let [least, greatest] = [times[0], times[0]]
  if (least === undefined || greatest === undefined) return null
  for (const time of times) {
    if (byTime(time, least) < 0) least = time
    if (byTime(time, greatest) > 0) greatest = time
  }
  return { least, greatest }
}

/** Least and greatest date asked for; `null` where no range has a window. */
export const requestedIn = (ranges: readonly Pick<DateRange, 'requested'>[]): DateRange['requested'] => {
  const windows = ranges.flatMap(({ requested }) => (requested ? [requested] : []))
  if (windows.length === 0) return null
  const from = extremes(windows.flatMap((one) => one.from ?? []))
  const to = extremes(windows.flatMap((one) => one.to ?? []))
  return { ...(from && { from: from.least }), ...(to && { to: to.greatest }) }
}

/** Least and greatest value seen; `null` where none was. */
export const observedIn = (ranges: readonly Pick<DateRange, 'observed'>[]): DateRange['observed'] =>
  extremes(ranges.flatMap(({ observed }) => (observed ? [observed.least, observed.greatest] : [])))
