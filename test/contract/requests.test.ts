import { expect, expectTypeOf, test } from 'vitest'
import {
  type CursorPagination,
  LIMITS,
  PAGINATION_FIELDS,
  type Pagination,
} from '../../src/contract/limits.ts'
import {
  COMPANIES_REQUEST,
  type CompaniesRequest,
  FILTER_CLASSES,
  OPERATIONS,
  RELATIONS_PARAMETERS,
  RELATIONS_REQUEST,
  type RequestField,
} from '../../src/contract/requests.ts'

const defaultsOf = (fields: Readonly<Record<string, RequestField>>) =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.default]))

test('requests have the fields and defaults of the interface', () => {
  expect(defaultsOf(COMPANIES_REQUEST)).toEqual({
    SearchParameters: undefined,
    Currency: 'USD',
    PageNumber: 1,
    PageSize: 10,
    SortByColumn: null,
    SortByDirection: 'ASC',
    Cursor: null,
    MinifiedSearch: false,
  })
  expect(defaultsOf(RELATIONS_REQUEST)).toEqual({ SearchParameters: undefined, PageSize: 10, Cursor: null })
})

test('request and pagination types follow from the data', () => {
  expectTypeOf<CompaniesRequest>().toMatchObjectType<{
    readonly PageSize?: number
    readonly SortByDirection?: 'ASC' | 'DESC'
    readonly Cursor?: string | null
  }>()
  expectTypeOf<CursorPagination['Cursor']>().toEqualTypeOf<string | null>()
  expectTypeOf<Pagination['HasNext']>().toEqualTypeOf<boolean | undefined>()
})

test('OPERATIONS are six paths below /v2', () => {
  expect(Object.values(OPERATIONS).filter(({ path }) => path.startsWith('/v2/'))).toHaveLength(6)
})

test('LIMITS gives page mode a reach of 5000', () => {
  expect(LIMITS.pageReach).toBe(5_000)
})

test('FILTER_CLASSES has no name twice and every date of MetaData that is a filter', () => {
  const names = Object.values(FILTER_CLASSES).flatMap(({ parameters }): readonly string[] => parameters)
  expect(new Set(names).size).toBe(names.length)
  expect(FILTER_CLASSES.figure.parameters).toHaveLength(104 + 1)
  expect(FILTER_CLASSES.date.parameters).toEqual([
    'LastFiscalYearEnd',
    'BeneficialOwnerUpdatedAt',
    'CompanyInfoUpdatedAt',
    'FinancialsUpdatedAt',
    'SecondaryFinancialsUpdatedAt',
    'KeyPeopleUpdatedAt',
    'OwnersUpdatedAt',
    'ContentUpdatedAt',
    'RelationsUpdatedAt',
  ])
  for (const { name } of RELATIONS_PARAMETERS) expect(names).toContain(name)
})

test('PAGINATION_FIELDS says when each field is there', () => {
  const present = Object.groupBy(Object.entries(PAGINATION_FIELDS), ([, field]) => field.present)
  expect(present.always?.map(([name]) => name)).toEqual(['Count', 'TotalCount', 'PageSize', 'TotalPages'])
  expect(present['page mode']?.map(([name]) => name)).toEqual(['CurrentPage', 'HasPrevious', 'HasNext'])
  expect(present['cursor mode']?.map(([name]) => name)).toEqual(['Cursor'])
})
