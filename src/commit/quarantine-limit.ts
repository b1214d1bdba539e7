/** How much a run may have of something bad: bad lines and still commit, companies that are gone and still say so. */

import type { QuarantineLimit } from '../options/value-types.ts'
import { formatBeside, formatCount, formatPercent } from '../support/format.ts'

/**
 * Found and allowed: `190 of 2,000 lines are bad (9.5 %), more than the 1 % of --max-quarantined`.
 *
 * @param what the bad ones in words, after their number
 */
export const excessText = (limit: QuarantineLimit, bad: number, all: number, what: string): string => {
  const found = `${formatCount(bad)} of ${formatCount(all)} ${what}`
  if (limit.kind === 'count') return `${found}, more than the ${formatCount(limit.lines)}`
  const [share, allowed] = formatBeside(bad / all, limit.share, formatPercent)
  return `${found} (${share}), more than the ${allowed}`
}

/** Whether so many bad ones of all are still allowed. */
export const withinLimit = (limit: QuarantineLimit, bad: number, all: number): boolean =>
  limit.kind === 'count' ? bad <= limit.lines : bad <= limit.share * all
