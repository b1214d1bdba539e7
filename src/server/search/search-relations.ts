/** POST /v2/relations: from a request body to a page of relations documents, or to the messages of a refusal. */

import type { Row } from '../../lake/duckdb/engine.ts'
import type { Caller } from '../access/caller.ts'
import { type DocumentPlace, placeColumns, placeIn } from '../serving-index/index-form.ts'
import { leavingDocuments } from './answer/leaving-documents.ts'
import { filterConditions, ROW, tableOf } from './query/filter-conditions.ts'
import { checkRelationsRequest, type RelationsSearch } from './request/check-relations-request.ts'
import { cutPage, pageLimit } from './request/cursor-chain.ts'
import { type Answer, pageBody, type SearchParts, totalPages } from './shared/answer.ts'
import { newBinder } from './shared/bound-values.ts'
import { countOnce } from './shared/recent-values.ts'
import { areasOf } from './shared/visible-records.ts'

interface Found {
  readonly id: bigint
  readonly country: string | null
  readonly place: DocumentPlace
  readonly isPlain: boolean
}

/**
 * Answers a relations search, always in cursor mode: without a Cursor it is the first page.
 *
 * @param body as `parseBody` gives it; ids beyond 2^53 should come as texts, or as numbers read by `parseBody`
 * @throws {ToolkitError} QUERY_FAILED, INDEX_UNUSABLE; the signal's reason when it fires
 */
export const searchRelations = async (
  parts: SearchParts,
  caller: Caller,
  body: unknown,
  signal: AbortSignal,
): Promise<Answer> => {
  const checked = checkRelationsRequest(parts, caller, body)
  if (checked.kind === 'refused') return checked
  const { pageSize, after, binding } = checked.search
  const { rows, totalCount } = await findRelations(parts, caller, checked.search, signal)
  const limit = pageLimit(parts, pageSize, after)
  const { page, cursor } = cutPage(parts, binding, after, limit, rows, ({ id }) => id)
  return {
    kind: 'page',
    pagination: {
      Count: page.length,
      TotalCount: totalCount,
      PageSize: pageSize,
      TotalPages: totalPages(totalCount, pageSize),
      Cursor: cursor,
    },
    body: await bodyOf(parts, caller, page, signal),
  }
}

const findRelations = (
  parts: SearchParts,
  caller: Caller,
  { filters, pageSize, after }: RelationsSearch,
  signal: AbortSignal,
): Promise<{ readonly rows: readonly Found[]; readonly totalCount: number }> =>
  parts.index.query(
    async (session) => {
      const noFigures = new Map<string, string>()
      const from = tableOf('relations', filters)
      const counting = newBinder()
      const count = `SELECT count(*) AS total FROM ${from} WHERE ${filterConditions(filters, caller, noFigures, counting)}`
      const totalCount = await countOnce(parts.index, count, counting.values, async () =>
        Number((await session.rows(count, counting.values))[0]?.total),
      )
      const paged = newBinder()
      const where = filterConditions(filters, caller, noFigures, paged)
      const onlyAfter =
        after === null ? '' : ` AND ${ROW}.internal_id > ${paged.bind(after.lastId, 'BIGINT')}`
      const limit = paged.bind(pageLimit(parts, pageSize, after) + 1, 'BIGINT')
      const rows = await session.rows(
        `SELECT ${ROW}.internal_id, ${ROW}.country_code, ${ROW}.is_plain, ${placeColumns(ROW)}
FROM ${from} WHERE ${where}${onlyAfter} ORDER BY ${ROW}.internal_id LIMIT ${limit}`,
        paged.values,
      )
      return { rows: rows.map(foundOf), totalCount }
    },
    { timeoutMs: parts.queryTimeoutMs, signal },
  )

const foundOf = (row: Row): Found => ({
  id: BigInt(String(row.internal_id)),
  country: row.country_code === null ? null : String(row.country_code),
  place: placeIn(row),
  isPlain: row.is_plain === true,
})

const bodyOf = async (
  { index, queryTimeoutMs: timeoutMs }: SearchParts,
  caller: Caller,
  page: readonly Found[],
  signal: AbortSignal,
): Promise<readonly Buffer[]> => {
  const leaving = page.map(({ country, ...found }) => ({ ...found, areas: areasOf(caller, country) }))
  return pageBody('Relations', await leavingDocuments(index, 'relations', leaving, { timeoutMs, signal }))
}
