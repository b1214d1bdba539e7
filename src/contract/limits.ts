/** Numbers and defaults that the interface fixes ("Limits" and the request tables), and its `X-Pagination` header. */

const PAGE_SIZE = { min: 1, max: 500, default: 10 } as const
const PAGE_NUMBER = { min: 1, max: 10, default: 1 } as const

/** Limits of the interface: page sizes, reach of page mode, length of a cursor chain. */
export const LIMITS = {
  /** Companies a page may hold; both searches. */
  pageSize: PAGE_SIZE,
  /** Pages that page mode reaches; company search. */
  pageNumber: PAGE_NUMBER,
  /** Companies that page mode reaches. */
  pageReach: PAGE_SIZE.max * PAGE_NUMBER.max,
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

/** Header of every 200 answer of both searches; its value is JSON. */
export const PAGINATION_HEADER = 'X-Pagination'

/**
 * Header by which a served lake says as of when its data is, ISO 8601 in UTC. The service of the interface has none: its answers
 * are as of their `Date`.
 */
export const AS_OF_HEADER = 'Firmlake-As-Of'

/** When a field is there; relations are always in cursor mode. */
export type PaginationPresence = 'always' | 'page mode' | 'cursor mode'

export const PAGINATION_FIELDS = {
  Count: { type: 'integer', present: 'always', about: 'Companies in this response.' },
  TotalCount: { type: 'integer', present: 'always', about: 'Companies matching the search; advisory.' },
  PageSize: { type: 'integer', present: 'always', about: 'Requested page size.' },
  TotalPages: { type: 'integer', present: 'always', about: 'Pages available: TotalCount / PageSize, up.' },
  CurrentPage: { type: 'integer', present: 'page mode', about: '1-based current page.' },
  HasPrevious: { type: 'boolean', present: 'page mode', about: 'A previous page exists.' },
  HasNext: { type: 'boolean', present: 'page mode', about: 'A next page exists.' },
  Cursor: {
    type: 'cursor',
    present: 'cursor mode',
    about: 'Token for the next request; null when no more results.',
  },
} as const satisfies Readonly<
  Record<string, { type: 'integer' | 'boolean' | 'cursor'; present: PaginationPresence; about: string }>
>

type Fields = typeof PAGINATION_FIELDS
interface TypeOf {
  readonly integer: number
  readonly boolean: boolean
  readonly cursor: string | null
}
type FieldsOf<P extends PaginationPresence> = {
  readonly [K in keyof Fields as Fields[K]['present'] extends P ? K : never]: TypeOf[Fields[K]['type']]
}

export type PagePagination = FieldsOf<'always' | 'page mode'>
export type CursorPagination = FieldsOf<'always' | 'cursor mode'>
/** As a client may meet it: what is not always there may be absent in either mode. */
export type Pagination = FieldsOf<'always'> & Partial<FieldsOf<'page mode' | 'cursor mode'>>
