import { expect, test } from 'vitest'
import { isSpace, NOT_WHOLE, skipSpace, skipText } from '../../src/support/json-bytes.ts'

test('skipSpace stops at the first byte that is no white space of JSON, or at the end', () => {
  const json = Buffer.from(' \t\r\n"a" \v')
  expect([skipSpace(json, 0), skipSpace(json, 4), skipSpace(json, 7)]).toEqual([4, 4, 8])
  expect(skipSpace(Buffer.from('  '), 0)).toBe(2)
  expect([...Buffer.from(' \t\r\n\v\f\0a')].map(isSpace)).toEqual([
    ...[true, true, true, true],
    ...[false, false, false, false],
  ])
})

test('skipText ends behind the quote that is not escaped', () => {
  const json = Buffer.from(String.raw`"a\"b\\",1`)
  expect(json.toString('latin1', skipText(json, 0))).toBe(',1')
  expect(skipText(Buffer.from(String.raw`"a\"`), 0)).toBe(NOT_WHOLE)
})
