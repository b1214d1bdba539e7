/**
 * The windows of a pull: opened as sources of its run, what each brought, and the entry that the manifest keeps of the pull. Which
 * service it is and where rows go is the caller's.
 */

import type { Content } from '../../contract/objects.ts'
import type { PartitionEntry, PullEntry } from '../../core/partition.ts'
import { recordedSearch } from '../../manifest/form/sources.ts'
import type { JobOfRun } from '../../manifest/runs/run-files.ts'
import { makeRunFolder, windowsFolder } from '../../run/opened-job.ts'
import { searchLabel } from '../../source/service/page-request.ts'
import { type Brought, closeGap, closingWindows, listGaps } from './close-gap.ts'
import type { GapsToList } from './gap-steps.ts'
import { IdSet, idsPath } from './id-set.ts'
import { planParts } from './plan-pull.ts'
import type { PlannedWindow } from './plan-windows.ts'
import type { PullingOptions, PullPlan, PullService, PullSettings } from './pull-settings.ts'
import { pullWindow } from './pull-window.ts'
import type { Checkpoint } from './window-file.ts'
import { openWindowSources, type RunWindow, type WindowSources, windowPath } from './window-sources.ts'

interface PullPart {
  /** Places of the windows to pull, of all that the pull has. @default all */
  readonly only?: readonly number[] | undefined
  /** The companies that other windows brought. @default those in the files beside this one's windows */
  readonly brought?: Brought | undefined
}

interface Pull extends WindowSources {
  /** The file of ids beside a window's, where they are kept. */
  readonly idsPath: (index: number) => string | undefined
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
  return {
    ...opened,
    idsPath: (index) =>
      closing.windows.length > 0 && !windows[index]?.closing ? idsPath(windowPath(folder, index)) : undefined,
  }
}

interface WindowGapOptions extends Pick<PullingOptions, 'concurrency' | 'signal' | 'onEvent'> {
  readonly service: PullService
  readonly job: JobOfRun
  readonly currency: string | undefined
}

/** The companies that the parts of one window leave out: its lists stand in a folder of its own. */
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

/** The warning about a window whose records are not as many as were announced. */
const differenceOf = (name: string, { announced, records }: Checkpoint): string | undefined =>
  announced === records
    ? undefined
    : `window "${name}" announced ${announced} records and gave ${records}; what changed meanwhile comes with the ` +
      `next --since last${records < announced ? ', what the service kept back only with a whole pull' : ''}`

/** The windows of a pull, those that close its gap behind the others. */
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

/** The announced and the received records of a window. */
export interface WindowCounts {
  readonly announced: number
  readonly received: number
}

const receivedIn = (windows: readonly WindowCounts[]): number =>
  windows.reduce((sum, { received }) => sum + received, 0)

/**
 * The received records and the rest of the gap are together the announced ones, always: by the plan, but of windows that had
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

/** A window as it was pulled. */
export interface PulledWindow {
  readonly name: string
  /** When it was planned; absent in a sync, whose windows are lists of companies. */
  readonly planned?: number
  readonly announced: number
  readonly received: number
  readonly pages: number
}

type Loaded = readonly Pick<PartitionEntry, 'source'>[]

/** Records that the windows of a run brought. */
export const receivedOf = (partitions: Loaded): number => {
  const windows = new Map(partitions.map(({ source }) => [source.name, source.window?.received ?? 0]))
  return [...windows.values()].reduce((sum, records) => sum + records, 0)
}

/** The pull's windows in the plan's order, as they were pulled. */
export const pulledWindows = (
  partitions: Loaded,
  content: PullEntry['content'],
  plan: PullPlan,
): readonly PulledWindow[] => {
  const windows = new Map(partitions.map(({ source }) => [source.name, source.window]))
  return windowsOf(content, plan).map(({ name }, at) => {
    const { announced = 0, received = 0, pages = 0 } = windows.get(name) ?? {}
    return { name, planned: plan.windows[at]?.announced ?? 0, announced, received, pages }
  })
}
