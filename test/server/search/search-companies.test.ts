import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { COMPANY_PARAMETERS } from '../../../src/contract/listings.ts'
import type { Caller } from '../../../src/server/access/caller.ts'
import { searchCompanies } from '../../../src/server/search/search-companies.ts'
import type { SearchParts } from '../../../src/server/search/shared/answer.ts'
import { namedCountries } from '../../../src/server/search/shared/visible-records.ts'
import { buildIndex, indexFolder } from '../../../src/server/serving-index/build/build-index.ts'
import { openIndex } from '../../../src/server/serving-index/open-index.ts'
import { parseBody } from '../../../src/support/exact-json.ts'
import { Workbench } from '../../load/loaded-lake.ts'
import { MEMORY_BYTES } from '../serving-index/served-lake.ts'
import { callerOf, EVERYTHING, messagesOf, pageOf, searchedLake } from './search-parts.ts'

const company = (InternalId: number, basic: object, rest: object = {}) => ({
  BasicDetails: {
    InternalId,
    IndustryCode: { IndustryCodes: [], WeightedGroupIndustryCodes: [] },
    HasReportedMissingUBO: false,
    ...basic,
  },
  ...rest,
})
const meta = (CurrentCurrencyCode: string, more: object = {}) => ({
  MetaData: { CurrentCurrencyCode, FinancialFigureScale: 'None', ...more },
})
const sales = (NetSales: object, more: object = {}) => ({
  Financials: { ProfitAndLoss: { NetSales, ...more } },
})
const nace = (...codes: string[]) => ({
  IndustryCode: {
    IndustryCodes: codes.map((Code) => ({ Code, Text: `Text of ${Code}`, Type: 'Nace' })),
    WeightedGroupIndustryCodes: [],
  },
})

/** With the digits that JavaScript has no number for. */
const LARGE = '9007199254740993'
const COMPANIES = [
  company(
    1,
    {
      CompanyName: 'Nordic Ship',
      OrgNo: '556012-3456',
      CountryCode: 'SE',
      OperationalStatus: 10,
      ...nace('62.01'),
    },
    {
      ...meta('SEK', {
        ContentUpdatedAt: '2024-03-01T23:30:00-01:00',
        LastFiscalYearEnd: '2023-12-31T00:00:00',
      }),
      // 100 SEK of 2020 are 10 dollars, 160 SEK of 2021 are 20.
      ...sales({ 2020: 100, 2021: 160 }, {}),
      EnhancedDetails: { Employees: { 2021: 50 }, HasForeignUltimateParent: false, HasGroupStructure: false },
      Score: 3,
    },
  ),
  company(
    2,
    {
      CompanyName: 'Bank of Fish',
      OrgNo: '99',
      CountryCode: 'NO',
      LegalForm: 1,
      ListingType: 'Listed',
      ...nace('64'),
    },
    {
      ...meta('EUR', { ContentUpdatedAt: '2024-03-01T10:00:00' }),
      // 15 euros are 30 dollars in every year; the later year stands only in the parent's own statement.
      ...sales({ 2020: 15 }),
      UnconsolidatedFinancials: { KeyFinancialRatio: { EBITMargin: { 2022: 0.2 } } },
    },
  ),
  company(3, { CompanyName: 'No Country Ship Ship', CompanyType: 7 }, meta('USD', {})),
  company(
    4,
    { CompanyName: 'Złoty', CountryCode: 'PL', LegalForm: 2 },
    { ...meta('PLN', { ContentUpdatedAt: '2024-03-01T09:59:59.5Z' }), ...sales({ 2021: 1000 }) },
  ),
  JSON.stringify(company(0, { CompanyName: 'Fish', CountryCode: 'SE', ListingType: 'Private' })).replace(
    '"InternalId":0',
    `"InternalId":${LARGE}`,
  ),
]

/** What SQL and JSON treat in a special way; a lake may hold it as a country's code. */
const SPECIAL = ['\0', '\ud800', '$1', '%', '\\', '"']
const HOSTILE = ["SE' OR 1=1 --", '"]']

let bench: Workbench
let parts: SearchParts
beforeAll(async () => {
  bench = await Workbench.open()
  const searched = await searchedLake(bench, { content: 'companies', lines: COMPANIES })
  parts = { ...searched, countries: namedCountries([...SPECIAL, ...HOSTILE]) }
}, 240_000)
afterAll(async () => {
  await parts.index.close()
  await bench.close()
})

const signal = new AbortController().signal
const answer = (body: unknown, caller: Caller = EVERYTHING, more: Partial<SearchParts> = {}) =>
  searchCompanies({ ...parts, ...more }, caller, body, signal)
const ask = async (body: unknown, caller: Caller = EVERYTHING, more: Partial<SearchParts> = {}) =>
  pageOf(await answer(body, caller, more))
const IDS = /"InternalId":(\d+)/g
const idsIn = (text: string): string[] => [...text.matchAll(IDS)].map((match) => match[1] ?? '')
const found = async (SearchParameters: object, more: object = {}, caller: Caller = EVERYTHING) =>
  idsIn((await ask({ SearchParameters, ...more }, caller)).text)

const ALL = { InternalId: ['1', '2', '3', '4', LARGE] }

describe('searchCompanies filters by', () => {
  test.each<[string, object, string[]]>([
    ['ids, as numbers and texts', { InternalId: [1, '3', 99] }, ['1', '3']],
    ['an id beyond 2^53', { InternalId: [LARGE] }, [LARGE]],
    ['an id that is off by what JavaScript rounds', { InternalId: ['9007199254740992'] }, []],
    ['an id that no column can hold', { InternalId: ['99999999999999999999999', 2] }, ['2']],
    ['organisation numbers without hyphens and spaces', { OrgNo: ['5560 123456', '9-9'] }, ['1', '2']],
    ['countries in any letter case', { CountryCode: ['se', 'PL'] }, ['1', '4', LARGE]],
    ['status', { OperationalStatus: ['10'] }, ['1']],
    ['legal forms', { LegalForm: [1, 2] }, ['2', '4']],
    ['company type', { CompanyType: [7] }, ['3']],
    ['listing type', { ListingType: ['Listed', 'Private'] }, ['2', LARGE]],
    ['the beginning of an industry code', { IndustryCode: ['62'] }, ['1']],
    ['industry codes, any of them', { IndustryCode: ['62.0', '64', '9'] }, ['1', '2']],
    [
      'many beginnings of industry codes',
      { IndustryCode: ['62.0', '64', ...Array.from({ length: 20 }, (_, at) => `x${at}`)] },
      ['1', '2'],
    ],
    ['many industry codes that nobody has', { IndustryCode: Array(20).fill('x') }, []],
    ...['OrgNo', 'CountryCode', 'IndustryCode', 'DynamicSearch', 'SemanticSearch'].map(
      (name): [string, object, string[]] => [
        `${name} with what SQL and JSON treat in a special way`,
        { [name]: SPECIAL },
        [],
      ],
    ),
    ['hostile text', { CountryCode: HOSTILE, OrgNo: ["');"] }, []],
    ['a day on which the offset matters', { ContentUpdatedAt: ['2024-03-02'] }, ['1']],
    ['two days, both included', { ContentUpdatedAt: ['2024-02-01', '2024-03-01'] }, ['2', '4']],
    ['another date', { LastFiscalYearEnd: ['2023-12-31', '2023-12-31'] }, ['1']],
    ['a figure at least', { NetSales: [20] }, ['1', '2']],
    ['a figure from and to, both included', { NetSales: [20, 20] }, ['1']],
    ['a figure of a year', { NetSales_Year_2020: [0, 29] }, ['1']],
    ['a figure of a year that has none', { NetSales_Year_2019: [0] }, []],
    ['a figure that only the parent reports', { EBITMargin: [0.2, 0.2] }, ['2']],
    ['employees', { Employees: [50, 60] }, ['1']],
    ['parameters of different names together', { NetSales: [20], CountryCode: ['NO'] }, ['2']],
    ['one parameter twice', { CountryCode: ['SE', 'NO'], countrycode: ['NO', 'PL'] }, ['2']],
  ])('%s', async (_, parameters, ids) => {
    expect(await found(parameters)).toEqual(ids)
  })
})

test('searchCompanies compares amounts in the requested currency', async () => {
  // 20 dollars of 2021 are 160 SEK or 10 EUR.
  expect(await found({ NetSales: [160, 160] }, { Currency: 'SEK' })).toEqual(['1'])
  expect(await found({ NetSales: [10, 10] }, { Currency: 'eur' })).toEqual(['1'])
  expect(await found({ EBITMargin: [0.2, 0.2] }, { Currency: 'SEK' })).toEqual(['2'])
})

test('searchCompanies leaves amounts in a currency without a rate out of every comparison', async () => {
  expect(await found({ NetSales: [0] })).toEqual(['1', '2'])
})

test('searchCompanies gives the whole documents with their figures in the requested currency', async () => {
  const { text } = await ask({ SearchParameters: { InternalId: [1, 4] } })
  expect(JSON.parse(text)).toEqual({
    Companies: [
      expect.objectContaining({
        BasicDetails: expect.objectContaining({ InternalId: 1, CompanyName: 'Nordic Ship' }),
        Financials: { ProfitAndLoss: { NetSales: { 2020: 10, 2021: 20 } } },
        MetaData: expect.objectContaining({ CurrentCurrencyCode: 'USD' }),
      }),
      expect.objectContaining({
        Financials: { ProfitAndLoss: { NetSales: { 2021: 1000 } } },
        MetaData: expect.objectContaining({ CurrentCurrencyCode: 'PLN' }),
      }),
    ],
  })
  expect(text).not.toContain('Score')
})

test('searchCompanies in the currency of a company gives its figures untouched', async () => {
  const { text } = await ask({ SearchParameters: { InternalId: [1] }, Currency: 'SEK' })
  expect(JSON.parse(text).Companies[0]).toMatchObject({
    Financials: { ProfitAndLoss: { NetSales: { 2020: 100, 2021: 160 } } },
    MetaData: { CurrentCurrencyCode: 'SEK' },
  })
})

test('searchCompanies answers an empty page where nothing matches', async () => {
  const { pagination, text } = await ask({ SearchParameters: { OrgNo: ['0'] } })
  expect(text).toBe('{"Companies":[]}')
  expect(pagination).toEqual({
    Count: 0,
    TotalCount: 0,
    PageSize: 10,
    TotalPages: 0,
    CurrentPage: 1,
    HasPrevious: false,
    HasNext: false,
  })
})

test('searchCompanies pages by number', async () => {
  const page = (PageNumber: number) => ask({ SearchParameters: ALL, PageSize: 2, PageNumber })
  const pages = await Promise.all([page(1), page(2), page(3), page(4)])
  expect(pages.map(({ text }) => idsIn(text))).toEqual([['1', '2'], ['3', '4'], [LARGE], []])
  expect(pages.map(({ pagination }) => pagination)).toEqual(
    [
      { Count: 2, CurrentPage: 1, HasPrevious: false, HasNext: true },
      { Count: 2, CurrentPage: 2, HasPrevious: true, HasNext: true },
      { Count: 1, CurrentPage: 3, HasPrevious: true, HasNext: false },
      { Count: 0, CurrentPage: 4, HasPrevious: true, HasNext: false },
    ].map((one) => ({ TotalCount: 5, PageSize: 2, TotalPages: 3, ...one })),
  )
})

/** The same name in other letters: bit by bit of a number in upper or lower case. */
const spelt = (name: string, number: number): string =>
  [...name].map((letter, at) => ((number >> at) & 1 ? letter.toUpperCase() : letter.toLowerCase())).join('')

test('searchCompanies has no next page after the tenth, which is the last to be asked for', async () => {
  const lines = Array.from({ length: 12 }, (_, at) => company(at + 1, { CountryCode: 'SE' }))
  const twelve = await searchedLake(bench, { content: 'companies', lines })
  const page = (PageNumber: number) =>
    ask({ SearchParameters: { CountryCode: ['SE'] }, PageSize: 1, PageNumber }, EVERYTHING, twelve)
  const [ninth, tenth] = [await page(9), await page(10)]
  await twelve.index.close()
  expect([ninth.pagination.HasNext, tenth.pagination.HasNext]).toEqual([true, false])
  expect(tenth.pagination).toMatchObject({ TotalCount: 12, TotalPages: 12, CurrentPage: 10 })
  expect(idsIn(tenth.text)).toEqual(['10'])
})

test.each<[string, object, string[]]>([
  ['a column', { SortByColumn: 'CountryCode' }, ['2', '4', '1', LARGE, '3']],
  [
    'a column downwards, nothing last too',
    { SortByColumn: 'countrycode', SortByDirection: 'DESC' },
    ['1', LARGE, '4', '2', '3'],
  ],
  ['a figure in the requested currency', { SortByColumn: 'NetSales' }, ['1', '2', '3', '4', LARGE]],
  ['a figure downwards', { SortByColumn: 'NetSales', SortByDirection: 'DESC' }, ['2', '1', '3', '4', LARGE]],
  ['a date and its time of day', { SortByColumn: 'ContentUpdatedAt' }, ['4', '2', '1', '3', LARGE]],
  [
    'a date downwards',
    { SortByColumn: 'ContentUpdatedAt', SortByDirection: 'DESC' },
    ['1', '2', '4', '3', LARGE],
  ],
  ['ids downwards', { SortByColumn: 'InternalId', SortByDirection: 'DESC' }, [LARGE, '4', '3', '2', '1']],
  ['nothing, whatever the direction', { SortByDirection: 'DESC' }, ['1', '2', '3', '4', LARGE]],
])('searchCompanies sorts by %s', async (_, more, ids) => {
  expect(await found(ALL, more)).toEqual(ids)
})

test('searchCompanies answers many figure filters as it answers each of them', async () => {
  const years = { NetSales_Year_2020: [1], netsales_year_2021: [20, 20] }
  const latest = { NetSales: [20], EMPLOYEES: [50, 50] }
  const more = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [spelt('NetSales', at), [20]]))
  expect(await found({ ...years, ...latest, Employees_Year_2021: [50] })).toEqual(['1'])
  expect(await found({ ...years, ...latest, Employees_Year_2022: [50] })).toEqual([])
  expect(await found({ ...years, ...latest, ...more })).toEqual(['1'])
  // Ratios are not converted; what has no rate matches nothing.
  const ratios = Object.fromEntries(
    Array.from({ length: 5 }, (_, at) => [spelt('EBITMargin', at), [0.2, 0.2]]),
  )
  expect(await found(ratios)).toEqual(['2'])
  const some = Object.fromEntries(Array.from({ length: 5 }, (_, at) => [spelt('NetSales', at), [0]]))
  expect(await found(some, { Currency: 'EUR' })).toEqual(['1', '2'])
}, 240_000)

test('searchCompanies gives minified documents without anything else', async () => {
  const { text } = await ask({
    SearchParameters: { InternalId: [1], DynamicSearch: ['ship'] },
    MinifiedSearch: true,
  })
  const [minified] = JSON.parse(text).Companies
  expect(Object.keys(minified)).toEqual(['MinifiedInfo'])
  expect(minified.MinifiedInfo).toMatchObject({
    InternalId: 1,
    CompanyName: 'Nordic Ship',
    CountryCode: 'SE',
  })
})

const scoresIn = (text: string): number[] =>
  JSON.parse(text).Companies.map(({ Score }: { Score: number }) => Score)

test('searchCompanies gives text hits best first, each with its own Score', async () => {
  const { text, pagination } = await ask({ SearchParameters: { DynamicSearch: ['ship'] } })
  expect(idsIn(text)).toEqual(['3', '1'])
  expect(pagination.TotalCount).toBe(2)
  const [best = 0, second = 0] = scoresIn(text)
  expect(best).toBeGreaterThan(second)
  expect(second).toBeGreaterThan(0)
  expect(text.match(/"Score"/g)).toHaveLength(2)
})

test('searchCompanies gives text hits in the order of a sort field or of a cursor, with their Score', async () => {
  const SearchParameters = { DynamicSearch: ['ship'] }
  const sorted = await ask({ SearchParameters, SortByColumn: 'InternalId' })
  const chained = await ask({ SearchParameters, Cursor: '*' })
  expect([idsIn(sorted.text), idsIn(chained.text)]).toEqual([
    ['1', '3'],
    ['1', '3'],
  ])
  expect(scoresIn(chained.text).every((score) => score > 0)).toBe(true)
})

test('searchCompanies compares meanings by the embedder, joined with other filters', async () => {
  const { text } = await ask({ SearchParameters: { SemanticSearch: ['a fish'] } })
  expect(idsIn(text)).toEqual([LARGE, '2'])
  expect(scoresIn(text)[0]).toBeCloseTo(1)
  expect(scoresIn(text)[1]).toBeCloseTo(Math.SQRT1_2)
  expect(await found({ SemanticSearch: ['fish'], CountryCode: ['NO'] })).toEqual(['2'])
})

test('searchCompanies without an embedder answers both text searches alike, by words', async () => {
  const own = await Workbench.open()
  onTestFinished(() => own.close())
  const { lake, snapshot } = await own.load({ content: 'companies', lines: COMPANIES })
  const snapshotSha256 = 'f'.repeat(64)
  await buildIndex({ lake, snapshot, snapshotSha256, memoryBytes: MEMORY_BYTES })
  const folder = indexFolder(lake, snapshot.snapshot)
  const index = await openIndex({ folder, memoryBytes: MEMORY_BYTES })
  onTestFinished(() => index.close())
  const answered = async (...names: readonly string[]) => {
    const SearchParameters = Object.fromEntries(names.map((name) => [name, ['fish']]))
    const { text } = await ask({ SearchParameters }, EVERYTHING, { index, embedder: undefined })
    return { ids: idsIn(text), scores: scoresIn(text) }
  }
  const [terms, meant] = [await answered('DynamicSearch'), await answered('SemanticSearch')]
  expect(terms.ids.toSorted()).toEqual(['2', LARGE].toSorted())
  expect(meant).toEqual(terms)
  const both = await answered('DynamicSearch', 'SemanticSearch')
  expect(both.scores.map((score) => score / 2)).toEqual(terms.scores.map((score) => expect.closeTo(score)))
})

test('searchCompanies wants both text searches to match and adds their Scores', async () => {
  const score = async (SearchParameters: object) => scoresIn((await ask({ SearchParameters })).text)
  const [terms = 0] = await score({ DynamicSearch: ['bank'] })
  const both = await score({ DynamicSearch: ['bank'], SemanticSearch: ['fish'] })
  expect(both).toHaveLength(1)
  expect(both[0]).toBeCloseTo(terms + Math.SQRT1_2)
})

test('searchCompanies shows only what the caller may see', async () => {
  const swede = callerOf({ SE: [] })
  expect(await found(ALL, {}, swede)).toEqual(['1', LARGE])
  expect(await found(ALL, {}, callerOf({ no: [], '': [] }))).toEqual(['2', '3'])
  expect(await found(ALL, {}, callerOf({}))).toEqual([])
  const { pagination } = await ask({ SearchParameters: { NetSales: [0] } }, swede)
  expect(pagination.TotalCount).toBe(1)
})

const chain = async (body: object, more: Partial<SearchParts> = {}) => {
  const pages: string[][] = []
  let Cursor: string | null | undefined = '*'
  while (typeof Cursor === 'string') {
    const one = await answer({ ...body, Cursor }, EVERYTHING, more)
    if (one.kind === 'refused') return { pages, messages: messagesOf(one) }
    const { text, pagination } = pageOf(one)
    pages.push(idsIn(text))
    Cursor = pagination.Cursor
  }
  return { pages, messages: [] }
}

test('searchCompanies delivers a chain in the order of ids, and null with the last page', async () => {
  expect(await chain({ SearchParameters: ALL, PageSize: 2 })).toEqual({
    pages: [['1', '2'], ['3', '4'], [LARGE]],
    messages: [],
  })
  const { pagination } = await ask({ SearchParameters: ALL, Cursor: '*', PageSize: 5 })
  expect(pagination).toEqual({ Count: 5, TotalCount: 5, PageSize: 5, TotalPages: 1, Cursor: null })
})

test('searchCompanies ends a chain exactly at the cap and refuses what is beyond it', async () => {
  const capped = await chain({ SearchParameters: ALL, PageSize: 2 }, { cursorCap: 3 })
  expect(capped).toEqual({
    pages: [['1', '2'], ['3']],
    messages: ['You are not allowed to iterate more than 100000 via cursor.'],
  })
  expect(await chain({ SearchParameters: ALL, PageSize: 2 }, { cursorCap: 5 })).toMatchObject({
    pages: [['1', '2'], ['3', '4'], [LARGE]],
    messages: [],
  })
})

test('searchCompanies refuses a cursor with another search', async () => {
  const { pagination } = await ask({ SearchParameters: ALL, Cursor: '*', PageSize: 2 })
  const refused = await answer({
    SearchParameters: { InternalId: [1] },
    Cursor: pagination.Cursor,
    PageSize: 2,
  })
  expect(messagesOf(refused)).toEqual(['Cursor has not a valid value.'])
})

test('searchCompanies finds an id beyond 2^53 that came as a number', async () => {
  const body = parseBody(`{"SearchParameters":{"InternalId":[${LARGE}]}}`)
  expect(idsIn((await ask(body)).text)).toEqual([LARGE])
})

test('searchCompanies stops when it is aborted', async () => {
  const aborted = searchCompanies(parts, EVERYTHING, { SearchParameters: ALL }, AbortSignal.abort())
  await expect(aborted).rejects.toMatchObject({ name: 'AbortError' })
})

const parameterName = fc.constantFrom(
  ...COMPANY_PARAMETERS.map(({ name }) => name),
  'NetSales_Year_2020',
  'DPS_Year_9999',
)
const value = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.double({ noNaN: true }),
  fc.bigInt().map(String),
  fc.integer({ min: -9, max: 9999 }).map((year) => `${String(year).padStart(4, '0')}-02-28`),
)
test('searchCompanies answers any parameters and values with a page or with messages', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.dictionary(parameterName, fc.array(value, { maxLength: 3 }), { minKeys: 1, maxKeys: 3 }),
      fc.constantFrom({}, { Cursor: '*' }, { SortByColumn: 'EPS' }, { MinifiedSearch: true }),
      async (SearchParameters, more) => {
        const given = await answer({ SearchParameters, ...more, Currency: 'SEK' })
        expect(given.kind === 'page' || given.messages.length > 0).toBe(true)
      },
    ),
    { numRuns: 150 },
  )
})

test('searchCompanies finds an amount by its exact value, in the currency of the company and in another', async () => {
  const { index } = await searchedLake(bench, {
    content: 'companies',
    lines: [
      company(1, {}, { ...meta('USD', { FinancialFigureScale: 'Millions' }), ...sales({ 2021: 2130.7 }) }),
    ],
  })
  try {
    const asked = async (amount: number, Currency: string) =>
      idsIn(
        (await ask({ SearchParameters: { NetSales: [amount, amount] }, Currency }, EVERYTHING, { index }))
          .text,
      )
    expect(await asked(2_130_700_000, 'USD')).toEqual(['1'])
    expect(await asked(1_065_350_000, 'EUR')).toEqual(['1'])
    const { text } = await ask({ SearchParameters: { InternalId: [1] }, Currency: 'EUR' }, EVERYTHING, {
      index,
    })
    expect(JSON.parse(text).Companies[0]).toMatchObject({
      Financials: { ProfitAndLoss: { NetSales: { 2021: 1065.35 } } },
      MetaData: { FinancialFigureScale: 'Millions' },
    })
  } finally {
    await index.close()
  }
})

test('searchCompanies leaves an amount out of comparisons that no number can say in the currency asked for', async () => {
  const { index } = await searchedLake(bench, {
    content: 'companies',
    lines: [
      company(1, {}, { ...meta('USD'), ...sales({ 2020: 1.7e308 }) }),
      company(2, {}, { ...meta('USD'), ...sales({ 2020: 7 }) }),
    ],
  })
  try {
    const asked = async (SearchParameters: object, more: object = {}) =>
      idsIn((await ask({ SearchParameters, Currency: 'SEK', ...more }, EVERYTHING, { index })).text)
    const some = Object.fromEntries(Array.from({ length: 5 }, (_, at) => [spelt('NetSales', at), [1]]))
    expect(await asked({ NetSales: [1] })).toEqual(['2'])
    expect(await asked(some)).toEqual(['2'])
    expect(
      await asked({ InternalId: [1, 2] }, { SortByColumn: 'NetSales', SortByDirection: 'DESC' }),
    ).toEqual(['2', '1'])
  } finally {
    await index.close()
  }
})
