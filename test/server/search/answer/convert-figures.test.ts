import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  convertFigures as convertBytes,
  type FactorOf,
} from '../../../../src/server/search/answer/convert-figures.ts'

const convertFigures = (members: string, factorOf: FactorOf): string =>
  convertBytes(Buffer.from(members), factorOf).toString()

const NAMES = [
  'ProfitAndLoss',
  'KeyFinancialRatio',
  'NetSales',
  'EBIT',
  'EPS',
  'PE',
  '2020',
  '0999',
  'a"\\{',
  '__proto__',
]
const name = fc.oneof(fc.constantFrom(...NAMES), fc.string())
const MONEY: Readonly<Record<string, readonly string[]>> = {
  ProfitAndLoss: ['NetSales', 'EBIT'],
  KeyFinancialRatio: ['EPS'],
}
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.string(),
      fc.constant(null),
      fc.boolean(),
    ),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(name, tie('json'), { noNullPrototype: true, maxKeys: 4 }),
  ),
}))
/** Mostly of the right form, so that something is converted. */
const statement = fc.dictionary(
  name,
  fc.oneof(
    json,
    fc.dictionary(
      name,
      fc.oneof(
        json,
        fc.dictionary(
          fc.constantFrom('2020', '2021', '999', 'x'),
          fc.double({ noNaN: true, noDefaultInfinity: true }),
        ),
      ),
    ),
  ),
)

/** The slow way: every number at its path. */
const doubled = (value: unknown, path: readonly string[] = []): unknown => {
  const [, category = '', item = '', year = ''] = path
  if (typeof value === 'number') {
    const isMoney = Object.hasOwn(MONEY, category) && MONEY[category]?.includes(item) === true
    return isMoney && path.length === 4 && /^[1-9]\d{3}$/.test(year) ? value * 2 : value
  }
  if (Array.isArray(value)) return value.map((one) => doubled(one, [...path, '', '', '']))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, doubled(one, [...path, key])]))
}
/** JSON without the figures that no number can say. */
const known = (text: string): unknown => JSON.parse(text, (_, value) => (value === null ? undefined : value))

test('convertFigures gives what parsing, converting and writing gives, whatever stands in the members', () => {
  fc.assert(
    fc.property(statement, fc.constantFrom(undefined, 1), (Financials, indent) => {
      const text = JSON.stringify({ Financials }, null, indent)
      const converted = `{${convertFigures(text.slice(1, -1), () => 2)}}`
      expect(known(converted)).toEqual(known(JSON.stringify(doubled({ Financials }))))
    }),
    { numRuns: 500 },
  )
})

test('convertFigures leaves out a figure too large for a number, wherever it stands', () => {
  const sales = (years: string) => `"Financials":{"ProfitAndLoss":{"NetSales":{${years}},"EBIT":{"2020":1}}}`
  const converted = (years: string) =>
    convertFigures(sales(years), () => 10).replace('"EBIT":{"2020":10}', '"EBIT":{"2020":1}')
  const [big, small] = ['1e308', '2']
  expect(converted(`"2019":${big},"2020":${small}`)).toBe(sales('"2020":20'))
  expect(converted(`"2019":${small},"2020":${big}`)).toBe(sales('"2019":20'))
  expect(converted(`"2019":${big},"2020":-${big}`)).toBe(sales(''))
  expect(converted(`"2019":${small} , "2020":${big} `)).toBe(sales('"2019":20 '))
})
