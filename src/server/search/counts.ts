/** How many records match: a copy never changes, so a count holds for all pages of a chain. */

import type { Session } from '../../lake/duckdb.ts'
import { sha256Of } from '../../support/hash.ts'
import type { ServingCopy } from '../copy/serving-copy.ts'
import { type RecentValues, recentOf, remembered } from './recent-values.ts'

/** Counts remembered per copy; each takes about 100 bytes. */
const REMEMBERED = 4096
const counted = new WeakMap<ServingCopy, RecentValues<number>>()

/** The count of a statement with one number, from the ones remembered where it was run before with these values. */
export const countOnce = (
  copy: ServingCopy,
  session: Session,
  sql: string,
  values: readonly string[],
): Promise<number> =>
  remembered(recentOf(counted, copy), REMEMBERED, sha256Of(JSON.stringify([sql, ...values])), async () =>
    Number((await session.rows(sql, values))[0]?.total),
  )
