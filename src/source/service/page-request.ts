/** Requests for a page of a search, as the interface expects them, and how messages name them. */

import type { SortDirection } from '../../contract/limits.ts'
import type { Content } from '../../contract/objects.ts'
import {
  type CompaniesRequest,
  isIdParameter,
  type RelationsRequest,
  type SearchParameters,
} from '../../contract/requests.ts'
import { searchLabel } from './request-label.ts'

/** One page of a search. Without `cursor` it is page mode (relations: the first page of a chain). */
export interface PageRequest {
  readonly content: Content
  readonly search: SearchParameters
  /** Companies only. */
  readonly currency?: string
  readonly pageSize: number
  /** `*` to start, then the token of the previous page. */
  readonly cursor?: string
  /** Companies only, from 1. */
  readonly pageNumber?: number
  /** Companies only. */
  readonly minified?: boolean
  /** Companies only, in page mode: a sortable parameter. @default by InternalId, ascending */
  readonly sortBy?: { readonly column: string; readonly direction: SortDirection }
}

const DIGITS = /^-?\d{1,19}$/

/** Ids as the numbers that they are. Beyond 2^53 JavaScript has none: there a text of digits is written as it is. */
const exactIds = (search: SearchParameters): Readonly<Record<string, readonly unknown[]>> =>
  Object.fromEntries(
    Object.entries(search).map(([name, values]) => [
      name,
      isIdParameter(name)
        ? values.map((id) =>
            typeof id === 'string' && DIGITS.test(id) ? JSON.rawJSON(String(BigInt(id))) : id,
          )
        : values,
    ]),
  )

type BodyOf<Request> = Omit<Request, 'SearchParameters'> & {
  readonly SearchParameters: Readonly<Record<string, readonly unknown[]>>
}

const bodyOf = (request: PageRequest): BodyOf<CompaniesRequest> | BodyOf<RelationsRequest> => {
  const { content, search, currency, pageSize, cursor, pageNumber, minified, sortBy } = request
  const shared = {
    SearchParameters: exactIds(search),
    PageSize: pageSize,
    ...(cursor !== undefined && { Cursor: cursor }),
  }
  if (content === 'relations') return shared
  return {
    ...shared,
    ...(currency !== undefined && { Currency: currency }),
    ...(pageNumber !== undefined && { PageNumber: pageNumber }),
    ...(minified && { MinifiedSearch: true }),
    ...(sortBy && { SortByColumn: sortBy.column, SortByDirection: sortBy.direction }),
  }
}

/** The request's body as JSON text. */
export const pageRequestBody = (request: PageRequest): string => JSON.stringify(bodyOf(request))

/** @example 'Cannot fetch a page of companies (CountryCode=SE)' */
export const pageAction = ({ content, search, currency, pageNumber }: PageRequest): string => {
  const page = pageNumber === undefined ? 'a page' : `page ${pageNumber}`
  const inCurrency = currency === undefined || content === 'relations' ? '' : ` in ${currency.slice(0, 8)}`
  return `Cannot fetch ${page} of ${content}${inCurrency} (${searchLabel(search)})`
}
