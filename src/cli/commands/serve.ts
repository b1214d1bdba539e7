/** `serve`: offers a lake over the service's interface. */

import { once } from 'node:events'
import { createWriteStream, existsSync, type WriteStream } from 'node:fs'
import type { Command } from 'commander'
import { writeError } from '../../core/errors.ts'
import { askedOf, type ValuesOf } from '../../options/entry.ts'
import { SERVE, SERVE_COMMAND } from '../../options/serve.ts'
import { adoptOutput, PRIVATE_FILE } from '../../support/file-modes.ts'
import { isLoopback } from '../../support/http-values.ts'
import { addCommand } from '../add-command.ts'
import { interruptible } from '../interrupt.ts'
import { noteTaken } from '../output/lake-notes.ts'
import { note } from '../output/print.ts'

type Values = ValuesOf<typeof SERVE_COMMAND>

export const addServe = (program: Command): void => {
  addCommand(program, {
    name: 'serve',
    summary: 'offer a lake over the service interface',
    description:
      'Serves a snapshot over HTTP: searches, relations, listings and batch files, /openapi.json, /healthz and ' +
      '/metrics. The first start makes a serving index in the lake; later ones open it. The access log goes to ' +
      'standard output, a line of JSON a request. SIGTERM or Ctrl-C stops it: requests under way are finished.',
    options: SERVE_COMMAND,
    run: runServe,
    examples: [
      ['serve --lake ./lake', 'on this machine, with a fresh token'],
      ['serve --lake ./lake --follow', 'always the newest snapshot'],
      ['serve --lake ./lake --host 0.0.0.0 --tokens tokens.json --log access.jsonl', 'for others'],
    ],
  })
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

const runServe = async (options: Values): Promise<void> => {
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
  { log: _path, ...values }: Values,
  log: { write(line: string): void },
): Promise<void> => {
  const { lake, faults } = values
  const { serve } = await import('../../jobs/serve.ts')
  const { indexProgress } = await import('../serving.ts')
  const { clear, ...progress } = indexProgress()
  const server = await serve({
    ...askedOf(SERVE, values),
    ...{ signal, log, ...progress },
    onMove: (newest) => note(`Serving snapshot ${newest} now`),
    onFollowError: ({ message }) => note(`${message}. The snapshot before is still served`),
    onTokensError: ({ message }) => note(`${message}. The tokens before still count`),
    token: process.env.FIRMLAKE_SERVE_TOKEN || undefined,
    // Cursors outlive a restart with it, and several servers share them.
    cursorKey: process.env.FIRMLAKE_CURSOR_KEY || undefined,
  }).finally(clear)
  if (server.warning !== undefined) note(server.warning)
  if (server.token !== undefined) note(`Token, made for this run and shown only here: ${server.token}`)
  if (faults !== undefined) note(`With the faults of ${faults}`)
  note(`Serving snapshot ${server.snapshot} of ${lake} at ${server.url}`)
  await noteTaken(lake, { snapshot: server.snapshot })
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
