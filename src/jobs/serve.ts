/** `serve`: the interface of the service over a lake, in one call. */

import { createHash, randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { ToolkitError } from '../core/errors.ts'
import { servingMemory } from '../core/memory-shares.ts'
import type { Read } from '../options/entry.ts'
import type { ServeOptions } from '../options/interfaces.ts'
import { job } from '../options/job.ts'
import { SERVE } from '../options/serve.ts'
import { chooseTokens } from '../server/access/choose-tokens.ts'
import { readFaults } from '../server/faults/read-faults.ts'
import { chooseEmbedder } from '../server/ranking/choose-embedder.ts'
import { serveLake } from '../server/serve-lake.ts'

/** A server that listens. */
export interface ServedLake {
  /** `http://127.0.0.1:8080`. */
  readonly url: string
  /** Number of the snapshot that is served; with `follow`, at the moment. */
  readonly snapshot: number
  /** The token that was made for this server; absent where one was given. */
  readonly token?: string
  /** A warning for the operator, such as a file of tokens that others may read. */
  readonly warning?: string
  /** Finishes requests at work, and ends. */
  readonly close: () => Promise<void>
}

const CURSOR_KEY_CHARACTERS = 32

/** @throws {ToolkitError} USAGE */
const cursorKeyOf = (text: string | undefined): Buffer => {
  if (text === undefined) return randomBytes(CURSOR_KEY_CHARACTERS)
  if (text.length >= CURSOR_KEY_CHARACTERS) return createHash('sha256').update(text).digest()
  throw new ToolkitError(
    'USAGE',
    `Cannot use FIRMLAKE_CURSOR_KEY: it has fewer than ${CURSOR_KEY_CHARACTERS} characters`,
  )
}

/** `10.0.0.7`, `10.0.0.0/8`. */
const isNetwork = (text: string): boolean => {
  const [, address = '', bits] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const most = { 4: 32, 6: 128 }[isIP(address)]
  return most !== undefined && Number(bits ?? 0) <= most
}

/** @throws {ToolkitError} USAGE */
const checkProxies = (proxies: readonly string[]): void => {
  const proxy = proxies.find((one) => !isNetwork(one))
  if (proxy === undefined) return
  const expected = 'expected an address or a network, such as 10.0.0.7 or 10.0.0.0/8'
  throw new ToolkitError('USAGE', `Cannot trust the proxy "${proxy}": ${expected}`, { proxy })
}

type Asked = Read<ServeOptions, typeof SERVE>

const served = async (options: Asked): Promise<ServedLake> => {
  const { lake, snapshot, host, port, token, tokens: file, rateLimit, log, signal } = options
  const { follow = false, onMove, onFollowError } = options
  if (follow && snapshot !== undefined)
    throw new ToolkitError(
      'USAGE',
      `Cannot serve snapshot ${snapshot} and follow the newest one: expected one of the two`,
      { snapshot },
    )
  const { cursorCap, queryTimeoutMs, memoryBytes } = options
  const { threads, faults, onProgress, onUnusable, onTokensError, maxConnections, proxies = [] } = options
  checkProxies(proxies)
  const tokens = await chooseTokens({ file, token, host, random: randomBytes, onTokensError })
  const server = await serveLake({
    ...{ lake, snapshot, cursorCap, queryTimeoutMs, threads, signal, onProgress, onUnusable },
    tokens: tokens.registry,
    embedder: await chooseEmbedder(process.env, signal),
    cursorKey: cursorKeyOf(options.cursorKey),
    memoryBytes: servingMemory(memoryBytes, follow ? 2 : 1),
    ...(follow && { follow: { onMove, onFollowError } }),
    faults: faults === undefined ? [] : await readFaults(faults),
    http: {
      ...{ host, port, maxConnections, proxies },
      ...(rateLimit !== undefined && { requestsPerSecond: rateLimit }),
      ...(log && { log }),
    },
  })
  return {
    url: server.address,
    get snapshot() {
      return server.snapshot
    },
    ...(tokens.fresh !== undefined && { token: tokens.fresh }),
    ...(tokens.warning !== undefined && { warning: tokens.warning }),
    close: () => server.close(),
  }
}

/**
 * Serves a snapshot of a lake, or with `follow` always the newest one, over HTTP: searches, relations, listings and batch files, `/openapi.json`, `/healthz` and
 * `/metrics`. The first start builds a serving index in the lake; later ones open it. `SemanticSearch` is answered by the vectors of the
 * service of embeddings that FIRMLAKE_EMBEDDER_URL names, else by words (BM25).
 *
 * @returns a handle: its `url`, and `close()`
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `LISTEN_FAILED`, `TOKENS_UNREADABLE`, `TOKEN_INVALID`,
 *   `RATES_UNREADABLE`, `FAULTS_UNREADABLE`, `INDEX_UNUSABLE`, `USAGE`, `INTERRUPTED`
 * @example
 * import { convert, pull, serve, createService } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const server = await serve({ lake: './lake', port: 0, token: 'token-of-my-service' })
 * const from = createService({ url: server.url, token: 'token-of-my-service' })
 * const { records } = await pull({ from, lake: './copy', content: 'companies', search: { CountryCode: ['SE'] } })
 * await server.close()
 * console.log(records) // 2
 */
export const serve: (options: ServeOptions) => Promise<ServedLake> = job('serve', SERVE, served, 'The server')
