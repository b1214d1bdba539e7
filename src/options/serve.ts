/** Options of `serve`. */

import { LIMITS } from '../contract/limits.ts'
import { SERVER_LIMITS } from '../core/server-limits.ts'
import { LAKE, MEMORY, SNAPSHOT, signalThat, THREADS } from './common.ts'
import { type OptionTable, option, withDefault } from './entry.ts'
import {
  anObject,
  callback,
  manyOf,
  path,
  plainText,
  rate,
  seconds,
  trueOrFalse,
  whole,
} from './value-types.ts'

const MOST_PORT = 65_535

export const SERVE = {
  lake: LAKE,
  port: withDefault(whole(0, MOST_PORT), 'port; 0 takes any free one', '8080', {
    ...{ section: 'serve', flag: '-p, --port' },
    doc: '0 takes any free one.',
  }),
  host: withDefault(
    plainText('<address>'),
    'address to listen at; beyond this machine only with tokens given',
    '127.0.0.1',
    { section: 'serve', fileAbout: 'address to listen at' },
  ),
  snapshot: option(SNAPSHOT.type, 'this snapshot', { otherwise: 'the newest' }),
  follow: option(trueOrFalse, 'move to each newer snapshot, without a restart', {
    section: 'serve',
    doc: 'Moves to each newer snapshot, without a failed request; its index is built by another process, which takes up to `memoryBytes` too. Only without `snapshot`.',
  }),
  tokens: option(path(), 'JSON file of tokens', {
    ...{ section: 'serve', otherwise: 'FIRMLAKE_SERVE_TOKEN, else a fresh one' },
    doc: 'JSON file of tokens and their rights (docs/serving.md), read again when it changes; it counts more than `token`. @default none',
  }),
  rateLimit: option(rate, 'most requests a second of each token', { section: 'serve', otherwise: 'none' }),
  maxConnections: withDefault(whole(), 'most connections at once', String(SERVER_LIMITS.connections), {
    section: 'serve',
  }),
  proxies: option(
    manyOf(plainText('<address>')),
    'address or network of a proxy whose X-Forwarded-For says who asks (repeatable)',
    {
      ...{ section: 'serve', flag: '--proxy', key: 'proxy', otherwise: 'none' },
      fileAbout: 'addresses and networks of proxies whose X-Forwarded-For says who asks',
      doc: "Proxies whose `X-Forwarded-For` says who asks: addresses and networks, this machine's own too.",
    },
  ),
  faults: option(path(), 'JSON file of faults to inject, for testing clients', {
    doc: 'JSON file of faults to make, for testing clients (docs/serving.md). @default none',
  }),
  cursorCap: withDefault(whole(), 'most companies of one cursor chain', String(LIMITS.cursorCap)),
  queryTimeoutMs: withDefault(
    seconds,
    'longest time of one query; then 503',
    String(SERVER_LIMITS.queryMs / 1000),
    {
      flag: '--query-timeout',
      doc: 'Longest time of one query, in milliseconds; then 503. @default 30_000',
    },
  ),
  memoryBytes: MEMORY,
  threads: THREADS,
  signal: signalThat('Stops the making of a serving index.'),
  onProgress: option(callback('(progress: IndexProgress) => void'), 'how far the serving index is', {
    only: 'calls',
  }),
  onUnusable: option(callback('(reason: Error) => void'), 'called before a serving index is made again', {
    only: 'calls',
    doc: 'Called with why the serving index in the lake cannot be used, before it is made again.',
  }),
  onMove: option(callback('(snapshot: number) => void'), 'called with each snapshot that it moves to', {
    only: 'calls',
    doc: 'With `follow`, called with the number of each snapshot that it has moved to.',
  }),
  onFollowError: option(callback('(reason: Error) => void'), 'called where it cannot move', {
    only: 'calls',
    doc: 'With `follow`, called with why a newer snapshot cannot be served yet; the server keeps what it has, and tries again.',
  }),
  token: option(plainText(), 'the one token, which may see everything', {
    ...{ only: 'calls', otherwise: 'a fresh one, on this machine only' },
  }),
  onTokensError: option(callback('(reason: Error) => void'), 'called where a file of tokens is wrong', {
    only: 'calls',
    doc: 'Called with why `tokens` cannot be read after a change; its last tokens still count.',
  }),
  cursorKey: option(
    plainText(),
    'secret of at least 32 characters that signs cursors, so that they outlive a restart',
    { only: 'calls', otherwise: 'a fresh one' },
  ),
  log: option(
    anObject<{ write(line: string): void }>('{ write(line: string): void }'),
    'receives the access log, a line of JSON per request',
    { only: 'calls', otherwise: 'none' },
  ),
} as const satisfies OptionTable

const { memoryBytes, threads, ...SERVING } = SERVE

export const SERVE_COMMAND = {
  ...SERVING,
  log: option(path(), 'append the access log to this file instead', {
    section: 'serve',
    fileAbout: 'append the access log to this file',
  }),
  memoryBytes,
  threads,
} as const satisfies OptionTable
