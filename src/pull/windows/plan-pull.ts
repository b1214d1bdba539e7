/**
 * The plan of a pull: its windows, cut once when the run begins and kept with it, so that a resumed run has the same; and an
 * estimate of what it costs. Pulls no data.
 */

import { LIMITS } from '../../contract/limits.ts'
import type { Content } from '../../contract/objects.ts'
import { isIdParameter, type SearchParameters } from '../../contract/requests.ts'
import type { Snapshot } from '../../core/partition.ts'
import { type JobOfRun, type RunFile, readRunFile, runFileText } from '../../manifest/runs/run-files.ts'
import { notResumable } from '../../run/opened-job.ts'
import { refuseEarlier } from '../../source/service/service-clock.ts'
import { anyText, anything, finiteNumber, fits, list, objectOf } from '../../support/json-form.ts'
import type { CutParts } from './gap-steps.ts'
import { type ClosingPlan, listingPages, planClosing } from './plan-closing.ts'
import { planWindows, type WindowPlan } from './plan-windows.ts'
import {
  checkSettings,
  type PullingOptions,
  type PullPlan,
  type PullService,
  type PullSettings,
} from './pull-settings.ts'
import { filterOf, type LiveParameter, searchesByIds, withFilter } from './search.ts'
import { refuseDaysAhead, sinceLast } from './since-last.ts'
import { FIRST_DAY } from './window-axes.ts'

/**
 * Checks a search against the live parameters and cuts it into windows. Pulls no data.
 *
 * @param snapshot of the lake, for `since: 'last'`
 * @throws {ToolkitError} SEARCH_MISSING, PARAMETER_REFUSED, VALUES_REFUSED, PLAN_IMPOSSIBLE, CLOCK_DIFFERS, DAYS_AHEAD, and what
 *   the service throws
 */
export const planPull = async (
  service: PullService,
  settings: PullSettings,
  snapshot: Pick<Snapshot, 'pulls'> | null,
  options: Pick<PullingOptions, 'nowMs' | 'signal'>,
): Promise<PullPlan> => {
  const plan = await planSearch(service, settings, snapshot, options)
  const last = snapshot?.pulls?.findLast((pull) => pull.service === service.origin)
  if (last) refuseEarlier(`Cannot pull ${settings.content}`, plan.asOf, last.asOf, service.clock)
  refuseDaysAhead(settings.content, plan)
  return plan
}

/** The same for any search, as it comes: a part of another one may be of days that are still to come. */
const planSearch: typeof planPull = async (service, settings, snapshot, options) => {
  const { content, search, by, until } = settings
  const parameters = await checkSettings(service, settings, options.signal)
  const since =
    settings.since === 'last' ? sinceLast(snapshot, service.origin, { ...settings, parameters }) : undefined
  const clock = { asOf: '' }
  const counts = countsOf(service, settings, parameters, clock, options)
  const firstDay = since === undefined ? settings.since : since.from
  const plan = await planEach(requestsOf(content, search), (part) =>
    planWindows({ ...{ content, search: part, by, until, cap: settings.cap }, ...counts, since: firstDay }),
  )
  const undated = since?.from === undefined ? 0 : await countUndated(search, plan.field, counts.count)
  // Relations have neither page mode nor minified records to look through.
  const closing =
    plan.gaps && content === 'companies' && settings.closeGap !== false
      ? await planClosing(plan.gaps, { count: counts.count, parameters, today: counts.today() })
      : undefined
  return {
    ...{ ...plan, asOf: clock.asOf },
    ...(since && { since }),
    ...(undated > 0 && { undated }),
    ...(closing && { closing }),
  }
}

/** The searches that can be asked for at once: of relations only some ids, which no request may name more of. */
const requestsOf = (content: Content, search: SearchParameters): readonly SearchParameters[] =>
  content === 'relations' ? searchesByIds(search, LIMITS.idsPerRequest) : [search]

/** The plans of the parts of a search as one. */
const planEach = async (
  parts: readonly SearchParameters[],
  plan: (part: SearchParameters) => Promise<WindowPlan>,
): Promise<WindowPlan> => {
  const [first, ...others] = parts
  if (first === undefined) throw new RangeError('Cannot plan a search of no parts')
  // A request before the others: it asks for the service's time.
  const plans = [await plan(first), ...(await Promise.all(others.map(plan)))]
  return plans.reduce(together)
}

const together = (a: WindowPlan, b: WindowPlan): WindowPlan => {
  const gaps = [...(a.gaps ?? []), ...(b.gaps ?? [])]
  const [name = '', ids = []] = Object.entries(a.search).find(([one]) => isIdParameter(one)) ?? []
  const field = a.field ?? b.field
  return {
    ...a,
    windows: [...a.windows, ...b.windows],
    ...(gaps.length > 0 && { gaps }),
    search: withFilter(a.search, name, [...ids, ...(filterOf(b.search, name) ?? [])]),
    ...(field !== undefined && { field }),
    announced: a.announced + b.announced,
    planned: a.planned + b.planned,
    probes: a.probes + b.probes,
    probeMs: Math.min(a.probeMs, b.probeMs),
  }
}

/** Records that no day finds, whenever they change: those without the date. */
const countUndated = async (
  search: SearchParameters,
  field: string | undefined,
  count: (search: SearchParameters) => Promise<number>,
): Promise<number> => {
  if (field === undefined || filterOf(search, field) !== undefined) return 0
  const dated = await count(withFilter(search, field, [FIRST_DAY]))
  return Math.max(0, (await count(search)) - dated)
}

/** How a planner asks the service. */
const countsOf = (
  service: PullService,
  { content, currency }: PullSettings,
  parameters: readonly LiveParameter[],
  clock: { asOf: string },
  { nowMs = () => performance.now(), signal }: Pick<PullingOptions, 'nowMs' | 'signal'>,
) => {
  const call = { ...(signal && { signal }), ...(currency !== undefined && { currency }) }
  return {
    parameters,
    nowMs,
    today: () => clock.asOf.slice(0, 10),
    count: async (search: SearchParameters): Promise<number> => {
      let records = 0
      for (const part of requestsOf(content, search)) {
        const { totalCount, asOf } = await service.totalCount(content, part, call)
        clock.asOf ||= asOf
        records += totalCount
      }
      return records
    },
    // The listing of relations names no values; the companies' has those of the same subscription.
    coded: async () => {
      const own = parameters.filter(({ values }) => values !== undefined)
      return content === 'companies' || own.length > 0 ? own : codedOfRelations(service, parameters, signal)
    },
  }
}

const codedOfRelations = async (
  service: PullService,
  parameters: readonly LiveParameter[],
  signal?: AbortSignal,
): Promise<readonly LiveParameter[]> => {
  const names = new Set(parameters.map(({ name }) => name.toLowerCase()))
  const companies = await service.parameters('companies', signal && { signal })
  return companies.filter(({ name }) => names.has(name.toLowerCase()))
}

const WINDOWS: RunFile = { name: 'windows.json', what: 'windows' }

const STORED = objectOf({ windows: list(anything), asOf: anyText, planned: finiteNumber })
const isPlan = (value: unknown): value is PullPlan => fits(STORED, value)

/** The stored plan of a run. */
export const readWindows = (job: JobOfRun): Promise<PullPlan | undefined> => readRunFile(job, WINDOWS, isPlan)

/** The plan as a run is begun with it. @param job its place among those of the run */
export const windowsText = (plan: PullPlan, job = 0): readonly [name: string, text: string] =>
  runFileText({ job }, WINDOWS, plan)

/** The plan that a run was begun with. @throws {ToolkitError} RUN_NOT_RESUMABLE */
export const windowsOfRun = async (job: JobOfRun): Promise<PullPlan> => {
  const plan = await readWindows(job)
  if (plan === undefined) throw notResumable(job.run, 'it has no windows')
  return plan
}

/** The parts of a search that has outgrown what was planned for it, and how what they leave out is found. */
export const planParts = async (
  service: PullService,
  settings: PullSettings,
  search: SearchParameters,
  atMost: number,
  options: Pick<PullingOptions, 'nowMs' | 'signal'>,
): Promise<CutParts> => {
  const parts = { ...settings, search, since: undefined, until: undefined, cap: atMost }
  const { windows, announced, planned, gaps, closing } = await planSearch(service, parts, null, options)
  return {
    searches: windows.map((window) => window.search),
    missing: Math.max(0, announced - planned),
    ...(gaps && closing && { gaps: { gaps, closing } }),
  }
}

export interface PlanEstimate {
  /** Pages that hold records. */
  readonly pages: number
  /** Pages, and for each window the empty one that may end it. */
  readonly requests: number
  /** The most requests that find and fetch the companies outside all windows: lists of companies, and pages. */
  readonly closing?: { readonly lists: number; readonly pages: number }
  /** At least so long, in seconds: a page is assumed to take no longer than a count. */
  readonly seconds: number
  /** Why batch files would be the better way; absent where they would not. */
  readonly batchFiles?: string
}

interface Pace {
  readonly pageSize: number
  /** Windows pulled side by side. */
  readonly concurrency: number
  /** Limit set by the person, else learnt. */
  readonly requestsPerSecond?: number | undefined
}

/** Page requests beyond which whole files are the better way. */
const MOST_PAGES = 1000

const closingRequests = ({ steps, expected }: ClosingPlan): NonNullable<PlanEstimate['closing']> => ({
  lists: steps.flatMap(({ listings }) => listings).reduce((sum, one) => sum + listingPages(one), 0),
  pages: Math.ceil(expected / LIMITS.idsPerRequest),
})

export const estimatePlan = (
  plan: WindowPlan & { readonly closing?: ClosingPlan },
  pace: Pace,
): PlanEstimate => {
  const { pageSize, concurrency, requestsPerSecond = Number.POSITIVE_INFINITY } = pace
  const pages = plan.windows.reduce((sum, { announced }) => sum + Math.ceil(announced / pageSize), 0)
  const closing = plan.closing && closingRequests(plan.closing)
  const requests = pages + plan.windows.length + (closing ? closing.lists + closing.pages : 0)
  const atOnce = Math.max(1, Math.min(concurrency, plan.windows.length))
  const seconds = Math.max((requests * plan.probeMs) / 1000 / atOnce, requests / requestsPerSecond)
  const gap = plan.announced - plan.planned - (plan.closing?.expected ?? 0)
  const reasons = [
    ...(pages > MOST_PAGES ? [`${pages} pages are more than ${MOST_PAGES}`] : []),
    ...(gap > 0 ? [`no window covers ${gap} of ${plan.announced} records`] : []),
  ]
  return {
    pages,
    requests,
    ...(closing && { closing }),
    seconds,
    ...(reasons.length > 0 && { batchFiles: reasons.join(', and ') }),
  }
}
