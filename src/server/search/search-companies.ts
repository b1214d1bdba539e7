/** POST /v2/companies: from a request body to a page of company documents, or to the messages of a refusal. */

import { LIMITS, type Pagination } from '../../contract/limits.ts'
import type { Caller } from '../access/caller.ts'
import { type Embedder, vectorText } from '../ranking/embedder.ts'
import { documentPieces, newConverter } from './answer/company-documents.ts'
import { type LeavingDocument, leavingDocuments } from './answer/leaving-documents.ts'
import { type FoundCompany, findCompanies, type RankingQuestion } from './query/find-companies.ts'
import { type CompanySearch, checkCompanyRequest, type Paging } from './request/check-company-request.ts'
import { cutPage, pageLimit } from './request/cursor-chain.ts'
import type { Filter } from './request/read-filters.ts'
import { type Answer, pageBody, type SearchParts, totalPages } from './shared/answer.ts'
import { type RecentValues, recentOf, remembered } from './shared/recent-values.ts'
import { areasOf } from './shared/visible-records.ts'

/**
 * Answers a company search.
 *
 * A company has to match all filters, each text search among them. `Score` is the BM25 score of `DynamicSearch`
 * (above 0, without an upper bound), of `SemanticSearch` the cosine similarity (up to 1) or, without an embedder, the
 * BM25 score too, or the sum of both where both are given; minified pages have none.
 *
 * @param body as `parseBody` gives it; ids beyond 2^53 should come as texts, or as numbers read by `parseBody`, for
 *   `JSON.parse` rounds them
 * @throws {ToolkitError} QUERY_FAILED, EMBEDDER_FAILED, INDEX_UNUSABLE; the signal's reason when it fires
 */
export const searchCompanies = async (
  parts: SearchParts,
  caller: Caller,
  body: unknown,
  signal: AbortSignal,
): Promise<Answer> => {
  const checked = checkCompanyRequest(parts, caller, body)
  if (checked.kind === 'refused') return checked
  const { search } = checked
  const questions = await questionsOf(search.filters, parts.embedder, signal)
  const { rows, totalCount } = await findCompanies(parts, caller, search, questions, signal)
  const { paging } = search
  const found = leavingOf(caller, rows)
  if (paging.kind === 'page') return pageAnswer(parts, search, paging, { page: found, totalCount }, signal)
  const limit = pageLimit(parts, search.pageSize, paging.after)
  const { page, cursor } = cutPage(parts, paging.binding, paging.after, limit, found, ({ id }) => id)
  return {
    kind: 'page',
    pagination: { ...alwaysOf(search, page, totalCount), Cursor: cursor },
    body: await fullBody(parts, search, page, signal),
  }
}

/** Vectors cached per embedder: a chain asks the same on every page, and an embedder may be far away. */
const REMEMBERED = 256
const embedded = new WeakMap<Embedder, RecentValues<string>>()

const vectorOf = (embedder: Embedder, text: string, signal: AbortSignal): Promise<string> =>
  remembered(recentOf(embedded, embedder), REMEMBERED, text, async () => {
    const [vector] = await embedder.embed([text], signal)
    if (vector === undefined) throw new RangeError('Cannot search by meaning: the embedder gave no vector')
    return vectorText(vector)
  })

const questionsOf = async (
  filters: readonly Filter[],
  embedder: Embedder | undefined,
  signal: AbortSignal,
): Promise<readonly RankingQuestion[]> => {
  const questions: RankingQuestion[] = []
  for (const filter of filters) {
    if (filter.kind !== 'search') continue
    const { name, text } = filter
    questions.push(
      embedder && name === 'SemanticSearch'
        ? { embedder, text: await vectorOf(embedder, text, signal) }
        : { text },
    )
  }
  return questions
}

/** A company on its way to a caller. */
type FoundLeaving = FoundCompany & LeavingDocument

const alwaysOf = ({ pageSize }: CompanySearch, page: readonly FoundCompany[], totalCount: number) =>
  ({
    Count: page.length,
    TotalCount: totalCount,
    PageSize: pageSize,
    TotalPages: totalPages(totalCount, pageSize),
  }) satisfies Pagination

const pageAnswer = async (
  parts: SearchParts,
  search: CompanySearch,
  { number, minified }: Extract<Paging, { kind: 'page' }>,
  { page, totalCount }: { readonly page: readonly FoundLeaving[]; readonly totalCount: number },
  signal: AbortSignal,
): Promise<Answer> => {
  const always = alwaysOf(search, page, totalCount)
  return {
    kind: 'page',
    pagination: {
      ...always,
      CurrentPage: number,
      HasPrevious: number > 1,
      // A page that page mode does not reach is none that a client could ask for.
      HasNext: number < Math.min(always.TotalPages, LIMITS.pageNumber.max),
    },
    body: minified ? await minifiedBody(parts, page, signal) : await fullBody(parts, search, page, signal),
  }
}

const leavingOf = (caller: Caller, page: readonly FoundCompany[]): readonly FoundLeaving[] =>
  page.map((found) => ({ ...found, areas: areasOf(caller, found.country) }))

const minifiedBody = async (
  { index, queryTimeoutMs: timeoutMs }: SearchParts,
  page: readonly FoundLeaving[],
  signal: AbortSignal,
): Promise<readonly Buffer[]> => {
  const places = page.map(({ minified: place, ...found }) => ({ ...found, place }))
  return pageBody('Companies', await leavingDocuments(index, 'minified', places, { timeoutMs, signal }))
}

const fullBody = async (
  { index, rates, queryTimeoutMs: timeoutMs }: SearchParts,
  { currency: requested }: CompanySearch,
  page: readonly FoundLeaving[],
  signal: AbortSignal,
): Promise<readonly Buffer[]> => {
  const converter = newConverter(rates, requested)
  const shape = (document: Buffer, at: number): readonly Buffer[] => {
    const found = page[at]
    if (found === undefined) throw new RangeError('Cannot build a page: a company is missing')
    return documentPieces(document, found.place, { requested, converter, score: found.score })
  }
  return pageBody('Companies', await leavingDocuments(index, 'companies', page, { timeoutMs, signal, shape }))
}
