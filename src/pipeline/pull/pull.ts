/** Puts the parts of a pull together: the service → windows on the disk → load → the Parquet lake. */

import { randomBytes } from 'node:crypto'
import type { Content } from '../../contract/objects.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { PullEntry } from '../../core/partition.ts'
import type { RunLease } from '../../manifest/run-lease.ts'
import { newestSnapshot, snapshotIfAny } from '../../manifest/snapshots.ts'
import type { Service, ServiceCounters } from '../../source/service/service.ts'
import { orGiveUp, orRelease } from '../run/give-up.ts'
import { defaultLimits, loadIntoLake, type RunOptions } from '../run/load-into-lake.ts'
import type { LoadSummary } from '../run/load-sources.ts'
import { type RunPlan, startRun } from '../run/start-run.ts'
import { checkPullCurrency, otherCurrency } from './check-pull-currency.ts'
import { openPull, planOfRun, planPull } from './plan-pull.ts'
import type { PullEvent, PullPlan } from './pull-plan.ts'
import { checkSettings, type PullSettings, rememberParameters } from './pull-settings.ts'
import { isSearch } from './search.ts'

export interface PullRunOptions extends RunOptions {
  readonly service: Service
  /** Windows pulled side by side. */
  readonly concurrency: number
  readonly onPull?: ((event: PullEvent) => void) | undefined
}

/** One window as it was pulled. */
export interface PulledWindow {
  readonly name: string
  /** When it was planned; absent in a sync, whose windows are lists of companies. */
  readonly planned?: number
  readonly announced: number
  readonly received: number
  readonly pages: number
}

export interface PullSummary {
  readonly summary: LoadSummary
  /** Of the last pull of this search, where this one is in another. */
  readonly currencyBefore?: string
  readonly entry: PullEntry
  readonly plan: PullPlan
  readonly windows: readonly PulledWindow[]
  readonly counters: ServiceCounters
}

/** Starts or takes up the run of a pull, and works on it. `url` is where a resumed run finds the service. */
export const pull = async (
  url: string,
  settings: PullSettings,
  options: PullRunOptions,
): Promise<PullSummary> => {
  const service = rememberParameters(options.service)
  // Before a run, and possibly a lake, is made for a search that is impossible.
  await checkSettings(service, settings, options.signal)
  const before = await currencyBefore(settings, options)
  const plan: RunPlan = {
    ...{ pipeline: 'pull', inputs: [], cwd: '', content: settings.content, again: false },
    limits: defaultLimits(options),
    settings: { url, ...settings },
  }
  const lease = await startRun({
    lake: options.lake,
    plan,
    now: new Date(),
    random: randomBytes,
    mode: options.mode,
  })
  return { ...(await workOnPull(lease, plan, settings, { ...options, service })), ...before }
}

/** The currency that a search was pulled in before, where it is another. @throws {ToolkitError} CURRENCY_CHANGED */
export const currencyBefore = async (
  settings: PullSettings,
  { lake, changeCurrency }: Pick<RunOptions, 'lake' | 'changeCurrency'>,
): Promise<{ readonly currencyBefore?: string }> => {
  const snapshot = await snapshotIfAny(lake)
  if (!changeCurrency) checkPullCurrency(snapshot, settings)
  const other = otherCurrency(snapshot, settings)
  return other === undefined ? {} : { currencyBefore: other }
}

/** Works on a run of a pull that is already leased. */
export const workOnPull = async (
  lease: RunLease,
  plan: RunPlan,
  settings: PullSettings,
  options: PullRunOptions,
): Promise<PullSummary> => {
  const { service, concurrency, signal, onPull, lake } = options
  const shared = { nowMs: () => performance.now(), concurrency, signal, onEvent: onPull }
  const { plan: windows, resumed } = await orGiveUp(lease, async () =>
    planOfRun(lease, async () => planPull(service, settings, await newestSnapshot(lake), shared)),
  )
  onPull?.({ kind: 'planned', plan: windows, resumed })
  const opened = await orRelease(lease, () => openPull(service, lease, settings, windows, shared))
  try {
    const pulls = (): PullEntry[] => [opened.entry()]
    const summary = await loadIntoLake(lease, plan, opened.sources, { ...options, pulls })
    const pulled = opened.checkpoints().map((checkpoint, at) => ({
      name: opened.sources[at]?.name ?? '',
      planned: windows.windows[at]?.announced ?? 0,
      announced: checkpoint?.announced ?? 0,
      received: checkpoint?.records ?? 0,
      pages: checkpoint?.pages ?? 0,
    }))
    return { summary, entry: opened.entry(), plan: windows, windows: pulled, counters: service.counters() }
  } finally {
    await opened.stop()
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** The settings of a run's plan. @throws {ToolkitError} RUN_NOT_RESUMABLE */
export const settingsOf = (
  run: string,
  { content, settings = {} }: RunPlan,
): { readonly url: string; readonly settings: PullSettings } => {
  const { url, search, pageSize, cap } = settings
  if (
    typeof url !== 'string' ||
    !isSearch(search) ||
    typeof pageSize !== 'number' ||
    typeof cap !== 'number' ||
    (content !== 'companies' && content !== 'relations')
  )
    throw new ToolkitError(
      'RUN_NOT_RESUMABLE',
      `Cannot resume run "${run}": its plan is of another version`,
      {
        run,
      },
    )
  const known: Content = content
  const [currency, since, until, by] = [settings.currency, settings.since, settings.until, settings.by].map(
    textOf,
  )
  const closeGap = settings.closeGap === false ? false : undefined
  return { url, settings: { content: known, search, pageSize, cap, currency, since, until, by, closeGap } }
}
