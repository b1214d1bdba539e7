import { expect, test } from 'vitest'
import { parseAddress } from '../../../src/source/service/address.ts'
import { createService } from '../../../src/source/service/service.ts'

test.each([
  ['https://api.example.com', 'https://api.example.com', '', false],
  ['https://api.example.com:8443/base/', 'https://api.example.com:8443', '/base', false],
  ['http://127.0.0.1:8080', 'http://127.0.0.1:8080', '', true],
  ['http://127.8.9.1/x', 'http://127.8.9.1', '/x', true],
  ['http://localhost:1', 'http://localhost:1', '', true],
  ['http://[::1]:1', 'http://[::1]:1', '', true],
])('parseAddress takes %s', (text, origin, prefix, loopback) => {
  expect(parseAddress(text)).toEqual({ origin, prefix, loopback })
})

test.each([
  'http://api.example.com',
  'http://127.0.0.1.example.com',
  'http://localhost.example.com',
  'http://10.0.0.1',
  'http://0.0.0.0',
  'http://[::2]',
  'ftp://localhost',
  'file:///etc/passwd',
  'api.example.com',
  '',
  'https://user:password@api.example.com',
  'https://api.example.com/?key=1',
  'https://api.example.com/#a',
])('parseAddress refuses %j and repeats no password', (text) => {
  expect(() => parseAddress(text)).toThrow(expect.objectContaining({ code: 'ADDRESS_REFUSED' }))
  expect(() => parseAddress(text)).not.toThrow(/password@|key=1/)
})

test.each([0, -1, Number.NaN])('createService refuses %d requests a second', (maxRequestsPerSecond) => {
  expect(() => createService({ url: 'https://a.example', token: 'a', maxRequestsPerSecond })).toThrow(
    expect.objectContaining({ code: 'USAGE' }),
  )
})
