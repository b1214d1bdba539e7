/** `serve`: offers a lake over the service's interface. */

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, existsSync, type WriteStream } from 'node:fs'
import type { Command } from 'commander'
import { LIMITS } from '../../contract/limits.ts'
import { ToolkitError, writeError } from '../../core/errors.ts'
import { servingMemory } from '../../pipeline/run/memory-shares.ts'
import { adoptOutput, PRIVATE_FILE } from '../../support/file-modes.ts'
import { isLoopback } from '../../support/is-loopback.ts'
import { interruptible } from '../interrupt.ts'
import {
  type LakeOption,
  lakeOption,
  type SnapshotOption,
  snapshotOption,
  wholeNumber,
  withExamples,
} from '../options/options.ts'
import { memoryOption, threadsOption } from '../options/run-options.ts'
import { note } from '../output/print.ts'

interface ServeOptions extends LakeOption, SnapshotOption {
  readonly port: number
  readonly host: string
  readonly tokens?: string
  readonly rateLimit?: number
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
const QUERY_SECONDS = 30
const CURSOR_KEY_CHARACTERS = 32

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
    .option('--tokens <file>', 'JSON file of tokens (default: FIRMLAKE_SERVE_TOKEN, else a fresh one)')
    .option('--rate-limit <n>', 'most requests a second of each token (default: none)', parseRate)
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
      QUERY_SECONDS,
    )
    .option('--log <file>', 'append the access log to this file instead')
    .addOption(memoryOption())
    .addOption(threadsOption())
    .action(runServe)
  withExamples(command, [
    ['serve --lake ./lake', 'on this machine, with a fresh token'],
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

/** The secret that signs cursors: with FIRMLAKE_CURSOR_KEY they outlive a restart, and several servers share them. */
const cursorKey = (): Buffer => {
  const text = process.env.FIRMLAKE_CURSOR_KEY ?? ''
  if (text === '') return randomBytes(CURSOR_KEY_CHARACTERS)
  if (text.length >= CURSOR_KEY_CHARACTERS) return createHash('sha256').update(text).digest()
  throw new ToolkitError(
    'USAGE',
    `Cannot use FIRMLAKE_CURSOR_KEY: it has fewer than ${CURSOR_KEY_CHARACTERS} characters`,
  )
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

const runServe = async (options: ServeOptions): Promise<void> => {
  const { host, tokens: file } = options
  const { chooseTokens } = await import('../../server/access/choose-tokens.ts')
  const token = process.env.FIRMLAKE_SERVE_TOKEN
  const tokens = await chooseTokens({ file, token, host, random: randomBytes })
  if (tokens.warning !== undefined) note(tokens.warning)
  if (!isLoopback(host)) note('Others reach this server by plain HTTP: put a proxy with TLS in front of it')
  const log = options.log === undefined ? undefined : await openLog(options.log)
  try {
    await interruptible(
      (signal) => serveUntil(signal, options, tokens, log ?? process.stdout),
      'requests under way are finished',
    )
  } finally {
    if (log) await new Promise<void>((resolve) => log.end(() => resolve()))
  }
}

type Tokens = Awaited<ReturnType<typeof import('../../server/access/choose-tokens.ts').chooseTokens>>

const serveUntil = async (
  signal: AbortSignal,
  { lake, snapshot, host, port, rateLimit, cursorCap, queryTimeout, memory, threads, faults }: ServeOptions,
  { registry, fresh }: Tokens,
  log: { write(line: string): void },
): Promise<void> => {
  const { serveLake } = await import('../../server/serve-lake.ts')
  const { readFaults } = await import('../../server/faults/read-faults.ts')
  const { chooseEmbedder } = await import('../../server/ranking/choose-embedder.ts')
  const { indexProgress } = await import('../serving.ts')
  const progress = indexProgress()
  const server = await serveLake({
    lake,
    snapshot,
    tokens: registry,
    embedder: await chooseEmbedder(process.env, signal),
    cursorKey: cursorKey(),
    cursorCap,
    queryTimeoutMs: queryTimeout * 1000,
    memoryBytes: servingMemory(memory),
    threads,
    faults: faults === undefined ? [] : await readFaults(faults),
    http: { host, port, requestsPerSecond: rateLimit, log },
    signal,
    onProgress: progress.onProgress,
    onUnusable: progress.onUnusable,
  }).finally(progress.clear)
  if (fresh !== undefined) note(`Token, made for this run and shown only here: ${fresh}`)
  if (faults !== undefined) note(`With the faults of ${faults}`)
  note(`Serving snapshot ${server.snapshot} of ${lake} at ${server.address}`)
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
