/** The service's own sentences, word for word ("Errors" and the open points), and the bodies they come in. */

import { LIMITS } from './limits.ts'

/** A sentence with `{placeholders}`, and when the service says it. */
export interface Message<T extends string = string> {
  readonly text: T
  readonly condition: string
}
const message = <const T extends string>(text: T, condition: string): Message<T> => ({ text, condition })

const SEARCH_PARAMETERS_MISSING = message(
  'Searchparameters are missing.',
  '`SearchParameters` null or empty.',
)
const CURSOR_INVALID = message('Cursor has not a valid value.', 'Malformed or modified cursor token.')
const CURSOR_CAP_REACHED = message(
  `You are not allowed to iterate more than ${LIMITS.cursorCap} via cursor.`,
  'Cursor iteration cap reached.',
)
const PARAMETER_INVALID = message('{param} is an invalid parameter.', 'Unrecognized search parameter name.')
const COUNTRY_UNAUTHORIZED = message(
  '{value} is an unauthorized country code.',
  'Country code outside the authorized set.',
)
const dateInvalid = <const P extends string>(parameter: P) =>
  message(`Invalid date format in ${parameter}: {value}.` as const, 'Date not `yyyy-MM-dd`.')
const tooManyDates = <const P extends string>(parameter: P) =>
  message(`${parameter} can only maximum contain two dates.` as const, 'More than two dates.')
const TOO_MANY_VALUES = message(
  '{param} can only maximum contain two values.',
  'More than two values of a figure.',
)

/** Messages of both operations; they come before all others. Ours: the interface only says that the field is named. */
export const BODY_MESSAGES = {
  bodyInvalid: message('Request body must be a JSON object.', 'The body is not a JSON object.'),
  fieldInvalid: message('{field} must be {type}.', 'A field of the request has the wrong type.'),
} as const

/** Company search, in the order of the interface's table; the last three are of the open points. */
export const COMPANY_MESSAGES = {
  searchParametersMissing: SEARCH_PARAMETERS_MISSING,
  pageNumberInvalid: message(
    `Pagenumber must be between ${LIMITS.pageNumber.min}-${LIMITS.pageNumber.max}.`,
    '`PageNumber` outside 1-10 (not in cursor mode).',
  ),
  pageSizeInvalid: message(
    `Pagesize could max be ${LIMITS.pageSize.max}.`,
    '`PageSize` above 500 or below 1.',
  ),
  currencyInvalid: message('Currency is invalid.', 'Unsupported currency code.'),
  sortFieldInvalid: message('Sortfield is invalid.', '`SortByColumn` not a sortable field.'),
  sortDirectionInvalid: message('Sort direction is invalid.', '`SortByDirection` not `ASC` or `DESC`.'),
  countryUnauthorized: COUNTRY_UNAUTHORIZED,
  parameterInvalid: PARAMETER_INVALID,
  cursorInvalid: CURSOR_INVALID,
  cursorCapReached: CURSOR_CAP_REACHED,
  cursorCombined: message(
    'MinifiedSearch,SortByColumn,PageNumber,SortByDirection cant be applied when using Cursor.',
    'Incompatible options together with `Cursor`.',
  ),
  dateInvalid: dateInvalid('{param}'),
  tooManyDates: tooManyDates('{param}'),
  tooManyValues: TOO_MANY_VALUES,
} as const

/** Relations, in the order of the interface's table. */
export const RELATIONS_MESSAGES = {
  searchParametersMissing: SEARCH_PARAMETERS_MISSING,
  pageSizeInvalid: message(
    `Pagesize is invalid (Maximum pagesize: ${LIMITS.pageSize.max}).`,
    '`PageSize` above 500 or below 1.',
  ),
  cursorInvalid: CURSOR_INVALID,
  cursorCapReached: CURSOR_CAP_REACHED,
  parameterInvalid: PARAMETER_INVALID,
  countryUnauthorized: COUNTRY_UNAUTHORIZED,
  tooManyIds: message(
    `InternalIds can max be set to ${LIMITS.idsPerRequest}.`,
    'More than 500 IDs in `InternalId`.',
  ),
  countryRequired: message(
    'CountryCode is required when searching with NationalIdentificationNumber.',
    'National ID search without country.',
  ),
  contentUpdatedAtInvalid: dateInvalid('ContentUpdatedAt'),
  contentUpdatedAtTooMany: tooManyDates('ContentUpdatedAt'),
  relationsUpdatedAtInvalid: dateInvalid('RelationsUpdatedAt'),
  relationsUpdatedAtTooMany: tooManyDates('RelationsUpdatedAt'),
} as const

type Placeholder<T extends string> = T extends `${string}{${infer P}}${infer Rest}`
  ? P | Placeholder<Rest>
  : never

/**
 * The sentence of a message with its placeholders filled in.
 *
 * @example sentence(COMPANY_MESSAGES.parameterInvalid, { param: 'Foo' }) // 'Foo is an invalid parameter.'
 */
export const sentence = <T extends string>(
  { text }: Message<T>,
  values: Readonly<Record<Placeholder<T>, string>>,
): string => {
  const given: Readonly<Record<string, string>> = values
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => given[name] ?? placeholder)
}

/** Body of HTTP 400. */
export interface ValidationBody {
  readonly type: string
  readonly title: string
  readonly status: 400
  readonly errors: { readonly parameters: readonly string[] }
}
export const validationBody = (parameters: readonly string[]): ValidationBody => ({
  type: 'https://tools.ietf.org/html/rfc9110#section-15.5.1',
  title: 'One or more validation errors occurred.',
  status: 400,
  errors: { parameters },
})

/** The other statuses that the interface names. */
export const OTHER_STATUSES = [
  { status: 401, condition: 'Authentication failure; empty body.', retry: false },
  {
    status: 429,
    condition: 'Rate limit exceeded; may carry `Retry-After` (seconds or an HTTP date).',
    retry: true,
  },
] as const
