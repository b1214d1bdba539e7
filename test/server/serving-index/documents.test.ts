import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  BASIC_DETAILS,
  type Company,
  ENHANCED_DETAILS,
  META_DATA,
  MINIFIED_INFO,
} from '../../../src/contract/objects.ts'
import { type LoadedLake, Workbench } from '../../load/loaded-lake.ts'
import {
  documentsIn,
  fileOf,
  loadServed,
  type MadeIndex,
  madeIndex,
  placesOf,
  sampleLines,
} from './served-lake.ts'

let bench: Workbench
let loaded: LoadedLake
let made: MadeIndex

type Json = Readonly<Record<string, Readonly<Record<string, unknown>>>>
interface Ids {
  readonly InternalId?: number
  readonly BasicDetails?: { readonly InternalId: number }
}

/** Records by their id. */
const byId = (strings: readonly string[]): Map<string, Json> =>
  new Map(
    strings.map((text): [string, Json] => {
      const record: Json & Ids = JSON.parse(text)
      return [String(record.BasicDetails?.InternalId ?? record.InternalId), record]
    }),
  )

const AWKWARD = [
  { BasicDetails: { InternalId: 1 }, Score: 1.5 },
  { BasicDetails: { InternalId: 2 }, MetaData: { CurrentCurrencyCode: 'Å"\\€' } },
  {
    BasicDetails: { InternalId: 3 },
    MetaData: { FiscalYearLength: 12, Unheard: ['of'] },
    Unheard: { of: 1 },
  },
  {
    BasicDetails: { InternalId: 4, CompanyName: 'Åse 株式会社 🚀' },
    MetaData: { CurrentCurrencyCode: 'SEK', FinancialFigureScale: 'Thousands', LocalCurrencyCode: 'Åäö' },
    UnconsolidatedFinancials: { ProfitAndLoss: { 'Nät"🚀': { 2020: 0, 2021: 1.25 } } },
    Score: 0,
  },
  {
    BasicDetails: { InternalId: 5, OperationalStatus: 0, URL: 'https://five.example' },
    EnhancedDetails: { UltimateParentOrgNo: '55-5', URL: 'https://other.example' },
    MetaData: {
      CurrentCurrencyCode: 'EUR',
      LastFiscalYearEnd: '0001-01-01T00:00:00',
      ContentUpdatedAt: '2024-01-01T00:30:00.1234567+02:00',
      OwnersUpdatedAt: '2024-01-01T00:30:00Z',
      KeyPeopleUpdatedAt: 'not a date',
    },
    Financials: { BalanceSheet: { TotalAssets: { 2020: 5 } } },
    UnconsolidatedFinancials: { BalanceSheet: { TotalAssets: { 2020: 4 } } },
    Score: 1e-9,
  },
]

beforeAll(async () => {
  bench = await Workbench.open()
  loaded = await loadServed(
    bench,
    { content: 'companies', lines: await sampleLines('companies', 60) },
    { content: 'relations', lines: await sampleLines('relations', 60) },
    { content: 'companies', lines: AWKWARD },
    // Versions that supersede others.
    { content: 'companies', lines: (await sampleLines('companies', 20)).reverse() },
  )
  made = await madeIndex(loaded)
})
afterAll(async () => {
  await made.index.close()
  await bench.close()
})

test.each([
  ['companies', 'company', 65],
  ['relations', 'relation', 60],
] as const)(
  'buildIndex gives every current record of %s a document equal to it',
  async (content, table, count) => {
    const rows = await made.rows(`SELECT * FROM serving.${table} ORDER BY hash(internal_id)`)
    const documents = await made.index.documents(content, placesOf(rows))
    const records = byId(await loaded.givenBack(content))
    expect(rows).toHaveLength(count)
    expect(records.size).toBe(count)
    for (const [at, document] of documents.entries())
      expect(JSON.parse(document.toString('utf8'))).toEqual(records.get(String(rows[at]?.internal_id)))
  },
)

test('buildIndex writes each document as one line', async () => {
  for (const [kind, count] of [
    ['companies', 65],
    ['minified', 65],
    ['relations', 60],
  ] as const) {
    const lines = await documentsIn(join(made.folder, await fileOf(made.folder, kind)))
    expect(lines).toHaveLength(count)
    for (const line of lines) JSON.parse(line)
  }
})

test("buildIndex knows where a company's currency, figures and Score stand", async () => {
  const rows = await made.rows('SELECT * FROM serving.company ORDER BY internal_id')
  const documents = await made.index.documents('companies', placesOf(rows))
  const seen = { currency: 0, figures: 0, score: 0 }
  for (const [at, row] of rows.entries()) {
    const document = documents[at] ?? Buffer.alloc(0)
    const company: Company = JSON.parse(document.toString('utf8'))
    const { MetaData, Financials, UnconsolidatedFinancials, Score } = company
    const cut = (from: unknown, bytes: number): string =>
      document.subarray(Number(from), Number(from) + bytes).toString('utf8')
    expect(row.currency).toBe(MetaData?.CurrentCurrencyCode ?? null)
    if (row.currency === null) expect(row.currency_at).toBeNull()
    else {
      seen.currency += 1
      const text = JSON.stringify(row.currency)
      expect(cut(row.currency_at, Buffer.byteLength(text))).toBe(text)
    }
    const figures = cut(row.figures_at, Number(row.figures_bytes))
    if (figures !== '') seen.figures += 1
    expect(JSON.parse(`{${figures}}`)).toEqual(
      JSON.parse(JSON.stringify({ Financials, UnconsolidatedFinancials })),
    )
    const score = cut(document.length - 1 - Number(row.score_bytes), Number(row.score_bytes))
    if (score !== '') seen.score += 1
    expect(score).toBe(Score === undefined ? '' : `,"Score":${score.slice(9)}`)
    if (Score !== undefined) expect(Number(score.slice(9))).toBe(Score)
  }
  expect(seen.currency).toBeGreaterThan(50)
  expect(seen.figures).toBeGreaterThan(40)
  expect(seen.score).toBeGreaterThanOrEqual(3)
})

const PARTS = { BasicDetails: BASIC_DETAILS, MetaData: META_DATA, EnhancedDetails: ENHANCED_DETAILS }

/** What a minified search says of a full record: the field of that name, letter case aside, in the first part with one. */
const minifiedOf = (company: Json): object => {
  const fields = Object.entries(PARTS).flatMap(([part, { fields }]) =>
    Object.keys(fields).map((name) => ({ name, value: company[part]?.[name] })),
  )
  const info: Record<string, unknown> = {}
  for (const [name, { omitted }] of Object.entries(MINIFIED_INFO.fields)) {
    const value = fields.find((field) => field.name.toLowerCase() === name.toLowerCase())?.value
    if (value !== undefined && !(omitted === 'zero' && value === 0)) info[name] = value
  }
  return info
}

test('buildIndex writes in the minified documents what the full records say', async () => {
  const rows = await made.rows('SELECT * FROM serving.company ORDER BY internal_id')
  const minified = await made.index.documents('minified', placesOf(rows, 'minified_'))
  const records = byId(await loaded.givenBack('companies'))
  const infos = minified.map((document): { MinifiedInfo: object } => JSON.parse(document.toString('utf8')))
  for (const [at, row] of rows.entries()) {
    const company = records.get(String(row.internal_id)) ?? {}
    expect(infos[at]).toEqual({ MinifiedInfo: minifiedOf(company) })
  }
  expect(infos[4]).toEqual({
    MinifiedInfo: {
      InternalId: 5,
      ContentUpdatedAt: '2024-01-01T00:30:00.1234567+02:00',
      OwnersUpdatedAt: '2024-01-01T00:30:00Z',
      KeyPeopleUpdatedAt: 'not a date',
      UltimateParentOrgNo: '55-5',
      Url: 'https://five.example',
    },
  })
})
