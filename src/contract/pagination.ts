/** The `X-Pagination` header: JSON text on every 200 answer of both searches. */

export const PAGINATION_HEADER = 'X-Pagination'

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
