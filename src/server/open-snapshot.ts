/** A snapshot that answers: its index with the rates of the lake at the time, and both searches over them. */

import { BODY_MESSAGES } from '../contract/messages.ts'
import { loadRates } from '../lake/rates/lake-rates.ts'
import type { Caller } from './access/caller.ts'
import type { Search } from './http/server-parts.ts'
import { protectedDigest } from './search/query/protected-persons.ts'
import { parseBody } from './search/request/exact-json.ts'
import { searchCompanies } from './search/search-companies.ts'
import { searchRelations } from './search/search-relations.ts'
import type { Answer, SearchParts } from './search/shared/answer.ts'
import { namedCountries } from './search/shared/visible-records.ts'
import type { ServingIndex } from './serving-index/serving-index.ts'

/** What the searches of all snapshots have in common. */
export interface SearchSettings extends Omit<SearchParts, 'index' | 'rates' | 'countries'> {
  readonly lake: string
}

export interface OpenSnapshot {
  readonly number: number
  /** Country codes of its companies. */
  readonly countries: readonly string[]
  readonly companies: Search
  readonly relations: Search
  /** What tells the persons who are protected in it from those of another one. */
  readonly protectedDigest: () => Promise<string>
  readonly close: () => Promise<void>
}

type SearchBody = (parts: SearchParts, caller: Caller, body: unknown, signal: AbortSignal) => Promise<Answer>

/** A search by the text of a request's body. */
const overText =
  (parts: SearchParts, search: SearchBody): Search =>
  async (text, caller, signal) => {
    let body: unknown
    try {
      body = parseBody(text)
    } catch {
      return { kind: 'refused', messages: [BODY_MESSAGES.bodyInvalid.text] }
    }
    return search(parts, caller, body, signal)
  }

/** The country codes of a content's records. */
const countriesOf = async (
  index: ServingIndex,
  table: 'company' | 'relation',
  timeoutMs: number,
): Promise<readonly string[]> => {
  const rows = await index.query(
    (session) =>
      session.rows(`
        SELECT DISTINCT country_code FROM copy.${table}
        WHERE country_code IS NOT NULL
        ORDER BY country_code`),
    { timeoutMs },
  )
  return rows.map(({ country_code: country }) => String(country))
}

/** Takes an index over: it is closed with the snapshot, and where this fails. @throws {ToolkitError} what reading the rates throws */
export const openSnapshot = async (
  index: ServingIndex,
  { lake, ...settings }: SearchSettings,
): Promise<OpenSnapshot> => {
  try {
    const { queryTimeoutMs } = settings
    const countries = await countriesOf(index, 'company', queryTimeoutMs)
    const parts: SearchParts = {
      ...settings,
      index,
      rates: await loadRates(lake),
      countries: namedCountries([...countries, ...(await countriesOf(index, 'relation', queryTimeoutMs))]),
    }
    return {
      protectedDigest: () => protectedDigest(index, { timeoutMs: queryTimeoutMs }),
      number: index.description.snapshot,
      countries,
      companies: overText(parts, searchCompanies),
      relations: overText(parts, searchRelations),
      close: () => index.close(),
    }
  } catch (error) {
    await index.close()
    throw error
  }
}
