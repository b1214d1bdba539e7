/**
 * Command: `node bench/limiter.ts [--limit 20] [--seconds 6]`. How well the client keeps to a rate limit of the real
 * server, in real time: told the limit, and learning it from the answers.
 */

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { convertFiles } from '../src/jobs/convert.ts'
import { newTokenRegistry, tokenHash } from '../src/server/access/choose-tokens.ts'
import { chooseEmbedder } from '../src/server/ranking/choose-embedder.ts'
import { serveLake } from '../src/server/serve-lake.ts'
import { createService } from '../src/source/service/service.ts'

const { values } = parseArgs({
  options: {
    limit: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '6' },
  },
})
const [limit, seconds] = [Number(values.limit), Number(values.seconds)]
const TOKEN = 'token-of-the-limiter'
/** Requests kept waiting, so that it is always the limiter that holds them back. */
const CALLERS = 6

const serveOneCompany = async (folder: string) => {
  const lake = join(folder, 'lake')
  const company = { BasicDetails: { InternalId: 1, CountryCode: 'SE' } }
  await writeFile(join(folder, 'companies.jsonl'), `${JSON.stringify(company)}\n`)
  await convertFiles(
    { inputs: ['companies.jsonl'], cwd: folder, again: false, limits: {} },
    { lake, maxQuarantined: { kind: 'count', lines: 0 } },
  )
  return serveLake({
    ...{ lake, cursorKey: randomBytes(32), cursorCap: 100_000, queryTimeoutMs: 30_000 },
    tokens: newTokenRegistry([{ caller: { name: 'bench', rights: 'everything' }, sha256: tokenHash(TOKEN) }]),
    embedder: await chooseEmbedder({}),
    memoryBytes: 256 * 1024 ** 2,
    http: { port: 0, requestsPerSecond: limit },
  })
}

const measure = async (
  name: string,
  url: string,
  maxRequestsPerSecond: number | undefined,
): Promise<void> => {
  const service = createService({
    ...{ url, token: TOKEN, concurrency: CALLERS },
    ...(maxRequestsPerSecond !== undefined && { maxRequestsPerSecond }),
  })
  let done = 0
  const started = performance.now()
  const isOver = (): boolean => performance.now() - started > seconds * 1000
  const ask = async (): Promise<void> => {
    while (!isOver()) {
      await service.totalCount('companies', { CountryCode: ['SE'] })
      if (!isOver()) done += 1
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, ask))
  const { requests, throttled } = service.counters()
  await service.close()
  const used = (100 * done) / (limit * seconds)
  const refused = (100 * throttled) / requests
  console.log(
    `${name}: ${done} answers in ${seconds} s, ${used.toFixed(1)} % of ${limit} a second used, ` +
      `${throttled} of ${requests} requests refused with 429 (${refused.toFixed(1)} %)`,
  )
}

const folder = await mkdtemp(join(tmpdir(), 'firmlake-limiter-'))
try {
  // A server of its own for each: what one has used up the other must not miss.
  for (const [name, told] of [['told', limit] as const, ['learning', undefined] as const]) {
    const server = await serveOneCompany(await mkdtemp(join(folder, 'one-')))
    await measure(name, server.address, told)
    await server.close()
  }
} finally {
  await rm(folder, { recursive: true })
}
