/** What a plan will cost, estimated before anything is pulled. */

import { LIMITS } from '../../contract/limits.ts'
import { type ClosingPlan, listingPages } from './plan-closing.ts'
import type { WindowPlan } from './plan-windows.ts'

export interface PlanEstimate {
  /** Pages that hold records. */
  readonly pages: number
  /** Pages, and for each window the empty one that may end it. */
  readonly requests: number
  /** Of these to find and fetch what no window covers, at most: lists of companies, and pages. */
  readonly closing?: { readonly lists: number; readonly pages: number }
  /** At least so long, in seconds: a page is assumed to take no longer than a count. */
  readonly seconds: number
  /** Why batch files would be the better way; absent where they would not. */
  readonly batchFiles?: string
}

export interface Pace {
  readonly pageSize: number
  /** Windows pulled side by side. */
  readonly concurrency: number
  /** Limit set by the person, else learnt. */
  readonly requestsPerSecond?: number | undefined
}

/** Page requests beyond which whole files are the better way. */
const MOST_PAGES = 1000

const closingRequests = ({ steps, expected }: ClosingPlan): NonNullable<PlanEstimate['closing']> => ({
  lists: steps.flatMap(({ listings }) => listings).reduce((sum, one) => sum + listingPages(one), 0),
  pages: Math.ceil(expected / LIMITS.idsPerRequest),
})

export const estimatePlan = (
  plan: WindowPlan & { readonly closing?: ClosingPlan },
  pace: Pace,
): PlanEstimate => {
  const { pageSize, concurrency, requestsPerSecond = Number.POSITIVE_INFINITY } = pace
  const pages = plan.windows.reduce((sum, { announced }) => sum + Math.ceil(announced / pageSize), 0)
  const closing = plan.closing && closingRequests(plan.closing)
  const requests = pages + plan.windows.length + (closing ? closing.lists + closing.pages : 0)
  const atOnce = Math.max(1, Math.min(concurrency, plan.windows.length))
  const seconds = Math.max((requests * plan.probeMs) / 1000 / atOnce, requests / requestsPerSecond)
  const gap = plan.announced - plan.planned - (plan.closing?.expected ?? 0)
  const reasons = [
    ...(pages > MOST_PAGES ? [`${pages} pages are more than ${MOST_PAGES}`] : []),
    ...(gap > 0 ? [`no window covers ${gap} of ${plan.announced} records`] : []),
  ]
  return {
    pages,
    requests,
    ...(closing && { closing }),
    seconds,
    ...(reasons.length > 0 && { batchFiles: reasons.join(', and ') }),
  }
}
