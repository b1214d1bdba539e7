/**
 * A pull: what is asked for, its windows (planned once and kept with the run, so that a resumed run has
 * the same), and the entry that the manifest keeps of it. Which service it is and where rows go is the caller's.
 */

import { LIMITS } from '../../contract/limits.ts'
import type { Content } from '../../contract/objects.ts'
import { isIdParameter, type SearchParameters } from '../../contract/requests.ts'
import type { PullEntry, Snapshot } from '../../core/partition.ts'
import { recordedSearch } from '../../manifest/form/recorded-search.ts'
import {
  createRunFile,
  type JobOfRun,
  type RunFile,
  readRunFile,
  runFileText,
} from '../../manifest/runs/run-files.ts'
import { makeRunFolder, windowsFolder } from '../../run/opened-job.ts'
import { searchLabel } from '../../source/service/request-label.ts'
import { anyText, anything, finiteNumber, fits, list, objectOf } from '../../support/json-form.ts'
import { type Brought, closeGap, closingWindows } from './close-gap.ts'
import { searchesByIds } from './exact-search.ts'
import type { CutParts, GapsToList } from './gap-steps.ts'
import { IdSet, idsPath } from './id-set.ts'
import { listGaps } from './list-gaps.ts'
import { planClosing } from './plan-closing.ts'
import { type PlannedWindow, planWindows, type WindowPlan } from './plan-windows.ts'
import type { PullingOptions, PullPlan } from './pull-plan.ts'
import { checkSettings, type PullService, type PullSettings } from './pull-settings.ts'
import { pullWindow } from './pull-window.ts'
import { filterOf, type LiveParameter, withFilter } from './search.ts'
import { sinceLast } from './since-last.ts'
import type { Checkpoint } from './window-file.ts'
import { openWindowSources, type RunWindow, type WindowSources, windowPath } from './window-sources.ts'

/**
 * Checks a search against the live parameters and cuts it into windows. Pulls no data.
 *
 * @param snapshot of the lake, for `since: 'last'`
 * @throws {ToolkitError} SEARCH_MISSING, PARAMETER_REFUSED, VALUES_REFUSED, PLAN_IMPOSSIBLE, and what the service
 *   throws
 */
export const planPull = async (
  service: PullService,
  settings: PullSettings,
  snapshot: Pick<Snapshot, 'pulls'> | null,
  options: Pick<PullingOptions, 'nowMs' | 'signal'>,
): Promise<PullPlan> => {
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

/** What can be asked for at once: of relations only some ids, which no request may name more of. */
const requestsOf = (content: Content, search: SearchParameters): readonly SearchParameters[] =>
  content === 'relations' ? searchesByIds(search, LIMITS.idsPerRequest) : [search]

/** The plans of the parts of a search as one. */
const planEach = async (
  parts: readonly SearchParameters[],
  plan: (part: SearchParameters) => Promise<WindowPlan>,
): Promise<WindowPlan> => {
  const [first, ...others] = parts
  if (first === undefined) throw new RangeError('Cannot plan a search of no parts')
  // One before the others: it asks for the service's time.
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
const FIRST_DAY = '0001-01-01'

/** How a planner asks the service. */
const countsOf = (
  service: PullService,
  { content, currency }: PullSettings,
  parameters: readonly LiveParameter[],
  clock: { asOf: string },
  { nowMs, signal }: Pick<PullingOptions, 'nowMs' | 'signal'>,
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

const WINDOWS: RunFile = { name: 'windows.json', what: 'its windows are' }

const STORED = objectOf({ windows: list(anything), asOf: anyText, planned: finiteNumber })
const isPlan = (value: unknown): value is PullPlan => fits(STORED, value)

/** The plan that a run was begun with, or has stored since. */
export const readWindows = (job: JobOfRun): Promise<PullPlan | undefined> => readRunFile(job, WINDOWS, isPlan)

/** The plan as a run is begun with it. */
export const windowsText = (plan: PullPlan): readonly [name: string, text: string] =>
  runFileText({}, WINDOWS, plan)

/** The run's plan: the stored one, else what `make` gives, stored. */
export const planOfRun = async (job: JobOfRun, make: () => Promise<PullPlan>): Promise<PullPlan> => {
  const stored = await readWindows(job)
  if (stored) return stored
  const plan = await make()
  await createRunFile(job, WINDOWS, plan)
  return plan
}

export interface PullPart {
  /** Places of the windows to pull, of all that the pull has. @default all */
  readonly only?: readonly number[] | undefined
  /** What other windows brought. @default what the files beside this one's windows say */
  readonly brought?: Brought | undefined
}

export interface Pull extends WindowSources {
  /** The file of ids beside a window's, where they are kept. */
  readonly idsPath: (index: number) => string | undefined
  /** What the manifest keeps, as it stands. */
  readonly entry: () => PullEntry
}

/** The windows of a plan as sources of its run. */
export const openPull = async (
  service: PullService,
  job: JobOfRun,
  settings: PullSettings,
  plan: PullPlan,
  options: PullingOptions,
  part: PullPart = {},
): Promise<Pull> => {
  const { content, currency, pageSize } = settings
  const { concurrency, signal, onEvent } = options
  await makeRunFolder(job, windowsFolder(job))
  const searched = runWindows(content, plan)
  const folder = windowsFolder(job)
  const beside = () => IdSet.read(searched.map((_, index) => idsPath(windowPath(folder, index))))
  const closing = closeGap(service, job, settings, plan, part.brought ?? beside, options)
  const all = [...searched, ...closing.windows]
  const places = part.only ?? [...all.keys()]
  const windows = places.flatMap((place) => all[place] ?? [])
  const opened = await openWindowSources(windows, {
    folder,
    ...{ content, currency, concurrency, signal },
    service: service.origin,
    pull: async (index, path, stop) => {
      const window = windows[index]
      if (window?.closing) {
        const checkpoint = await closing.pull((places[index] ?? 0) - searched.length, path, stop)
        onEvent?.({ kind: 'pulled', window: window.name, checkpoint })
        return checkpoint
      }
      if (window === undefined) throw new RangeError(`Cannot pull window ${index}: there is none`)
      const { name, search } = window
      const checkpoint = await pullWindow(
        // Whatever outgrows its chain may leave something out, which is found by what is there.
        { content, name, searches: [search], currency, pageSize, keepIds: content === 'companies' },
        {
          service,
          path,
          signal: stop,
          cutAgain: async (whole, atMost) => {
            const parts = await planParts(service, settings, whole, atMost, { ...options, signal: stop })
            const text =
              `window "${name}" outgrew its chain, and the parts it is cut into leave ${parts.missing} of its records out; ` +
              (parts.gaps ? 'they are looked for along other parameters' : 'batch files hold them')
            if (parts.missing > 0) onEvent?.({ kind: 'warning', text })
            return parts
          },
          listGaps: (gaps, known) =>
            listWindowGaps(gaps, known, path.replace(/\.jsonl$/, '.gaps'), {
              ...{ service, job, currency, concurrency, signal: stop, onEvent },
            }),
          onPage: (now) => onEvent?.({ kind: 'page', window: name, checkpoint: now }),
        },
      )
      onEvent?.({ kind: 'pulled', window: name, checkpoint })
      const warning = differenceOf(name, checkpoint)
      if (warning !== undefined) onEvent?.({ kind: 'warning', text: warning })
      return checkpoint
    },
  })
  const came = (): WindowCounts[] =>
    opened.checkpoints().map((checkpoint, at) => ({
      announced: checkpoint?.announced ?? plan.windows[at]?.announced ?? 0,
      received: checkpoint?.records ?? 0,
    }))
  return {
    ...opened,
    idsPath: (index) =>
      closing.windows.length > 0 && !windows[index]?.closing ? idsPath(windowPath(folder, index)) : undefined,
    entry: () =>
      pullEntry(service.origin, job, settings, plan, {
        windows: came().slice(0, searched.length),
        closed: receivedIn(came().slice(searched.length)),
      }),
  }
}

interface WindowGapOptions extends Pick<PullingOptions, 'concurrency' | 'signal' | 'onEvent'> {
  readonly service: PullService
  readonly job: JobOfRun
  readonly currency: string | undefined
}

/** What the parts of one window leave out: its lists stand in a folder of its own. */
const listWindowGaps = async (
  all: readonly GapsToList[],
  known: Pick<IdSet, 'has'>,
  folder: string,
  { job, onEvent, ...options }: WindowGapOptions,
): Promise<readonly bigint[]> => {
  const found = new Set<bigint>()
  for (const [at, gaps] of all.entries()) {
    const own = `${folder}/${at}`
    await makeRunFolder(job, own)
    const isKnown = (id: bigint): boolean => known.has(id) || found.has(id)
    const onPage = (records: number): void => onEvent?.({ kind: 'listed', records })
    for (const id of await listGaps(gaps, isKnown, { ...options, folder: own, keepLines: false, onPage }))
      found.add(id)
  }
  return [...found].sort((a, b) => (a < b ? -1 : 1))
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
  const { windows, announced, planned, gaps, closing } = await planPull(service, parts, null, options)
  return {
    searches: windows.map((window) => window.search),
    missing: Math.max(0, announced - planned),
    ...(gaps && closing && { gaps: { gaps, closing } }),
  }
}

/** What a person must know of a window whose records are not as many as were announced. */
const differenceOf = (name: string, { announced, records }: Checkpoint): string | undefined =>
  announced === records
    ? undefined
    : `window "${name}" announced ${announced} records and gave ${records}; what changed meanwhile comes with the ` +
      `next --since last${records < announced ? ', what the service kept back only with a whole pull' : ''}`

/** All windows of a pull, those that close its gap behind the others. */
export const windowsOf = (content: Content, plan: PullPlan): readonly RunWindow[] => [
  ...runWindows(content, plan),
  ...closingWindows(plan),
]

/** The windows of a plan with names, in the plan's order. */
const runWindows = (content: Content, { windows, asOf }: PullPlan): RunWindow[] =>
  windows.map((window, index) => ({
    name: `${content} ${index + 1}/${windows.length}: ${searchLabel(window.search)}`,
    search: window.search,
    requested: window.requested,
    growing: isGrowing(window, asOf.slice(0, 10)),
  }))

const isGrowing = ({ requested }: PlannedWindow, today: string): boolean =>
  requested !== null && (requested.to === undefined || requested.to >= today)

/** What a window announced and brought. */
export interface WindowCounts {
  readonly announced: number
  readonly received: number
}

const receivedIn = (windows: readonly WindowCounts[]): number =>
  windows.reduce((sum, { received }) => sum + received, 0)

/**
 * What was received and what is left of the gap are together what was announced, always: by the plan, but of windows that had
 * more or fewer records when they were pulled, by these.
 *
 * @param came what the windows of the search brought, and how many records came that none of them covered
 */
export const pullEntry = (
  service: string,
  { run }: JobOfRun,
  { content, search, currency }: PullSettings,
  { field, from, to, asOf, announced, planned }: PullPlan,
  { windows, closed }: { readonly windows: readonly WindowCounts[]; readonly closed: number },
): PullEntry => {
  const gap = Math.max(0, announced - planned)
  const received = receivedIn(windows) + closed
  const inWindows = windows.reduce((sum, one) => sum + Math.max(one.announced, one.received), 0)
  const inAll = inWindows + Math.max(gap, closed)
  return {
    ...{ run, content, service, search: recordedSearch(search) },
    ...(currency !== undefined && { currency }),
    ...(field !== undefined && { field }),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...{ asOf, announced: inAll, planned, received },
    ...((gap > 0 || inAll > received) && { gapLeft: inAll - received }),
  }
}
