import { expect, test } from 'vitest'
import { makeCursor, readCursor } from '../../../../src/server/search/request/cursor-chain.ts'

const KEY = Buffer.alloc(32, 1)
const POSITION = { lastId: 9223372036854775807n, delivered: 99_500 }

test('readCursor gives what makeCursor was given', () => {
  const token = makeCursor(KEY, 'search', POSITION)
  expect(token).toMatch(/^[\w-]+$/)
  expect(readCursor(KEY, 'search', token)).toEqual(POSITION)
})

test('readCursor refuses another binding and another key', () => {
  const token = makeCursor(KEY, 'search', POSITION)
  expect(readCursor(KEY, 'another', token)).toBeUndefined()
  expect(readCursor(Buffer.alloc(32, 2), 'search', token)).toBeUndefined()
})

test('readCursor refuses a token with any character changed, added or left out', () => {
  const token = makeCursor(KEY, 'search', POSITION)
  for (let at = 0; at < token.length; at += 1) {
    const changed = token[at] === 'A' ? 'B' : 'A'
    expect(readCursor(KEY, 'search', token.slice(0, at) + changed + token.slice(at + 1))).toBeUndefined()
    expect(readCursor(KEY, 'search', token.slice(0, at) + token.slice(at + 1))).toBeUndefined()
    expect(readCursor(KEY, 'search', `${token.slice(0, at)}.${token.slice(at)}`)).toBeUndefined()
  }
  for (const text of ['', '*', `${token}=`, `${token}A`, ` ${token}`, 'Grüße'])
    expect(readCursor(KEY, 'search', text)).toBeUndefined()
})
