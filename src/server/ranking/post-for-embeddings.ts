/** A request to a service of embeddings, repeated while it fails for the moment. Knows HTTP, not vectors. */

import { setTimeout as delay } from 'node:timers/promises'
import { systemCode, ToolkitError } from '../../core/errors.ts'
import { readRetryAfter } from '../../support/http-values.ts'
import { isCertificateError, verifiedFetch } from '../../support/verified-fetch.ts'

/** Clock, pauses and chance; passed in so that tests need not wait. */
export interface RetryTiming {
  /** Milliseconds since 1970, UTC. */
  readonly now: () => number
  /** Rejects with the signal's reason when it is aborted. */
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>
  /** From 0 up to but not 1. */
  readonly random: () => number
}

export const SYSTEM_RETRY_TIMING: RetryTiming = {
  now: Date.now,
  pause: async (ms, signal) => {
    try {
      await delay(ms, undefined, signal && { signal })
    } catch (error) {
      signal?.throwIfAborted()
      throw error
    }
  },
  random: Math.random,
}

export interface EmbeddingsAddress {
  /** Address of the operation itself, `…/embeddings`. */
  readonly endpoint: URL
  readonly key: string | undefined
}

export interface RequestLimits {
  /** Longest time for one answer, its body included, in milliseconds. */
  readonly timeoutMs: number
  /** Requests after the first one. */
  readonly retries: number
  /** Longest body of an answer, in bytes. */
  readonly maxBodyBytes: number
  readonly timing: RetryTiming
}

/** First pause, doubled with each failure, and the longest, in milliseconds. */
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** A service that asks to wait longer than this, in milliseconds, is not waited for. */
const LONGEST_RETRY_AFTER_MS = 60_000

type Outcome =
  | { readonly kind: 'answer'; readonly body: unknown }
  /** Worth a retry, after `floorMs` at the earliest. */
  | {
      readonly kind: 'failed'
      readonly reason: string
      readonly status?: number
      readonly floorMs: number
      readonly cause?: unknown
    }

/**
 * Sends a body by POST and gives the answer's JSON. 429, 5xx, broken connections, timeouts and half answers are
 * retried; redirects are never followed, because the key would go with them.
 * @throws {ToolkitError} EMBEDDER_FAILED; never with the key, nor with what was sent or answered
 */
export const postForEmbeddings = async (
  address: EmbeddingsAddress,
  body: string,
  limits: RequestLimits,
  signal?: AbortSignal,
): Promise<unknown> => {
  for (let failures = 0; ; failures++) {
    signal?.throwIfAborted()
    const outcome = await attempt(address, body, limits, signal)
    if (outcome.kind === 'answer') return outcome.body
    const { reason, status, floorMs, cause } = outcome
    if (failures >= limits.retries)
      throw embedderFailed(address.endpoint, `${reason}, tried ${failures + 1} times`, status, cause)
    if (floorMs > LONGEST_RETRY_AFTER_MS)
      throw embedderFailed(
        address.endpoint,
        `${reason}, and it asks to wait ${Math.ceil(floorMs / 1000)} seconds`,
        status,
      )
    const jitterMs = limits.timing.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures)
    await limits.timing.pause(floorMs + jitterMs, signal)
  }
}

const attempt = async (
  { endpoint, key }: EmbeddingsAddress,
  body: string,
  { timeoutMs, maxBodyBytes, timing }: RequestLimits,
  signal: AbortSignal | undefined,
): Promise<Outcome> => {
  const timeout = AbortSignal.timeout(timeoutMs)
  let response: Response
  let text: string | undefined
  try {
    response = await verifiedFetch(endpoint, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    })
    if (response.status === 200) text = await bodyOf(response, maxBodyBytes)
    else await response.body?.cancel()
  } catch (cause) {
    signal?.throwIfAborted()
    if (isCertificateError(systemCode(cause)))
      throw embedderFailed(
        endpoint,
        'TLS verification failed; NODE_EXTRA_CA_CERTS names a file of further authorities',
        undefined,
        cause,
      )
    const reason = timeout.aborted
      ? `it did not answer within ${timeoutMs} ms`
      : `the connection failed${codeOf(cause)}`
    return { kind: 'failed', reason, floorMs: 0, cause }
  }
  const { status } = response
  if (status === 200) {
    if (text === undefined) throw embedderFailed(endpoint, `it answered more than ${maxBodyBytes} bytes`)
    return parsed(text)
  }
  const reason = `it answered ${status}, expected 200`
  if (status !== 429 && status < 500) throw embedderFailed(endpoint, reason, status)
  return {
    kind: 'failed',
    reason,
    status,
    floorMs: readRetryAfter(response.headers.get('retry-after') ?? undefined, timing.now())?.ms ?? 0,
  }
}

const parsed = (text: string): Outcome => {
  try {
    const body: unknown = JSON.parse(text)
    return { kind: 'answer', body }
  } catch {
    // A body that was cut looks whole where it has no Content-Length. The cause would quote the answer.
    return { kind: 'failed', reason: 'its answer is not JSON', floorMs: 0 }
  }
}

/** The whole body as text; `undefined` where it is longer than allowed. */
const bodyOf = async (response: Response, maxBytes: number): Promise<string | undefined> => {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const codeOf = (error: unknown): string => {
  const code = systemCode(error)
  return code === undefined ? '' : ` (${code})`
}

export const embedderFailed = (
  endpoint: URL,
  reason: string,
  status?: number,
  cause?: unknown,
): ToolkitError =>
  new ToolkitError(
    'EMBEDDER_FAILED',
    `Cannot get embeddings from "${endpoint.host}": ${reason}`,
    { host: endpoint.host, ...(status !== undefined && { status }) },
    cause,
  )
