/**
 * The listing of a sync: what a search has now, with its timestamps, as minified records on the disk. Page mode
 * reaches only a few thousand of a search, so it comes in windows; each is one file, there when it is whole.
 */

import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LIMITS } from '../../contract/limits.ts'
import { FILTER_CLASSES, type SearchParameters, YEAR_SUFFIX } from '../../contract/requests.ts'
import { ToolkitError, writeError } from '../../core/errors.ts'
import type { PageLines } from '../../decode/page-lines.ts'
import type { PageRequest } from '../../source/service/service.ts'
import { createIfAbsent, replaceDurably } from '../../support/durable-files.ts'
import { hashFile, sha256Of } from '../../support/hash.ts'
import { listFolder, statPath } from '../../support/list-files.ts'
import { type CutParts, goThroughGaps } from './gap-steps.ts'
import { IdSet, idsPath, writeIdsFile } from './id-set.ts'
import { checkPageCount, type PullService } from './pull-settings.ts'
import { groupsOf, type IdValue, withFilter } from './search.ts'

export type ListingService = Pick<PullService, 'page' | 'parameters'>

export interface ListingOptions {
  readonly service: ListingService
  /** The currency that figures in the search are meant in. */
  readonly currency?: string | undefined
  /** Cuts a search that page mode no longer reaches, `atMost` records in each part. */
  readonly cutAgain: (search: SearchParameters, atMost: number) => Promise<CutParts>
  readonly signal?: AbortSignal | undefined
  readonly onPage?: ((records: number) => void) | undefined
}

/** Lists one window into its file; does nothing where an earlier process has listed it. */
export const listWindow = async (
  search: SearchParameters,
  path: string,
  options: ListingOptions,
): Promise<void> => {
  if (await isListed(path)) return
  await writeListing(path, await minified(search, options))
}

const hashPath = (path: string): string => path.replace(/\.jsonl$/, '.sha256')

/** Whether an earlier process has listed a window, and its file is as it was; a damaged one is listed again. */
export const isListed = async (path: string): Promise<boolean> => {
  if ((await statPath(path)) === null) return false
  const hash = await readFile(hashPath(path), 'utf8').catch(() => undefined)
  if (hash === undefined || hash === (await hashFile(path)).sha256) return true
  await rm(path, { force: true })
  return false
}

/** Writes a listing, and the ids of its records beside it. */
export const writeListing = async (path: string, pages: readonly ListedPage[]): Promise<void> => {
  try {
    const bytes = Buffer.concat(pages.map(({ lines }) => lines))
    // First, so that no listing stands without them.
    await writeIdsFile(
      idsPath(path),
      pages.map(({ ids }) => ids),
    )
    await replaceDurably(hashPath(path), sha256Of(bytes))
    await createIfAbsent(path, bytes)
  } catch (error) {
    throw writeError(`Cannot write the listing "${path}"`, error)
  }
}

/** Files of a listing that are whole. */
export const listingFiles = async (folder: string): Promise<readonly string[]> =>
  (await listFolder(folder))
    .filter(({ name }) => name.endsWith('.jsonl'))
    .map(({ name }) => join(folder, name))

type ListedPage = Pick<PageLines, 'lines' | 'ids'>

/** Pages of a window as JSON Lines; of a window that has outgrown page mode those of its parts. */
const minified = async (search: SearchParameters, options: ListingOptions): Promise<ListedPage[]> => {
  const pages: ListedPage[] = []
  let hasOutgrown = false
  await eachPage({ search }, options, (page) => {
    hasOutgrown = page.total > LIMITS.pageReach
    if (hasOutgrown) return false
    pages.push(page)
    options.onPage?.(page.records)
    return true
  })
  return hasOutgrown ? minifiedParts(search, options) : pages
}

type MinifiedPage = Awaited<ReturnType<typeof minifiedPage>>
type Listed = Pick<PageRequest, 'search' | 'sortBy'>

/** How often the pages of a search are gone through before some of it may be missing. */
const MOST_PASSES = 3

/**
 * Goes through the pages of a search, as far as page mode reaches. They may end too early, and in the order of scores a hit may
 * come on two pages and another on none: they are gone through again until as many have come as the service counts.
 *
 * @param take returns whether to go on
 * @returns how many did not come of those that are counted
 */
export const eachPage = async (
  listed: Listed,
  options: Pick<ListingOptions, 'service' | 'currency' | 'signal'>,
  take: (page: MinifiedPage) => boolean,
): Promise<number> => {
  const seen = new Set<bigint>()
  let missing = 0
  for (let pass = 1; pass <= MOST_PASSES; pass += 1) {
    let last: MinifiedPage | undefined
    let counted = 0
    for (let number = 1; number <= LIMITS.pageNumber.max && last?.hasNext !== false; number += 1) {
      last = await minifiedPage(listed, number, options)
      if (!take(last)) return 0
      for (const id of last.ids) seen.add(id)
      counted = Math.max(counted, last.total)
    }
    missing = Math.min(counted, LIMITS.pageReach) - seen.size
    if (missing <= 0) return 0
  }
  return missing
}

/** A page of minified records; `total` is how many the search has. */
const minifiedPage = async (
  listed: Listed,
  pageNumber: number,
  options: Pick<ListingOptions, 'service' | 'currency' | 'signal'>,
) => {
  const { service, currency, signal } = options
  const { search } = listed
  const { sortBy, ordered } = await orderOf(service, listed, signal)
  const pageSize = LIMITS.pageSize.max
  const {
    value,
    pagination,
    dataAsOf: asOf,
  } = await service.page(
    {
      ...{ content: 'companies', search, pageSize, pageNumber, minified: true },
      ...(currency !== undefined && { currency }),
      ...(sortBy && { sortBy }),
    },
    checkPageCount(ordered ? 'minified' : 'sorted'),
    signal && { signal },
  )
  const total = pagination.TotalCount
  const hasNext = value.records > 0 && (pagination.HasNext ?? pageNumber * pageSize < total)
  return { ...value, asOf, total, hasNext }
}

const minifiedParts = async (search: SearchParameters, options: ListingOptions): Promise<ListedPage[]> => {
  const { searches, missing, gaps } = await options.cutAgain(search, LIMITS.pageReach / 2)
  if (searches.length + Math.sign(missing) < 2)
    throw new ToolkitError('PLAN_IMPOSSIBLE', 'Cannot list a window: it has outgrown page mode meanwhile')
  const pages: ListedPage[] = []
  for (const part of searches) pages.push(...(await minified(part, options)))
  if (gaps === undefined) return pages
  const known = IdSet.of(pages.map(({ ids }) => ids))
  await goThroughGaps(gaps, {
    ...{ isKnown: (id) => known.has(id), concurrency: 1, signal: options.signal },
    list: async (listing, _, take) => {
      await eachPage(listing, options, (page) => {
        pages.push(page)
        options.onPage?.(page.records)
        return take(page.ids) || !listing.probe
      })
    },
  })
  return pages
}

/**
 * Lists those of some companies that a search still has: what was not listed may only not be covered by any window, or
 * have moved between two pages.
 */
export const listAgain = async (
  search: SearchParameters,
  ids: readonly IdValue[],
  path: string,
  options: ListingOptions,
): Promise<void> => {
  if (await isListed(path)) return
  const pages: ListedPage[] = []
  for (const group of groupsOf(ids, LIMITS.idsPerRequest))
    pages.push(...(await minified(withFilter(search, 'InternalId', group), options)))
  await writeListing(path, pages)
}

const { identifier, figure, date } = FILTER_CLASSES
const UNSCORED = new Set(
  [identifier, figure, date].flatMap(({ parameters }) => parameters.map((name) => name.toLowerCase())),
)

/** Whether a parameter gives hits a score, or may: the contract does not list all parameters. */
const isScored = (name: string): boolean =>
  !UNSCORED.has(name.toLowerCase().split(YEAR_SUFFIX.toLowerCase())[0] ?? '')

interface ListingOrder {
  readonly sortBy?: PageRequest['sortBy']
  /** Whether the ids of a page increase. */
  readonly ordered: boolean
}

/** How a search is listed for which no order is asked. @throws what the service throws */
const orderOf = async (
  service: Pick<PullService, 'parameters'>,
  { search, sortBy }: Pick<PageRequest, 'search' | 'sortBy'>,
  signal: AbortSignal | undefined,
): Promise<ListingOrder> => {
  if (sortBy !== undefined) return { sortBy, ordered: false }
  if (!Object.keys(search).some(isScored)) return { ordered: true }
  const parameters = await service.parameters('companies', signal && { signal })
  const column = parameters.find(
    ({ name, sortable }) => sortable && name.toLowerCase() === 'internalid',
  )?.name
  return column === undefined ? { ordered: false } : { sortBy: { column, direction: 'ASC' }, ordered: false }
}
