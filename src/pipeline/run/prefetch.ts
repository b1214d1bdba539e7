/** Prepares the next item while the present one is being worked on. */

import { settled } from './task-pool.ts'

export interface Prepared<Item, Result> {
  readonly item: Item
  readonly index: number
  /** @throws what preparing threw */
  readonly result: Result
}

/**
 * Gives items in order, each with what `prepare` made of it; at most one is prepared ahead. When the consumer
 * stops early, the preparation under way is told so by its signal and waited for.
 */
export async function* oneAhead<Item, Result>(
  items: readonly Item[],
  prepare: (item: Item, index: number, signal: AbortSignal) => Promise<Result>,
  signal?: AbortSignal | undefined,
): AsyncGenerator<Prepared<Item, Result>, void> {
  const giveUp = new AbortController()
  const either = signal ? AbortSignal.any([signal, giveUp.signal]) : giveUp.signal
  const begin = async (index: number): Promise<Prepared<Item, Result> | undefined> => {
    const item = items[index]
    if (item === undefined) return undefined
    return { item, index, result: await prepare(item, index, either) }
  }
  let next = settled(begin(0))
  try {
    for (let index = 0; index < items.length; index += 1) {
      const prepared = (await next)()
      if (prepared === undefined) return
      next = settled(begin(index + 1))
      yield prepared
    }
  } finally {
    giveUp.abort()
    await next
  }
}
