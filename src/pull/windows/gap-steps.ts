/** Goes through the steps of a closing plan, as long as something of a gap is missing. How a list is read is the caller's. */

import type { SearchParameters } from '../../contract/requests.ts'
import { sideBySide } from '../../support/side-by-side.ts'
import type { ClosingPlan, PlannedListing } from './plan-closing.ts'
import type { PlannedGap } from './plan-windows.ts'

/** The part that a plan leaves out, with its search. */
export interface GapsToList {
  readonly gaps: readonly PlannedGap[]
  readonly closing: ClosingPlan
}

/** Takes the ids of a page; returns whether one of them was new. */
export type TakeIds = (ids: BigInt64Array) => boolean

interface GapSteps {
  /** Whether a company was brought otherwise. */
  readonly isKnown: (id: bigint) => boolean
  /** Lists gone through at once. */
  readonly concurrency: number
  readonly signal?: AbortSignal | undefined
  /** Reads a list. @param number its place among all of the plan */
  readonly list: (listing: PlannedListing, number: number, take: TakeIds) => Promise<void>
}

/** @returns the companies that were not brought otherwise, by id */
export const goThroughGaps = async (
  { gaps, closing }: GapsToList,
  { isKnown, concurrency, signal, list }: GapSteps,
): Promise<readonly bigint[]> => {
  const found = new Set<bigint>()
  const ofGap = gaps.map(() => 0)
  let number = 0
  for (const step of closing.steps) {
    const first = number
    number += step.listings.length
    // Nothing is missing there any more.
    if ((ofGap[step.gap] ?? 0) >= (gaps[step.gap]?.missing ?? 0)) continue
    const before = found.size
    const take: TakeIds = (ids) => {
      const size = found.size
      for (const id of ids) if (!isKnown(id)) found.add(id)
      return found.size > size
    }
    // Reading one end of an order depends on what the other end gave.
    const atOnce = step.listings.some(({ probe }) => probe) ? 1 : concurrency
    await sideBySide(step.listings, atOnce, (listing, at) => list(listing, first + at, take), signal)
    ofGap[step.gap] = (ofGap[step.gap] ?? 0) + found.size - before
  }
  return [...found].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}

/** The parts of a search that has outgrown its plan. */
export interface CutParts {
  readonly searches: readonly SearchParameters[]
  /** Records in none of the parts. */
  readonly missing: number
  /** How those are found; absent where nothing is missing, or nothing is to be done about it. */
  readonly gaps?: GapsToList
}
