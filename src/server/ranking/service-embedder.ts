/**
 * An embedder behind HTTP, in the form of OpenAI's embeddings: `POST {url}/embeddings {"model", "input": […]}`
 * answered by `{"data": [{"index", "embedding": […]}]}`. Many services and local model servers speak it.
 */

import { ToolkitError } from '../../core/errors.ts'
import { isLoopback } from '../../support/http-values.ts'
import { memberOf } from '../../support/json-form.ts'
import { sideBySide } from '../../support/side-by-side.ts'
import { TOKEN_FORM } from '../access/choose-tokens.ts'
import { type Embedder, unitLength } from './embedder.ts'
import {
  type EmbeddingsAddress,
  embedderFailed,
  postForEmbeddings,
  type RequestLimits,
  type RetryTiming,
  SYSTEM_RETRY_TIMING,
} from './post-for-embeddings.ts'

export interface ServiceEmbedderOptions {
  /** Address below which `/embeddings` stands, e.g. `https://api.example.com/v1`. Plain http only to this machine. */
  readonly url: string
  readonly model: string
  /** Sent as a bearer token; none where the service expects none. */
  readonly key?: string | undefined
  /** Length of the vectors; the service is asked once where it is not given. */
  readonly dimensions?: number | undefined
  /** Every model has its own scale: compare scores of related and unrelated texts. @default 0.25 */
  readonly minSimilarity?: number | undefined
  /** Texts in one request. @default 128 */
  readonly batch?: number | undefined
  /** Requests at a time. @default 4 */
  readonly atOnce?: number | undefined
  /** Longest time for one answer, in milliseconds. @default 30_000 (a model on this machine takes seconds) */
  readonly timeoutMs?: number | undefined
  /** Requests after a first one that failed for the moment. @default 4 */
  readonly retries?: number | undefined
  readonly timing?: RetryTiming | undefined
}

const MIN_SIMILARITY = 0.25
const BATCH = 128
const AT_ONCE = 4
const TIMEOUT_MS = 30_000
const RETRIES = 4
/** Longest answer, in bytes: 128 vectors of 4,096 numbers take some 12 MB as JSON. */
const MAX_BODY_BYTES = 64 * 1024 * 1024
/** Characters of a text that are sent. Models read some thousand tokens and refuse longer texts. */
const SENT_LENGTH = 2000

/**
 * An embedder that asks a service.
 * @throws {ToolkitError} ADDRESS_REFUSED, TOKEN_INVALID; EMBEDDER_FAILED when it does not answer with its dimensions
 */
export const serviceEmbedder = async (
  options: ServiceEmbedderOptions,
  signal?: AbortSignal,
): Promise<Embedder> => {
  const { model, batch = BATCH, atOnce = AT_ONCE, minSimilarity = MIN_SIMILARITY } = options
  const address = { endpoint: endpointOf(options.url), key: checkedKey(options.key) }
  const limits: RequestLimits = {
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    retries: options.retries ?? RETRIES,
    maxBodyBytes: MAX_BODY_BYTES,
    timing: options.timing ?? SYSTEM_RETRY_TIMING,
  }
  const ask = async (input: readonly string[], stop?: AbortSignal): Promise<readonly Float32Array[]> =>
    vectorsOf(
      await postForEmbeddings(address, JSON.stringify({ model, input }), limits, stop),
      input.length,
      address,
    )
  const dimensions = options.dimensions ?? (await ask(['company'], signal))[0]?.length ?? 0
  return {
    name: `${model} at ${address.endpoint.host}`,
    dimensions,
    minSimilarity,
    embed: async (strings, stop) => {
      const vectors: Float32Array[] = strings.map(() => new Float32Array(dimensions))
      // Services refuse an empty text, and its vector would mean nothing.
      const asked = strings
        .map((text, at) => ({ at, text: text.slice(0, SENT_LENGTH).toWellFormed() }))
        .filter(({ text }) => text.trim() !== '')
      const batches = Array.from({ length: Math.ceil(asked.length / batch) }, (_, no) =>
        asked.slice(no * batch, (no + 1) * batch),
      )
      await sideBySide(
        batches,
        atOnce,
        async (part) => {
          const answered = await ask(
            part.map(({ text }) => text),
            stop,
          )
          for (const [no, { at }] of part.entries()) {
            const vector = answered[no]
            if (vector?.length !== dimensions)
              throw embedderFailed(
                address.endpoint,
                `a vector has ${vector?.length ?? 0} dimensions, expected ${dimensions}`,
              )
            vectors[at] = vector
          }
        },
        stop,
      )
      return vectors
    },
  }
}

const endpointOf = (text: string): URL => {
  const url = URL.parse(text)
  // The text itself is not repeated: it may hold a password.
  if (url === null || !/^https?:$/.test(url.protocol)) throw addressRefused('it is no web address')
  if (url.username !== '' || url.password !== '') throw addressRefused('it holds a user name or a password')
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    throw addressRefused('texts and key would go over plain http, expected https')
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/embeddings`
  url.hash = ''
  return url
}

const addressRefused = (reason: string): ToolkitError =>
  new ToolkitError('ADDRESS_REFUSED', `Cannot use the address of the embedding service: ${reason}`)

/** Checked here, because the error of an impossible header would repeat the key. */
const checkedKey = (key: string | undefined): string | undefined => {
  if (key === undefined || key === '' || TOKEN_FORM.test(key)) return key === '' ? undefined : key
  throw new ToolkitError(
    'TOKEN_INVALID',
    'Cannot use the key of the embedding service: it holds other characters than A-Z a-z 0-9 -._~+/',
  )
}

/** The vectors of an answer in the order of the texts, of length 1. */
const vectorsOf = (body: unknown, count: number, { endpoint }: EmbeddingsAddress): Float32Array[] => {
  const data = memberOf(body, 'data')
  if (!Array.isArray(data)) throw embedderFailed(endpoint, 'its answer has no list "data"')
  if (data.length !== count)
    throw embedderFailed(endpoint, `it answered ${data.length} vectors, expected ${count}`)
  const vectors: (Float32Array | undefined)[] = new Array(count).fill(undefined)
  const items: readonly unknown[] = data
  for (const item of items) {
    const index = memberOf(item, 'index')
    if (typeof index !== 'number' || !(index in vectors) || vectors[index] !== undefined)
      throw embedderFailed(endpoint, `its vectors are not numbered from 0 to ${count - 1}`)
    vectors[index] = vectorOf(memberOf(item, 'embedding'), endpoint)
  }
  return vectors.filter((vector) => vector !== undefined)
}

const vectorOf = (numbers: unknown, endpoint: URL): Float32Array => {
  if (!Array.isArray(numbers) || !numbers.every((value) => typeof value === 'number'))
    throw embedderFailed(endpoint, 'a vector is no list of numbers')
  const vector = unitLength(Float32Array.from(numbers))
  // A vector of zeros, or one too long for a 32-bit float, has no direction.
  if (vector.length === 0 || !vector.every(Number.isFinite) || vector.every((value) => value === 0))
    throw embedderFailed(endpoint, 'a vector has no direction')
  return vector
}
