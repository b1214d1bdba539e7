/**
 * Goes through the lists of a closing plan and finds the companies that were not pulled yet. Each list is a file of
 * ids, there when it is whole, so that an interrupted run does not ask for it again.
 */

import { join } from 'node:path'
import { writeError } from '../../core/errors.ts'
import { type GapsToList, goThroughGaps, type TakeIds } from './gap-steps.ts'
import { idsPath, readIds, writeIdsFile } from './id-set.ts'
import { eachPage, isListed, type ListingOptions, writeListing } from './listing.ts'
import type { PlannedListing } from './plan-closing.ts'

export interface GapListingOptions
  extends Pick<ListingOptions, 'service' | 'currency' | 'signal' | 'onPage'> {
  /** Folder of the files; there is one already. */
  readonly folder: string
  /** Whether the records themselves are kept too, as JSON Lines. */
  readonly keepLines: boolean
  /** Lists gone through at once. */
  readonly concurrency: number
}

/**
 * @param isKnown whether a company was brought otherwise
 * @returns the companies that were not, by id
 */
export const listGaps = (
  gaps: GapsToList,
  isKnown: (id: bigint) => boolean,
  options: GapListingOptions,
): Promise<readonly bigint[]> =>
  goThroughGaps(gaps, {
    ...{ isKnown, concurrency: options.concurrency, signal: options.signal },
    list: (listing, number, take) => listOne(listing, listingPath(options.folder, number), take, options),
  })

const listingPath = (folder: string, number: number): string =>
  join(folder, `gap-${String(number).padStart(5, '0')}.jsonl`)

const listOne = async (
  listing: PlannedListing,
  path: string,
  take: TakeIds,
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
