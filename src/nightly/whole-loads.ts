/** The pulls of a night that ask for all of their search: when one is due, and when a quiet one is written down. */

import type { PullEntry } from '../core/partition.ts'
import { sameSearch } from '../pull/windows/search.ts'
import type { PullJob } from '../run/run-plan.ts'
import { DAY_MS } from '../support/quantities.ts'
import type { LoadPart } from './open-loads.ts'

/** Longest time between two whole pulls of a search, in days: a night of its weekday may have been missed. */
const WEEK = 7
/** A listing that finds nothing new makes a snapshot once its record in the manifest is so old, in days. */
const RECORDED_EVERY = 6

type Searched = Pick<PullJob, 'content' | 'search'> & { readonly url: string }

const daysSince = (asOf: string, now: Date): number =>
  Math.floor(now.getTime() / DAY_MS) - Math.floor(Date.parse(asOf) / DAY_MS)

/** Days since all of a search was asked for, by the manifest; `undefined` where it never was. */
const daysSinceWhole = (
  pulls: readonly PullEntry[],
  { content, search, url }: Searched,
  now: Date,
): number | undefined => {
  const last = pulls.findLast(
    (one) =>
      one.from === undefined &&
      one.to === undefined &&
      one.content === content &&
      one.service === new URL(url).origin &&
      sameSearch(one.search, search),
  )
  return last && daysSince(last.asOf, now)
}

/**
 * Whether tonight is the night for all of a search: on its weekday, and where the last time is longer ago than a week.
 *
 * @param weekday as `Date.getUTCDay` counts
 */
export const isWholeDue = (
  pulls: readonly PullEntry[],
  searched: Searched,
  weekday: number,
  now: Date,
): boolean => {
  const days = daysSinceWhole(pulls, searched, now) ?? Number.POSITIVE_INFINITY
  return days > WEEK || (days > 0 && now.getUTCDay() === weekday)
}

/** Whether the night has a listing of all of a search whose record is old: it is written down though nothing came. */
export const recordsListing = (
  parts: readonly Pick<LoadPart, 'job'>[],
  pulls: readonly PullEntry[],
  now: Date,
): boolean =>
  parts.some(({ job }) => {
    if (job.kind !== 'sync' && job.kind !== 'pull') return false
    if (job.since !== undefined || job.until !== undefined) return false
    return (daysSinceWhole(pulls, job, now) ?? RECORDED_EVERY) >= RECORDED_EVERY
  })
