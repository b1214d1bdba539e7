import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DEFAULT_CURRENCY, LIMITS } from '../../../../src/contract/limits.ts'
import { checkCompanyRequest } from '../../../../src/server/search/request/check-company-request.ts'
import { bindingOf, makeCursor } from '../../../../src/server/search/request/cursor-chain.ts'
import { namedCountries } from '../../../../src/server/search/shared/visible-records.ts'
import { callerOf, EVERYTHING, emptyParts, messagesOf } from '../search-parts.ts'

const PARTS = emptyParts()
const SEARCH = { CountryCode: ['SE'] }

const check = (body: unknown, caller = EVERYTHING) => checkCompanyRequest(PARTS, caller, body)
const searchOf = (body: unknown) => {
  const checked = check(body)
  if (checked.kind === 'refused') throw new Error(`Refused: ${checked.messages.join(' ')}`)
  return checked.search
}
const filtersOf = (SearchParameters: object) => searchOf({ SearchParameters }).filters

const COMBINED = 'MinifiedSearch,SortByColumn,PageNumber,SortByDirection cant be applied when using Cursor.'
const VALUES = 'must be an array of one or more strings or numbers.'
const NUMBERS = 'must be an array of one or more numbers.'

describe('checkCompanyRequest refuses', () => {
  test.each<[string, unknown, string[]]>([
    ['a body that is null', null, ['Request body must be a JSON object.']],
    ['a body that is a list', [SEARCH], ['Request body must be a JSON object.']],
    ['a body that is a text', 'x', ['Request body must be a JSON object.']],
    ['no search parameters', {}, ['Searchparameters are missing.']],
    ['search parameters that are null', { SearchParameters: null }, ['Searchparameters are missing.']],
    ['search parameters that are empty', { SearchParameters: {} }, ['Searchparameters are missing.']],
    [
      'search parameters that are all null',
      { SearchParameters: { OrgNo: null } },
      ['Searchparameters are missing.'],
    ],
    [
      'search parameters in another letter case',
      { searchParameters: SEARCH },
      ['Searchparameters are missing.'],
    ],
    [
      'fields of a wrong type, all of them',
      {
        SearchParameters: [],
        Currency: 1,
        PageNumber: '1',
        PageSize: 1.5,
        SortByColumn: true,
        SortByDirection: 1,
        Cursor: {},
        MinifiedSearch: 'yes',
      },
      [
        'SearchParameters must be an object of parameter names and arrays of values.',
        'Currency must be a string.',
        'PageNumber must be an integer.',
        'PageSize must be an integer.',
        'SortByColumn must be a string.',
        'SortByDirection must be a string.',
        'Cursor must be a string.',
        'MinifiedSearch must be true or false.',
      ],
    ],
    ['page 0', { SearchParameters: SEARCH, PageNumber: 0 }, ['Pagenumber must be between 1-10.']],
    ['page 11', { SearchParameters: SEARCH, PageNumber: 11 }, ['Pagenumber must be between 1-10.']],
    ['pages of 0', { SearchParameters: SEARCH, PageSize: 0 }, ['Pagesize could max be 500.']],
    ['pages of 501', { SearchParameters: SEARCH, PageSize: 501 }, ['Pagesize could max be 500.']],
    ['a currency without a rate', { SearchParameters: SEARCH, Currency: 'XXX' }, ['Currency is invalid.']],
    ['an empty currency', { SearchParameters: SEARCH, Currency: '' }, ['Currency is invalid.']],
    ['an unknown sort field', { SearchParameters: SEARCH, SortByColumn: 'Name' }, ['Sortfield is invalid.']],
    ['a text to sort by', { SearchParameters: SEARCH, SortByColumn: 'OrgNo' }, ['Sortfield is invalid.']],
    [
      'a sort field with a year',
      { SearchParameters: SEARCH, SortByColumn: 'NetSales_Year_2020' },
      ['Sortfield is invalid.'],
    ],
    [
      'another sort direction',
      { SearchParameters: SEARCH, SortByDirection: 'asc' },
      ['Sort direction is invalid.'],
    ],
    [
      'an unknown parameter, as it was given',
      { SearchParameters: { fooBar: ['x'] } },
      ['fooBar is an invalid parameter.'],
    ],
    [
      "a person's parameter",
      { SearchParameters: { NationalIdentificationNumber: ['1'] } },
      ['NationalIdentificationNumber is an invalid parameter.'],
    ],
    [
      'a year that is none, or on what is no figure',
      { SearchParameters: { NetSales_Year_20: [1], OrgNo_Year_2020: ['1'], NetSales_Year_: [1] } },
      [
        'NetSales_Year_20 is an invalid parameter.',
        'OrgNo_Year_2020 is an invalid parameter.',
        'NetSales_Year_ is an invalid parameter.',
      ],
    ],
    [
      'names of objects as parameters',
      { SearchParameters: JSON.parse('{"__proto__":["x"],"constructor":["x"]}') },
      ['__proto__ is an invalid parameter.', 'constructor is an invalid parameter.'],
    ],
    ['an invented cursor', { SearchParameters: SEARCH, Cursor: 'abc' }, ['Cursor has not a valid value.']],
    ['an empty cursor', { SearchParameters: SEARCH, Cursor: '' }, ['Cursor has not a valid value.']],
    [
      'a minified search with a cursor',
      { SearchParameters: SEARCH, Cursor: '*', MinifiedSearch: true },
      [COMBINED],
    ],
    [
      'a sort field with a cursor',
      { SearchParameters: SEARCH, Cursor: '*', SortByColumn: 'NetSales' },
      [COMBINED],
    ],
    [
      'a direction with a cursor, the default one too',
      { SearchParameters: SEARCH, Cursor: '*', SortByDirection: 'ASC' },
      [COMBINED],
    ],
    [
      'a page number with a cursor, in that mode alone',
      { SearchParameters: SEARCH, Cursor: '*', PageNumber: 11 },
      [COMBINED],
    ],
    [
      'a value without an array',
      { SearchParameters: { CountryCode: 'SE' } },
      [`SearchParameters.CountryCode ${VALUES}`],
    ],
    [
      'an empty array',
      { SearchParameters: { OrgNo: [], NetSales: [] } },
      [`SearchParameters.OrgNo ${VALUES}`, `SearchParameters.NetSales ${NUMBERS}`],
    ],
    [
      'values that are neither texts nor numbers',
      { SearchParameters: { OrgNo: [null], ListingType: [true], dynamicsearch: [{}] } },
      [
        `SearchParameters.OrgNo ${VALUES}`,
        `SearchParameters.ListingType ${VALUES}`,
        `SearchParameters.dynamicsearch ${VALUES}`,
      ],
    ],
    [
      'texts for numbers',
      { SearchParameters: { NetSales: ['many'], InternalId: ['1.5'], LegalForm: [''] } },
      [
        `SearchParameters.NetSales ${NUMBERS}`,
        'SearchParameters.InternalId must be an array of one or more whole numbers.',
        'SearchParameters.LegalForm must be an array of one or more whole numbers.',
      ],
    ],
    [
      'dates that the calendar does not have, each',
      { SearchParameters: { contentupdatedat: ['2023-02-30', '2023-1-01'], LastFiscalYearEnd: [20230101] } },
      [
        'Invalid date format in contentupdatedat: 2023-02-30.',
        'Invalid date format in contentupdatedat: 2023-1-01.',
        'Invalid date format in LastFiscalYearEnd: 20230101.',
      ],
    ],
    [
      'three dates, by the name as it was sent',
      { SearchParameters: { contentUPDATEDat: ['2023-01-01', '2023-01-02', '2023-01-03'] } },
      ['contentUPDATEDat can only maximum contain two dates.'],
    ],
    [
      'three values of a figure, by the name as it was sent with its year',
      { SearchParameters: { NetSales_Year_2020: [1, 2, 3], netsales: [1, 2, 3] } },
      [
        'NetSales_Year_2020 can only maximum contain two values.',
        'netsales can only maximum contain two values.',
      ],
    ],
    [
      'one parameter in dozens of spellings',
      {
        SearchParameters: Object.fromEntries(
          Array.from({ length: 33 }, (_, at) => [
            `DYNAMIC${[...'search'].map((letter, bit) => ((at >> bit) & 1 ? letter.toUpperCase() : letter)).join('')}`,
            ['x'],
          ]),
        ),
      },
      ['SearchParameters must be an object that names a parameter once.'],
    ],
    [
      'everything at once, in the order of the table',
      {
        SearchParameters: { NetSales: [1, 2, 3], ContentUpdatedAt: ['x', '1', '2'], Foo: [1] },
        PageSize: 501,
        PageNumber: 11,
        Currency: 'XXX',
        SortByColumn: 'Foo',
        SortByDirection: 'UP',
        MinifiedSearch: 1,
      },
      [
        'MinifiedSearch must be true or false.',
        'Pagenumber must be between 1-10.',
        'Pagesize could max be 500.',
        'Currency is invalid.',
        'Sortfield is invalid.',
        'Sort direction is invalid.',
        'Foo is an invalid parameter.',
        'Invalid date format in ContentUpdatedAt: x.',
        'Invalid date format in ContentUpdatedAt: 1.',
        'Invalid date format in ContentUpdatedAt: 2.',
        'ContentUpdatedAt can only maximum contain two dates.',
        'NetSales can only maximum contain two values.',
      ],
    ],
  ])('%s', (_, body, messages) => {
    expect(check(body)).toMatchObject({ kind: 'refused', messages })
  })
})

test('checkCompanyRequest refuses countries outside the authorized set as they were given, each once', () => {
  const body = { SearchParameters: { CountryCode: ['se', 'no', 'no', 'DK'] } }
  expect(messagesOf(check(body, callerOf({ SE: [] })))).toEqual([
    'no is an unauthorized country code.',
    'DK is an unauthorized country code.',
  ])
  expect(check(body).kind).toBe('search')
})

test('checkCompanyRequest refuses, also for a token of every country, a code that is neither of ISO 3166-1 nor of the lake', () => {
  const body = {
    SearchParameters: { CountryCode: ['ZZ', 'no', '__proto__', 'XK', 'constructor', '', 'AX', 'zz'] },
  }
  expect(messagesOf(check(body))).toEqual(
    ['ZZ', '__proto__', 'XK', 'constructor', '', 'zz'].map(
      (code) => `${code} is an unauthorized country code.`,
    ),
  )
  const parts = emptyParts({ countries: namedCountries(['XK', 'zz']) })
  expect(messagesOf(checkCompanyRequest(parts, EVERYTHING, body))).toEqual(
    ['__proto__', 'constructor', ''].map((code) => `${code} is an unauthorized country code.`),
  )
})

test('checkCompanyRequest refuses values nested thousands deep by messages, whatever the parameter and the cursor', () => {
  for (const depth of [4400, 200_000]) {
    const nested: unknown = JSON.parse(`${'['.repeat(depth)}1${']'.repeat(depth)}`)
    for (const Cursor of [undefined, '*', 'abc']) {
      const invented = Cursor === 'abc' ? ['Cursor has not a valid value.'] : []
      expect(messagesOf(check({ SearchParameters: { NetSales: nested }, Cursor }))).toEqual([
        `SearchParameters.NetSales ${NUMBERS}`,
      ])
      expect(messagesOf(check({ SearchParameters: { Foo: nested }, Cursor })).toSorted()).toEqual(
        [...invented, 'Foo is an invalid parameter.'].toSorted(),
      )
    }
  }
})

test('checkCompanyRequest takes null for every field as not given', () => {
  const search = searchOf({
    SearchParameters: { ...SEARCH, OrgNo: null },
    Currency: null,
    PageNumber: null,
    PageSize: null,
    SortByColumn: null,
    SortByDirection: null,
    Cursor: null,
    MinifiedSearch: null,
    Unknown: 1,
  })
  expect(search).toEqual({
    filters: [{ kind: 'strings', name: 'CountryCode', values: ['SE'] }],
    currency: DEFAULT_CURRENCY,
    pageSize: LIMITS.pageSize.default,
    paging: { kind: 'page', number: 1, sortBy: null, direction: 'ASC', minified: false },
  })
})

test('checkCompanyRequest reads names in any letter case, with and without a year', () => {
  expect(filtersOf({ netSALES_year_2020: [1, '2e3'], employees: [-0.5], INTERNALID: [1, '2'] })).toEqual([
    { kind: 'figure', name: 'NetSales', year: 2020, from: 1, to: 2000 },
    { kind: 'figure', name: 'Employees', year: null, from: -0.5, to: null },
    { kind: 'numbers', name: 'InternalId', values: [1n, 2n] },
  ])
})

test('checkCompanyRequest reads values of every class in the form in which they are compared', () => {
  expect(
    filtersOf({
      OrgNo: ['556012-3456', 5560123456],
      CountryCode: ['se'],
      IndustryCode: [62],
      ContentUpdatedAt: ['2024-02-29'],
      KeyPeopleUpdatedAt: ['2024-01-01', '2024-12-31'],
      DynamicSearch: ['steel', 12],
    }),
  ).toEqual([
    { kind: 'strings', name: 'OrgNo', values: ['5560123456', '5560123456'] },
    { kind: 'strings', name: 'CountryCode', values: ['SE'] },
    { kind: 'strings', name: 'IndustryCode', values: ['62'] },
    { kind: 'date', name: 'ContentUpdatedAt', from: '2024-02-29', to: null },
    { kind: 'date', name: 'KeyPeopleUpdatedAt', from: '2024-01-01', to: '2024-12-31' },
    { kind: 'search', name: 'DynamicSearch', text: 'steel 12' },
  ])
})

describe('a cursor', () => {
  const body = { SearchParameters: { NetSales: [1], CountryCode: ['SE'] }, PageSize: 20, Currency: 'SEK' }
  const token = makeCursor(
    PARTS.cursorKey,
    bindingOf('companies', PARTS, EVERYTHING, body.SearchParameters, [20, 'SEK']),
    { lastId: 5n, delivered: 20 },
  )
  const INVALID = ['Cursor has not a valid value.']

  test('goes on with the same search, names in another letter case and order too', () => {
    const same = { ...body, SearchParameters: { countrycode: ['SE'], NETSALES: [1] }, Currency: 'sek' }
    for (const one of [body, same, { ...same, PageNumber: 1 }]) {
      expect(searchOf({ ...one, Cursor: token }).paging).toMatchObject({
        kind: 'cursor',
        after: { lastId: 5n, delivered: 20 },
      })
    }
  })

  test.each([
    ['other values', { SearchParameters: { NetSales: [2], CountryCode: ['SE'] } }],
    ['another parameter', { SearchParameters: { NetSales: [1] } }],
    ['another page size', { PageSize: 21 }],
    ['another currency', { Currency: 'EUR' }],
  ])('is refused with %s', (_, change) => {
    expect(messagesOf(check({ ...body, ...change, Cursor: token }))).toEqual(INVALID)
  })

  test('is refused for another caller and another snapshot', () => {
    const asked = { ...body, Cursor: token }
    expect(messagesOf(check(asked, { ...EVERYTHING, name: 'another' }))).toEqual(INVALID)
    expect(messagesOf(checkCompanyRequest(emptyParts({}, 2), EVERYTHING, asked))).toEqual(INVALID)
  })

  test('of relations is refused for companies', () => {
    const binding = bindingOf('relations', PARTS, EVERYTHING, SEARCH, [10])
    const Cursor = makeCursor(PARTS.cursorKey, binding, { lastId: 5n, delivered: 20 })
    expect(messagesOf(check({ SearchParameters: SEARCH, Cursor }))).toEqual(INVALID)
  })

  test('that delivered as much as the cap is refused by the sentence of the contract', () => {
    const capped = checkCompanyRequest(emptyParts({ cursorCap: 20 }), EVERYTHING, { ...body, Cursor: token })
    expect(messagesOf(capped)).toEqual(['You are not allowed to iterate more than 100000 via cursor.'])
  })
})

test('checkCompanyRequest answers any JSON value with a search or with messages', () => {
  const parameter = fc.constantFrom(
    'NetSales',
    'InternalId',
    'CountryCode',
    'ContentUpdatedAt',
    'Foo',
    '__proto__',
  )
  const body = fc.oneof(
    fc.jsonValue(),
    fc.record({
      SearchParameters: fc.oneof(fc.jsonValue(), fc.dictionary(parameter, fc.jsonValue())),
      Currency: fc.oneof(fc.jsonValue(), fc.constant('SEK')),
      Cursor: fc.oneof(fc.jsonValue(), fc.constant('*')),
    }),
  )
  fc.assert(
    fc.property(body, (given) => {
      const checked = check(given, callerOf({ SE: [] }))
      expect(checked.kind === 'search' || checked.messages.length > 0).toBe(true)
    }),
    { numRuns: 500 },
  )
})
