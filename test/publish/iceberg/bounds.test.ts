import { expect, test } from 'vitest'
import { boundOf } from '../../../src/publish/iceberg/bounds.ts'

const hex = (type: string, value: string | number | bigint | boolean, end: 'lower' | 'upper' = 'lower') =>
  boundOf(type, value, end)?.toString('hex')

test.each([
  ['long', 34n, '2200000000000000'],
  ['long', -1n, 'ffffffffffffffff'],
  ['int', -2, 'feffffff'],
  ['double', 2.5, '0000000000000440'],
  ['boolean', true, '01'],
  ['boolean', false, '00'],
  ['string', 'Åre', 'c3857265'],
  ['timestamptz', '1970-01-01T00:00:01.000002Z', '42420f0000000000'],
  ['timestamptz', '1969-12-31T23:59:59.999999Z', 'ffffffffffffffff'],
])('boundOf writes %s %s', (type, value, expected) => {
  expect(hex(type, value)).toBe(expected)
})

test('boundOf takes in both zeros, whichever of them a file names as its end', () => {
  for (const zero of [0, -0]) {
    expect(boundOf('double', zero, 'lower')?.readDoubleLE()).toBe(-0)
    expect(boundOf('double', zero, 'upper')?.readDoubleLE()).toBe(0)
  }
})

test('boundOf cuts a text below for the least value and above for the greatest', () => {
  const text = 'abcdefghijklmnopqrstuvwxyz'
  expect(boundOf('string', text, 'lower')?.toString()).toBe('abcdefghijklmnop')
  expect(boundOf('string', text, 'upper')?.toString()).toBe('abcdefghijklmnoq')
})

test('boundOf cuts between characters, and goes on at the last one that has a greater one', () => {
  const last = '\u{10ffff}'
  expect(boundOf('string', `${'😀'.repeat(16)}x`, 'lower')?.toString()).toBe('😀'.repeat(16))
  expect(boundOf('string', `a${last.repeat(20)}`, 'upper')?.toString()).toBe('b')
  expect(boundOf('string', `${'a'.repeat(15)}\ud7ffz`, 'upper')?.toString()).toBe(`${'a'.repeat(15)}\ue000`)
  expect(boundOf('string', last.repeat(20), 'upper')).toBeNull()
})

test('boundOf has no bound for what has no order', () => {
  expect(boundOf('double', Number.NaN, 'lower')).toBeNull()
  expect(boundOf('timestamptz', 'yesterday', 'lower')).toBeNull()
  expect(boundOf('uuid', 'x', 'lower')).toBeNull()
})
