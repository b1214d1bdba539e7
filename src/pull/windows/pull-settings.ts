/** The settings of a pull, its plan, its progress, and the checks before there is a run. */

import { DEFAULT_CURRENCY } from '../../contract/limits.ts'
import type { Content } from '../../contract/objects.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { Snapshot } from '../../core/partition.ts'
import { type PageKind, type PageLines, pageLines } from '../../decode/page-lines.ts'
import type { PullJob } from '../../run/run-plan.ts'
import type { Service } from '../../source/service/service.ts'
import type { ClosingPlan } from './plan-closing.ts'
import type { WindowPlan } from './plan-windows.ts'
import { checkParameterName, checkSearch, type LiveParameter, sameSearch } from './search.ts'
import type { Since } from './since-last.ts'
import { isDay } from './window-axes.ts'
import type { Checkpoint } from './window-file.ts'

/** The calls of a service that pulling needs. */
export type PullService = Pick<Service, 'origin' | 'clock' | 'page' | 'totalCount' | 'parameters'>

/** As JSON: a run with equal settings is resumed. */
export type PullSettings = Omit<PullJob, 'kind' | 'url'>

/**
 * Checks settings against the live parameters. @returns those
 *
 * @throws {ToolkitError} SEARCH_MISSING, PARAMETER_REFUSED, VALUES_REFUSED, USAGE, and what the service throws
 */
export const checkSettings = async (
  service: Pick<PullService, 'parameters'>,
  { content, search, by, since, until }: Omit<PullSettings, 'pageSize' | 'cap'>,
  signal?: AbortSignal,
): Promise<readonly LiveParameter[]> => {
  checkDay('--since', since === 'last' ? undefined : since)
  checkDay('--until', until)
  if (since !== undefined && until !== undefined && since !== 'last' && since > until)
    throw new ToolkitError(
      'USAGE',
      `Cannot search from --since ${since} to --until ${until}: --since is after --until`,
    )
  const parameters = await service.parameters(content, signal && { signal })
  checkSearch(content, search, parameters)
  if (by !== undefined) checkParameterName(content, by, parameters)
  return parameters
}

const checkDay = (option: string, day: string | undefined): void => {
  if (day === undefined || isDay(day)) return
  throw new ToolkitError('USAGE', `Cannot read ${option} "${day}": expected a day such as 2026-01-31`)
}

/** The service with its listings asked for once. */
export const rememberParameters = (service: Service): Service => {
  const known = new Map<Content, ReturnType<Service['parameters']>>()
  return {
    ...service,
    parameters: (content, options) => {
      const found = known.get(content) ?? service.parameters(content, options)
      known.set(content, found)
      return found
    },
  }
}

/** A plan as it was made for one run. */
export interface PullPlan extends WindowPlan {
  /** When the service was asked first, by its own clock; ISO 8601 in UTC. */
  readonly asOf: string
  /** Origin of the first day, when it was not given. */
  readonly since?: Since
  /** Records of the search without the date that "since last" goes by; absent where there are none. */
  readonly undated?: number
  /** How what no window covers is found; absent where nothing is missing, or nothing is to be done about it. */
  readonly closing?: ClosingPlan
}

export type PullEvent =
  | { readonly kind: 'planned'; readonly plan: PullPlan; readonly resumed: boolean }
  /** A page more is on the disk. */
  | { readonly kind: 'page'; readonly window: string; readonly checkpoint: Checkpoint }
  | { readonly kind: 'pulled'; readonly window: string; readonly checkpoint: Checkpoint }
  /** A page of companies was searched for those that no window covers. */
  | { readonly kind: 'listed'; readonly records: number }
  | { readonly kind: 'warning'; readonly text: string }

export interface PullingOptions {
  /** A monotonic clock. @default `performance.now` */
  readonly nowMs?: (() => number) | undefined
  /** Windows pulled side by side. */
  readonly concurrency: number
  readonly signal?: AbortSignal | undefined
  readonly onEvent?: ((event: PullEvent) => void) | undefined
}

/** The currency of the newest pull of the same search, where another one is asked for now. */
export const otherCurrency = (
  snapshot: Pick<Snapshot, 'pulls'> | null,
  { content, search, currency = DEFAULT_CURRENCY }: Pick<PullSettings, 'content' | 'search' | 'currency'>,
): string | undefined => {
  if (content !== 'companies') return undefined
  const last = snapshot?.pulls?.findLast(
    (pull) => pull.content === content && sameSearch(pull.search, search),
  )
  if (last === undefined) return undefined
  const before = last.currency ?? DEFAULT_CURRENCY
  return before.toUpperCase() === currency.toUpperCase() ? undefined : before
}

/** @throws {ToolkitError} CURRENCY_CHANGED where a search was pulled in another currency before */
export const checkPullCurrency = (
  snapshot: Pick<Snapshot, 'pulls'> | null,
  settings: Pick<PullSettings, 'content' | 'search' | 'currency'>,
): void => {
  const before = otherCurrency(snapshot, settings)
  if (before === undefined) return
  const { currency } = settings
  const now = currency ?? `${DEFAULT_CURRENCY} (without --currency)`
  throw new ToolkitError(
    'CURRENCY_CHANGED',
    `Cannot pull companies in ${now}: the lake's last pull of this search was in ${before}, expected ` +
      `--currency ${before}; --change-currency replaces the figures`,
    { from: before, to: currency ?? DEFAULT_CURRENCY },
  )
}

/**
 * Reads pages of one kind. A page that lost records, or all of them, would else look like a short or a last one.
 *
 * @throws {ToolkitError} as `pageLines`; ANSWER_INVALID `'half'` (ask again) where the counts differ
 */
export const checkPageCount =
  (kind: PageKind) =>
  (body: Buffer, { Count }: { readonly Count: number }): PageLines => {
    const page = pageLines(body, kind)
    if (page.records === Count) return page
    throw new ToolkitError(
      'ANSWER_INVALID',
      `Cannot read a page: it has ${page.records} records, its X-Pagination says ${Count}`,
      { kind: 'half' },
    )
  }
