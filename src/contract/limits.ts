/** Numbers and defaults that the interface fixes ("Limits" and the request tables). */

const PAGE_SIZE = { least: 1, most: 500, default: 10 } as const
const PAGE_NUMBER = { least: 1, most: 10, default: 1 } as const

/** Limits of the interface: page sizes, reach of page mode, length of a cursor chain. */
export const LIMITS = {
  /** Companies a page may hold; both searches. */
  pageSize: PAGE_SIZE,
  /** Pages that page mode reaches; company search. */
  pageNumber: PAGE_NUMBER,
  /** Companies that page mode reaches. */
  pageReach: PAGE_SIZE.most * PAGE_NUMBER.most,
  /** Companies that one cursor chain may deliver in all. */
  cursorCap: 100_000,
  /** `InternalId` values in one relations request. */
  idsPerRequest: 500,
  /** Values of a date filter: from, or from and to. */
  dateValues: 2,
  /** Values of a figure filter: at least, or from and to. */
  figureValues: 2,
} as const

export const DEFAULT_CURRENCY = 'USD'
export const SORT_DIRECTIONS = ['ASC', 'DESC'] as const
export type SortDirection = (typeof SORT_DIRECTIONS)[number]
export const DEFAULT_SORT_DIRECTION: SortDirection = 'ASC'
/** `Cursor` of the first request of a chain. */
export const FIRST_CURSOR = '*'
