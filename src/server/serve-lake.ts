/** Serves a snapshot of a lake: puts the serving index, the rates, the embedder and the searches behind HTTP. */

import { BODY_MESSAGES } from '../contract/messages.ts'
import type { Caller } from './access/caller.ts'
import type { TokenRegistry } from './access/token-registry.ts'
import { openBatchStore } from './batch-files/batch-store.ts'
import type { FaultRule } from './faults/fault-kinds.ts'
import { faultLayer } from './faults/fault-layer.ts'
import { openServer } from './http/open-server.ts'
import type { RunningServer, Search, ServerOptions } from './http/server-parts.ts'
import type { Embedder } from './ranking/embedder.ts'
import { loadRates } from './rates/lake-rates.ts'
import { parseBody } from './search/request/exact-json.ts'
import { searchCompanies } from './search/search-companies.ts'
import { searchRelations } from './search/search-relations.ts'
import type { Answer, SearchParts } from './search/shared/answer.ts'
import { namedCountries } from './search/shared/visible-records.ts'
import type { IndexProgress } from './serving-index/build/build-request.ts'
import { currentIndex } from './serving-index/build/current-index.ts'
import type { ServingIndex } from './serving-index/serving-index.ts'

export interface ServeLakeRequest {
  readonly lake: string
  /** @default the newest */
  readonly snapshot?: number | undefined
  readonly tokens: TokenRegistry
  readonly embedder: Embedder
  /** Secret that signs cursors, at least 32 bytes. */
  readonly cursorKey: Buffer
  /** Companies that one cursor chain may deliver. */
  readonly cursorCap: number
  /** Longest time of one query, in milliseconds. */
  readonly queryTimeoutMs: number
  /** DuckDB's memory in bytes. */
  readonly memoryBytes: number
  readonly threads?: number | undefined
  readonly faults?: readonly FaultRule[]
  readonly http: ServerOptions
  /** Stops the making of a serving index. */
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: IndexProgress) => void) | undefined
  /** Called with why the serving index in the lake cannot be used, before it is made again. */
  readonly onUnusable?: ((reason: Error) => void) | undefined
}

export interface LakeServer extends RunningServer {
  /** Number of the snapshot that is served. */
  readonly snapshot: number
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

const openOver = async (index: ServingIndex, request: ServeLakeRequest): Promise<RunningServer> => {
  const { lake, embedder, cursorKey, cursorCap, queryTimeoutMs, tokens, faults = [], http } = request
  const countries = await countriesOf(index, 'company', queryTimeoutMs)
  const parts: SearchParts = {
    index,
    rates: await loadRates(lake),
    embedder,
    countries: namedCountries([...countries, ...(await countriesOf(index, 'relation', queryTimeoutMs))]),
    cursorKey,
    cursorCap,
    queryTimeoutMs,
  }
  return openServer(
    {
      snapshot: index.description.snapshot,
      countries,
      tokens,
      companies: overText(parts, searchCompanies),
      relations: overText(parts, searchRelations),
      batches: openBatchStore(lake),
      layers: faults.length > 0 ? [faultLayer(faults)] : [],
    },
    http,
  )
}

/**
 * Opens the snapshot's serving index, which is made first where there is none, and listens.
 *
 * @throws {ToolkitError} what opening the index and reading the rates throws; LISTEN_FAILED
 */
export const serveLake = async (request: ServeLakeRequest): Promise<LakeServer> => {
  const index = await currentIndex(request)
  try {
    const server = await openOver(index, request)
    return {
      snapshot: index.description.snapshot,
      address: server.address,
      close: async () => {
        await server.close()
        await index.close()
      },
    }
  } catch (error) {
    await index.close()
    throw error
  }
}
