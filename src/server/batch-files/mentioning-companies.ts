/** Companies of whose documents callers without an area see less though the contract has all fields: they mention protected persons. */

import { AREAS } from '../../contract/authorization.ts'
import type { Areas } from '../access/caller.ts'
import { type LeavingDocument, leavingDocuments } from '../search/answer/leaving-documents.ts'
import { placeColumns, placeIn } from '../serving-index/index-form.ts'
import type { IndexQueryOptions, ServingIndex } from '../serving-index/session-pool.ts'

const EVERY_AREA: Areas = new Set(AREAS)
const NO_AREA: Areas = new Set()
const AT_ONCE = 256

const NAMED = `SELECT r.internal_id::VARCHAR AS id, ${placeColumns('r')} FROM serving.company AS r
WHERE is_plain AND internal_id IN (FROM persons.named) AND internal_id NOT IN (FROM persons.company) AND internal_id > $1::BIGINT
ORDER BY internal_id LIMIT ${AT_ONCE}`

export const mentioningCompanies = async (
  index: ServingIndex,
  options: IndexQueryOptions,
): Promise<readonly bigint[]> => {
  const mentioning: bigint[] = []
  let last: bigint | undefined = -1n
  while (last !== undefined) {
    const after: bigint = last
    const rows = await index.query((session) => session.rows(NAMED, [after]), options)
    const page = (areas: Areas): readonly LeavingDocument[] =>
      rows.map((row) => ({ id: BigInt(String(row.id)), place: placeIn(row), isPlain: true, areas }))
    const whole = await leavingDocuments(index, 'companies', page(EVERY_AREA), options)
    const less = await leavingDocuments(index, 'companies', page(NO_AREA), options)
    for (const [at, { id }] of page(NO_AREA).entries())
      if (!Buffer.concat(whole[at] ?? []).equals(Buffer.concat(less[at] ?? []))) mentioning.push(id)
    last = page(NO_AREA).at(-1)?.id
  }
  return mentioning
}
