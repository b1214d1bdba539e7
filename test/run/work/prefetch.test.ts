import { expect, test } from 'vitest'
import { type FetchState, Prefetch, prefetchNext } from '../../../src/run/work/prefetch.ts'

/** Lets everything happen that waits for nothing but the event loop. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const nextOf =
  (most: number) =>
  (states: readonly FetchState[]): number | undefined => {
    const there = states.filter((state) => state === 'fetching' || state === 'held').length
    return there < most ? states.indexOf('waiting') : undefined
  }

const SLOW = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

test('Prefetch begins nothing before it is asked, then as much as there is room for', async () => {
  const begun: number[] = []
  const fetch = async (index: number): Promise<string> => `item ${begun.push(index) - 1}`
  const prefetch = new Prefetch({ count: 5, fetch, next: nextOf(2) })
  await settle()
  expect(begun).toEqual([])
  expect(await prefetch.get(0)).toBe('item 0')
  await settle()
  expect(begun).toEqual([0, 1])
  await prefetch.release(0, async () => undefined)
  expect(begun).toEqual([0, 1, 2])
})

test('Prefetch keeps a failure for whoever asks, and begins no other unless it goes on after it', async () => {
  for (const [goesOn, all] of [
    [false, [0, 1]],
    [true, [0, 1, 2]],
  ] as const) {
    const begun: number[] = []
    const fetch = async (index: number): Promise<number> => {
      begun.push(index)
      if (index === 1) throw new Error('damaged')
      return index
    }
    const prefetch = new Prefetch({ count: 3, fetch, next: nextOf(2), goesOnAfter: () => goesOn })
    await prefetch.get(0)
    await settle()
    await prefetch.release(0, async () => undefined)
    await settle()
    expect(begun).toEqual(all)
    await expect(prefetch.get(1)).rejects.toThrow('damaged')
  }
})

test('Prefetch stops all fetches with the one that asks, and waits for them', async () => {
  const ended: number[] = []
  const controller = new AbortController()
  const fetch = async (index: number, signal: AbortSignal): Promise<never> => {
    try {
      return await SLOW(signal)
    } finally {
      await settle()
      ended.push(index)
    }
  }
  const prefetch = new Prefetch({
    ...{ count: 3, fetch, next: nextOf(3) },
    stopReason: () => new Error('the run has ended'),
  })
  const asked = prefetch.get(0, controller.signal)
  controller.abort()
  await expect(asked).rejects.toThrow('the run has ended')
  expect(ended).toEqual([0, 1, 2])
  await expect(prefetch.get(1, controller.signal)).rejects.toThrow('aborted')
})

test('prefetchNext prepares one item while the one before is worked on, and none after an early end', async () => {
  const events: string[] = []
  const prepare = async (item: string): Promise<string> => {
    events.push(`prepare ${item}`)
    return item.toUpperCase()
  }
  for await (const { item, index, result } of prefetchNext(['a', 'b', 'c', 'd'], prepare)) {
    await settle()
    events.push(`work ${item} ${index} ${result}`)
    if (item === 'b') break
  }
  await settle()
  expect(events).toEqual(['prepare a', 'prepare b', 'work a 0 A', 'prepare c', 'work b 1 B'])
})
