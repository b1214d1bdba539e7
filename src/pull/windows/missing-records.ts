/** How much of what the service counts has not come: what the last answers of its windows said, and the rest of a gap. */

import type { PullEntry } from '../../core/partition.ts'
import type { NotDelivered } from '../../run/opened-job.ts'

/** Fewer may have changed meanwhile, and so have moved between windows or out of the search: more than both is missing. */
const TOLERATED = { records: 10, share: 0.001 } as const

const isMissing = (counted: number, came: number): boolean =>
  counted - came > Math.max(TOLERATED.records, counted * TOLERATED.share)

/** Both numbers of a pull, where more is missing than can have moved. A gap that is left out on request is not. */
export const missingFrom = (
  { announced, received }: Pick<PullEntry, 'announced' | 'received'>,
  { closeGap }: { readonly closeGap?: boolean | undefined },
  plan: { readonly announced: number; readonly planned: number },
): NotDelivered | undefined => {
  const asked = announced - (closeGap === false ? Math.max(0, plan.announced - plan.planned) : 0)
  return isMissing(asked, received) ? { kind: 'counted', asked, came: received } : undefined
}

/** Whether a pull did not bring what its windows had when it was planned. */
export const isShort = ({ planned, received }: Pick<PullEntry, 'planned' | 'received'>): boolean =>
  isMissing(planned, received)
