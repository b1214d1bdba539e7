/** `serve`: the interface of the service over a lake, in one call. */

import { createHash, randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { LIMITS } from '../../contract/limits.ts'
import { checkOptions, each, is, type OptionTypes } from '../../core/check-options.ts'
import { orInterrupted, ToolkitError } from '../../core/errors.ts'
import { DEFAULT_MEMORY_BYTES, servingMemory } from '../../core/memory-shares.ts'
import { chooseTokens } from '../../server/access/choose-tokens.ts'
import { SERVER_LIMITS } from '../../server/access/server-limits.ts'
import { readFaults } from '../../server/faults/read-faults.ts'
import type { FollowEvents } from '../../server/follow-lake.ts'
import { chooseEmbedder } from '../../server/ranking/choose-embedder.ts'
import { type LakeToServe, serveLake } from '../../server/serve-lake.ts'

/** Options of `serve`. */
export interface ServeOptions extends LakeToServe {
  /**
   * Moves to each newer snapshot, without a failed request; its index is built by another process, which takes up to
   * `memoryBytes` too. Only without `snapshot`. @default false
   */
  readonly follow?: boolean | undefined
  /** With `follow`, called with the number of each snapshot that it has moved to. */
  readonly onMove?: FollowEvents['onMove']
  /** With `follow`, called with why a newer snapshot cannot be served yet; the server keeps what it has, and tries again. */
  readonly onFollowError?: FollowEvents['onFollowError']
  /** Address to listen at; beyond this machine only with tokens given. @default '127.0.0.1' */
  readonly host?: string | undefined
  /** 0 takes any free one. @default 8080 */
  readonly port?: number | undefined
  /** The one token, which may see everything. @default a fresh one, on this machine only */
  readonly token?: string | undefined
  /** JSON file of tokens and their rights (docs/serving.md), read again when it changes; it counts more than `token`. */
  readonly tokens?: string | undefined
  /** Called with why `tokens` cannot be read after a change; its last tokens still count. */
  readonly onTokensError?: ((reason: Error) => void) | undefined
  /** Most requests a second of each token. @default none */
  readonly rateLimit?: number | undefined
  /** Most connections at once. @default 500 */
  readonly maxConnections?: number | undefined
  /** Proxies whose `X-Forwarded-For` says who asks: addresses and networks, this machine's own too. @default none */
  readonly proxies?: readonly string[] | undefined
  /** Most companies of one cursor chain. @default 100,000 */
  readonly cursorCap?: number | undefined
  /** Secret of at least 32 characters that signs cursors, so that they outlive a restart. @default a fresh one */
  readonly cursorKey?: string | undefined
  /** Longest time of one query, in milliseconds; then 503. @default 30_000 */
  readonly queryTimeoutMs?: number | undefined
  /** Peak memory in all, in bytes. @default 1 GiB, less in a small container */
  readonly memoryBytes?: number | undefined
  /** JSON file of faults to make, for testing clients (docs/serving.md). @default none */
  readonly faults?: string | undefined
  /** Receives the access log, a line of JSON per request. @default none */
  readonly log?: { write(line: string): void } | undefined
}

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

const PORT = 8080
const HOST = '127.0.0.1'
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

const OPTIONS: OptionTypes<ServeOptions> = {
  lake: is.lake,
  ...each(is.text, 'host', 'token', 'tokens', 'cursorKey', 'faults'),
  follow: is.flag,
  ...each(is.amount, 'memoryBytes', 'rateLimit', 'queryTimeoutMs'),
  ...each(is.count, 'snapshot', 'threads', 'port', 'cursorCap', 'maxConnections'),
  ...each(is.callback, 'onMove', 'onFollowError', 'onProgress', 'onUnusable', 'onTokensError'),
  proxies: is.texts,
  signal: is.signal,
  log: is.object,
}

/**
 * Serves a snapshot of a lake, or with `follow` always the newest one, over HTTP: searches, relations, listings and batch files, `/openapi.json`, `/healthz` and
 * `/metrics`. The first start builds a serving index in the lake; later ones open it. Texts are ranked by the embedder that
 * FIRMLAKE_EMBEDDER_URL names, else by the built-in one.
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
export const serve = async (options: ServeOptions): Promise<ServedLake> => {
  checkOptions('serve', OPTIONS, options)
  const { lake, snapshot, host = HOST, port = PORT, token, tokens: file, rateLimit, log, signal } = options
  const { follow = false, onMove, onFollowError } = options
  if (follow && snapshot !== undefined)
    throw new ToolkitError(
      'USAGE',
      `Cannot serve snapshot ${snapshot} and follow the newest one: expected one of the two`,
      { snapshot },
    )
  const {
    cursorCap = LIMITS.cursorCap,
    queryTimeoutMs = SERVER_LIMITS.queryMs,
    memoryBytes = DEFAULT_MEMORY_BYTES,
  } = options
  const { threads, faults, onProgress, onUnusable, onTokensError, maxConnections, proxies = [] } = options
  checkProxies(proxies)
  const tokens = await chooseTokens({ file, token, host, random: randomBytes, onTokensError })
  const server = await orInterrupted('The server', signal, async () =>
    serveLake({
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
    }),
  )
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
