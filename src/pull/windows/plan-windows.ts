/**
 * Cuts a search into windows that one cursor chain (or page mode) can deliver, by asking for counts alone. Knows
 * dates and coded values; the content of a window's pages is out of its scope.
 */

import type { Content } from '../../contract/objects.ts'
import { isIdParameter, type SearchParameters } from '../../contract/requests.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { DateRange } from '../../core/partition.ts'
import { searchLabel } from '../../source/service/page-request.ts'
import { type FilterValues, filterOf, type LiveParameter, withFilter } from './search.ts'
import { CHANGE_FIELD, daysField, isDate } from './since-last.ts'
import { type Axis, dateAxis, dayFilter, valueAxis } from './window-axes.ts'

export interface PlannedWindow {
  /** With the window's own filters. */
  readonly search: SearchParameters
  readonly requested: DateRange['requested']
  /** Records it had when it was planned. */
  readonly announced: number
}

/** A part of a search of which a cut leaves companies out: those without a value of the parameter it is cut by. */
export interface PlannedGap {
  readonly search: SearchParameters
  readonly parameter: string
  /** The filter that whatever stands in a window matches. */
  readonly values: FilterValues
  /** The records of the part, and those of them that no window covers. */
  readonly records: number
  readonly missing: number
}

export interface WindowPlan {
  /** In the order of their dates. */
  readonly windows: readonly PlannedWindow[]
  /** The records that the windows leave out; absent where they do not. */
  readonly gaps?: readonly PlannedGap[]
  /** The search with the days asked for: what the windows together are meant to cover. */
  readonly search: SearchParameters
  /** The date parameter of the days asked for, else the parameter that the windows are cut by. */
  readonly field?: string
  readonly from?: string
  readonly to?: string
  /** Records of the whole search, and the sum of the windows. */
  readonly announced: number
  readonly planned: number
  /** Requests that planning took, and the time of the quickest, in milliseconds. */
  readonly probes: number
  readonly probeMs: number
}

export interface PlanRequest {
  readonly content: Content
  readonly search: SearchParameters
  /** How many records a search has. */
  readonly count: (search: SearchParameters) => Promise<number>
  /** The parameters of the service, as listed now. */
  readonly parameters: readonly LiveParameter[]
  /** Parameters with values to cut by, asked for only when days are not enough. */
  readonly coded: () => Promise<readonly LiveParameter[]>
  /**
   * The parameter to cut by, and that `since` and `until` mean. @default `daysField`; to cut by any date filter of
   * the search itself, also the other dates where one of them covers more
   */
  readonly by?: string | undefined
  /** First and last day, `yyyy-MM-dd`, UTC. */
  readonly since?: string | undefined
  readonly until?: string | undefined
  /** Most records of a window. */
  readonly cap: number
  /** Today by the service's clock, `yyyy-MM-dd`; may be known only after the first count. */
  readonly today: () => string
  readonly nowMs: () => number
}

/** Part of the cap left free for what arrives until a window is pulled. */
const MARGIN = 0.02

/** In this order, where days are not enough. */
const CODED = ['CountryCode', 'OperationalStatus', 'LegalForm'] as const

/**
 * @throws {ToolkitError} PLAN_IMPOSSIBLE naming the window that stays too large, VALUES_REFUSED, and what
 *   `count` throws
 */
export const planWindows = async (request: PlanRequest): Promise<WindowPlan> => new Planner(request).plan()

/** The parts of a node, and the records that they leave out. */
interface Cut {
  readonly windows: readonly PlannedWindow[]
  readonly gaps: readonly PlannedGap[]
}
interface Node {
  readonly search: SearchParameters
  readonly count: number
  readonly requested: DateRange['requested']
  /** Parameters of which one position is left. */
  readonly used: ReadonlySet<string>
}
type CoveringAxis = Axis & { readonly covered: number }
interface CountedRange {
  readonly from: number
  readonly to: number
  readonly count: number
}

class Planner {
  readonly #request: PlanRequest
  /** Most records of a window that is still to grow. */
  readonly #limit: number
  /** Whether a person gave days. */
  readonly #asked: boolean
  #probes = 0
  #probeMs = Number.POSITIVE_INFINITY
  #field: string | undefined

  constructor(request: PlanRequest) {
    this.#request = request
    this.#asked = request.since !== undefined || request.until !== undefined
    this.#limit = Math.max(1, Math.floor(request.cap * (1 - MARGIN)))
  }

  async plan(): Promise<WindowPlan> {
    const { by, content, since, until, cap } = this.#request
    const field = this.#listedName(
      this.#asked ? daysField(this.#request) : (by ?? this.#ownDate() ?? CHANGE_FIELD[content]),
    )
    const search = this.#asked ? this.#within(field) : this.#request.search
    if (this.#asked) this.#field = field
    const empty = search === undefined
    // Asked also where nothing can match: the answer has the service's time.
    const counted = await this.#count(search ?? this.#request.search)
    const announced = empty ? 0 : counted
    const requested = this.#asked ? { ...(since && { from: since }), ...(until && { to: until }) } : null
    const root: Node = {
      search: search ?? this.#request.search,
      count: announced,
      requested,
      used: new Set(),
    }
    const { windows, gaps } = empty
      ? NO_CUT
      : announced <= cap
        ? uncut(root)
        : await this.#cutWhole(root, field)
    return {
      windows,
      ...(gaps.length > 0 && { gaps }),
      search: root.search,
      ...(this.#field !== undefined && { field: this.#field }),
      ...requested,
      announced,
      planned: sumOf(windows),
      probes: this.#probes,
      probeMs: this.#probeMs,
    }
  }

  #listedName(parameter: string): string {
    const requested = parameter.toLowerCase()
    return this.#request.parameters.find(({ name }) => name.toLowerCase() === requested)?.name ?? parameter
  }

  /** The first date filter that the search has itself. */
  #ownDate(): string | undefined {
    const { parameters, search } = this.#request
    return parameters.find((one) => isDate(one) && filterOf(search, one.name) !== undefined)?.name
  }

  /** The search within the days asked for; absent where its own days are all outside. */
  #within(field: string): SearchParameters | undefined {
    const { search, since, until } = this.#request
    const [from, to] = (filterOf(search, field) ?? []).map(String)
    const first = [since, from]
      .flatMap((day) => day ?? [])
      .sort()
      .at(-1)
    const last = [until, to].flatMap((day) => day ?? []).sort()[0]
    if (first !== undefined && last !== undefined && first > last) return undefined
    return withFilter(search, field, dayFilter(first, last))
  }

  async #count(search: SearchParameters): Promise<number> {
    const { count, nowMs } = this.#request
    const startMs = nowMs()
    const records = await count(search)
    this.#probeMs = Math.min(this.#probeMs, nowMs() - startMs)
    this.#probes += 1
    return records
  }

  /** A whole search: by days, unless codes bring more of it into windows than any date covers. */
  async #cutWhole(root: Node, field: string): Promise<Cut> {
    const date = await this.#best(root, this.#dates(root, field), field)
    if (date !== undefined && (date.covered >= root.count || this.#request.by !== undefined))
      return this.#along(root, date)
    const coded = await this.#best(root, await this.#coded(root))
    if (coded === undefined || coded.covered <= (date?.covered ?? 0))
      return date ? this.#along(root, date) : this.#whole(root)
    if (date === undefined) return this.#along(root, coded)
    const cut = await this.#along(root, coded).catch(unlessImpossible)
    return sumOf(cut.windows) > date.covered ? cut : this.#along(root, date)
  }

  /** A part that days or codes alone have left too large: by codes, else by the days of another date. */
  async #cutPart(node: Node): Promise<Cut> {
    const axis = await this.#best(node, [...(await this.#coded(node)), ...this.#dates(node)])
    return axis ? this.#along(node, axis) : this.#whole(node)
  }

  async #along(node: Node, axis: CoveringAxis): Promise<Cut> {
    if (node.used.size === 0 && !this.#asked) this.#field = axis.parameter
    const ranges = await this.#halve(node, axis, { from: axis.first, to: axis.last, count: axis.covered })
    const windows: PlannedWindow[] = []
    const gaps: PlannedGap[] = []
    if (axis.covered < node.count) gaps.push(gapOf(node, axis))
    for (const range of this.#merge(ranges)) {
      const part = partOf(node, axis, range)
      const cut = range.count <= this.#limit ? uncut(part) : await this.#cutPart(part)
      windows.push(...cut.windows)
      gaps.push(...cut.gaps)
    }
    return { windows, gaps }
  }

  /** A part that no filter cuts further: good as long as it fits at all. */
  #whole(node: Node): Cut {
    const { cap, content } = this.#request
    if (node.count <= cap) return uncut(node)
    throw new ToolkitError(
      'PLAN_IMPOSSIBLE',
      `Cannot cut the search of ${content} into windows of ${cap}: "${searchLabel(node.search)}" has ` +
        `${node.count} and no filter cuts it further; batch files have no such limit`,
      { content, cap, announced: node.count },
    )
  }

  /** The first axis that covers all of a node, else the one that covers most; the one asked for if it can. */
  async #best(node: Node, axes: readonly Axis[], field?: string): Promise<CoveringAxis | undefined> {
    const requested = this.#request.by === undefined ? undefined : field
    let best: CoveringAxis | undefined
    for (const axis of axes) {
      if (axis.first === axis.last || node.used.has(axis.parameter)) continue
      const covered = axis.own
        ? node.count
        : await this.#count(withFilter(node.search, axis.parameter, axis.values(axis.first, axis.last)))
      if (covered > (best?.covered ?? 0)) best = { ...axis, covered }
      if (covered >= node.count || best?.parameter === requested) break
    }
    return best
  }

  #dates(node: Node, field?: string): Axis[] {
    const { parameters, today } = this.#request
    const listed = parameters.filter(isDate).map(({ name }) => name)
    const first = field !== undefined && (listed.length === 0 || listed.includes(field)) ? [field] : []
    return [...new Set([...first, ...listed])].flatMap((name) => dateAxis(node.search, name, today()) ?? [])
  }

  async #coded(node: Node): Promise<Axis[]> {
    const listed = await this.#request.coded()
    // Ids that the search names itself leave nothing out.
    const ids = Object.keys(node.search).filter(isIdParameter)
    return [...ids, ...CODED].flatMap((name) => {
      const found = listed.find((one) => one.name.toLowerCase() === name.toLowerCase())
      return valueAxis(node.search, ids.includes(name) ? { name } : (found ?? { name })) ?? []
    })
  }

  async #halve(node: Node, axis: Axis, { from, to, count }: CountedRange): Promise<CountedRange[]> {
    if (count <= this.#limit || from === to) return [{ from, to, count }]
    const middle = axis.cut(from, to)
    const below = await this.#count(withFilter(node.search, axis.parameter, axis.values(from, middle)))
    const above =
      below <= count
        ? count - below
        : // More arrived meanwhile than the difference shows.
          await this.#count(withFilter(node.search, axis.parameter, axis.values(middle + 1, to)))
    // The service bounds how many are asked at once.
    const halves = await Promise.all([
      this.#halve(node, axis, { from, to: middle, count: below }),
      this.#halve(node, axis, { from: middle + 1, to, count: above }),
    ])
    return halves.flat()
  }

  /** Neighbours that fit into one window together become one. */
  #merge(ranges: readonly CountedRange[]): CountedRange[] {
    const merged: CountedRange[] = []
    for (const next of ranges) {
      const last = merged.at(-1)
      if (last && last.count + next.count <= this.#limit)
        merged[merged.length - 1] = { from: last.from, to: next.to, count: last.count + next.count }
      else merged.push(next)
    }
    return merged
  }
}

const sumOf = (windows: readonly PlannedWindow[]): number =>
  windows.reduce((sum, { announced }) => sum + announced, 0)

const NO_CUT: Cut = { windows: [], gaps: [] }
const unlessImpossible = (error: unknown): Cut => {
  if (error instanceof ToolkitError && error.code === 'PLAN_IMPOSSIBLE') return NO_CUT
  throw error
}

/** A node that fits as it is. */
const uncut = ({ search, requested, count }: Node): Cut => ({
  windows: [{ search, requested, announced: count }],
  gaps: [],
})

const gapOf = ({ search, count }: Node, axis: CoveringAxis): PlannedGap => ({
  ...{ search, parameter: axis.parameter, values: axis.values(axis.first, axis.last) },
  ...{ records: count, missing: count - axis.covered },
})

const partOf = (node: Node, axis: Axis, { from, to, count }: CountedRange): Node => ({
  search: withFilter(node.search, axis.parameter, axis.values(from, to)),
  count,
  requested: axis.requested ? axis.requested(from, to) : node.requested,
  used: from === to ? new Set([...node.used, axis.parameter]) : node.used,
})
