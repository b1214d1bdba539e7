/**
 * How the gaps of a plan are closed: which lists of companies, minified and within the reach of page mode, are to be
 * gone through to find those that no window covers. Asks for counts alone. What a gap lacks can be counted along
 * any other axis (all of it less those that stand in windows), so that only parts are listed where something is missing.
 */

import { LIMITS, type SortDirection } from '../../contract/limits.ts'
import type { SearchParameters } from '../../contract/requests.ts'
import type { PlannedGap } from './plan-windows.ts'
import { filterOf, type LiveParameter, sameName, withFilter } from './search.ts'
import { isDate } from './since-last.ts'
import { type Axis, dateAxis, figureAxis, valueAxis } from './window-axes.ts'

/** A search whose companies page mode lists. */
export interface PlannedListing {
  readonly search: SearchParameters
  /** Records it had when it was planned. */
  readonly announced: number
  /** Absent: by InternalId, ascending. */
  readonly sortBy?: { readonly column: string; readonly direction: SortDirection }
  /** Whether only its first pages may hold what is missing: listed until a page brings nothing new. */
  readonly probe?: true
}

/** Listings along one axis; gone through only while something of the gap is missing. */
interface ClosingStep {
  /** Place of the gap in the plan. */
  readonly gap: number
  /** The parameter listed along. */
  readonly by: string
  readonly listings: readonly PlannedListing[]
  /** Records missing so far that it finds, at most. */
  readonly expected: number
}

export interface ClosingPlan {
  readonly steps: readonly ClosingStep[]
  /** Records that no window covers, and how many of them the steps find, at most. */
  readonly missing: number
  readonly expected: number
  /** Counts asked for. */
  readonly probes: number
}

interface ClosingRequest {
  readonly count: (search: SearchParameters) => Promise<number>
  readonly parameters: readonly LiveParameter[]
  /** Today by the service's clock, `yyyy-MM-dd`. */
  readonly today: string
}

/** Codes that a company may have where it lacks another. */
const CODED = ['OperationalStatus', 'LegalForm', 'CompanyType', 'ListingType'] as const

/** Figures that most companies with accounts have; each costs two counts or more to try. */
const FIGURES = [
  ...['TotalAssets', 'NetProfit', 'NetSales', 'TotalEquity', 'ShareholderEquity', 'EBIT', 'Employees'],
  ...['PreTaxProfit', 'TotalRevenue', 'CashEquivalents', 'ShareCapital', 'TotalCurrentAssets'],
] as const

/** Most records of a listing that may still grow until it is gone through. */
const LISTING_LIMIT = Math.floor(LIMITS.pageReach * 0.98)

/** @throws what `count` throws */
export const planClosing = async (
  gaps: readonly PlannedGap[],
  request: ClosingRequest,
): Promise<ClosingPlan> => {
  const planner = new ClosingPlanner(request)
  const steps: ClosingStep[] = []
  for (const [at, gap] of gaps.entries()) steps.push(...(await planner.steps(gap, at)))
  const missing = gaps.reduce((sum, one) => sum + one.missing, 0)
  const expected = steps.reduce((sum, step) => sum + step.expected, 0)
  return { steps, missing, expected: Math.min(missing, expected), probes: planner.probes }
}

/** Requests for pages that a listing takes, at most. */
export const listingPages = ({ announced }: PlannedListing): number =>
  Math.min(LIMITS.pageNumber.max, Math.max(1, Math.ceil(announced / LIMITS.pageSize.max)))

interface Size {
  readonly count: number
  /** Companies that no window covers. */
  readonly missing: number
}
interface SizedRange extends Size {
  readonly from: number
  readonly to: number
}
interface SizedAxis extends Size {
  readonly axis: Axis
}

const allOf = ({ values, first, last }: Axis) => values(first, last)

class ClosingPlanner {
  readonly #request: ClosingRequest
  probes = 0

  constructor(request: ClosingRequest) {
    this.#request = request
  }

  async steps(gap: PlannedGap, at: number): Promise<ClosingStep[]> {
    const whole = this.#whole(gap.search, gap.records)
    if (whole) return [{ gap: at, by: ID, listings: whole, expected: gap.missing }]
    const steps: ClosingStep[] = []
    const taken: Axis[] = []
    let left = gap.missing
    for await (const { axis, ...size } of this.#axes(gap, gap.search, [gap.parameter])) {
      const gain = Math.min(left, await this.#gain(gap, axis, size, taken))
      if (gain <= 0) continue
      const listings = await this.#along(gap, gap.search, axis, size, [gap.parameter])
      steps.push({ gap: at, by: axis.parameter, listings, expected: gain })
      taken.push(axis)
      left -= gain
      if (left <= 0) return steps
    }
    const listings = this.#ends(gap, left)
    return listings.length > 0 ? [...steps, { gap: at, by: ENDS, listings, expected: 0 }] : steps
  }

  async #count(search: SearchParameters): Promise<number> {
    this.probes += 1
    return this.#request.count(search)
  }

  /** A part of a gap's search: how much there is, and how much of it stands in no window. */
  async #size(gap: PlannedGap, search: SearchParameters): Promise<Size> {
    const [count, covered] = await Promise.all([
      this.#count(search),
      this.#count(withFilter(search, gap.parameter, gap.values)),
    ])
    return { count, missing: count - covered }
  }

  /** The most that an axis finds beyond those taken already: more than two of them cannot be counted together. */
  async #gain(gap: PlannedGap, axis: Axis, { missing }: Size, taken: readonly Axis[]): Promise<number> {
    let gain = missing
    for (const other of taken) {
      if (gain <= 0) return 0
      const both = withFilter(gap.search, axis.parameter, allOf(axis))
      const shared = await this.#size(gap, withFilter(both, other.parameter, allOf(other)))
      gain = Math.min(gain, missing - shared.missing)
    }
    return gain
  }

  /** Axes along which something is missing: of dates the one that finds most first, then codes, then figures. */
  async *#axes(
    gap: PlannedGap,
    search: SearchParameters,
    used: readonly string[],
  ): AsyncGenerator<SizedAxis> {
    const { parameters, today } = this.#request
    const free = parameters.filter(({ name }) => !used.some((one) => sameName(one, name)))
    const named = (names: readonly string[]) =>
      names.flatMap((name) => free.find((one) => sameName(one.name, name)) ?? [])
    const dates = free.filter(isDate).flatMap(({ name }) => dateAxis(search, name, today) ?? [])
    const sized: SizedAxis[] = []
    for (const axis of dates) {
      const one = await this.#sized(gap, search, axis)
      // Nothing is left for the others.
      if (one.missing >= gap.missing) return yield one
      sized.push(one)
    }
    yield* sized.filter(({ missing }) => missing > 0).sort((a, b) => b.missing - a.missing)
    const others = [
      ...named(CODED).flatMap((parameter) => valueAxis(search, parameter) ?? []),
      ...named(FIGURES).flatMap(({ name }) => figureAxis(search, name) ?? []),
    ]
    for (const axis of others) {
      const one = await this.#sized(gap, search, axis)
      if (one.missing > 0) yield one
    }
  }

  async #sized(gap: PlannedGap, search: SearchParameters, axis: Axis): Promise<SizedAxis> {
    return { axis, ...(await this.#size(gap, withFilter(search, axis.parameter, allOf(axis)))) }
  }

  async #along(
    gap: PlannedGap,
    search: SearchParameters,
    axis: Axis,
    size: Size,
    used: readonly string[],
  ): Promise<PlannedListing[]> {
    const ranges = await this.#halve(gap, search, axis, { from: axis.first, to: axis.last, ...size })
    const listings: PlannedListing[] = []
    for (const { from, to, count } of merged(ranges)) {
      const part = withFilter(search, axis.parameter, axis.values(from, to))
      if (count <= LISTING_LIMIT) listings.push({ search: part, announced: count })
      else listings.push(...(await this.#dense(gap, part, count, [...used, axis.parameter])))
    }
    return listings
  }

  /** A part that its axis cuts no further: along another one, else as far as page mode reaches. */
  async #dense(
    gap: PlannedGap,
    search: SearchParameters,
    count: number,
    used: readonly string[],
  ): Promise<readonly PlannedListing[]> {
    const whole = this.#whole(search, count)
    if (whole) return whole
    for await (const { axis, ...size } of this.#axes(gap, search, used))
      return this.#along(gap, search, axis, size, used)
    return [{ search, announced: count }]
  }

  async #halve(
    gap: PlannedGap,
    search: SearchParameters,
    axis: Axis,
    whole: SizedRange,
  ): Promise<SizedRange[]> {
    const { from, to, count, missing } = whole
    if (missing <= 0) return []
    if (count <= LISTING_LIMIT || from === to) return [whole]
    const middle = axis.cut(from, to)
    const sizeOf = (first: number, last: number): Promise<Size> =>
      this.#size(gap, withFilter(search, axis.parameter, axis.values(first, last)))
    const below = await sizeOf(from, middle)
    const rest = { count: count - below.count, missing: missing - below.missing }
    // More may have arrived meanwhile than the difference shows.
    const isKnown = !axis.overlaps && rest.count >= 0 && rest.missing >= 0 && rest.missing <= rest.count
    const above = isKnown ? rest : await sizeOf(middle + 1, to)
    const halves = await Promise.all([
      this.#halve(gap, search, axis, { from, to: middle, ...below }),
      this.#halve(gap, search, axis, { from: middle + 1, to, ...above }),
    ])
    return halves.flat()
  }

  /** A search that page mode reaches as it is, or from both ends. */
  #whole(search: SearchParameters, count: number): PlannedListing[] | undefined {
    if (count <= LISTING_LIMIT) return [{ search, announced: count }]
    return count <= 2 * LISTING_LIMIT && this.#isSortable(ID) ? bothEnds(search, count, ID) : undefined
  }

  /** Records without a value may stand at one end of an order: the first page there shows it. */
  #ends({ search, parameter, records }: PlannedGap, left: number): PlannedListing[] {
    const columns = [parameter, ...this.#request.parameters.filter(isDate).map(({ name }) => name)]
    const probes = columns
      .filter((column) => this.#isSortable(column) && filterOf(search, column) === undefined)
      .flatMap((column) => bothEnds(search, records, column))
      .map((listing): PlannedListing => ({ ...listing, probe: true }))
    // From both ends of all, where one a page is to be expected.
    const byId = this.#isSortable(ID) && left * LIMITS.pageSize.max >= records
    return byId ? [...probes, ...bothEnds(search, records, ID)] : probes
  }

  #isSortable(column: string): boolean {
    return this.#request.parameters.some(({ name, sortable }) => sameName(name, column) && sortable === true)
  }
}

const ID = 'InternalId'
const ENDS = 'order'

const bothEnds = (search: SearchParameters, announced: number, column: string): PlannedListing[] =>
  (['ASC', 'DESC'] as const).map((direction) => ({ search, announced, sortBy: { column, direction } }))

/** Neighbours that one listing reaches together become one. */
const merged = (ranges: readonly SizedRange[]): SizedRange[] => {
  const all: SizedRange[] = []
  for (const next of ranges) {
    const last = all.at(-1)
    if (last && last.to + 1 === next.from && last.count + next.count <= LISTING_LIMIT)
      all[all.length - 1] = {
        ...{ from: last.from, to: next.to },
        ...{ count: last.count + next.count, missing: last.missing + next.missing },
      }
    else all.push(next)
  }
  return all
}
