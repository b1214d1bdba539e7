import { describe, expect, test } from 'vitest'
import { CATEGORIES, LINE_ITEMS } from '../../src/contract/line-items.ts'
import { PlainFigures } from '../../src/load/plain-figures.ts'
import { scaledCategories } from '../../src/load/seen-sets.ts'
import { SeriesRows } from '../../src/load/series-rows.ts'

const SCALED = scaledCategories()

/** Rows of a statement that stands alone in a buffer, with room behind it; none where it has another form. */
const read = (text: string, power = 0, plain = new PlainFigures()): unknown[][] | undefined => {
  const buffer = Buffer.from(`${text}\n${' '.repeat(80)}`)
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
  const rows = new SeriesRows()
  rows.startRecord(text.length)
  const end = plain.read(buffer, view, 0, 1, rows)
  if (end === 0) {
    expect([rows.rows, rows.series]).toEqual([0, 0])
    return undefined
  }
  expect(end).toBe(text.length)
  rows.finishRecord(buffer, power, SCALED)
  return Array.from({ length: rows.rows }, (_, row) => {
    const series = rows.seriesOf(row)
    const category = CATEGORIES[rows.category[series] ?? -1]
    const item = LINE_ITEMS[rows.lineItem[series] ?? -1]
    return [category, item?.lineItem, rows.year[row], rows.value[row]]
  })
}
const sales = (years: string): string => `{"ProfitAndLoss":{"NetSales":${years}}}`
const valuesOf = (years: string, power = 0): unknown[] | undefined =>
  read(sales(years), power)?.map(([, , , value]) => value)

describe('read takes', () => {
  test('every line item of the contract, in any order, with each once', () => {
    for (const items of [LINE_ITEMS, LINE_ITEMS.toReversed(), LINE_ITEMS.filter((_, at) => at % 3 === 0)]) {
      const plain = new PlainFigures()
      const statement = Object.fromEntries(
        Object.entries(Object.groupBy(items, ({ category }) => category)).map(([category, of]) => [
          category,
          Object.fromEntries(of.map(({ lineItem }, at) => [lineItem, { 2020: at, 2021: -at }])),
        ]),
      )
      const expected = Object.entries(statement).flatMap(([category, of]) =>
        Object.entries(of).flatMap(([lineItem, years]) =>
          Object.entries(years).map(([year, value]) => [category, lineItem, Number(year), value + 0]),
        ),
      )
      // The second time each line item is where it was expected.
      for (let time = 0; time < 2; time++) expect(read(JSON.stringify(statement), 0, plain)).toEqual(expected)
    }
  })

  test('empty objects, which are no rows', () => {
    expect(read('{}')).toEqual([])
    expect(read('{"BalanceSheet":{},"ProfitAndLoss":{"EBIT":{},"NetSales":{"1999":1}}}')).toEqual([
      ['ProfitAndLoss', 'NetSales', 1999, 1],
    ])
  })

  test.each([
    '0',
    '-0',
    '-0.0',
    '7',
    '-12.50',
    '0.1',
    '9007199254740991',
    '9007199254740993',
    '123456789.12345678901234567890123',
    '0.00000000000000000000001',
    '0.30000000000000004',
    `${'9'.repeat(290)}`,
  ])('the number %s as JSON.parse does, but for a whole zero', (text) => {
    const value = text === '-0' ? 0 : JSON.parse(text)
    expect(valuesOf(`{"2020":${text}}`)?.map((one) => Object.is(one, value))).toEqual([true])
  })

  test('numbers of any number of digits, before the point and behind it', () => {
    const digits = '7182818284590452353602874713526624'
    const texts = Array.from({ length: 24 }, (_, whole) =>
      Array.from({ length: 24 }, (_, places) => {
        const text = digits.slice(0, whole + 1)
        return places === 0 ? text : `${text}.${digits.slice(10, 10 + places)}`
      }),
    ).flat()
    expect(texts.map((text) => valuesOf(`{"2020":${text}}`)?.[0])).toEqual(texts.map(Number))
  })

  test('amounts with the scale, ratios without', () => {
    const text = '{"ProfitAndLoss":{"NetSales":{"2020":2130.7}},"KeyFinancialRatio":{"EPS":{"2020":2130.7}}}'
    expect(read(text, 6)?.map(([, , , value]) => value)).toEqual([2_130_700_000, 2130.7])
  })
})

test.each([
  [3, '9007199254740928'],
  [6, '9007199254740830'],
  [9, '9007199254740970'],
  [3, '90071992547409.77'],
  [9, '9007199254740.956'],
  [3, '2130.7'],
])('a scale of 10^%i keeps %s where its value does not restore it', (power, text) => {
  const buffer = Buffer.from(`${sales(`{"2020":${text}}`)}\n${' '.repeat(80)}`)
  const rows = new SeriesRows()
  rows.startRecord(buffer.length)
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
  new PlainFigures().read(buffer, view, 0, 1, rows)
  rows.finishRecord(buffer, power, SCALED)
  const [value = 0] = rows.value
  expect(value).toBe(Number(`${text}e${power}`))
  const isRestored = value / 10 ** power === Number(text)
  expect(isRestored).toBe(text === '2130.7')
  expect([...rows.keptFigure.subarray(0, rows.kept)]).toEqual(isRestored ? [] : [Number(text)])
})

test.each([
  ['white space', '{"2020": 1}'],
  ['an exponent', '{"2020":1e3}'],
  ['null', '{"2020":null}'],
  ['a number in quotes', '{"2020":"1"}'],
  ['years out of order', '{"2021":1,"2020":2}'],
  ['a year twice', '{"2020":1,"2020":2}'],
  ['a year before 1000', '{"0999":1}'],
  ['a year of five digits', '{"20200":1}'],
  ['a leading zero', '{"2020":01}'],
  ['a sign alone', '{"2020":-}'],
  ['a plus sign', '{"2020":+1}'],
  ['a point alone', '{"2020":1.}'],
  ['no whole part', '{"2020":.5}'],
  ['no value', '{"2020":}'],
  ['a comma too many', '{"2020":1,}'],
  ['no comma', '{"2020":1"2021":2}'],
  ['an open object', '{"2020":1'],
  ['a list', '[1]'],
  ['more digits than are finite for sure', `{"2020":${'9'.repeat(291)}}`],
])('read leaves %s to the careful way', (_what, years) => {
  expect(read(sales(years))).toBeUndefined()
})

test.each([
  ['a line item twice', '{"ProfitAndLoss":{"EBIT":{"2020":1},"EBIT":{"2021":1}}}'],
  ['a category twice', '{"ProfitAndLoss":{},"ProfitAndLoss":{}}'],
  ['a line item of another category', '{"ProfitAndLoss":{"TotalAssets":{"2020":1}}}'],
  ['an unknown line item', '{"ProfitAndLoss":{"NetSalez":{"2020":1}}}'],
  ['an unknown category', '{"ProfitAndLost":{}}'],
  ['an escaped key', '{"ProfitAndLoss":{"\\u0045BIT":{"2020":1}}}'],
  ['a line item that is null', '{"ProfitAndLoss":{"EBIT":null}}'],
  ['a key that goes on', '{"ProfitAndLoss":{"EBITDAx":{"2020":1}}}'],
  ['white space behind a key', '{"ProfitAndLoss" :{}}'],
])('read leaves %s to the careful way', (_what, text) => {
  expect(read(text)).toBeUndefined()
})

test('read leaves any other byte behind digits to the careful way', () => {
  const others = Array.from({ length: 256 }, (_, byte) => byte).filter(
    (byte) => !/[0-9.,}]/.test(String.fromCharCode(byte)),
  )
  for (const digits of ['1', '9', '99', '999', '9999', '99999', '1.9', '1.9999'])
    for (const byte of others) {
      const [before = '', behind = ''] = sales(`{"2020":${digits}|,"2021":1}`).split('|')
      const buffer = Buffer.concat([Buffer.from(before), Buffer.of(byte), Buffer.from(behind.padEnd(99))])
      const rows = new SeriesRows()
      rows.startRecord(buffer.length)
      const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
      expect([digits, byte, new PlainFigures().read(buffer, view, 0, 0, rows)]).toEqual([digits, byte, 0])
    }
})

test('read leaves digits that go on to the end of its buffer to the careful way', () => {
  for (const digits of ['9'.repeat(100), `1.${'9'.repeat(101)}`, '9'.repeat(102), '9'.repeat(103)]) {
    const buffer = Buffer.from(`${sales('').slice(0, -2)}{"2020":${digits}`)
    const rows = new SeriesRows()
    rows.startRecord(buffer.length)
    const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
    expect(new PlainFigures().read(buffer, view, 0, 0, rows)).toBe(0)
  }
})

test('read leaves what stands near the end of its buffer to the careful way', () => {
  const buffer = Buffer.from(sales('{"2020":1}'))
  const rows = new SeriesRows()
  rows.startRecord(buffer.length)
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
  expect(new PlainFigures().read(buffer, view, 0, 0, rows)).toBe(0)
})
