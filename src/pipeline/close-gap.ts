/**
 * The companies of a pull that stand in no window: found along other parameters when all windows are pulled, and
 * fetched in full by their ids, as windows of their own. What was found is kept with the run.
 */

import { LIMITS } from '../contract/limits.ts'
import { ToolkitError, writeError } from '../core/errors.ts'
import { runPath } from '../lake/layout.ts'
import type { RunClaim } from '../manifest/run-claims.ts'
import { storageOf } from '../storage/open-storage.ts'
import { IdSet, idsPath } from './id-set.ts'
import { listGaps, searchForIds } from './list-gaps.ts'
import type { PullOptions, PullPlan } from './pull-plan.ts'
import type { PullService, PullSettings } from './pull-settings.ts'
import { makeRunFolder, windowsFolder } from './run-folders.ts'
import { groupsOf } from './sync-listing.ts'
import { pullWindow } from './window-chain.ts'
import type { RunWindow } from './window-sources.ts'
import type { Checkpoint } from './window-spool.ts'

/** Companies of one window: as many requests as a person would want to lose at most. */
export const WINDOW_COMPANIES = 20_000

export interface GapClosing {
  /** Behind the windows of the search. */
  readonly windows: readonly RunWindow[]
  readonly pull: (index: number, path: string, signal: AbortSignal) => Promise<Checkpoint>
}

const idsName = ({ run }: RunClaim): string => `${runPath(run)}/missing.json`

/** @param paths files of the windows that are pulled before */
export const closeGap = (
  service: PullService,
  claim: RunClaim,
  settings: PullSettings,
  plan: PullPlan,
  paths: readonly string[],
  options: PullOptions,
): GapClosing => {
  const windows = windowsOf(plan)
  let found: Promise<readonly bigint[]> | undefined
  return {
    windows,
    pull: async (index, path, signal) => {
      // Found once for all: which window has which companies must not change.
      found ??= missingOf(service, claim, settings, plan, paths, { ...options, signal })
      const ids = sliceOf(await found, index, windows.length)
      const { currency, pageSize, cap } = settings
      const name = windows[index]?.name ?? ''
      const groups = groupsOf(ids, Math.min(LIMITS.idsPerRequest, cap))
      return pullWindow(
        { content: 'companies', name, searches: groups.map(searchForIds), currency, pageSize },
        {
          ...{ service, path, signal },
          cutAgain: async () => [],
          onPage: (checkpoint) => options.onEvent?.({ kind: 'page', window: name, checkpoint }),
        },
      )
    },
  }
}

/** As many windows as the plan expects companies for, so that a resumed run has the same. */
const windowsOf = ({ closing, search, from, to }: PullPlan): RunWindow[] => {
  if (closing === undefined || closing.steps.length === 0) return []
  const count = Math.max(1, Math.ceil(closing.expected / WINDOW_COMPANIES))
  const requested =
    from === undefined && to === undefined ? null : { ...(from && { from }), ...(to && { to }) }
  return Array.from({ length: count }, (_, at) => ({
    name: `companies in no window ${at + 1}/${count}, by InternalId`,
    // The manifest keeps the search that found them: thousands of ids would stand in every snapshot.
    ...{ search, requested, growing: false, closing: true as const },
  }))
}

/** The companies of one window; the last takes what is more than was expected. */
const sliceOf = (ids: readonly bigint[], index: number, windows: number): readonly bigint[] =>
  ids.slice(index * WINDOW_COMPANIES, index === windows - 1 ? undefined : (index + 1) * WINDOW_COMPANIES)

const missingOf = async (
  service: PullService,
  claim: RunClaim,
  { currency }: PullSettings,
  { gaps, closing }: PullPlan,
  paths: readonly string[],
  { concurrency, signal, onEvent }: PullOptions,
): Promise<readonly bigint[]> => {
  const stored = await storedIds(claim)
  if (stored) return stored
  if (gaps === undefined || closing === undefined) return []
  const brought = await IdSet.read(paths.map(idsPath))
  const folder = `${windowsFolder(claim)}/gaps`
  await makeRunFolder(folder)
  const ids = await listGaps({ gaps, closing }, (id) => brought.has(id), {
    ...{ service, currency, signal, folder, keepLines: false, concurrency },
    onPage: (records) => onEvent?.({ kind: 'listed', records }),
  })
  try {
    await storageOf(claim.lake).create(idsName(claim), `${JSON.stringify(ids.map(String))}\n`)
  } catch (error) {
    throw writeError(`Cannot write what run "${claim.run}" misses`, error)
  }
  return ids
}

/** @throws {ToolkitError} RUN_NOT_RESUMABLE */
const storedIds = async (claim: RunClaim): Promise<readonly bigint[] | undefined> => {
  const text = await storageOf(claim.lake).read(idsName(claim))
  if (text === null) return undefined
  try {
    const value: unknown = JSON.parse(text.toString('utf8'))
    if (Array.isArray(value) && value.every((id) => /^-?\d+$/.test(String(id)))) return value.map(BigInt)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new ToolkitError(
    'RUN_NOT_RESUMABLE',
    `Cannot resume run "${claim.run}": the list of what it misses is damaged`,
    {
      run: claim.run,
    },
  )
}
