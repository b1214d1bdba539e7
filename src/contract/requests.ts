/** The operations, their request bodies as data, and the search filters. */

import { DEFAULT_CURRENCY, DEFAULT_SORT_DIRECTION, LIMITS, SORT_DIRECTIONS } from './limits.ts'
import { LINE_ITEMS } from './line-items.ts'
import { META_DATA } from './objects.ts'

/** The operations of the service. `{batchFileId}` is a path parameter. */
export const OPERATIONS = {
  companies: { method: 'POST', path: '/v2/companies' },
  companiesSearchParameters: { method: 'GET', path: '/v2/companies/search-parameters' },
  relations: { method: 'POST', path: '/v2/relations' },
  relationsSearchParameters: { method: 'GET', path: '/v2/relations/search-parameters' },
  batchFiles: { method: 'GET', path: '/v2/batches/batch-files' },
  batchFile: { method: 'GET', path: '/v2/batches/batch-file/{batchFileId}' },
} as const
export type Operation = keyof typeof OPERATIONS

/** Filter name → one or more filter values. Names are case-insensitive. */
export type SearchParameters = Readonly<Record<string, readonly (string | number)[]>>
/** A search as a person gives it: a whole number beyond 2^53 is a bigint. */
export type SearchInput = Readonly<Record<string, readonly (string | number | bigint)[]>>

const ID = 'InternalId'
/** Whether a parameter, in any letter case, names companies by their ids. */
export const isIdParameter = (name: string): boolean => name.toLowerCase() === ID.toLowerCase()

interface TypeOf {
  readonly 'search parameters': SearchParameters
  readonly text: string
  readonly integer: number
  readonly boolean: boolean
}
/** A field of a request body: `default` is absent where the field is required. */
export interface RequestField {
  readonly type: keyof TypeOf
  readonly required: boolean
  readonly default?: string | number | boolean | null
  readonly values?: readonly string[]
  readonly rules: string
}

const { pageSize, pageNumber } = LIMITS
const SHARED_FIELDS = {
  SearchParameters: { type: 'search parameters', required: true, rules: 'At least one parameter.' },
  PageSize: {
    type: 'integer',
    required: false,
    default: pageSize.default,
    rules: `${pageSize.min} to ${pageSize.max}.`,
  },
} as const

/** Body of POST /v2/companies, in the interface's order. */
export const COMPANIES_REQUEST = {
  SearchParameters: SHARED_FIELDS.SearchParameters,
  Currency: {
    type: 'text',
    required: false,
    default: DEFAULT_CURRENCY,
    rules: 'Currency code for financial conversion; an unsupported code gives a validation error.',
  },
  PageNumber: {
    type: 'integer',
    required: false,
    default: pageNumber.default,
    rules: `${pageNumber.min} to ${pageNumber.max}. Not usable with Cursor (other than the default).`,
  },
  PageSize: SHARED_FIELDS.PageSize,
  SortByColumn: {
    type: 'text',
    required: false,
    default: null,
    rules: 'Must be a sortable field. Not usable with Cursor. Without it: InternalId ascending.',
  },
  SortByDirection: {
    type: 'text',
    required: false,
    default: DEFAULT_SORT_DIRECTION,
    values: SORT_DIRECTIONS,
    rules: `${SORT_DIRECTIONS.join(' or ')}. Not usable with Cursor.`,
  },
  Cursor: {
    type: 'text',
    required: false,
    default: null,
    rules:
      '`*` to start; afterwards the token from the previous X-Pagination header. Cannot be combined with ' +
      'MinifiedSearch, SortByColumn, SortByDirection, or PageNumber above 1.',
  },
  MinifiedSearch: {
    type: 'boolean',
    required: false,
    default: false,
    rules: 'true returns only MinifiedInfo per company. Not usable with Cursor.',
  },
} as const satisfies Readonly<Record<string, RequestField>>

/** Body of POST /v2/relations. */
export const RELATIONS_REQUEST = {
  ...SHARED_FIELDS,
  Cursor: {
    type: 'text',
    required: false,
    default: null,
    rules: `Cursor paging only (no PageNumber); up to ${LIMITS.cursorCap} companies per search.`,
  },
} as const satisfies Readonly<Record<string, RequestField>>

type FieldValue<F extends RequestField> = F extends { readonly values: readonly (infer V)[] }
  ? V
  : TypeOf[F['type']] | (F extends { readonly default: null } ? null : never)
type RequestOf<T extends Readonly<Record<string, RequestField>>> = {
  readonly [K in keyof T as T[K]['required'] extends true ? K : never]: FieldValue<T[K]>
} & { readonly [K in keyof T as T[K]['required'] extends true ? never : K]?: FieldValue<T[K]> }

export type CompaniesRequest = RequestOf<typeof COMPANIES_REQUEST>
export type RelationsRequest = RequestOf<typeof RELATIONS_REQUEST>

const isDateFilter = (name: string): boolean => name.endsWith('UpdatedAt') || name === 'LastFiscalYearEnd'

/** The classes of search filters ("Search filters" of the open points) and what a value array means in each. */
export const FILTER_CLASSES = {
  identifier: {
    parameters: [
      'InternalId',
      'OrgNo',
      'CountryCode',
      'OperationalStatus',
      'LegalForm',
      'CompanyType',
      'ListingType',
      'IndustryCode',
      'NationalIdentificationNumber',
    ],
    /** Compared without whitespace and hyphens. */
    stripped: ['OrgNo', 'NationalIdentificationNumber'],
    /** Matched by its beginning. */
    byPrefix: ['IndustryCode'],
    about: 'Any of the values.',
  },
  figure: {
    parameters: [...LINE_ITEMS.map(({ lineItem }) => lineItem), 'Employees'],
    about:
      'One value: at least; two values: from-to, both ends included; absolute amounts in the requested Currency. ' +
      'Without a year the latest fiscal year that has a value; consolidated figure, else unconsolidated.',
  },
  date: {
    parameters: Object.keys(META_DATA.fields).filter(isDateFilter),
    about: '`yyyy-MM-dd`; one value: from that day; two values: from-to, both days included, UTC.',
  },
  text: {
    parameters: ['DynamicSearch', 'SemanticSearch'],
    about: 'The values are joined with a space; every hit carries a Score and hits come best first.',
  },
} as const
export type FilterClass = keyof typeof FILTER_CLASSES

/** The suffix of a figure's name for one fiscal year: `NetSales_Year_2023`. */
export const YEAR_SUFFIX = '_Year_'

/** Search parameters of relations, as its listing operation gives them. */
export const RELATIONS_PARAMETERS = [
  { name: 'InternalId', datatype: 'number', about: `At most ${LIMITS.idsPerRequest} per request.` },
  { name: 'OrgNo', datatype: 'string', about: 'Whitespace and hyphens are stripped before matching.' },
  {
    name: 'NationalIdentificationNumber',
    datatype: 'string',
    about: 'National ID of a natural person; requires CountryCode; whitespace and hyphens stripped.',
  },
  { name: 'CountryCode', datatype: 'string', about: "ISO country code in the caller's authorized set." },
  { name: 'ContentUpdatedAt', datatype: 'date', about: '`yyyy-MM-dd`; from, or from and to.' },
  { name: 'RelationsUpdatedAt', datatype: 'date', about: '`yyyy-MM-dd`; from, or from and to.' },
] as const
