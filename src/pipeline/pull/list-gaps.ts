/**
 * Goes through the lists of a closing plan and finds the companies that were not pulled yet. Each list is a file of
 * ids, there when it is whole, so that an interrupted run does not ask for it again.
 */

import { join } from 'node:path'
import type { SearchParameters } from '../../contract/requests.ts'
import { writeError } from '../../core/errors.ts'
import { sideBySide } from '../../support/side-by-side.ts'
import { idValue } from './exact-search.ts'
import { idsPath, readIds, writeIdsFile } from './id-set.ts'
import { eachPage, isListed, type ListingOptions, writeListing } from './listing.ts'
import type { ClosingPlan, PlannedListing } from './plan-closing.ts'
import type { PlannedGap } from './plan-windows.ts'

export interface GapListingOptions
  extends Pick<ListingOptions, 'service' | 'currency' | 'signal' | 'onPage'> {
  /** Folder of the files; there is one already. */
  readonly folder: string
  /** Whether the records themselves are kept too, as JSON Lines. */
  readonly keepLines: boolean
  /** Lists gone through at once. */
  readonly concurrency: number
}

/** What a plan leaves out, with the search that it is of. */
export interface GapsToList {
  readonly gaps: readonly PlannedGap[]
  readonly closing: ClosingPlan
}

/**
 * @param isKnown whether a company was brought otherwise
 * @returns the companies that were not, by id
 */
export const listGaps = async (
  { gaps, closing }: GapsToList,
  isKnown: (id: bigint) => boolean,
  options: GapListingOptions,
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
    const take = (ids: BigInt64Array): boolean => {
      const size = found.size
      for (const id of ids) if (!isKnown(id)) found.add(id)
      return found.size > size
    }
    // Reading one end of an order depends on what the other end gave.
    const atOnce = step.listings.some(({ probe }) => probe) ? 1 : options.concurrency
    await sideBySide(
      step.listings,
      atOnce,
      (listing, at) => listOne(listing, listingPath(options.folder, first + at), take, options),
      options.signal,
    )
    ofGap[step.gap] = (ofGap[step.gap] ?? 0) + found.size - before
  }
  return [...found].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
}

const listingPath = (folder: string, number: number): string =>
  join(folder, `gap-${String(number).padStart(5, '0')}.jsonl`)

/** @param take takes the ids of a page; returns whether one of them was new */
const listOne = async (
  listing: PlannedListing,
  path: string,
  take: (ids: BigInt64Array) => boolean,
  options: GapListingOptions,
): Promise<void> => {
  // The records are written behind their ids: a killed process may leave those alone.
  const isWhole = !options.keepLines || (await isListed(path))
  const listed = isWhole ? await readIds(idsPath(path)) : undefined
  if (listed) {
    take(listed)
    return
  }
  const pages: { readonly lines: Buffer; readonly ids: BigInt64Array }[] = []
  await eachPage(listing, options, ({ ids, lines, records }) => {
    pages.push({ ids, lines: options.keepLines ? lines : NO_LINES })
    options.onPage?.(records)
    const isNew = take(ids)
    return isNew || !listing.probe
  })
  if (options.keepLines) return writeListing(path, pages)
  try {
    await writeIdsFile(
      idsPath(path),
      pages.map(({ ids }) => ids),
    )
  } catch (error) {
    throw writeError(`Cannot write the listing "${path}"`, error)
  }
}

const NO_LINES = Buffer.alloc(0)

/** A search for some companies by their ids. */
export const searchForIds = (ids: readonly bigint[]): SearchParameters => ({
  InternalId: ids.map(idValue),
})
