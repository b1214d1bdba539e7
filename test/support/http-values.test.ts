import { expect, test } from 'vitest'
import { isLoopback, readRetryAfter } from '../../src/support/http-values.ts'

test.each(['localhost', 'LOCALHOST', '127.0.0.1', '127.255.1.2', '::1', '[::1]'])(
  'isLoopback knows %s',
  (host) => {
    expect(isLoopback(host)).toBe(true)
  },
)

test.each([
  '0.0.0.0',
  '::',
  '10.0.0.1',
  '128.0.0.1',
  '127.0.0.1.example.com',
  'localhost.example.com',
  'a.localhost',
])('isLoopback takes %s for another machine', (host) => {
  expect(isLoopback(host)).toBe(false)
})

const AT = Date.UTC(1994, 10, 6, 8, 49, 37)

test.each([
  ['120', 120_000],
  [' 0 ', 0],
  ['3.5', 4000],
  ['0.001', 1000],
  ['.25', 1000],
  ['7.', 7000],
  ['Sun, 06 Nov 1994 08:50:37 GMT', 60_000],
  ['Sunday, 06-Nov-94 08:50:37 GMT', 60_000],
  ['Sun Nov  6 08:50:37 1994', 60_000],
  ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
  ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
])('readRetryAfter reads %j', (text, ms) => {
  expect(readRetryAfter(text, AT)).toEqual({ ms })
})

test.each([
  [''],
  ['soon'],
  ['-5'],
  ['0x4'],
  ['1e3'],
  ['1,5'],
  ['.'],
  ['1994-11-06T08:50:37Z'],
  ['1994-11-06'],
  ['Sun, 99 Foo 1994 08:50:37 GMT'],
])('readRetryAfter takes %j for five seconds, and names it', (text) => {
  expect(readRetryAfter(` ${text}`, AT)).toEqual({ ms: 5000, unreadable: text })
})

test('readRetryAfter keeps to the longest of two, one that cannot be read among them', () => {
  expect(readRetryAfter(['3', '5'], AT)).toEqual({ ms: 5000 })
  expect(readRetryAfter(['7', 'soon'], AT)).toEqual({ ms: 7000, unreadable: 'soon' })
  expect(readRetryAfter(undefined, AT)).toBeUndefined()
  expect(readRetryAfter([], AT)).toBeUndefined()
})
