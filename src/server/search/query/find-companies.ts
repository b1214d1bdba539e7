/** Finds the companies of a page in the index, and counts all that match in the same statement where the count is unknown. */

import type { SortDirection } from '../../../contract/limits.ts'
import type { Row } from '../../../lake/duckdb/engine.ts'
import type { Caller } from '../../access/caller.ts'
import type { Embedder } from '../../ranking/embedder.ts'
import { rankedByTerms, rankedByVector } from '../../ranking/terms.ts'
import {
  type CompanyPlace,
  type DocumentPlace,
  placeColumns,
  placeIn,
} from '../../serving-index/index-form.ts'
import type { CompanySearch, Paging } from '../request/check-company-request.ts'
import { pageLimit } from '../request/cursor-chain.ts'
import { parameterNamed } from '../request/known-parameters.ts'
import type { SearchParts } from '../shared/answer.ts'
import { type Binder, newBinder } from '../shared/bound-values.ts'
import { countOnce } from '../shared/recent-values.ts'
import { type FactorStrings, factorStrings, figureValues } from './figure-values.ts'
import { columnOf, filterConditions, ROW, tableOf } from './filter-conditions.ts'

/** A question as the ranking expects it: its text, or its vector as text. */
export interface RankingQuestion {
  /** The maker of the vector; absent for a text. */
  readonly embedder?: Embedder
  readonly text: string
}

/** A company that a page shows. */
export interface FoundCompany {
  readonly id: bigint
  readonly place: CompanyPlace
  readonly minified: DocumentPlace
  readonly country: string | null
  readonly isPlain: boolean
  readonly score: number | null
}

/** The searched companies: tables joined with what ranks them, and all conditions. */
const fromWhere = (
  { filters }: CompanySearch,
  caller: Caller,
  questions: readonly RankingQuestion[],
  factors: FactorStrings,
  binder: Binder,
): { readonly from: string; readonly where: string } => {
  const ranked = questions.map(({ embedder, text }, at) => {
    const placeholder = binder.bind(text, 'VARCHAR')
    const hits = embedder ? rankedByVector(placeholder, embedder) : rankedByTerms(placeholder)
    return `JOIN (${hits}) AS ${scored(at)} ON ${scored(at)}.internal_id = ${ROW}.internal_id`
  })
  return {
    from: `FROM ${[tableOf('companies', filters), ...ranked].join('\n')}`,
    where: filterConditions(filters, caller, factors, binder),
  }
}
const scored = (at: number): string => `s${at}`
const scoreOf = (questions: readonly RankingQuestion[]): string =>
  questions.length === 0 ? 'NULL' : questions.map((_, at) => `${scored(at)}.score`).join(' + ')

const PLACE_COLUMNS = `${ROW}.internal_id, ${ROW}.currency, ${placeColumns(ROW)}, ${ROW}.currency_at, ${ROW}.figures_at,
  ${ROW}.figures_bytes, ${ROW}.score_bytes, ${ROW}.is_sparse, ${ROW}.is_plain, ${ROW}.country_code, ${placeColumns(ROW, 'minified_')}`

export const findCompanies = (
  parts: SearchParts,
  caller: Caller,
  search: CompanySearch,
  questions: readonly RankingQuestion[],
  signal: AbortSignal,
): Promise<{ readonly rows: readonly FoundCompany[]; readonly totalCount: number }> =>
  parts.index.query(
    async (session) => {
      const { paging, filters, currency } = search
      const sortBy = paging.kind === 'page' ? paging.sortBy : null
      const figures = [
        ...filters.flatMap(({ kind, name }) => (kind === 'figure' ? [name] : [])),
        ...(sortBy === null ? [] : [sortBy]),
      ]
      const factors = await factorStrings(parts, session, figures, currency)
      const binder = newBinder()
      const { from, where } = fromWhere(search, caller, questions, factors, binder)
      const searched = [...binder.values]
      const { key, join, order } = sortOf(paging, questions.length > 0, factors, binder)
      const found = `SELECT ${ROW}.internal_id, ${scoreOf(questions)} AS score, ${key} AS sorted
${from}\n${join} WHERE ${where}`
      const page = `SELECT * FROM found ${pageOf(parts, search, order, binder)}`
      let rows: readonly Row[] | undefined
      const totalCount = await countOnce(parts.index, `${from} WHERE ${where}`, searched, async () => {
        rows = await session.rows(countedPage(found, page, order), binder.values)
        return Number(rows[0]?.total)
      })
      rows ??= await session.rows(pageAlone(found, page, order), binder.values)
      return { rows: rows.filter((row) => row.internal_id !== null).map(foundOf), totalCount }
    },
    { timeoutMs: parts.queryTimeoutMs, signal },
  )

/** The filters are gone through once for both; of a page without companies the count is a row by itself. */
const countedPage = (found: string, page: string, order: string): string => `
WITH found AS MATERIALIZED (${found}), page AS (${page})
SELECT total, ${PLACE_COLUMNS}, score
FROM (SELECT count(*) AS total FROM found)
LEFT JOIN (page JOIN serving.company AS ${ROW} USING (internal_id)) ON true
ORDER BY ${order}`

const pageAlone = (found: string, page: string, order: string): string => `
WITH found AS (${found}), page AS (${page})
SELECT ${PLACE_COLUMNS}, score FROM page JOIN serving.company AS ${ROW} USING (internal_id) ORDER BY ${order}`

/** The found companies that are on the page. */
const pageOf = (
  parts: SearchParts,
  { paging, pageSize }: CompanySearch,
  order: string,
  binder: Binder,
): string => {
  if (paging.kind === 'cursor') {
    const { after } = paging
    const onlyAfter = after === null ? '' : `WHERE internal_id > ${binder.bind(after.lastId, 'BIGINT')}`
    // A row more than the page holds shows whether there is a next one.
    return `${onlyAfter} ORDER BY ${order} LIMIT ${binder.bind(pageLimit(parts, pageSize, after) + 1, 'BIGINT')}`
  }
  const limit = binder.bind(pageSize, 'BIGINT')
  return `ORDER BY ${order} LIMIT ${limit} OFFSET ${binder.bind((paging.number - 1) * pageSize, 'BIGINT')}`
}

/** A sort key of companies: a value, the table that has it, and the order. */
interface Sort {
  readonly key: string
  readonly join: string
  readonly order: string
}
const WAYS: Readonly<Record<SortDirection, string>> = { ASC: 'ASC NULLS LAST', DESC: 'DESC NULLS LAST' }

/** Figures are sorted by the latest year's value. What has no value comes last in both directions. */
const sortOf = (paging: Paging, isRanked: boolean, factors: FactorStrings, binder: Binder): Sort => {
  const unsorted = { key: 'NULL', join: '' }
  if (paging.kind === 'cursor') return { ...unsorted, order: 'internal_id' }
  const { sortBy, direction } = paging
  if (sortBy === null) return { ...unsorted, order: isRanked ? 'score DESC, internal_id' : 'internal_id' }
  const order = `sorted ${WAYS[direction]}, internal_id`
  if (parameterNamed('companies', sortBy)?.filterClass !== 'figure')
    return { key: columnOf(sortBy), join: '', order }
  const values = figureValues(sortBy, null, factors, binder)
  return {
    key: 'latest.value',
    join: `LEFT JOIN (${values}) AS latest ON latest.internal_id = ${ROW}.internal_id`,
    order,
  }
}

const foundOf = (row: Row): FoundCompany => ({
  id: BigInt(String(row.internal_id)),
  place: {
    ...placeIn(row),
    currency: row.currency === null ? null : String(row.currency),
    currencyAt: row.currency_at === null ? null : Number(row.currency_at),
    figuresAt: Number(row.figures_at),
    figuresBytes: Number(row.figures_bytes),
    scoreBytes: Number(row.score_bytes),
    isSparse: row.is_sparse === true,
  },
  minified: placeIn(row, 'minified_'),
  country: row.country_code === null ? null : String(row.country_code),
  isPlain: row.is_plain === true,
  score: row.score === null ? null : Number(row.score),
})
