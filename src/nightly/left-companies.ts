/** Whether a night has looked for companies that left the service, and what its result says of that. */

import { lastLookedFor } from '../core/last-listings.ts'
import type { PullEntry } from '../core/partition.ts'
import type { PartOutcome } from './load-together.ts'
import type { NightPart } from './night-parts.ts'

const isOfCompanies = ({ part: { job } }: PartOutcome): boolean =>
  job.kind === 'sync' || (job.kind === 'pull' && job.content === 'companies')

const hasLooked = (outcome: PartOutcome): boolean =>
  outcome.kind === 'loaded' && outcome.pulled?.listing?.kind === 'whole'

/** A part that should bring changes of companies and did not look for those that left says so. @param known the pulls of the lake */
export const withUnlooked = (
  part: NightPart,
  outcome: PartOutcome,
  known: readonly PullEntry[],
): NightPart => {
  const { job } = outcome.part
  if (outcome.kind !== 'loaded' || !isOfCompanies(outcome) || hasLooked(outcome)) return part
  if (job.kind !== 'sync' && job.kind !== 'pull') return part
  const since = lastLookedFor(known, { service: new URL(job.url).origin, search: job.search })
  const text = `left companies: ${since === undefined ? 'never looked for' : `not looked for since ${since.slice(0, 10)}`}`
  return { ...part, reason: [...(part.reason ? [part.reason] : []), text].join('; ') }
}

/** Companies that left, by search; `null` where the night asks for companies and has looked for none that left. */
export const goneOf = (outcomes: readonly PartOutcome[]): { readonly gone?: readonly object[] | null } => {
  const runs = new Map(
    outcomes.flatMap((one) => (one.kind === 'loaded' ? [[one.summary.run, one.summary]] : [])),
  )
  const gone = [...runs.values()].flatMap((one) => one.gone ?? [])
  if (gone.length > 0) return { gone }
  return outcomes.some(isOfCompanies) && !outcomes.some(hasLooked) ? { gone: null } : {}
}
