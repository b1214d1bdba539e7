/** `serve`: offers a lake over the service's interface. */

import { once } from 'node:events'
import { createWriteStream, existsSync, type WriteStream } from 'node:fs'
import type { Command } from 'commander'
import { LIMITS } from '../../contract/limits.ts'
import { ToolkitError, writeError } from '../../core/errors.ts'
import { SERVER_LIMITS } from '../../server/access/server-limits.ts'
import { adoptOutput, PRIVATE_FILE } from '../../support/file-modes.ts'
import { isLoopback } from '../../support/http-values.ts'
import { withExamples } from '../help.ts'
import { interruptible } from '../interrupt.ts'
import {
  type LakeOption,
  lakeOption,
  repeated,
  type SnapshotOption,
  snapshotOption,
  wholeNumber,
} from '../options/options.ts'
import { memoryOption, threadsOption } from '../options/run-options.ts'
import { noteTaken } from '../output/lake-notes.ts'
import { note } from '../output/print.ts'

interface ServeFlags extends LakeOption, SnapshotOption {
  readonly follow?: true
  readonly port: number
  readonly host: string
  readonly tokens?: string
  readonly rateLimit?: number
  readonly maxConnections: number
  readonly proxy?: readonly string[]
  readonly faults?: string
  readonly cursorCap: number
  readonly queryTimeout: number
  readonly log?: string
  readonly memory: number
  readonly threads: number
}

const PORT = 8080
const HOST = '127.0.0.1'
const MOST_PORT = 65_535

export const addServe = (program: Command): void => {
  const command = program
    .command('serve')
    .summary('offer a lake over the service interface')
    .description(
      'Serves a snapshot over HTTP: searches, relations, listings and batch files, /openapi.json, /healthz and ' +
        '/metrics. The first start makes a serving index in the lake; later ones open it. The access log goes to ' +
        'standard output, a line of JSON a request. SIGTERM or Ctrl-C stops it: requests under way are finished.',
    )
    .addOption(lakeOption())
    .option('-p, --port <n>', 'port; 0 takes any free one', parsePort, PORT)
    .option('--host <address>', 'address to listen at; beyond this machine only with tokens given', HOST)
    .addOption(snapshotOption('this snapshot (default: the newest)'))
    .option('--follow', 'move to each newer snapshot, without a restart')
    .option('--tokens <file>', 'JSON file of tokens (default: FIRMLAKE_SERVE_TOKEN, else a fresh one)')
    .option('--rate-limit <n>', 'most requests a second of each token (default: none)', parseRate)
    .option(
      '--max-connections <n>',
      'most connections at once',
      wholeNumber('--max-connections'),
      SERVER_LIMITS.connections,
    )
    .option(
      '--proxy <address>',
      'address or network of a proxy whose X-Forwarded-For says who asks (repeatable; default: none)',
      repeated,
    )
    .option('--faults <file>', 'JSON file of faults to inject, for testing clients')
    .option(
      '--cursor-cap <n>',
      'most companies of one cursor chain',
      wholeNumber('--cursor-cap'),
      LIMITS.cursorCap,
    )
    .option(
      '--query-timeout <seconds>',
      'longest time of one query; then 503',
      wholeNumber('--query-timeout'),
      SERVER_LIMITS.queryMs / 1000,
    )
    .option('--log <file>', 'append the access log to this file instead')
    .addOption(memoryOption())
    .addOption(threadsOption())
    .action(runServe)
  withExamples(command, [
    ['serve --lake ./lake', 'on this machine, with a fresh token'],
    ['serve --lake ./lake --follow', 'always the newest snapshot'],
    ['serve --lake ./lake --host 0.0.0.0 --tokens tokens.json --log access.jsonl', 'for others'],
  ])
}

const parsePort = (text: string): number => {
  const port = wholeNumber('--port', 0)(text)
  if (port <= MOST_PORT) return port
  throw new ToolkitError('USAGE', `Cannot read --port "${text}": expected a number from 0 to ${MOST_PORT}`)
}

const parseRate = (text: string): number => {
  const rate = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : 0
  if (rate > 0) return rate
  throw new ToolkitError('USAGE', `Cannot read --rate-limit "${text}": expected a number above 0`)
}

const openLog = async (path: string): Promise<WriteStream> => {
  const isNew = !existsSync(path)
  const stream = createWriteStream(path, { flags: 'a', mode: PRIVATE_FILE })
  try {
    await once(stream, 'open')
    if (isNew) await adoptOutput(path)
  } catch (error) {
    throw writeError(`Cannot open log "${path}"`, error)
  }
  // A full disk must not end the service.
  stream.on('error', ({ message }) => note(`The access log cannot be written: ${message}`))
  return stream
}

const runServe = async (options: ServeFlags): Promise<void> => {
  if (!isLoopback(options.host))
    note('Others reach this server by plain HTTP: put a proxy with TLS in front of it')
  const log = options.log === undefined ? undefined : await openLog(options.log)
  try {
    await interruptible(
      (signal) => serveUntil(signal, options, log ?? process.stdout),
      'requests under way are finished',
    )
  } finally {
    if (log) await new Promise<void>((resolve) => log.end(() => resolve()))
  }
}

const serveUntil = async (
  signal: AbortSignal,
  { queryTimeout, memory, proxy: proxies, ...flags }: ServeFlags,
  log: { write(line: string): void },
): Promise<void> => {
  const { lake, snapshot, follow, host, port, tokens, rateLimit, maxConnections } = flags
  const { cursorCap, threads, faults } = flags
  const { serve } = await import('../../jobs/serve/serve.ts')
  const { indexProgress } = await import('../serving.ts')
  const { clear, ...progress } = indexProgress()
  const server = await serve({
    ...{ lake, snapshot, follow, host, port, tokens, rateLimit, maxConnections, proxies },
    ...{ cursorCap, threads, faults, signal, log },
    ...progress,
    onMove: (newest) => note(`Serving snapshot ${newest} now`),
    onFollowError: ({ message }) => note(`${message}. The snapshot before is still served`),
    onTokensError: ({ message }) => note(`${message}. The tokens before still count`),
    token: process.env.FIRMLAKE_SERVE_TOKEN || undefined,
    // Cursors outlive a restart with it, and several servers share them.
    cursorKey: process.env.FIRMLAKE_CURSOR_KEY || undefined,
    queryTimeoutMs: queryTimeout * 1000,
    memoryBytes: memory,
  }).finally(clear)
  if (server.warning !== undefined) note(server.warning)
  if (server.token !== undefined) note(`Token, made for this run and shown only here: ${server.token}`)
  if (faults !== undefined) note(`With the faults of ${faults}`)
  note(`Serving snapshot ${server.snapshot} of ${lake} at ${server.url}`)
  await noteTaken(lake, server.snapshot)
  if (!signal.aborted) await once(signal, 'abort')
  const deadline = setTimeout(endAnyway, STOP_DEADLINE_MS)
  await server.close()
  clearTimeout(deadline)
}

/** Requests under way get ten seconds; what still runs long after that is a statement DuckDB does not stop. */
const STOP_DEADLINE_MS = 20_000

/** Serving writes nothing, and a thread inside DuckDB would keep the process from an orderly end. */
const endAnyway = (): void => {
  note('A query does not end: the server ends without it')
  process.kill(process.pid, 'SIGKILL')
}
