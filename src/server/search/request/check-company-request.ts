/** From the body of POST /v2/companies to a search, or to all messages that apply. */

import {
  DEFAULT_CURRENCY,
  DEFAULT_SORT_DIRECTION,
  LIMITS,
  SORT_DIRECTIONS,
  type SortDirection,
} from '../../../contract/limits.ts'
import { COMPANY_MESSAGES, sentence } from '../../../contract/messages.ts'
import type { ExactObject } from '../../../support/exact-json.ts'
import type { Caller } from '../../access/caller.ts'
import type { Refused, SearchParts } from '../shared/answer.ts'
import { faultsOf, NO_OBJECT, readShared, type SharedRequest, stepOf } from './check-request.ts'
import { bindingOf, type ChainPosition } from './cursor-chain.ts'
import { parameterNamed } from './known-parameters.ts'
import type { Filter } from './read-filters.ts'
import { booleanField, inOrder, integerField, textField } from './request-fields.ts'

/** How the found companies are to be paged. */
export type Paging =
  | { readonly kind: 'cursor'; readonly after: ChainPosition | null; readonly binding: string }
  | {
      readonly kind: 'page'
      readonly number: number
      /** A sortable parameter by the contract's name; `null`: best first, or by InternalId. */
      readonly sortBy: string | null
      readonly direction: SortDirection
      readonly minified: boolean
    }

export interface CompanySearch {
  readonly filters: readonly Filter[]
  /** In upper case; it has rates. */
  readonly currency: string
  readonly pageSize: number
  readonly paging: Paging
}
export type CheckedSearch<T> = { readonly kind: 'search'; readonly search: T } | Refused

type Key = keyof typeof COMPANY_MESSAGES
interface Said {
  readonly key: Key
  readonly text: string
}

/** Messages about the parameters and their values. */
const parameterMessages = ({ faults, unauthorized }: SharedRequest): Said[] => [
  ...unauthorized.map(
    (value): Said => ({
      key: 'countryUnauthorized',
      text: sentence(COMPANY_MESSAGES.countryUnauthorized, { value }),
    }),
  ),
  ...faultsOf(faults, 'unknown').map(
    ({ param }): Said => ({
      key: 'parameterInvalid',
      text: sentence(COMPANY_MESSAGES.parameterInvalid, { param }),
    }),
  ),
  ...faultsOf(faults, 'date').map(
    ({ param, value }): Said => ({
      key: 'dateInvalid',
      text: sentence(COMPANY_MESSAGES.dateInvalid, { param, value }),
    }),
  ),
  ...faultsOf(faults, 'too many dates').map(
    ({ param }): Said => ({
      key: 'tooManyDates',
      text: sentence(COMPANY_MESSAGES.tooManyDates, { param }),
    }),
  ),
  ...faultsOf(faults, 'too many values').map(
    ({ param }): Said => ({
      key: 'tooManyValues',
      text: sentence(COMPANY_MESSAGES.tooManyValues, { param }),
    }),
  ),
]

/** The fields that only this search has. */
const ownFields = (fields: Readonly<ExactObject>) => ({
  currency: (textField(fields, 'Currency') ?? DEFAULT_CURRENCY).toUpperCase(),
  pageNumber: integerField(fields, 'PageNumber') ?? LIMITS.pageNumber.default,
  sortBy: textField(fields, 'SortByColumn') ?? null,
  direction: textField(fields, 'SortByDirection') ?? null,
  minified: booleanField(fields, 'MinifiedSearch') ?? false,
})

const isDirection = (text: string): text is SortDirection => SORT_DIRECTIONS.some((one) => one === text)

/**
 * Checks a request. Of the fields' meaning where the interface leaves it open: a sort field is a sortable parameter in
 * any letter case, without a year; a direction without a sort field changes nothing; any direction given, the default
 * one too, counts as given together with a Cursor.
 */
export const checkCompanyRequest = (
  parts: SearchParts,
  caller: Caller,
  body: unknown,
): CheckedSearch<CompanySearch> => {
  const read = readShared('companies', parts, caller, body)
  if (read === null) return { kind: 'refused', messages: NO_OBJECT }
  const { fields, shared } = read
  const { currency, pageNumber, sortBy, direction, minified } = ownFields(fields)
  const { min, max } = LIMITS.pageNumber
  const column = sortBy === null ? undefined : parameterNamed('companies', sortBy)
  const given = direction ?? DEFAULT_SORT_DIRECTION
  const isCursor = shared.cursor !== null
  const isCombined =
    minified || sortBy !== null || direction !== null || pageNumber !== LIMITS.pageNumber.default
  const binding = bindingOf('companies', parts, caller, shared.parameters, [shared.pageSize, currency])
  const step = stepOf(parts, binding, shared)

  const applies: Readonly<Partial<Record<Key, boolean>>> = {
    searchParametersMissing: shared.isMissing,
    pageNumberInvalid: !isCursor && (pageNumber < min || pageNumber > max),
    pageSizeInvalid: !shared.isPageSizeValid,
    currencyInvalid: !parts.rates.has(currency),
    sortFieldInvalid: sortBy !== null && column?.sortable !== true,
    sortDirectionInvalid: !isDirection(given),
    cursorInvalid: step.kind === 'invalid',
    cursorCapReached: step.kind === 'cap reached',
    cursorCombined: isCursor && isCombined,
  }
  const said: Said[] = SIMPLE.flatMap((key) =>
    applies[key] === true ? [{ key, text: COMPANY_MESSAGES[key].text }] : [],
  )
  const messages = inOrder(COMPANY_MESSAGES, shared.bodyMessages, [...said, ...parameterMessages(shared)])
  if (messages.length > 0 || step.kind !== 'go on' || !isDirection(given))
    return { kind: 'refused', messages, ...(step.kind === 'invalid' && { isCursorInvalid: true }) }
  const paging: Paging = isCursor
    ? { kind: 'cursor', after: step.after, binding }
    : { kind: 'page', number: pageNumber, sortBy: column?.name ?? null, direction: given, minified }
  return { kind: 'search', search: { filters: shared.filters, currency, pageSize: shared.pageSize, paging } }
}

/** Messages without anything to fill in. */
const SIMPLE = [
  'searchParametersMissing',
  'pageNumberInvalid',
  'pageSizeInvalid',
  'currencyInvalid',
  'sortFieldInvalid',
  'sortDirectionInvalid',
  'cursorInvalid',
  'cursorCapReached',
  'cursorCombined',
] as const satisfies readonly Key[]
