/** Lines along which a search is cut: the days of a date parameter, the values of a coded one. */

import type { SearchParameters } from '../../contract/requests.ts'
import type { DateRange } from '../../core/partition.ts'
import { DAY_MS } from '../../support/quantities.ts'
import { type FilterValues, filterOf, type LiveParameter } from './search.ts'

export interface Axis {
  readonly parameter: string
  /** First and last position, whole numbers. */
  readonly first: number
  readonly last: number
  /** Whether the search as it is has this filter, so that it covers all of it. */
  readonly own: boolean
  /** The filter's values for a range, both ends included. */
  readonly values: (from: number, to: number) => FilterValues
  /** Last position of the first of two parts of a range of at least two. */
  readonly cut: (from: number, to: number) => number
  /** Whether what stands exactly between two ranges is in both. @default false */
  readonly overlaps?: true
  /** Days that a range asks for; absent where the axis has none. */
  readonly requested?: (from: number, to: number) => DateRange['requested']
}

/** The first and last day a filter can name: with both it means "has a date". */
export const FIRST_DAY = '0001-01-01'
const LAST_DAY = '9999-12-31'

const dayNumber = (day: string): number => Date.parse(`${day}T00:00:00Z`) / DAY_MS
const dayText = (number: number): string => new Date(number * DAY_MS).toISOString().slice(0, 10)

/** Whether a text is a day of the calendar as `yyyy-MM-dd`. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && Number.isFinite(dayNumber(text)) && dayText(dayNumber(text)) === text

/** A range of days as a filter: one value is from that day on, two are from-to. */
export const dayFilter = (from: string | undefined, to: string | undefined): FilterValues =>
  to === undefined ? [from ?? FIRST_DAY] : [from ?? FIRST_DAY, to]

const midpoint = (from: number, to: number): number => Math.floor((from + to) / 2)

const YEAR_DAYS = 366
/** Without a first day, most records are from this time. */
const LIKELY_DAYS = 60 * YEAR_DAYS

/**
 * The days of a date parameter, those of the search's own filter where it has one. With open ends halving would
 * need twenty requests to come near today: the years are cut off backwards from today, each step three times
 * as long.
 *
 * @param today by the service's clock, `yyyy-MM-dd`
 */
export const dateAxis = (search: SearchParameters, parameter: string, today: string): Axis | undefined => {
  const own = filterOf(search, parameter)
  const [from = FIRST_DAY, to = LAST_DAY] = (own ?? []).map(String)
  if (!isDay(from) || !isDay(to) || from > to || (own?.length ?? 0) > 2) return undefined
  const now = dayNumber(today)
  const [first, last] = [dayNumber(from), dayNumber(to)]
  const openEnd = own === undefined || own.length === 1
  const ends = (a: number, b: number) => ({
    ...((a > first || from !== FIRST_DAY) && { from: dayText(a) }),
    ...((b < last || !openEnd) && { to: dayText(b) }),
  })
  return {
    parameter,
    first,
    last,
    own: own !== undefined,
    // The whole axis needs both ends, so that it means "has a date"; a last window is open.
    values: (a, b) => (a === first && b === last ? [from, to] : dayFilter(dayText(a), ends(a, b).to)),
    cut: (a, b) => {
      if (a <= now && b > now) return now
      const back = b - Math.max(YEAR_DAYS, 2 * (now - b))
      return b <= now && a < now - LIKELY_DAYS && back > a ? back : midpoint(a, b)
    },
    requested: ends,
  }
}

/** The values of a coded parameter: the search's own, else all that the listing has. */
export const valueAxis = (
  search: SearchParameters,
  { name, values = [] }: LiveParameter,
): Axis | undefined => {
  const own = filterOf(search, name)
  const all = [...new Set(own ?? values.map(({ value }) => value))]
  if (all.length < 2) return undefined
  return {
    parameter: name,
    first: 0,
    last: all.length - 1,
    own: own !== undefined,
    values: (from, to) => all.slice(from, to + 1),
    cut: midpoint,
  }
}

/** Steps of a figure axis to a power of ten, and the powers on either side of zero: 0.001 to 1e15. */
const STEPS = 256
const [MIN_POWER, MOST_POWER] = [-3, 15]
const MOST_STEP = (MOST_POWER - MIN_POWER) * STEPS

const MIN_FIGURE = -1e18

/** A bound between two positions: powers of ten in small steps, mirrored below zero. */
const boundAt = (position: number): number =>
  position === 0 ? 0 : Math.sign(position) * 10 ** (MIN_POWER + (Math.abs(position) - 1) / STEPS)

/** The values of a figure. A search that has a filter of its own by it is not cut along it. */
export const figureAxis = (search: SearchParameters, parameter: string): Axis | undefined => {
  if (filterOf(search, parameter) !== undefined) return undefined
  const [first, last] = [-MOST_STEP - 1, MOST_STEP]
  return {
    parameter,
    first,
    last,
    own: false,
    // A single value is "at least": the ends are open, and both together mean "has a figure".
    values: (from, to) => {
      const min = from === first ? MIN_FIGURE : boundAt(from)
      return to === last ? [min] : [min, boundAt(to + 1)]
    },
    cut: midpoint,
    overlaps: true,
  }
}
