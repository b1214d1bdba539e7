/**
 * Requests for a page of a search, as the interface expects them, and how messages name them: dates, codes and
 * countries as they are, nothing that may name a person.
 */

import type { SortDirection } from '../../contract/limits.ts'
import type { Content } from '../../contract/objects.ts'
import {
  type CompaniesRequest,
  FILTER_CLASSES,
  isIdParameter,
  type RelationsRequest,
  type SearchParameters,
} from '../../contract/requests.ts'

/** Codes that name a kind of company, never one. */
const SHOWN = [
  'CountryCode',
  'OperationalStatus',
  'LegalForm',
  'CompanyType',
  'ListingType',
  'IndustryCode',
  ...FILTER_CLASSES.date.parameters,
].map((name) => name.toLowerCase())

/** Values are hidden by their form too: what stands under a harmless name may have been put there by mistake. */
const SHOWN_VALUE = /^(?:\d{4}-\d{2}-\d{2}|\d{1,6}|[A-Za-z]{2,8})$/
const MAX_VALUES = 6

const isShown = (name: string, value: string | number): boolean =>
  SHOWN.includes(name.toLowerCase()) && SHOWN_VALUE.test(String(value))

const valuesLabel = (name: string, values: readonly (string | number)[]): string => {
  if (values.length > MAX_VALUES || !values.every((value) => isShown(name, value))) {
    return `${name} (${values.length} ${values.length === 1 ? 'value' : 'values'})`
  }
  const isDate = FILTER_CLASSES.date.parameters.some((date) => date.toLowerCase() === name.toLowerCase())
  return `${name}=${values.join(isDate ? '..' : ',')}`
}

/** @example searchLabel({ ContentUpdatedAt: ['2024-01-01', '2024-01-31'] }) // 'ContentUpdatedAt=2024-01-01..2024-01-31' */
export const searchLabel = (search: SearchParameters): string =>
  Object.entries(search)
    .map(([name, values]) => valuesLabel(name, values))
    .join(' ') || 'no parameters'

/** Takes the token and every value that a label would not show out of what a service says. */
export const hiderOf = (token: string, search: SearchParameters = {}): ((text: string) => string) => {
  const secrets = Object.entries(search)
    .flatMap(([name, values]) => values.filter((value) => !isShown(name, value)).map(String))
    .flatMap((value) => [value, value.replaceAll(/[\s-]/g, '')])
    .concat(token)
    .filter((value) => value.length > 1)
    .sort((a, b) => b.length - a.length)
  return (text) => secrets.reduce((left, secret) => left.replaceAll(secret, '…'), text)
}

/** A page of a search. Without `cursor` it is page mode (relations: the first page of a chain). */
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
