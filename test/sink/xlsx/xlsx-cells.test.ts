import { expect, test } from 'vitest'
import { MOST_CHARACTERS, sheetText, shortened } from '../../../src/sink/xlsx/workbook.ts'
import { toCell } from '../../../src/sink/xlsx/write-xlsx.ts'

test.each([
  ['BIGINT', '999999999999999', 999_999_999_999_999],
  ['BIGINT', '9007199254740993', '9007199254740993'],
  ['BIGINT', '-1234567890123456', '-1234567890123456'],
  ['HUGEINT', '1000000000000000000', 1e18],
  ['DECIMAL(20,2)', '12345678901234.56', '12345678901234.56'],
  ['DECIMAL(38,10)', '12.5000000000', 12.5],
  ['DECIMAL(4,3)', '-0.050', -0.05],
  ['BIGINT', '0', 0],
])('toCell keeps every digit: %s %s', (type, value, cell) => {
  expect(toCell(value, type)).toBe(cell)
})

test.each([
  ['DOUBLE', 0.1 + 0.2, 0.1 + 0.2],
  ['DOUBLE', Number.NaN, 'NaN'],
  ['BOOLEAN', false, false],
  ['VARCHAR', '=1+1', '=1+1'],
  ['VARCHAR', '2024-02-29', '2024-02-29'],
  ['VARCHAR', null, null],
])('toCell of a %s is %j as it is', (type, value, cell) => {
  expect(toCell(value, type)).toBe(cell)
})

test.each([
  ['DATE', '2024-02-29', Date.UTC(2024, 1, 29)],
  ['DATE', '9999-12-31', Date.UTC(9999, 11, 31)],
  ['TIMESTAMP WITH TIME ZONE', '2024-02-29T21:59:59.123Z', Date.UTC(2024, 1, 29, 21, 59, 59, 123)],
  ['TIMESTAMP', '1900-03-01T00:00:00.000', Date.UTC(1900, 2, 1)],
])('toCell of a %s %s is a time, in UTC', (type, value, time) => {
  expect(toCell(value, type)).toEqual(new Date(time))
})

test.each([
  ['DATE', '1900-02-28'],
  ['DATE', '10000-01-01'],
  ['DATE', 'infinity'],
  ['DATE', '0044-03-15 (BC)'],
  ['TIMESTAMP WITH TIME ZONE', '2024-02-29T21:59:59.123456Z'],
])('toCell of a %s that a spreadsheet cannot hold is a text: %s', (type, value) => {
  expect(toCell(value, type)).toBe(value)
})

test('sheetText keeps what looks like the code of a character', () => {
  expect(sheetText('a_x000D_b _xyz_ company_name')).toBe('a_x005F_x000D_b _xyz_ company_name')
  expect(sheetText('_x0041_x0042_')).toBe('_x005F_x0041_x005F_x0042_')
  expect(sheetText('\uffff')).toBe('_xFFFF_')
})

test('shortened fits a cell and cuts no character in two', () => {
  const text = shortened('🙂'.repeat(20_000))
  expect(text.length).toBeLessThanOrEqual(MOST_CHARACTERS)
  expect(text.slice(-3)).toBe('🙂…')
})
