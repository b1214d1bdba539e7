import { expect, test } from 'vitest'
import { isLoopback } from '../../src/support/http-values.ts'

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
