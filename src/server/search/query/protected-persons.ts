/** Persons whom any current record of the lake protects. */

import type { IndexQueryOptions, ServingIndex } from '../../serving-index/session-pool.ts'
import { inNumbers, newBinder } from '../shared/bound-values.ts'
import { countOnce } from '../shared/recent-values.ts'

const COUNT = 'SELECT count(*) AS total FROM copy.protected'
const NONE: ReadonlySet<string> = new Set()

/** Which of these ids, as texts, are protected. */
export const protectedAmong = (
  index: ServingIndex,
  ids: readonly string[],
  options: IndexQueryOptions,
): Promise<ReadonlySet<string>> =>
  index.query(async (session) => {
    const total = await countOnce(index, COUNT, [], async () => Number((await session.rows(COUNT))[0]?.total))
    if (total === 0 || ids.length === 0) return NONE
    const binder = newBinder()
    const among = inNumbers('person_id', [...new Set(ids)].map(BigInt), binder)
    const rows = await session.rows(
      `SELECT DISTINCT person_id::VARCHAR AS id FROM copy.protected WHERE ${among}`,
      binder.values,
    )
    return new Set(rows.map(({ id }) => String(id)))
  }, options)

const DIGEST = `SELECT coalesce(sha256(string_agg(DISTINCT person_id::VARCHAR, ',' ORDER BY person_id::VARCHAR)), '') AS digest
FROM copy.protected`
const digests = new WeakMap<ServingIndex, Promise<string>>()

/** Digest of the set of protected persons. */
export const protectedDigest = (index: ServingIndex, options: IndexQueryOptions): Promise<string> => {
  const known =
    digests.get(index) ??
    index.query(async (session) => String((await session.rows(DIGEST))[0]?.digest), options)
  digests.set(index, known)
  known.catch(() => digests.delete(index))
  return known
}
