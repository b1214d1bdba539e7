import { expect, test } from 'vitest'
import { parseBody, parseToRewrite } from '../../src/support/exact-json.ts'

test('parseBody keeps whole numbers beyond 2^53 in arrays as texts', () => {
  expect(parseBody('{"SearchParameters":{"InternalId":[9007199254740993,12]}}')).toEqual({
    SearchParameters: { InternalId: ['9007199254740993', 12] },
  })
  expect(parseBody('[-9223372036854775808, 9007199254740991]')).toEqual([
    '-9223372036854775808',
    9007199254740991,
  ])
})

test('parseBody leaves fractions, texts and numbers outside of arrays as they are', () => {
  expect(parseBody('{"PageSize":99999999999999999999,"a":[0.1250000000000000,"9007199254740993"]}')).toEqual({
    PageSize: 1e20,
    a: [0.125, '9007199254740993'],
  })
})

test('parseBody refuses what is no JSON', () => {
  expect(() => parseBody('{"a":1234567890123456')).toThrow(SyntaxError)
  expect(() => parseBody('{')).toThrow(SyntaxError)
})

test('parseToRewrite gives back the digits that were read', () => {
  const text = '{"InternalId":9223372036854775807,"Stake":12.5,"List":[1,9007199254740993]}'
  expect(JSON.stringify(parseToRewrite(text))).toBe(text)
})
