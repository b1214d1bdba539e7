import { afterAll, beforeAll, expect, test } from 'vitest'
import { FILTER_CLASSES } from '../../../../src/contract/requests.ts'
import { INDEX_TABLES } from '../../../../src/server/serving-index/index-form.ts'
import { Workbench } from '../../../load/loaded-lake.ts'
import { type MadeIndex, madeIndex, sampleLines } from '../served-lake.ts'

let bench: Workbench
beforeAll(async () => {
  bench = await Workbench.open()
})
afterAll(() => bench.close())

const copyOf = async (
  companies: readonly (object | string)[],
  relations: readonly (object | string)[] = [],
): Promise<MadeIndex> =>
  madeIndex(
    await bench.load({ content: 'companies', lines: companies }, { content: 'relations', lines: relations }),
  )

/** A row a figure. */
const FIGURES = `SELECT line_item, fiscal_year - back AS fiscal_year,
  CASE WHEN back = 0 THEN value ELSE earlier[back] END AS value, currency, latest AND back = 0 AS latest
  FROM (SELECT *, unnest(range(len(earlier) + 1))::INTEGER AS back FROM serving.figure) WHERE back = 0 OR earlier[back] IS NOT NULL`

const figuresOf = async (company: object): Promise<readonly object[]> => {
  const { index, rows } = await copyOf([{ BasicDetails: { InternalId: 1 }, ...company }])
  const found = await rows(`${FIGURES} ORDER BY line_item, fiscal_year`)
  await index.close()
  return found
}

test('figure takes the consolidated value of a year, else the unconsolidated one, and marks the latest year', async () => {
  const figures = await figuresOf({
    MetaData: { CurrentCurrencyCode: 'SEK', FinancialFigureScale: 'Thousands' },
    Financials: {
      ProfitAndLoss: { NetSales: { 2020: 1, 2021: 0 } },
      KeyFinancialRatio: { EBITMargin: { 2021: 0.5 } },
    },
    UnconsolidatedFinancials: { ProfitAndLoss: { NetSales: { 2021: 7, 2022: 8 } } },
  })
  expect(figures).toEqual([
    { line_item: 'EBITMargin', fiscal_year: 2021, value: 0.5, currency: 'SEK', latest: true },
    { line_item: 'NetSales', fiscal_year: 2020, value: 1000, currency: 'SEK', latest: false },
    { line_item: 'NetSales', fiscal_year: 2021, value: 0, currency: 'SEK', latest: false },
    { line_item: 'NetSales', fiscal_year: 2022, value: 8000, currency: 'SEK', latest: true },
  ])
})

test('figure holds line items of the contract in their own category only, and headcounts', async () => {
  const figures = await figuresOf({
    EnhancedDetails: { Employees: { 2021: 4 }, EmployeesUnconsolidated: { 2021: 3, 2022: 2 } },
    Financials: { BalanceSheet: { NetSales: { 2020: 1 }, Unheard: { 2020: 2 }, TotalAssets: { 2020: 3 } } },
  })
  expect(figures).toEqual([
    { line_item: 'Employees', fiscal_year: 2021, value: 4, currency: null, latest: false },
    { line_item: 'Employees', fiscal_year: 2022, value: 2, currency: null, latest: true },
    { line_item: 'TotalAssets', fiscal_year: 2020, value: 3, currency: null, latest: true },
  ])
})

test('figure, company and person hold the current version of a record only', async () => {
  const company = (NetSales: object): object => ({
    BasicDetails: { InternalId: 1 },
    Financials: { ProfitAndLoss: { NetSales } },
  })
  const relations = (NationalIdentificationNumber: string): object => ({
    InternalId: 1,
    Parents: [{ InternalId: 2, NationalIdentificationNumber }],
  })
  const { index, rows } = await madeIndex(
    await bench.load(
      { content: 'companies', lines: [company({ 2020: 1, 2024: 2 })] },
      { content: 'relations', lines: [relations('1')] },
      { content: 'companies', lines: [company({ 2021: 3 })] },
      { content: 'relations', lines: [relations('2')] },
    ),
  )
  expect(await rows(`SELECT fiscal_year, value, latest FROM (${FIGURES})`)).toEqual([
    { fiscal_year: 2021, value: 3, latest: true },
  ])
  expect(await rows('SELECT national_id FROM serving.person')).toEqual([{ national_id: '2' }])
  expect(await rows('SELECT internal_id FROM serving.company')).toHaveLength(1)
  await index.close()
})

test('company holds numbers as they are compared, days in UTC and industry codes', async () => {
  const { index, rows } = await copyOf([
    {
      BasicDetails: {
        InternalId: 1,
        OrgNo: ' 55\u00a0-60\u2011 12\t',
        CountryCode: 'SE',
        LegalForm: 3,
        IndustryCode: {
          IndustryCodes: [{ Code: '62.01' }, { Code: '62' }],
          WeightedGroupIndustryCodes: [{ Code: '9' }],
        },
      },
      MetaData: {
        ContentUpdatedAt: '2024-01-01T00:30:00+02:00',
        LastFiscalYearEnd: '2023-12-31T23:59:59',
        OwnersUpdatedAt: '0001-01-01T00:00:00',
      },
    },
    { BasicDetails: { InternalId: 2 } },
  ])
  const [one, two] = await rows('SELECT * FROM serving.company ORDER BY internal_id')
  expect(one).toMatchObject({
    internal_id: '1',
    org_no: '556012',
    country_code: 'SE',
    legal_form: '3',
    industry_codes: ['62.01', '62'],
    content_updated_at: '2023-12-31 22:30:00',
    last_fiscal_year_end: '2023-12-31 23:59:59',
    owners_updated_at: null,
    currency: null,
  })
  expect(Number(one?.text_terms)).toBeGreaterThan(0)
  expect(two).toMatchObject({ internal_id: '2', org_no: null, industry_codes: null, text_terms: 0 })
  const dates = Object.entries(one ?? {}).filter(
    ([name]) => !(name in INDEX_TABLES.company) && name !== 'segment',
  )
  expect(dates).toHaveLength(FILTER_CLASSES.date.parameters.length)
  await index.close()
})

test('relation has the dates of the company of its id, and protected whom a record protects', async () => {
  const { index, rows } = await copyOf(
    [{ BasicDetails: { InternalId: 1 }, MetaData: { ContentUpdatedAt: '2024-05-01T10:00:00' } }],
    [
      { InternalId: 1, OrgNo: '1-2', CountryCode: 'NO', Children: [{ InternalId: 9, IsProtected: false }] },
      {
        InternalId: 2,
        Parents: [{ InternalId: 8, History: [{ InternalId: 7, Name: 'Protected Identity' }] }],
      },
    ],
  )
  expect(
    await rows(
      'SELECT internal_id, org_no, country_code, content_updated_at, relations_updated_at FROM serving.dated_relation ORDER BY internal_id',
    ),
  ).toEqual([
    {
      internal_id: '1',
      org_no: '12',
      country_code: 'NO',
      content_updated_at: '2024-05-01 10:00:00',
      relations_updated_at: null,
    },
    {
      internal_id: '2',
      org_no: null,
      country_code: null,
      content_updated_at: null,
      relations_updated_at: null,
    },
  ])
  expect(await rows('SELECT person_id, internal_id FROM serving.protected')).toEqual([
    { person_id: '7', internal_id: '2' },
  ])
  await index.close()
})

test('person has the national ids that are not masked, histories included; one protected in one place is so in all', async () => {
  const person = (NationalIdentificationNumber: string, more: object = {}): object => ({
    InternalId: 9,
    NationalIdentificationNumber,
    ...more,
  })
  const { index, rows } = await copyOf(
    [],
    [
      {
        InternalId: 2,
        Parents: [person('1901 01-0101', { History: [person('19020202', { IsProtected: true })] })],
      },
      { InternalId: 1, Children: [person('Protected Identity'), person('19010101 01', { InternalId: 8 })] },
    ],
  )
  expect(await rows('SELECT * EXCLUDE (birth) FROM serving.person')).toEqual([
    { national_id: '1901010101', internal_id: '1', person_id: '8', is_protected: false, is_history: false },
    { national_id: '1901010101', internal_id: '2', person_id: '9', is_protected: true, is_history: false },
    { national_id: '19020202', internal_id: '2', person_id: '9', is_protected: true, is_history: true },
  ])
  await index.close()
})

test('tables are sorted as the form says', async () => {
  const { index, rows } = await copyOf(
    (await sampleLines('companies', 120)).reverse(),
    (await sampleLines('relations', 120)).reverse(),
  )
  const orders = {
    company: 'internal_id',
    relation: 'internal_id',
    embedding: 'internal_id',
    figure: 'line_item, rowid',
    posting: 'term, company_row',
    person: 'national_id, internal_id',
  }
  for (const [table, order] of Object.entries(orders)) {
    const [found] = await rows(
      `SELECT count(*) AS rows, count(*) FILTER (place <> rank) AS wrong FROM (
        SELECT row_number() OVER (ORDER BY rowid) AS place, row_number() OVER (ORDER BY ${order}) AS rank FROM segment_0.${table} ${table === 'figure' ? "WHERE line_item <> 'Employees'" : ''})`,
    )
    expect([table, Number(found?.rows) > 50, Number(found?.wrong)]).toEqual([table, true, 0])
  }
  await index.close()
})

test('embedding has the vector of every company under its id', async () => {
  const { index, rows } = await copyOf([
    { BasicDetails: { InternalId: 2, CompanyName: 'Acme' } },
    { BasicDetails: { InternalId: 1 } },
  ])
  expect(await rows('SELECT internal_id, vector, typeof(vector) AS type FROM serving.embedding')).toEqual([
    { internal_id: '1', vector: [0, 1], type: 'FLOAT[2]' },
    { internal_id: '2', vector: [4, 1], type: 'FLOAT[2]' },
  ])
  await index.close()
})
