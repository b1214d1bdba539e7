import { expect, test } from 'vitest'
import {
  formatBeside,
  formatBytes,
  formatCount,
  formatCounted,
  formatDuration,
  formatInstant,
  formatPercent,
  formatRate,
  formatShare,
  formatSpan,
} from '../../src/support/format.ts'

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.00 kB'],
  [12_345, '12.3 kB'],
  [999_499, '999 kB'],
  [999_500, '1.00 MB'],
  [123_456_789, '123 MB'],
  [5e15, '5000 TB'],
])('formatBytes(%d) is %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text)
})

test.each([
  [0.04, '0.0 s'],
  [9.96, '10 s'],
  [59.6, '1 min 0 s'],
  [185, '3 min 5 s'],
  [8100, '2 h 15 min'],
])('formatDuration(%d) is %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text)
})

test('formatShare says 100 only when all is done', () => {
  expect([formatShare(999, 1000), formatShare(1000, 1000), formatShare(0, 0)]).toEqual([
    '99 %',
    '100 %',
    '0 %',
  ])
})

test('formatRate says nothing without time', () => {
  expect([formatRate(1e6, 0), formatRate(1e6, 2)]).toEqual(['–', '500 kB/s'])
})

test('formatCounted knows one from many', () => {
  expect([formatCounted(1, 'file'), formatCounted(1200, 'file')]).toEqual(['1 file', '1,200 files'])
})

test.each([
  [0, '0'],
  [999, '999'],
  [1000, '1,000'],
  [-12_345, '-12,345'],
  [9_007_199_254_740_991, '9,007,199,254,740,991'],
])('formatCount(%d) is %s', (count, text) => {
  expect(formatCount(count)).toBe(text)
})

test.each([
  [0, '0 %'],
  [0.095, '9.5 %'],
  [0.975, '97.5 %'],
  [0.000123, '0.0123 %'],
  [1, '100 %'],
])('formatPercent(%d) is %s', (share, text) => {
  expect(formatPercent(share)).toBe(text)
})

test.each([
  [4, '4 s'],
  [5400, '90 min'],
  [93_600, '26 h'],
  [99_000, '27.5 h'],
  [604_800, '7 d'],
])('formatSpan(%d) is %s', (seconds, text) => {
  expect(formatSpan(seconds)).toBe(text)
})

test.each([
  [0.0100004, 0.01, formatPercent, ['1.00004 %', '1 %']],
  [0.095, 0.01, formatPercent, ['9.5 %', '1 %']],
  [0.01, 0.01, formatPercent, ['1 %', '1 %']],
  [0.01 + 1e-12, 0.01, formatPercent, ['1.0000000001 %', '1 %']],
  [93_700, 93_600, formatSpan, ['26.027778 h', '26 h']],
] as const)('formatBeside(%d, %d) tells them apart', (value, limit, format, strings) => {
  expect(formatBeside(value, limit, format)).toEqual(strings)
})

test('formatInstant leaves milliseconds out, and other texts as they are', () => {
  expect(['2026-11-27T00:48:24.011Z', '2026-11-27T00:48:24Z', '2026-11-27'].map(formatInstant)).toEqual([
    '2026-11-27 00:48:24 UTC',
    '2026-11-27 00:48:24 UTC',
    '2026-11-27',
  ])
})
