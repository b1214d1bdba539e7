/** How much a run may have of something bad: bad lines and still commit, companies that are gone and still say so. */

import { ToolkitError } from '../core/errors.ts'
import { isReplay } from '../core/source-kinds.ts'
import { sumOf } from '../manifest/form/totals.ts'
import type { QuarantineLimit } from '../options/value-types.ts'
import { formatBeside, formatCount, formatPercent } from '../support/format.ts'
import type { CommitRule } from './commit-rule.ts'
import type { StagedRun } from './staged-files.ts'

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

/** Refuses a run with too many bad lines. Those that were bad before may be bad again: they do not count. */
export const quarantineLimit = (
  { lake, run, partitions }: StagedRun,
  limit: QuarantineLimit,
): CommitRule => ({
  look: async () => {
    const counts = partitions.flatMap((one) => (isReplay(one.source) ? [] : [one.counts]))
    const lines = sumOf(counts, (one) => one.lines)
    const quarantined = sumOf(counts, (one) => one.quarantined)
    if (withinLimit(limit, quarantined, lines)) return undefined
    const excess = `${excessText(limit, quarantined, lines, 'lines are bad')} of --max-quarantined`
    throw new ToolkitError(
      'QUARANTINE_LIMIT',
      `Cannot commit run "${run}": ${excess}; see "firmlake quarantine list --lake ${lake} --run ${run}"`,
      { run, quarantined, lines, excess },
    )
  },
})
