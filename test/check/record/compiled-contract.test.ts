import { expect, test } from 'vitest'
import { compile } from '../../../src/check/record/compiled-contract.ts'
import { number, type ObjectType, object, one } from '../../../src/contract/fields.ts'

const objectOf = (fields: number): ObjectType =>
  object(
    'Wide',
    'An object',
    Object.fromEntries(Array.from({ length: fields }, (_, at) => [`Field${at}`, number('null', 'A field')])),
  )

test('compile takes an object of as many fields as the checker has bits for, and refuses one more', () => {
  expect(compile(objectOf(32)).fields).toHaveLength(32)
  expect(() => compile(objectOf(33))).toThrow(RangeError)
  expect(() => compile(objectOf(33))).toThrow(
    /^Cannot compile "Wide" for the checker: it has 33 fields, expected at most 32$/,
  )
})

test('compile keeps nothing of an object that holds one with too many fields', () => {
  const outer = object('Outer', 'An object', { Inner: one(objectOf(33), 'null', 'A field') })
  expect(() => compile(outer)).toThrow('Cannot compile "Wide"')
  expect(() => compile(outer)).toThrow('Cannot compile "Wide"')
})
