/** How many records match: an index never changes, so a count holds for all pages of a chain. */

import { sha256Of } from '../../../support/hash.ts'
import type { ServingIndex } from '../../serving-index/serving-index.ts'
import { type RecentValues, recentOf, remembered } from '../shared/recent-values.ts'

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
