import { describe, expect, test } from 'vitest'
import { checkRelationsRequest } from '../../../../src/server/search/request/check-relations-request.ts'
import { bindingOf, makeCursor } from '../../../../src/server/search/request/cursor-chain.ts'
import { callerOf, EVERYTHING, emptyParts, messagesOf } from '../search-parts.ts'

const PARTS = emptyParts()
const check = (body: unknown, caller = EVERYTHING) => checkRelationsRequest(PARTS, caller, body)
const ids = (count: number) => Array.from({ length: count }, (_, at) => at)

describe('checkRelationsRequest refuses', () => {
  test.each<[string, unknown, string[]]>([
    ['a body that is a number', 1, ['Request body must be a JSON object.']],
    ['no search parameters', { PageSize: 10 }, ['Searchparameters are missing.']],
    [
      'pages of 501',
      { SearchParameters: { OrgNo: ['1'] }, PageSize: 501 },
      ['Pagesize is invalid (Maximum pagesize: 500).'],
    ],
    [
      'pages of 0',
      { SearchParameters: { OrgNo: ['1'] }, PageSize: 0 },
      ['Pagesize is invalid (Maximum pagesize: 500).'],
    ],
    [
      'an invented cursor',
      { SearchParameters: { OrgNo: ['1'] }, Cursor: 'x' },
      ['Cursor has not a valid value.'],
    ],
    [
      'a parameter of companies alone',
      { SearchParameters: { NetSales: [1] } },
      ['NetSales is an invalid parameter.'],
    ],
    ['501 ids', { SearchParameters: { InternalId: ids(501) } }, ['InternalIds can max be set to 500.']],
    [
      'a national id without a country',
      { SearchParameters: { NationalIdentificationNumber: ['1'] } },
      ['CountryCode is required when searching with NationalIdentificationNumber.'],
    ],
    [
      'a national id with a country that is null',
      { SearchParameters: { NationalIdentificationNumber: ['1'], CountryCode: null } },
      ['CountryCode is required when searching with NationalIdentificationNumber.'],
    ],
    [
      'a field of a wrong type',
      { SearchParameters: { OrgNo: 1 }, Cursor: 5 },
      [
        'Cursor must be a string.',
        'SearchParameters.OrgNo must be an array of one or more strings or numbers.',
      ],
    ],
    [
      'everything at once, in the order of the table',
      {
        SearchParameters: {
          RelationsUpdatedAt: ['2023-13-01', '2023-01-01', '2023-01-02'],
          ContentUpdatedAt: ['no', 'x', 'no'],
          NationalIdentificationNumber: ['1'],
          InternalId: ids(501),
          Foo: [1],
        },
        PageSize: 501,
        Cursor: 'x',
      },
      [
        'Pagesize is invalid (Maximum pagesize: 500).',
        'Cursor has not a valid value.',
        'Foo is an invalid parameter.',
        'InternalIds can max be set to 500.',
        'CountryCode is required when searching with NationalIdentificationNumber.',
        'Invalid date format in ContentUpdatedAt: no.',
        'Invalid date format in ContentUpdatedAt: x.',
        'ContentUpdatedAt can only maximum contain two dates.',
        'Invalid date format in RelationsUpdatedAt: 2023-13-01.',
        'RelationsUpdatedAt can only maximum contain two dates.',
      ],
    ],
  ])('%s', (_, body, messages) => {
    expect(check(body)).toMatchObject({ kind: 'refused', messages })
  })
})

test('checkRelationsRequest refuses unauthorized countries after unknown parameters', () => {
  const body = { SearchParameters: { CountryCode: ['NO', 'SE'], Foo: [1] } }
  expect(messagesOf(check(body, callerOf({ SE: [] })))).toEqual([
    'Foo is an invalid parameter.',
    'NO is an unauthorized country code.',
  ])
})

test('checkRelationsRequest takes 500 ids, and no cursor as the first one', () => {
  const body = { SearchParameters: { internalid: ids(500) } }
  const [without, first] = [check(body), check({ ...body, Cursor: '*' })]
  expect(without).toMatchObject({ kind: 'search', search: { after: null, pageSize: 10 } })
  expect(first).toEqual(without)
})

test('checkRelationsRequest refuses a cursor past the cap by the sentence of the contract', () => {
  const SearchParameters = { CountryCode: ['SE'] }
  const binding = bindingOf('relations', PARTS, EVERYTHING, SearchParameters, [10])
  const Cursor = makeCursor(PARTS.cursorKey, binding, { lastId: 5n, delivered: 100_000 })
  expect(messagesOf(check({ SearchParameters, Cursor }))).toEqual([
    'You are not allowed to iterate more than 100000 via cursor.',
  ])
})
