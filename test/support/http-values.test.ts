import { expect, test } from 'vitest'
import { isLoopback, retryAfterMs } from '../../src/support/http-values.ts'

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
  ['Sun, 06 Nov 1994 08:50:37 GMT', 60_000],
  ['Sunday, 06-Nov-94 08:50:37 GMT', 60_000],
  ['Sun Nov  6 08:50:37 1994', 60_000],
  ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
])('retryAfterMs reads %j', (text, ms) => {
  expect(retryAfterMs(text, AT)).toBe(ms)
})

test.each([
  [undefined],
  [''],
  ['soon'],
  ['-5'],
  ['1.5'],
  ['1994-11-06T08:50:37Z'],
  ['Sun, 99 Foo 1994 08:50:37 GMT'],
])('retryAfterMs makes nothing of %j', (text) => {
  expect(retryAfterMs(text, AT)).toBeUndefined()
})

test('retryAfterMs keeps to the longest of two', () => {
  expect(retryAfterMs(['3', '5'], AT)).toBe(5000)
})
