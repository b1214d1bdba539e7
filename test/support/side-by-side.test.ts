import { expect, test } from 'vitest'
import { sideBySide } from '../../src/support/side-by-side.ts'

test('sideBySide keeps the order of the items and its limit', async () => {
  let [now, most] = [0, 0]
  const results = await sideBySide([3, 1, 2, 5, 4], 2, async (item) => {
    now += 1
    most = Math.max(most, now)
    for (let turn = 0; turn < item; turn += 1) await Promise.resolve()
    now -= 1
    return item * 10
  })
  expect(results).toEqual([30, 10, 20, 50, 40])
  expect(most).toBe(2)
})

test('sideBySide throws the first failure and begins nothing after it', async () => {
  const begun: number[] = []
  const work = async (item: number): Promise<void> => {
    begun.push(item)
    if (item === 2) throw new RangeError('two')
  }
  await expect(sideBySide([1, 2, 3, 4], 1, work)).rejects.toThrow('two')
  expect(begun).toEqual([1, 2])
})

test('sideBySide begins nothing once it is aborted', async () => {
  const work = () => Promise.reject(new Error('begun'))
  await expect(sideBySide([1], 1, work, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' })
})
