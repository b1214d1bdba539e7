/** A comparison of snapshots as text for people. */

import type { DiffSummary } from '../../lake/diff/open-comparison.ts'
import { formatCount, formatInstant } from '../../support/format.ts'

/** The counts of a comparison. */
export const diffSummaryLines = ({
  from,
  to,
  companies,
  relations,
  restatements,
}: DiffSummary): readonly string[] => {
  const n = formatCount
  const counts = (one: DiffSummary['relations']): string =>
    `${n(one.new)} new, ${n(one.changed)} changed, ${n(one.gone)} gone`
  const { changed, added, withdrawn, companies: restated } = restatements
  const currencies =
    companies.currencyChanged > 0
      ? `; ${n(companies.currencyChanged)} of those changed in another currency`
      : ''
  return [
    `From snapshot ${from.snapshot} (${formatInstant(from.time)}) to ${to.snapshot} (${formatInstant(to.time)})`,
    `companies:    ${counts(companies)}${currencies}`,
    `relations:    ${counts(relations)}`,
    `restatements: ${n(changed)} changed, ${n(added)} added, ${n(withdrawn)} withdrawn, of ${n(restated)} companies`,
  ]
}
