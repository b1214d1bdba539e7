/** Several pulls of one service in one run: one snapshot shows all of them, and none is made where nothing came. */

import { isFinal, ToolkitError } from '../../core/errors.ts'
import { rootIfAny } from '../../manifest/snapshots.ts'
import type { LoadSummary } from '../run/commit-loaded.ts'
import { defaultLimits, loadIntoLake } from '../run/load-into-lake.ts'
import type { PullJob, RunPlan } from '../run/run-plan.ts'
import { withRun } from '../run/with-run.ts'
import {
  currencyBefore,
  type OpenedPull,
  openPullJob,
  type PullRunOptions,
  type PullSummary,
} from './pull.ts'
import { checkSettings, type PullSettings, rememberParameters } from './pull-settings.ts'

/** What became of one pull of several. */
export type PulledPart =
  | ({ readonly kind: 'pulled'; readonly settings: PullSettings } & Pick<
      PullSummary,
      'summary' | 'entry' | 'plan' | 'windows'
    >)
  /** It can only fail again; it held back none of the others. */
  | { readonly kind: 'failed'; readonly settings: PullSettings; readonly error: ToolkitError }

const finalError = (error: unknown): ToolkitError => {
  if (error instanceof ToolkitError && isFinal(error)) return error
  throw error
}

/** Why a pull cannot be done, as far as that is known before it begins. */
const refusalOf = async (
  settings: PullSettings,
  options: PullRunOptions,
): Promise<ToolkitError | undefined> => {
  try {
    await checkSettings(options.service, settings, options.signal)
    await currencyBefore(settings, options)
    return undefined
  } catch (error) {
    return finalError(error)
  }
}

/** All in one run. What can only fail again leaves no run behind. */
const inOneRun = async (
  url: string,
  all: readonly [PullSettings, ...PullSettings[]],
  options: PullRunOptions,
): Promise<readonly PulledPart[] | ToolkitError> => {
  const [first, ...others] = all.map((settings): PullJob => ({ kind: 'pull', url, ...settings }))
  if (first === undefined) return []
  const plan: RunPlan = { jobs: [first, ...others], again: false, limits: defaultLimits(options) }
  const { lake, mode } = options
  // A lake that is new gets its first snapshot, whatever came: what follows a night finds a lake.
  const onlyRows = (await rootIfAny(lake)) !== null
  return withRun({ lake, plan, mode }, async (run) => {
    try {
      const opened: { readonly settings: PullSettings; readonly pull: OpenedPull }[] = []
      for (const [job, settings] of all.entries())
        opened.push({ settings, pull: await openPullJob({ ...run, job }, settings, options) })
      const jobs = opened.map(({ pull }) => pull)
      const loaded = await loadIntoLake(run, plan, jobs, { ...options, onlyRows })
      return opened.map(({ settings, pull: { entry, plan: windows, windows: pulled } }): PulledPart => {
        const summary = ofContent(loaded, settings)
        return { kind: 'pulled', settings, summary, entry: entry(), plan: windows, windows: pulled() }
      })
    } catch (error) {
      return finalError(error)
    }
  })
}

/** The part of a run that one pull brought. */
const ofContent = (summary: LoadSummary, { content }: PullSettings): LoadSummary => ({
  ...summary,
  partitions: summary.partitions.filter((partition) => partition.content === content),
})

/**
 * Pulls several searches, of different contents, in one commit. One that can only fail again holds back none of the others:
 * it is left out where that is known before, else each is done in a run of its own.
 *
 * @returns what became of each, in their order
 * @throws {ToolkitError} what may be otherwise later, such as SERVICE_BUSY, SERVICE_FAILED, DISK_FULL, INTERRUPTED: the same
 *   call goes on where it was
 */
export const pullTogether = async (
  url: string,
  searches: readonly PullSettings[],
  { service, ...given }: PullRunOptions,
): Promise<readonly PulledPart[]> => {
  const options = { ...given, service: rememberParameters(service) }
  const parts = new Map<PullSettings, PulledPart>()
  const failed = (settings: PullSettings, error: ToolkitError): void => {
    parts.set(settings, { kind: 'failed', settings, error })
  }
  for (const settings of searches) {
    const error = await refusalOf(settings, options)
    if (error) failed(settings, error)
  }
  const attempt = async (left: readonly PullSettings[]): Promise<void> => {
    const [first, ...others] = left
    if (first === undefined) return
    const done = await inOneRun(url, [first, ...others], options)
    if (!(done instanceof ToolkitError)) for (const part of done) parts.set(part.settings, part)
    else if (others.length === 0) failed(first, done)
    else for (const one of left) await attempt([one])
  }
  await attempt(searches.filter((settings) => !parts.has(settings)))
  return searches.flatMap((settings) => parts.get(settings) ?? [])
}
