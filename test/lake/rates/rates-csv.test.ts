import { expect, test } from 'vitest'
import { ratesCsv, readRatesCsv } from '../../../src/lake/rates/rates-csv.ts'

const HEADER = 'currency,year,units_per_usd'

test('readRatesCsv reads currency, year and rate', () => {
  const table = readRatesCsv(`${HEADER}\nSEK,2020,9.2\nSEK,2021,8.58\nPLN,2020,3.9\n`, 'a.csv')
  expect(table.get('SEK')).toEqual(
    new Map([
      [2020, 9.2],
      [2021, 8.58],
    ]),
  )
  expect(table.get('PLN')).toEqual(new Map([[2020, 3.9]]))
})

test('readRatesCsv takes a byte order mark, CRLF and a missing last line end', () => {
  expect(readRatesCsv(`\uFEFF${HEADER}\r\nSEK,2020,9.2`, 'a.csv').get('SEK')).toEqual(new Map([[2020, 9.2]]))
})

test.each([
  ['another header', 'currency;year;units_per_usd\n', 1],
  ['no text at all', '', 1],
  ['a rate of 0', `${HEADER}\nSEK,2020,0\n`, 2],
  ['a negative rate', `${HEADER}\nSEK,2020,-1\n`, 2],
  ['a decimal comma', `${HEADER}\nSEK,2020,9.2\nSEK,2021,9,2\n`, 3],
  ['an exponent', `${HEADER}\nSEK,2020,1e3\n`, 2],
  ['a currency in lower case', `${HEADER}\nsek,2020,9.2\n`, 2],
  ['a year of two digits', `${HEADER}\nSEK,20,9.2\n`, 2],
  ['a blank line', `${HEADER}\n\nSEK,2020,9.2\n`, 2],
  ['the US dollar', `${HEADER}\nUSD,2020,1\n`, 2],
  ['a currency and year twice', `${HEADER}\nSEK,2020,9.2\nSEK,2020,9.3\n`, 3],
])('readRatesCsv refuses %s', (_, text, line) => {
  expect(() => readRatesCsv(text, 'a.csv')).toThrow(
    expect.objectContaining({ code: 'RATES_UNREADABLE', context: { name: 'a.csv', line } }),
  )
})

test('ratesCsv gives what readRatesCsv reads, in order, small numbers too', () => {
  const text = `${HEADER}\nPLN,2020,3.9\nSEK,2020,9.2\nSEK,2021,0.0000001\n`
  expect(ratesCsv(readRatesCsv(text, 'a.csv'))).toBe(text)
  expect(ratesCsv(readRatesCsv(`${HEADER}\nSEK,2021,0.0000001\nSEK,2020,9.2\nPLN,2020,3.9`, 'a.csv'))).toBe(
    text,
  )
})
