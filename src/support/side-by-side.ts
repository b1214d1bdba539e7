/** Many small jobs, a few at a time, and promises that are awaited later. The only importer of p-limit. */

import pLimit from 'p-limit'

/**
 * Runs `work` on every item, at most `atOnce` at a time; results in the order of the items. After the first
 * failure no further item is begun; those under way are waited for, then the failure is thrown.
 */
export const sideBySide = async <Item, Result>(
  items: Iterable<Item>,
  atOnce: number,
  work: (item: Item, index: number) => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result[]> => {
  const results: Result[] = []
  const failures: unknown[] = []
  await pLimit(atOnce).map(items, async (item, index) => {
    if (failures.length > 0) return
    try {
      signal?.throwIfAborted()
      results[index] = await work(item, index)
    } catch (error) {
      failures.push(error)
    }
  })
  if (failures.length > 0) throw failures[0]
  return results
}

/** Lets at most `most` of the works given to it run at once; the others wait in the order in which they came. */
export const atMost = (most: number): (<T>(work: () => Promise<T>) => Promise<T>) => pLimit(most)

/** A promise whose failure waits until it is asked for, which prevents unhandledRejection. */
export const settled = <T>(promise: Promise<T>): Promise<() => T> =>
  promise.then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error
    },
  )
