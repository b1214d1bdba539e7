import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PlainFigures, plainSeries } from '../../../src/check/figures/plain-figures.ts'
import { CATEGORIES, LINE_ITEMS } from '../../../src/contract/line-items.ts'
import { scaledCategories } from '../../../src/rows/seen-sets.ts'
import { SeriesRows } from '../../../src/rows/series-rows.ts'
import { exactProduct } from '../../support/exact-product.ts'
import { someRows } from '../../support/same-rows.ts'

const SCALED = scaledCategories()

/** A line in a buffer that goes on behind it, as that of a block does. */
const inBlock = (line: Buffer): Buffer => Buffer.concat([line, Buffer.from(`\n${' '.repeat(80)}`)])
const viewOf = (buffer: Buffer): DataView => new DataView(buffer.buffer, buffer.byteOffset, buffer.length)

/** Begins a record of so many bytes. */
const startRecord = (rows: SeriesRows, sizeBytes: number): void => {
  for (const table of rows.tables) table.startRecord()
  rows.reserveRecord(sizeBytes)
}

/** The rows that a statement alone leaves; none where it has another form. */
const rowsOf = (line: Buffer, power = 0, plain = new PlainFigures()): SeriesRows | undefined => {
  const buffer = inBlock(line)
  const rows = new SeriesRows()
  startRecord(rows, line.length)
  const end = plain.read(buffer, viewOf(buffer), 0, 1, rows)
  if (end > 0) {
    expect(end).toBe(line.length)
    expect(rows.finishRecord(buffer, power, SCALED)).toBe(-1)
    return rows
  }
  expect([rows.figures.length, rows.series.length]).toEqual([0, 0])
  return undefined
}

const read = (text: string, power = 0, plain = new PlainFigures()): unknown[][] | undefined => {
  const rows = rowsOf(Buffer.from(text), power, plain)
  return (
    rows &&
    Array.from({ length: rows.figures.length }, (_, row) => {
      const series = rows.seriesOf(row)
      const category = CATEGORIES[rows.series.columns.category[series] ?? -1]
      const item = LINE_ITEMS[rows.series.columns.lineItem[series] ?? -1]
      return [category, item?.lineItem, rows.figures.columns.year[row], rows.figures.columns.value[row]]
    })
  )
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
      for (let time = 0; time < 2; time++)
        expect(read(JSON.stringify(statement), 0, plain)).toEqual(someRows(expected, 'the statement'))
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
    const strings = Array.from({ length: 24 }, (_, whole) =>
      Array.from({ length: 24 }, (_, places) => {
        const text = digits.slice(0, whole + 1)
        return places === 0 ? text : `${text}.${digits.slice(10, 10 + places)}`
      }),
    ).flat()
    expect(strings.map((text) => valuesOf(`{"2020":${text}}`)?.[0])).toEqual(strings.map(Number))
  })

  test('null, which is no row', () => {
    expect(read(sales('{"2019":null,"2020":1,"2021":null}'))).toEqual([
      ['ProfitAndLoss', 'NetSales', 2020, 1],
    ])
    expect(read('{"ProfitAndLoss":{"EBIT":{"2020":null},"NetSales":{"2020":1}},"BalanceSheet":{}}')).toEqual([
      ['ProfitAndLoss', 'NetSales', 2020, 1],
    ])
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
  const rows = rowsOf(Buffer.from(sales(`{"2020":${text}}`)), power) ?? new SeriesRows()
  const [value = 0] = rows.figures.columns.value
  expect(value).toBe(Number(`${text}e${power}`))
  const isRestored = value / 10 ** power === Number(text)
  expect(isRestored).toBe(text === '2130.7')
  expect([...rows.kept.columns.figure.subarray(0, rows.kept.length)]).toEqual(
    isRestored ? [] : [Number(text)],
  )
})

test.each([
  ['white space', '{"2020": 1}'],
  ['an exponent', '{"2020":1e3}'],
  ['half of a null', '{"2020":nul}'],
  ['null with a sign', '{"2020":-null}'],
  ['null with a point', '{"2020":null.5}'],
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
  for (const digits of ['1', '9', '99', '999', '9999', '99999', '99999999', '999999999', '1.9', '1.9999'])
    for (const byte of others) {
      const [before = '', behind = ''] = sales(`{"2020":${digits}|,"2021":1}`).split('|')
      const line = Buffer.concat([Buffer.from(before), Buffer.of(byte), Buffer.from(behind)])
      expect([digits, byte, rowsOf(line)]).toEqual([digits, byte, undefined])
    }
})

test('read leaves what is cut anywhere to the careful way, whatever was read before it', () => {
  const plain = new PlainFigures()
  const whole = Buffer.from(
    '{"ProfitAndLoss":{"EBIT":{"2020":12345678.25,"2021":-7},"NetSales":{"2020":null}}}',
  )
  for (let length = 0; length < whole.length; length++) {
    expect(rowsOf(whole, 0, plain)?.figures.length).toBe(2)
    expect([length, rowsOf(whole.subarray(0, length), 0, plain)]).toEqual([length, undefined])
  }
})

test('read leaves what stands near the end of its buffer to the careful way', () => {
  const buffer = Buffer.from(sales('{"2020":1}'))
  const rows = new SeriesRows()
  startRecord(rows, buffer.length)
  expect(new PlainFigures().read(buffer, viewOf(buffer), 0, 0, rows)).toBe(0)
})

test('read leaves digits that go on to the end of its buffer to the careful way', () => {
  for (const digits of ['9'.repeat(100), `1.${'9'.repeat(101)}`, '9'.repeat(102), '9'.repeat(103)]) {
    const buffer = Buffer.from(`${sales('').slice(0, -2)}{"2020":${digits}`)
    const rows = new SeriesRows()
    startRecord(rows, buffer.length)
    expect(new PlainFigures().read(buffer, viewOf(buffer), 0, 0, rows)).toBe(0)
  }
})

test('there is room for as many figures as a line may have, however many the lines before had', () => {
  const rows = new SeriesRows()
  const plain = new PlainFigures()
  const items = LINE_ITEMS.filter(({ category }) => category === 'BalanceSheet').map(
    ({ lineItem }) => lineItem,
  )
  let expected = 0
  for (const perSeries of [10, 9000, 10]) {
    const years = Array.from({ length: perSeries }, (_, at) => `"${1000 + at}":${at % 10}`).join()
    const series = items.map((item) => `"${item}":{${years}}`)
    const line = Buffer.from(`{"BalanceSheet":{${series.join()}}}`)
    const buffer = inBlock(line)
    startRecord(rows, line.length)
    expect(plain.read(buffer, viewOf(buffer), 0, 0, rows)).toBe(line.length)
    expect(rows.finishRecord(buffer, 0, SCALED)).toBe(-1)
    expected += perSeries * items.length
    expect(rows.figures.length).toBe(expected)
    expect(rows.figures.columns.value[rows.figures.length - 1]).toBe((perSeries - 1) % 10)
  }
})

test('a record that is dropped leaves the rows before it', () => {
  const rows = new SeriesRows()
  const line = inBlock(Buffer.from('  {"2019":7} {"2022":8,"2023":9}'))
  startRecord(rows, line.length)
  expect(plainSeries(line, viewOf(line), 2, rows)).toBe(12)
  rows.endSeries(0, 0, 0)
  expect(rows.finishRecord(line, 0, SCALED)).toBe(-1)
  for (let time = 0; time < 2; time++) {
    startRecord(rows, line.length)
    expect(plainSeries(line, viewOf(line), 13, rows)).toBe(32)
    rows.endSeries(1, 0, 0)
    rows.addText(2024, line.indexOf('9}'))
    rows.endSeries(1, 0, 0)
    expect(rows.finishRecord(line, 0, SCALED)).toBe(-1)
    expect([...rows.figures.columns.value.subarray(0, rows.figures.length)]).toEqual([7, 8, 9, 9])
    expect([...rows.series.columns.end.subarray(0, rows.series.length)]).toEqual([1, 3, 4])
    expect([...rows.series.columns.statement.subarray(0, rows.series.length)]).toEqual([0, 1, 1])
    for (const table of rows.tables) table.dropRecord()
    expect([rows.figures.length, rows.series.length]).toEqual([1, 1])
  }
})

test('every value is the double nearest to the exact product, for decimals of any length and of two neighbours', () => {
  const digits = fc
    .tuple(
      fc.bigInt({ min: 0n, max: 10n ** 22n }),
      fc.integer({ min: 0, max: 30 }),
      fc.integer({ min: 0, max: 22 }),
    )
    .map(([whole, places, cut]) => decimalOf(whole / 10n ** BigInt(cut), places))
  // Halfway between two doubles, and next to it.
  const halfway = fc
    .tuple(
      fc.bigInt({ min: 1n << 52n, max: (1n << 53n) - 1n }),
      fc.integer({ min: 0, max: 4 }),
      fc.integer({ min: -1, max: 1 }),
    )
    .map(([mantissa, more, beside]) => decimalOf(((2n * mantissa + 1n) << BigInt(more)) + BigInt(beside), 0))
  const plain = new PlainFigures()
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.oneof(digits, halfway), fc.boolean()), { minLength: 1, maxLength: 200 }),
      fc.constantFrom(0, 3, 6, 9),
      (found, power) => {
        const strings = found.map(([text, isNegative]) => (isNegative ? `-${text}` : text))
        const line = sales(`{${strings.map((text, at) => `"${1000 + at}":${text}`).join()}}`)
        const rows = rowsOf(Buffer.from(line), power, plain) ?? new SeriesRows()
        const kept = new Map(
          [...rows.kept.columns.row.subarray(0, rows.kept.length)].map((row, at) => [
            row,
            rows.kept.columns.figure[at],
          ]),
        )
        for (const [row, text] of strings.entries()) {
          const value = rows.figures.columns.value[row] ?? Number.NaN
          expect([text, power, value + 0]).toEqual([text, power, exactProduct(text, power) + 0])
          const figure = kept.get(row) ?? value / 10 ** power
          expect([text, power, figure + 0]).toEqual([text, power, Number(text) + 0])
        }
      },
    ),
    { numRuns: 500 },
  )
})

const decimalOf = (whole: bigint, places: number): string => {
  const text = String(whole).padStart(places + 1, '0')
  return places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`
}
