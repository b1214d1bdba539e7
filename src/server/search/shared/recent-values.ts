import { sha256Of } from '../../../support/hash.ts'
import type { ServingIndex } from '../../serving-index/session-pool.ts'

/** A cache of computed values: the ones used last are kept. */

/** A Map keeps the order of insertion: its first key is the one that was used longest ago. */
export type RecentValues<T> = Map<string, T>

/** The remembered value of a key, or the one that is made now. Failures are not cached. */
export const remembered = async <T>(
  known: RecentValues<T>,
  limit: number,
  key: string,
  make: () => Promise<T>,
): Promise<T> => {
  const value = known.get(key) ?? (await make())
  known.delete(key)
  known.set(key, value)
  const oldest = known.keys().next().value
  if (known.size > limit && oldest !== undefined) known.delete(oldest)
  return value
}

/** Values that belong to something that lives as long as they do. */
export const recentOf = <K extends object, T>(all: WeakMap<K, RecentValues<T>>, of: K): RecentValues<T> => {
  const known = all.get(of) ?? new Map<string, T>()
  all.set(of, known)
  return known
}

// How many records match: an index never changes, so a count holds for all pages of a chain.

/** Counts cached per index; each takes about 100 bytes. */
const REMEMBERED = 4096
const counted = new WeakMap<ServingIndex, RecentValues<number>>()

/** The count of a search, from the ones remembered where it was asked before with these values. */
export const countOnce = (
  index: ServingIndex,
  sql: string,
  values: readonly string[],
  count: () => Promise<number>,
): Promise<number> =>
  remembered(recentOf(counted, index), REMEMBERED, sha256Of(JSON.stringify([sql, ...values])), count)
