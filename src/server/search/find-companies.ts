/** Finds the companies of a page in the copy: one statement that counts, one for the page, both over the same filters. */

import type { SortDirection } from '../../contract/limits.ts'
import type { Row } from '../../lake/duckdb.ts'
import type { Caller } from '../caller.ts'
import type { CompanyPlace, Place } from '../copy/copy-form.ts'
import type { Embedder } from '../text/embedder.ts'
import { rankedByTerms, rankedByVector } from '../text/terms.ts'
import type { SearchParts } from './answer.ts'
import { type Binder, newBinder } from './bound-values.ts'
import type { CompanySearch, Paging } from './check-company-request.ts'
import { countOnce } from './counts.ts'
import { pageLimit } from './cursor-chain.ts'
import { type FactorTexts, factorTexts, figureValues } from './figure-values.ts'
import { columnOf, conditions, ROW, tableOf } from './filter-conditions.ts'
import { parameterNamed } from './known-parameters.ts'

/** A question as the ranking takes it: its text, or its vector as text. */
export interface Question {
  readonly kind: 'terms' | 'vector'
  readonly text: string
}

/** A company that a page shows. */
export interface Found {
  readonly id: bigint
  readonly place: CompanyPlace
  readonly minified: Place
  readonly score: number | null
}

/** The searched companies: tables joined with what ranks them, and all conditions. */
const fromWhere = (
  { filters }: CompanySearch,
  caller: Caller,
  questions: readonly Question[],
  embedder: Embedder,
  factors: FactorTexts,
  binder: Binder,
): { readonly from: string; readonly where: string } => {
  const ranked = questions.map(({ kind, text }, at) => {
    const placeholder = binder.bind(text, 'VARCHAR')
    const hits = kind === 'terms' ? rankedByTerms(placeholder) : rankedByVector(placeholder, embedder)
    return `JOIN (${hits}) AS ${scored(at)} ON ${scored(at)}.internal_id = ${ROW}.internal_id`
  })
  return {
    from: `FROM ${[tableOf('companies'), ...ranked].join('\n')}`,
    where: conditions(filters, caller, factors, binder),
  }
}
const scored = (at: number): string => `s${at}`
const scoreOf = (questions: readonly Question[]): string =>
  questions.length === 0 ? 'NULL' : questions.map((_, at) => `${scored(at)}.score`).join(' + ')

const PLACE_COLUMNS = `${ROW}.internal_id, ${ROW}.currency, ${ROW}.at, ${ROW}.bytes, ${ROW}.currency_at, ${ROW}.figures_at,
  ${ROW}.figures_bytes, ${ROW}.score_bytes, ${ROW}.minified_at, ${ROW}.minified_bytes`

export const findCompanies = (
  parts: SearchParts,
  caller: Caller,
  search: CompanySearch,
  questions: readonly Question[],
  signal: AbortSignal,
): Promise<{ readonly rows: readonly Found[]; readonly totalCount: number }> =>
  parts.copy.query(
    async (session) => {
      const { paging, filters, currency } = search
      const sortBy = paging.kind === 'page' ? paging.sortBy : null
      const figures = [
        ...filters.flatMap(({ kind, name }) => (kind === 'figure' ? [name] : [])),
        ...(sortBy === null ? [] : [sortBy]),
      ]
      const factors = await factorTexts(parts, session, figures, currency)
      const counting = newBinder()
      const counted = fromWhere(search, caller, questions, parts.embedder, factors, counting)
      const count = `SELECT count(*) AS total ${counted.from} WHERE ${counted.where}`
      const totalCount = await countOnce(parts.copy, session, count, counting.values)
      const paged = newBinder()
      const { from, where } = fromWhere(search, caller, questions, parts.embedder, factors, paged)
      const select = `SELECT ${PLACE_COLUMNS}, ${scoreOf(questions)} AS score ${from}`
      const page = `${select} ${pageOf(parts, search, where, questions.length > 0, factors, paged)}`
      return { rows: (await session.rows(page, paged.values)).map(foundOf), totalCount }
    },
    { timeoutMs: parts.queryTimeoutMs, signal },
  )

/** What follows the tables: a sort's own table, the conditions, the order and the limit. */
const pageOf = (
  parts: SearchParts,
  { paging, pageSize }: CompanySearch,
  where: string,
  isRanked: boolean,
  factors: FactorTexts,
  binder: Binder,
): string => {
  if (paging.kind === 'cursor') {
    const { after } = paging
    const onlyAfter = after === null ? '' : ` AND ${ROW}.internal_id > ${binder.bind(after.lastId, 'BIGINT')}`
    // One more than the page holds tells whether there is a next one.
    const limit = binder.bind(pageLimit(parts, pageSize, after) + 1, 'BIGINT')
    return `WHERE ${where}${onlyAfter} ORDER BY ${ROW}.internal_id LIMIT ${limit}`
  }
  const { join, order } = sortOf(paging, isRanked, factors, binder)
  const limit = binder.bind(pageSize, 'BIGINT')
  const offset = binder.bind((paging.number - 1) * pageSize, 'BIGINT')
  return `${join} WHERE ${where} ORDER BY ${order}${ROW}.internal_id LIMIT ${limit} OFFSET ${offset}`
}

/** Figures are sorted by the latest year's value. What has no value comes last in both directions. */
const sortOf = (
  { sortBy, direction }: Extract<Paging, { kind: 'page' }>,
  isRanked: boolean,
  factors: FactorTexts,
  binder: Binder,
): { readonly join: string; readonly order: string } => {
  if (sortBy === null) return { join: '', order: isRanked ? 'score DESC, ' : '' }
  const way: Readonly<Record<SortDirection, string>> = { ASC: 'ASC NULLS LAST', DESC: 'DESC NULLS LAST' }
  if (parameterNamed('companies', sortBy)?.filterClass !== 'figure') {
    return { join: '', order: `${columnOf(sortBy)} ${way[direction]}, ` }
  }
  const values = figureValues(sortBy, null, factors, binder)
  return {
    join: `LEFT JOIN (${values}) AS sorted ON sorted.internal_id = ${ROW}.internal_id`,
    order: `sorted.value ${way[direction]}, `,
  }
}

const foundOf = (row: Row): Found => ({
  id: BigInt(String(row.internal_id)),
  place: {
    at: Number(row.at),
    bytes: Number(row.bytes),
    currency: row.currency === null ? null : String(row.currency),
    currencyAt: row.currency_at === null ? null : Number(row.currency_at),
    figuresAt: Number(row.figures_at),
    figuresBytes: Number(row.figures_bytes),
    scoreBytes: Number(row.score_bytes),
  },
  minified: { at: Number(row.minified_at), bytes: Number(row.minified_bytes) },
  score: row.score === null ? null : Number(row.score),
})
