/** How much a run may have of something bad: bad lines and still commit, companies that are gone and still say so. */

import { ToolkitError } from '../core/errors.ts'
import { formatBeside, formatCount, formatPercent } from '../support/format.ts'

/** A number of lines, or of companies, or a share of all. */
export type QuarantineLimit =
  | { readonly kind: 'count'; readonly lines: number }
  | { readonly kind: 'share'; readonly share: number }

/** One in a hundred: more than stray bad lines means that the source or the contract has changed. */
export const DEFAULT_MAX_QUARANTINED = '1%'

/** One in fifty: more is rather a listing that is not what it seems. */
export const DEFAULT_MAX_GONE = '2%'

const limitReader =
  (option: string) =>
  (text: string): QuarantineLimit => {
    const share = /^(\d+(?:\.\d+)?)%$/.exec(text)
    if (share && Number(share[1]) <= 100) return { kind: 'share', share: Number(share[1]) / 100 }
    if (/^\d+$/.test(text)) return { kind: 'count', lines: Number(text) }
    throw new ToolkitError(
      'USAGE',
      `Cannot read ${option} "${text}": expected a count such as 25 or a share such as 5%`,
    )
  }

/** Reads `25` or `0.5%`. @throws {ToolkitError} USAGE */
export const parseQuarantineLimit = limitReader('--max-quarantined')
/** The same of `--max-gone`. @throws {ToolkitError} USAGE */
export const parseMaxGone = limitReader('--max-gone')

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
