/**
 * The companies of a pull that no window covers: found along other parameters when all windows are pulled, and
 * fetched in full by their ids, as windows of their own. What was found is kept with the run.
 */

import { join } from 'node:path'
import { LIMITS } from '../../contract/limits.ts'
import { writeError } from '../../core/errors.ts'
import { createRunFile, type JobOfRun, type RunFile, readRunFile } from '../../manifest/runs/run-files.ts'
import { makeRunFolder, windowsFolder } from '../../run/opened-job.ts'
import { type Form, fits, list, objectOf, textLike } from '../../support/json-form.ts'
import { type GapsToList, goThroughGaps, type TakeIds } from './gap-steps.ts'
import { type IdSet, idsPath, readIds, writeIdsFile } from './id-set.ts'
import { eachPage, isListed, type ListingOptions, writeListing } from './listing.ts'
import type { PlannedListing } from './plan-closing.ts'
import type { PullingOptions, PullPlan, PullService, PullSettings } from './pull-settings.ts'
import { pullWindow } from './pull-window.ts'
import { groupsOf, searchForIds } from './search.ts'
import type { Checkpoint } from './window-file.ts'
import type { RunWindow } from './window-sources.ts'

/** Companies of one window: as many requests as one interruption may cost. */
export const WINDOW_COMPANIES = 20_000

interface GapClosing {
  /** Behind the windows of the search. */
  readonly windows: readonly RunWindow[]
  readonly pull: (index: number, path: string, signal: AbortSignal) => Promise<Checkpoint>
}

/** The companies that were found, by id; as text, since a number beyond 2^53 would be another one. */
const MISSING: RunFile = { name: 'missing.json', what: 'missing companies' }
interface Missing {
  readonly ids: readonly string[]
}
const STORED: Form<Missing> = objectOf({ ids: list(textLike(/^-?\d+$/, 'an id')) })
const isMissing = (value: unknown): value is Missing => fits(STORED, value)

/** The companies that the windows of a search brought. */
export type Brought = () => Promise<Pick<IdSet, 'has'>>

/** @param brought asked when all windows before are pulled */
export const closeGap = (
  service: PullService,
  job: JobOfRun,
  settings: PullSettings,
  plan: PullPlan,
  brought: Brought,
  options: PullingOptions,
): GapClosing => {
  const windows = closingWindows(plan)
  let found: Promise<readonly bigint[]> | undefined
  return {
    windows,
    pull: async (index, path, signal) => {
      // Found once for all: which window has which companies must not change.
      found ??= missingOf(service, job, settings, plan, brought, { ...options, signal })
      const ids = sliceOf(await found, index, windows.length)
      const { currency, pageSize, cap } = settings
      const name = windows[index]?.name ?? ''
      const groups = groupsOf(ids, Math.min(LIMITS.idsPerRequest, cap))
      return pullWindow(
        { content: 'companies', name, searches: groups.map(searchForIds), currency, pageSize },
        {
          ...{ service, path, signal },
          onPage: (checkpoint) => options.onEvent?.({ kind: 'page', window: name, checkpoint }),
        },
      )
    },
  }
}

/** As many windows as the plan expects companies for, so that a resumed run has the same. */
export const closingWindows = ({ closing, search, from, to }: PullPlan): RunWindow[] => {
  if (closing === undefined || closing.steps.length === 0) return []
  const count = Math.max(1, Math.ceil(closing.expected / WINDOW_COMPANIES))
  const requested =
    from === undefined && to === undefined ? null : { ...(from && { from }), ...(to && { to }) }
  return Array.from({ length: count }, (_, at) => ({
    name: `companies not covered by any window ${at + 1}/${count}, by InternalId`,
    // The manifest keeps the search that found them: thousands of ids would stand in every snapshot.
    ...{ search, requested, growing: false, closing: true as const },
  }))
}

/** The companies of one window; the last takes what is more than was expected. */
const sliceOf = (ids: readonly bigint[], index: number, windows: number): readonly bigint[] =>
  ids.slice(index * WINDOW_COMPANIES, index === windows - 1 ? undefined : (index + 1) * WINDOW_COMPANIES)

const missingOf = async (
  service: PullService,
  job: JobOfRun,
  { currency }: PullSettings,
  { gaps, closing }: PullPlan,
  brought: Brought,
  { concurrency, signal, onEvent }: PullingOptions,
): Promise<readonly bigint[]> => {
  const stored = await readRunFile(job, MISSING, isMissing)
  if (stored) return stored.ids.map(BigInt)
  if (gaps === undefined || closing === undefined) return []
  const known = await brought()
  const folder = `${windowsFolder(job)}/gaps`
  await makeRunFolder(job, folder)
  const ids = await listGaps({ gaps, closing }, (id) => known.has(id), {
    ...{ service, currency, signal, folder, keepLines: false, concurrency },
    onPage: (records) => onEvent?.({ kind: 'listed', records }),
  })
  await createRunFile(job, MISSING, { ids: ids.map(String) })
  // Another worker may have been first: what was found counts once for all.
  return (await readRunFile(job, MISSING, isMissing))?.ids.map(BigInt) ?? ids
}

export interface GapListingOptions
  extends Pick<ListingOptions, 'service' | 'currency' | 'signal' | 'onPage'> {
  /** Folder of the files; there is one already. */
  readonly folder: string
  /** Whether the records themselves are kept too, as JSON Lines. */
  readonly keepLines: boolean
  /** Lists gone through at once. */
  readonly concurrency: number
}

/**
 * @param isKnown whether a company was brought otherwise
 * @returns the companies that were not, by id
 */
export const listGaps = (
  gaps: GapsToList,
  isKnown: (id: bigint) => boolean,
  options: GapListingOptions,
): Promise<readonly bigint[]> =>
  goThroughGaps(gaps, {
    ...{ isKnown, concurrency: options.concurrency, signal: options.signal },
    list: (listing, number, take) => listOne(listing, listingPath(options.folder, number), take, options),
  })

const listingPath = (folder: string, number: number): string =>
  join(folder, `gap-${String(number).padStart(5, '0')}.jsonl`)

const listOne = async (
  listing: PlannedListing,
  path: string,
  take: TakeIds,
  options: GapListingOptions,
): Promise<void> => {
  // The records are written behind their ids: a killed process may leave those alone.
  const isWhole = !options.keepLines || (await isListed(path))
  const listed = isWhole ? await readIds(idsPath(path)) : undefined
  if (listed) {
    take(listed)
    return
  }
  const pages: { readonly lines: Buffer; readonly ids: BigInt64Array }[] = []
  await eachPage(listing, options, ({ ids, lines, records }) => {
    pages.push({ ids, lines: options.keepLines ? lines : NO_LINES })
    options.onPage?.(records)
    const isNew = take(ids)
    return isNew || !listing.probe
  })
  if (options.keepLines) return writeListing(path, pages)
  try {
    await writeIdsFile(
      idsPath(path),
      pages.map(({ ids }) => ids),
    )
  } catch (error) {
    throw writeError(`Cannot write the listing "${path}"`, error)
  }
}

const NO_LINES = Buffer.alloc(0)
