import { expect, test } from 'vitest'
import { remembered } from '../../../../src/server/search/shared/recent-values.ts'

test('remembered makes a value once and forgets the one used longest ago', async () => {
  const made: string[] = []
  const known = new Map<string, string>()
  const get = (key: string) =>
    remembered(known, 2, key, () => {
      made.push(key)
      return Promise.resolve(key.toUpperCase())
    })
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) expect(await get(key)).toBe(key.toUpperCase())
  expect(made).toEqual(['a', 'b', 'c', 'b'])
})

test('remembered retries what failed', async () => {
  const known = new Map<string, number>()
  await expect(remembered(known, 2, 'a', () => Promise.reject(new RangeError('once')))).rejects.toThrow(
    'once',
  )
  expect(await remembered(known, 2, 'a', () => Promise.resolve(1))).toBe(1)
})
