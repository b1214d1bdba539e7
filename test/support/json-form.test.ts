import { expect, test } from 'vitest'
import {
  anyText,
  anything,
  count,
  FormError,
  fits,
  isObject,
  list,
  memberOf,
  misfitOf,
  objectOf,
  oneOf,
  optional,
  orNull,
  parseAs,
  positive,
  someOf,
  strictObject,
  textLike,
  valuesOf,
  wholePositive,
} from '../../src/support/json-form.ts'

const PERSON = objectOf({
  name: anyText,
  kind: oneOf(['a', 'b']),
  tags: list(anyText),
  age: optional(orNull(count)),
})

test('a form gives a value that fits back as it is, with fields it does not know', () => {
  const value = { name: 'x', kind: 'a', tags: ['t'], age: null, later: 1 }
  expect(PERSON(value, 'person')).toBe(value)
})

test.each<[string, unknown, string]>([
  ['no object', [], 'person'],
  ['null', null, 'person'],
  ['a missing field', { kind: 'a', tags: [] }, 'person.name'],
  ['a field of the prototype', Object.create({ name: 'x', kind: 'a', tags: [] }), 'person.name'],
  ['a value outside the set', { name: 'x', kind: 'c', tags: [] }, 'person.kind'],
  ['an entry of a list', { name: 'x', kind: 'a', tags: ['t', 1] }, 'person.tags[1]'],
  ['an optional field of another type', { name: 'x', kind: 'a', tags: [], age: -1 }, 'person.age'],
])('a misfit is named by its place: %s', (_what, value, place) => {
  expect(misfitOf(PERSON, value, 'person')).toMatchObject({ place })
})

test('a misfit never quotes the value', () => {
  const misfit = misfitOf(strictObject({ name: anyText }), { 'secret-token': 'secret-token' }, 'entry')
  expect(misfit?.message).toBe('entry, field 1: expected one of name')
})

test('a strict object refuses names that it does not know, inherited ones too', () => {
  const STRICT = strictObject({ a: optional(anyText) })
  expect(fits(STRICT, { a: 'x' })).toBe(true)
  expect(fits(STRICT, { a: 'x', b: 1 })).toBe(false)
  expect(fits(STRICT, JSON.parse('{"__proto__":1}'))).toBe(false)
})

test.each<[string, boolean]>([
  ['count 0', fits(count, 0)],
  ['no fraction as a count', !fits(count, 1.5)],
  ['no count beyond the safe integers', !fits(count, 2 ** 53)],
  ['nothing above 0 that is infinite', !fits(positive, Number.POSITIVE_INFINITY)],
  ['no 0 where it is to be above', !fits(positive, 0) && !fits(wholePositive, 0)],
  ['no empty list where something is wanted', !fits(someOf(anything), [])],
  ['values of an object', fits(valuesOf(count), { a: 1 }) && !fits(valuesOf(count), { a: 'x' })],
  ['a text by its pattern', fits(textLike(/^a+$/, 'a'), 'aa') && !fits(textLike(/^a+$/, 'a'), 'b')],
  ['a list is no object', !isObject([]) && isObject({})],
])('%s', (_what, holds) => {
  expect(holds).toBe(true)
})

test('parseAs gives undefined for what is no JSON and for what does not fit', () => {
  expect(parseAs(list(count), '[1,2]')).toEqual([1, 2])
  expect(parseAs(list(count), '[1,')).toBeUndefined()
  expect(parseAs(list(count), '["a"]')).toBeUndefined()
})

test('memberOf gives own members only', () => {
  expect(memberOf({ a: 1 }, 'a')).toBe(1)
  expect(memberOf({}, 'constructor')).toBeUndefined()
})

test('an error that is no misfit goes through', () => {
  const broken = () => {
    throw new RangeError('broken')
  }
  expect(() => misfitOf(broken, 1, '')).toThrow(RangeError)
  expect(new FormError('a', 'b').message).toBe('a: expected b')
})
