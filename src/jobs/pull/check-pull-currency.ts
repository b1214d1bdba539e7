/** A search that was pulled before has its currency: known before a run begins. */

import { DEFAULT_CURRENCY } from '../../contract/limits.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { Snapshot } from '../../core/partition.ts'
import type { PullSettings } from './pull-settings.ts'
import { sameSearch } from './search.ts'

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
