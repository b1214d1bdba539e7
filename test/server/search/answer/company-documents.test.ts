import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { documentPieces, newConverter } from '../../../../src/server/search/answer/company-documents.ts'
import {
  convertFigures as convertBytes,
  type FactorOf,
} from '../../../../src/server/search/answer/convert-figures.ts'
import type { CompanyPlace } from '../../../../src/server/serving-index/index-form.ts'
import { RATES } from '../search-parts.ts'

const convertFigures = (members: string, factorOf: FactorOf): string =>
  convertBytes(Buffer.from(members), factorOf).toString()

/** A document as copies have it, with its place. */
const stored = (currency: string | null, figures: object | null, score?: number) => {
  const meta = `{"MetaData":{${currency === null ? '' : `"CurrentCurrencyCode":${JSON.stringify(currency)},`}"FinancialFigureScale":"Thousands"}`
  const members = figures === null ? '' : JSON.stringify(figures).slice(1, -1)
  const rest = ',"BasicDetails":{"InternalId":9007199254740993,"CompanyName":"Å och Ö"}'
  const scoreText = score === undefined ? '' : `,"Score":${score}`
  const text = `${meta}${members === '' ? '' : `,${members}`}${rest}${scoreText}}`
  const place: CompanyPlace = {
    segment: 0,
    blockAt: 0,
    blockBytes: 0,
    at: 0,
    bytes: Buffer.byteLength(text),
    crc32: crc32(text),
    currency,
    currencyAt: currency === null ? null : text.indexOf(JSON.stringify(currency)),
    figuresAt: members === '' ? 0 : meta.length + 1,
    figuresBytes: Buffer.byteLength(members),
    scoreBytes: Buffer.byteLength(scoreText),
    isSparse: false,
  }
  return { document: Buffer.from(text), place }
}
const served = (
  { document, place }: ReturnType<typeof stored>,
  requested: string,
  score: number | null = null,
) => documentPieces(document, place, { requested, converter: newConverter(RATES, requested), score })
const textOf = (pieces: readonly Buffer[]): string => Buffer.concat(pieces).toString()

const SALES = { ProfitAndLoss: { NetSales: { 2020: 100, 2021: 80 } } }

test('companyPieces gives the stored bytes where the currency is the requested one', () => {
  const one = stored('SEK', { Financials: SALES })
  const pieces = served(one, 'SEK')
  expect(pieces).toHaveLength(1)
  expect(pieces[0]?.buffer).toBe(one.document.buffer)
  expect(textOf(served(stored('sek', { Financials: SALES }), 'SEK'))).toContain('"sek"')
})

test('companyPieces converts both statements by fiscal year and names the requested currency', () => {
  const text = textOf(served(stored('SEK', { Financials: SALES, UnconsolidatedFinancials: SALES }), 'EUR'))
  // 100 SEK of 2020: 10 dollars, 5 euros. 80 SEK of 2021: 10 dollars, 5 euros.
  const converted = '{"ProfitAndLoss":{"NetSales":{"2020":5,"2021":5}}}'
  expect(text).toBe(
    `{"MetaData":{"CurrentCurrencyCode":"EUR","FinancialFigureScale":"Thousands"},"Financials":${converted},` +
      `"UnconsolidatedFinancials":${converted},"BasicDetails":{"InternalId":9007199254740993,"CompanyName":"Å och Ö"}}`,
  )
})

test('companyPieces renames the currency of a document without figures', () => {
  expect(textOf(served(stored('SEK', null), 'USD'))).toBe(
    '{"MetaData":{"CurrentCurrencyCode":"USD","FinancialFigureScale":"Thousands"},"BasicDetails":{"InternalId":9007199254740993,"CompanyName":"Å och Ö"}}',
  )
})

test('companyPieces leaves a document in a currency without a rate, or in none, as it is', () => {
  for (const currency of ['PLN', null]) {
    const one = stored(currency, { Financials: SALES })
    expect(textOf(served(one, 'USD'))).toBe(one.document.toString())
  }
})

test('companyPieces replaces a stored Score, adds one, or takes it away', () => {
  const before = stored('SEK', { Financials: SALES }, 0.25)
  const without = stored('SEK', { Financials: SALES }).document.toString()
  expect(textOf(served(before, 'SEK'))).toBe(without)
  expect(textOf(served(before, 'SEK', 1.5))).toBe(`${without.slice(0, -1)},"Score":1.5}`)
  expect(JSON.parse(textOf(served(before, 'USD', 12.75)))).toMatchObject({
    Score: 12.75,
    MetaData: { CurrentCurrencyCode: 'USD' },
  })
  expect(textOf(served(stored('SEK', null), 'SEK', 2))).toMatch(/"Å och Ö"},"Score":2}$/)
})

const doubled = (statements: object): unknown =>
  JSON.parse(`{${convertFigures(JSON.stringify(statements).slice(1, -1), () => 2)}}`)

test('convertFigures converts amounts and per-share figures and nothing else', () => {
  const year = { 2020: 3 }
  expect(
    doubled({
      Financials: {
        BalanceSheet: { TotalAssets: year },
        KeyFinancialRatio: { DPS: year, MarketCap: year, EBITMargin: year, RRK: year, PE: year },
        OtherFinancialItems: { TotalShareIssueAmount: year, TotalCharges: year, FiscalYearEndMonth: year },
      },
    }),
  ).toEqual({
    Financials: {
      BalanceSheet: { TotalAssets: { 2020: 6 } },
      KeyFinancialRatio: { DPS: { 2020: 6 }, MarketCap: { 2020: 6 }, EBITMargin: year, RRK: year, PE: year },
      OtherFinancialItems: {
        TotalShareIssueAmount: { 2020: 6 },
        TotalCharges: year,
        FiscalYearEndMonth: year,
      },
    },
  })
})

test('convertFigures leaves line items of other categories, unknown names and what is no number', () => {
  const odd = {
    Financials: {
      CashFlow: { NetSales: { 2020: 1 } },
      Other: { NetSales: { 2020: 1 } },
      ProfitAndLoss: { netSales: { 2020: 1 }, NetSales: { 2020: null, soon: 5, 2021: '7' }, EBIT: 5 },
    },
  }
  expect(doubled(odd)).toEqual(odd)
})

test('convertFigures takes a list for nothing that has line items or years, whatever stands before it', () => {
  const odd = {
    Financials: {
      ProfitAndLoss: { NetSales: false },
      BalanceSheet: [{ 2020: 1 }],
      CashFlow: [[{ 2020: 1 }]],
    },
    UnconsolidatedFinancials: [{ NetSales: { 2020: 1 } }, { EBIT: { 2020: 1 } }],
  }
  expect(doubled(odd)).toEqual(odd)
  const before = {
    Financials: { ProfitAndLoss: { EBIT: 5 } },
    UnconsolidatedFinancials: [{ EBIT: { 2020: 1 } }],
  }
  expect(doubled(before)).toEqual(before)
})

test('convertFigures keeps names that objects have by themselves', () => {
  const members =
    '"Financials":{"__proto__":{"NetSales":{"2020":1}},"ProfitAndLoss":{"__proto__":{"2020":1},"constructor":{"2020":1},"NetSales":{"2020":1.5}}}'
  expect(convertFigures(members, () => 2)).toBe(members.replace('1.5', '3'))
  expect(Object.hasOwn(Object.prototype, '2020')).toBe(false)
})

test('convertFigures leaves out a figure that is too large for a number', () => {
  const statements = { Financials: { ProfitAndLoss: { NetSales: { 2020: 1e308, 2021: 1 } } } }
  expect(JSON.parse(`{${convertFigures(JSON.stringify(statements).slice(1, -1), () => 10)}}`)).toEqual({
    Financials: { ProfitAndLoss: { NetSales: { 2021: 10 } } },
  })
})
