/** What parts that are loaded side by side do at once. */

import { expect, test } from 'vitest'
import { PartsAtWork } from '../../src/load/parts-at-work.ts'

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve()
}

/** A part whose two things end when they are told to. */
const partOf = (atWork: PartsAtWork) => {
  const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
  const begun: string[] = []
  atWork.begin()
  const both = atWork.inTurn(
    () => {
      begun.push('first')
      return first.promise
    },
    () => {
      begun.push('second')
      return second.promise
    },
  )
  return { begun, both, first, second }
}

test('a part that is the only one does both at once', async () => {
  const { begun, both, first, second } = partOf(new PartsAtWork())
  await turns()
  expect(begun).toEqual(['first', 'second'])
  second.resolve('b')
  first.resolve('a')
  expect(await both).toEqual(['a', 'b'])
})

test('parts side by side do one after the other', async () => {
  const atWork = new PartsAtWork()
  const [one, other] = [partOf(atWork), partOf(atWork)]
  await turns()
  // The first one was alone when it began.
  expect([one.begun, other.begun]).toEqual([['first', 'second'], ['first']])
  other.first.resolve('a')
  await turns()
  expect(other.begun).toEqual(['first', 'second'])
  other.second.resolve('b')
  expect(await other.both).toEqual(['a', 'b'])
})

test('a part that becomes the only one does the rest at once', async () => {
  const atWork = new PartsAtWork()
  const [, second, third] = [partOf(atWork), partOf(atWork), partOf(atWork)]
  atWork.end()
  await turns()
  expect([second.begun, third.begun]).toEqual([['first'], ['first']])
  atWork.end()
  await turns()
  expect(third.begun).toEqual(['first', 'second'])
})

test('the second is not begun where the first has failed', async () => {
  const atWork = new PartsAtWork()
  partOf(atWork)
  const { begun, both, first } = partOf(atWork)
  first.reject(new Error('full'))
  await expect(both).rejects.toThrow('full')
  expect(begun).toEqual(['first'])
})

test('where the second fails the first is waited for', async () => {
  const { both, first, second } = partOf(new PartsAtWork())
  let isOver = false
  const failed = both.catch((error: unknown) => {
    isOver = true
    return error
  })
  second.reject(new Error('full'))
  await turns()
  expect(isOver).toBe(false)
  first.resolve('a')
  expect(await failed).toMatchObject({ message: 'full' })
})
