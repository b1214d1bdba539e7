/**
 * A sync: lists what a search has now with its timestamps, compares it with the lake, and gives what is new or
 * changed as windows to be pulled in full. What is found stays in the run's folder for a resumed run.
 */

import { join } from 'node:path'
import { LIMITS } from '../../contract/limits.ts'
import type { PullEntry, Snapshot } from '../../core/partition.ts'
import { refusedBy } from '../../manifest/form/forgotten.ts'
import {
  createRunFile,
  type JobOfRun,
  type RunFile,
  readRunFile,
  runFileText,
} from '../../manifest/runs/run-files.ts'
import { newestSnapshot, rootIfAny } from '../../manifest/snapshots/snapshots.ts'
import { jobFolder, makeRunFolder, notResumable, windowsFolder } from '../../run/opened-job.ts'
import { anything, fits, list, objectOf } from '../../support/json-form.ts'
import { sideBySide } from '../../support/side-by-side.ts'
import { type GapListingOptions, listGaps, WINDOW_COMPANIES } from '../windows/close-gap.ts'
import { IdSet, idsPath } from '../windows/id-set.ts'
import { type ListingOptions, listAgain, listingFiles, listWindow } from '../windows/listing.ts'
import { pullEntry } from '../windows/open-windows.ts'
import { planParts } from '../windows/plan-pull.ts'
import type { PullingOptions, PullPlan, PullService, PullSettings } from '../windows/pull-settings.ts'
import { pullWindow } from '../windows/pull-window.ts'
import { groupsOf, type IdValue } from '../windows/search.ts'
import { openWindowSources, type RunWindow, type WindowSources } from '../windows/window-sources.ts'
import { type Comparison, compareListing } from './compare-listing.ts'

/**
 * The findings of a sync, ids beyond 2^53 as texts; the companies that are gone are absent if the lake cannot tell which of its
 * companies the search means.
 */
export interface SyncFindings extends Omit<Comparison, 'absent'> {
  readonly vanished?: readonly IdValue[]
  /** How many the search has when all is listed; absent where these are as many as were planned. */
  readonly announced?: number
}

export type SyncEvent =
  | { readonly kind: 'listed'; readonly records: number }
  | { readonly kind: 'compared'; readonly findings: SyncFindings }
  | { readonly kind: 'page'; readonly records: number }

interface SyncingOptions extends Omit<PullingOptions, 'onEvent'> {
  /** DuckDB's memory for the comparison, in bytes. */
  readonly memoryBytes: number
  readonly onEvent?: ((event: SyncEvent) => void) | undefined
}

/** Settings of a sync: companies in windows that page mode reaches. */
export const syncSettings = (
  settings: Pick<PullSettings, 'search' | 'currency' | 'by' | 'closeGap'>,
): PullSettings & { readonly content: 'companies' } => ({
  ...{ content: 'companies', pageSize: LIMITS.pageSize.max, cap: LIMITS.pageReach },
  ...settings,
})

const FINDINGS: RunFile = { name: 'findings.json', what: 'findings' }

const STORED = objectOf({ new: list(anything), changed: list(anything) })
const isFindings = (value: unknown): value is SyncFindings => fits(STORED, value)

/** Lists and compares, unless an earlier attempt of the run has; what is found is stored with the run. */
export const findChanges = async (
  service: PullService,
  run: JobOfRun,
  settings: PullSettings,
  plan: PullPlan,
  options: SyncingOptions,
): Promise<void> => {
  if (await readFindings(run)) return
  const snapshot = await newestSnapshot(run.lake)
  await createRunFile(run, FINDINGS, await listChanges(service, run, settings, plan, snapshot, options))
}

const readFindings = (job: JobOfRun): Promise<SyncFindings | undefined> =>
  readRunFile(job, FINDINGS, isFindings)

/** The findings that a run was begun with, or has stored since. @throws {ToolkitError} RUN_NOT_RESUMABLE */
export const findingsOfRun = async (job: JobOfRun): Promise<SyncFindings> => {
  const findings = await readFindings(job)
  if (findings === undefined) throw notResumable(job.run, 'it has no findings')
  return findings
}

/** The findings as a run is begun with them. */
export const findingsText = (findings: SyncFindings): readonly [name: string, text: string] =>
  runFileText({}, FINDINGS, findings)

/** Lists what a search has now, and compares it with the lake; in a folder of the job, which stays. */
export const listChanges = async (
  service: PullService,
  job: JobOfRun,
  settings: PullSettings,
  plan: PullPlan,
  snapshot: Snapshot | null,
  options: SyncingOptions,
): Promise<SyncFindings> => {
  const folder = jobFolder(job, 'listing')
  await makeRunFolder(job, folder)
  const listing = listingOptions(service, settings, options)
  const paths = plan.windows.map((_, index) => join(folder, `${String(index).padStart(5, '0')}.jsonl`))
  await sideBySide(
    plan.windows,
    options.concurrency,
    ({ search }, index) => listWindow(search, paths[index] ?? '', listing),
    options.signal,
  )
  await listGapsOf(plan, paths, { ...listing, folder, keepLines: true, concurrency: options.concurrency })
  const compare = async (): Promise<Comparison> =>
    compareListing({
      ...{ lake: job.lake, snapshot, search: settings.search, memoryBytes: options.memoryBytes },
      files: await listingFiles(folder),
    })
  const first = await compare()
  const again = join(folder, 'again.jsonl')
  if (first.absent && first.absent.length > 0) await listAgain(settings.search, first.absent, again, listing)
  const { absent, ...found } = first.absent?.length ? await compare() : first
  // The load would take nothing of a forgotten company.
  const refused = refusedBy((await rootIfAny(job.lake))?.refusals)
  const allowed = found.new.filter((id) => !refused?.isCompany(BigInt(id)))
  // Windows that outgrew page mode may leave something out: the plan does not count it.
  const announced = found.listed === plan.announced ? undefined : await countNow(service, settings, options)
  return {
    ...{ ...found, new: allowed },
    ...(absent && { vanished: absent }),
    ...(announced !== undefined && { announced }),
  }
}

const countNow = async (
  service: PullService,
  { search, currency }: PullSettings,
  { signal }: Pick<SyncingOptions, 'signal'>,
): Promise<number> => {
  const call = { ...(signal && { signal }), ...(currency !== undefined && { currency }) }
  return (await service.totalCount('companies', search, call)).totalCount
}

/** Lists what no window covers: what is found there is compared with the lake as all the rest. */
const listGapsOf = async (
  { gaps, closing }: PullPlan,
  paths: readonly string[],
  options: GapListingOptions,
): Promise<void> => {
  if (gaps === undefined || closing === undefined) return
  const listed = await IdSet.read(paths.map(idsPath))
  await listGaps({ gaps, closing }, (id) => listed.has(id), options)
}

const listingOptions = (
  service: PullService,
  settings: PullSettings,
  { onEvent, ...options }: SyncingOptions,
): ListingOptions => ({
  service,
  currency: settings.currency,
  signal: options.signal,
  cutAgain: (search, atMost) => planParts(service, settings, search, atMost, options),
  onPage: (records) => onEvent?.({ kind: 'listed', records }),
})

/** A window of what is new or changed, with its companies in groups of one request each. */
type ChangeWindow = RunWindow & { readonly groups: readonly (readonly IdValue[])[] }

/** Windows of what is new or changed, in full. */
export const changeWindows = (
  { search }: Pick<PullSettings, 'search'>,
  findings: SyncFindings,
): readonly ChangeWindow[] => {
  const ids = [...findings.new, ...findings.changed].sort((a, b) => {
    const [x, y] = [BigInt(a), BigInt(b)]
    return x < y ? -1 : x > y ? 1 : 0
  })
  const count = Math.ceil(ids.length / WINDOW_COMPANIES)
  return Array.from({ length: count }, (_, at) => {
    const some = ids.slice(at * WINDOW_COMPANIES, (at + 1) * WINDOW_COMPANIES)
    const name = `companies ${at + 1}/${count}: ${some.length} new or changed, by InternalId`
    // The manifest keeps the search that found them: thousands of ids would stand in every snapshot.
    return { name, search, requested: null, growing: false, groups: groupsOf(some, LIMITS.idsPerRequest) }
  })
}

/** @param only places of the windows to pull @default all */
export const openSync = async (
  service: PullService,
  job: JobOfRun,
  settings: PullSettings,
  findings: SyncFindings,
  { concurrency, signal, onEvent }: Omit<SyncingOptions, 'memoryBytes'>,
  only?: readonly number[],
): Promise<WindowSources> => {
  const { currency, pageSize } = settings
  await makeRunFolder(job, windowsFolder(job))
  const all = changeWindows(settings, findings)
  const windows = only?.flatMap((place) => all[place] ?? []) ?? all
  return openWindowSources(windows, {
    folder: windowsFolder(job),
    ...{ content: 'companies', currency, concurrency, signal },
    service: service.origin,
    pull: async (index, path, stop) => {
      const { name, groups } = windows[index] ?? { name: '', groups: [] }
      const searches = groups.map((group) => ({ InternalId: group }))
      return pullWindow(
        { content: 'companies', name, searches, currency, pageSize },
        {
          ...{ service, path, signal: stop },
          onPage: ({ records }) => onEvent?.({ kind: 'page', records }),
        },
      )
    },
  })
}

/** The manifest's entry of a sync: what was listed counts as received. */
export const syncEntry = (
  service: Pick<PullService, 'origin'>,
  job: JobOfRun,
  settings: PullSettings,
  plan: PullPlan,
  { listed, announced = plan.announced }: SyncFindings,
): PullEntry => {
  const gap = Math.max(0, plan.announced - plan.planned)
  const inWindows = Math.max(0, announced - gap)
  const closed = Math.min(gap, Math.max(0, listed - inWindows))
  const windows = [{ announced: inWindows, received: listed - closed }]
  return pullEntry(service.origin, job, settings, plan, { windows, closed })
}
