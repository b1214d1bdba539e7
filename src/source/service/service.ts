/**
 * The remote service as an object: pages, counts, listings and downloads, all under one policy and one rate
 * limiter. Knows the contract's operations; plans, chains of cursors and the lake are the caller's.
 */

import type { Content } from '../../contract/objects.ts'
import type { SearchParameters } from '../../contract/requests.ts'
import { ToolkitError } from '../../core/errors.ts'
import { readCall } from '../../options/entry.ts'
import type { ServiceOptions } from '../../options/interfaces.ts'
import { SERVICE } from '../../options/service.ts'
import { parseAddress } from './address.ts'
import { parseWhole } from './bodies.ts'
import { openConnection } from './connection.ts'
import { type Download, type DownloadOptions, download } from './download.ts'
import { fetchPage, type Page, type ReadBody } from './fetch-page.ts'
import {
  type BatchListingOptions,
  type ListedBatchFile,
  type ListedParameter,
  listBatchFiles,
  listParameters,
} from './listings.ts'
import type { PageRequest } from './page-request.ts'
import { retryBudget } from './policy.ts'
import { rateLimiter } from './rate-limiter.ts'
import type { ServiceClock } from './service-clock.ts'
import { SYSTEM_TIMING } from './timing.ts'
import { checkToken, textWithoutToken } from './token.ts'

export type { Download, DownloadOptions } from './download.ts'
export type { Page, ReadBody } from './fetch-page.ts'
export type { BatchListingOptions, ListedBatchFile, ListedParameter } from './listings.ts'
export type { PageRequest } from './page-request.ts'
export type { Timing } from './timing.ts'

export interface CallOptions {
  readonly signal?: AbortSignal
}

/** Counts of requests so far, for the run's summary. */
export interface ServiceCounters {
  /** Requests sent, retries included. */
  readonly requests: number
  /** Retries. */
  readonly retries: number
  /** Answers 429, and 503 with `Retry-After`. */
  readonly throttled: number
  /** Bytes of bodies received, as on the wire. */
  readonly bytes: number
}

/** A service, ready to be asked; one policy and one rate limiter for everything that is done with it. */
export interface Service {
  /** Base address, as it was given. */
  readonly url: string
  /** Origin: `https://host:port`. */
  readonly origin: string
  /** The clock of this machine, and which of the two counts. */
  readonly clock: ServiceClock
  /** The counters as they stand. */
  readonly counters: () => ServiceCounters
  /** Requests a second that the limiter allows at present. */
  readonly requestsPerSecond: () => number
  /**
   * Fetches a page, retried until it is whole.
   *
   * @throws {ToolkitError} CLOCK_DIFFERS, SERVICE_FAILED, SERVICE_BUSY, SERVICE_REDIRECTED, ANSWER_INVALID, TOKEN_REFUSED,
   *   SERVICE_FORBIDDEN, SERVICE_NOT_FOUND, and the code of each refusal (`refusals.ts`)
   */
  readonly page: <T>(request: PageRequest, read: ReadBody<T>, options?: CallOptions) => Promise<Page<T>>
  /** How many records a search has, by the cheapest request that reports it. @throws as `page` */
  readonly totalCount: (
    content: Content,
    search: SearchParameters,
    options?: CallOptions & { readonly currency?: string },
  ) => Promise<{ readonly totalCount: number; readonly asOf: string }>
  /** The live search parameters. */
  readonly parameters: (content: Content, options?: CallOptions) => Promise<readonly ListedParameter[]>
  /** The batch files of the account. @throws as `page`; ANSWER_INVALID where no entry of the list has an id */
  readonly batchFiles: (options?: BatchListingOptions) => Promise<readonly ListedBatchFile[]>
  /**
   * Downloads a batch file to `path`; resumes from what `<path>.part` holds of it, also from another process.
   *
   * @throws {ToolkitError} as `page`, and DOWNLOAD_DAMAGED, DISK_FULL, WRITE_FAILED
   */
  readonly download: (id: string, path: string, options?: DownloadOptions) => Promise<Download>
  /** Closes all connections at once; what is under way fails. A program that never does ends all the same. */
  readonly close: () => Promise<void>
}

/** Different warnings that are handed on: a service may vary its header for ever. */
const MOST_WARNINGS = 20

/** Hands texts on, each once and without the token. */
const eachOnce = (warn: ServiceOptions['onWarning'], token: string): ((text: string) => void) => {
  const known = new Set<string>()
  return (said) => {
    const text = textWithoutToken(said, token)
    if (known.has(text) || known.size >= MOST_WARNINGS) return
    known.add(text)
    warn?.(text)
  }
}

/**
 * The service at an address, as the source of `pull` and `sync`, and of `batchFiles`. Nothing is sent yet. Jobs that are
 * given the same one share its rate and its counters.
 *
 * @throws {ToolkitError} `ADDRESS_REFUSED` for plain http beyond this machine, `TOKEN_INVALID`, `USAGE`
 * @example
 * import { pull, createService } from 'firmlake'
 *
 * const from = createService({ url: 'https://service.example.com', token: 'token-of-my-service', maxWaitMs: 60_000 })
 * await pull({ from, lake: './lake', content: 'companies', search: { CountryCode: ['SE'] } })
 * console.log(from.counters().retries) // 0
 */
export const createService = (options: ServiceOptions): Service => {
  const read = readCall('createService', SERVICE, options)
  const { maxRequestsPerSecond, maxWaitMs, timing = SYSTEM_TIMING } = read
  if (maxRequestsPerSecond !== undefined && !(maxRequestsPerSecond > 0)) {
    throw new ToolkitError(
      'USAGE',
      `Cannot use maxRequestsPerSecond ${maxRequestsPerSecond}: expected a number above 0`,
    )
  }
  if (!(maxWaitMs >= 0))
    throw new ToolkitError('USAGE', `Cannot use maxWaitMs ${maxWaitMs}: expected milliseconds`)
  const address = parseAddress(options.url)
  const token = checkToken(options.token, 'the service')
  const counters = { requests: 0, retries: 0, throttled: 0, bytes: 0 }
  const limiter = rateLimiter(timing, maxRequestsPerSecond)
  const clock = { now: options.now ?? (() => new Date()), trusted: options.trustClock ?? false }
  const warn = eachOnce(options.onWarning, token)
  const policy = { timing, limiter, budget: retryBudget(), maxWaitMs, counters, warn }
  const connection = openConnection(address, policy, { ...read, token, clock })
  return {
    url: options.url,
    origin: address.origin,
    clock,
    counters: () => ({ ...counters }),
    requestsPerSecond: limiter.rate,
    page: (request, read, { signal } = {}) => fetchPage(connection, request, read, signal),
    totalCount: async (content, search, { currency, signal } = {}) => {
      // Minified and of one record: the least work the service can be asked for.
      const probe = content === 'companies' ? { pageNumber: 1, minified: true } : {}
      const request = { content, search, pageSize: 1, ...probe, ...(currency !== undefined && { currency }) }
      const { pagination, asOf } = await fetchPage(connection, request, parseWhole, signal)
      return { totalCount: pagination.TotalCount, asOf }
    },
    parameters: (content, { signal } = {}) => listParameters(connection, content, signal),
    batchFiles: (listing) => listBatchFiles(connection, listing),
    download: (id, path, downloadOptions = {}) => download(connection, id, path, downloadOptions),
    close: connection.close,
  }
}
