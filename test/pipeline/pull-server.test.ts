import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type PullSummary, pull } from '../../src/pipeline/pull-run.ts'
import type { PullSettings } from '../../src/pipeline/pull-settings.ts'
import { sync } from '../../src/pipeline/sync-run.ts'
import type { FaultKind, FaultRule } from '../../src/server/faults/fault-kinds.ts'
import { type LakeServer, serveLake } from '../../src/server/http/serve-lake.ts'
import { chooseEmbedder } from '../../src/server/text/choose-embedder.ts'
import { newTokenBook, tokenHash } from '../../src/server/tokens/token-book.ts'
import { openService, type Service } from '../../src/source/service/service.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { companyLine, hashLake, openBench, queryLake, relationsLine, verify } from './batch-bench.ts'

const COMPANIES = 120
const TOKEN = 'pull-server-token'
const SEARCH = { CountryCode: ['SE'] }

let served = ''

const day = (id: number): string => new Date(Date.UTC(2025, 0, 1 + (id % 40))).toISOString().slice(0, 19)

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  const one = openBench(folder)
  served = one.lake
  const ids = Array.from({ length: COMPANIES }, (_, at) => at + 1)
  const metaOf = (id: number) => ({
    ...{ CurrentCurrencyCode: 'USD', LocalCurrencyCode: 'USD', FinancialFigureScale: 'Thousands' },
    ...{ ContentUpdatedAt: day(id), RelationsUpdatedAt: day(id) },
  })
  await one.write(
    'companies.jsonl',
    ids.map((id) => companyLine(id, { MetaData: metaOf(id) })),
  )
  await one.write('relations.jsonl', ids.map(relationsLine))
  await one.run(['companies.jsonl', 'relations.jsonl'])
})
afterAll(() => rm(join(served, '..'), { recursive: true, force: true }))

/** The lake behind HTTP, and the client before it; its pauses take no time. */
const serving = async (
  faults: readonly FaultRule[] = [],
  cursorCap = 100_000,
): Promise<{ readonly server: LakeServer; readonly service: Service }> => {
  const server = await serveLake({
    lake: served,
    tokens: newTokenBook([{ caller: { name: 'test', rights: 'everything' }, sha256: tokenHash(TOKEN) }]),
    embedder: await chooseEmbedder({}),
    cursorKey: randomBytes(32),
    cursorCap,
    queryTimeoutMs: 30_000,
    memoryBytes: 256 * 1024 ** 2,
    faults,
    http: { port: 0 },
  })
  const service = openService({
    url: server.address,
    token: TOKEN,
    maxRequestsPerSecond: 5000,
    timing: { now: Date.now, sleep: async () => undefined, random: Math.random },
  })
  onTestFinished(async () => {
    await service.close()
    await server.close()
  })
  return { server, service }
}

const pullFrom = (
  { server, service }: { readonly server: LakeServer; readonly service: Service },
  lake: string,
  settings: Partial<PullSettings> = {},
): Promise<PullSummary> =>
  pull(
    server.address,
    { content: 'companies', search: SEARCH, currency: 'USD', pageSize: 10, cap: 100_000, ...settings },
    { lake, service, concurrency: 2, limit: { kind: 'count', lines: 0 } },
  )

test('what is pulled through the plan is what the served lake holds', async () => {
  const from = await serving([], 50)
  const lake = join(await temporaryFolder(), 'lake')
  const companies = await pullFrom(from, lake, { cap: 50 })
  expect(companies.windows.length).toBeGreaterThan(2)
  expect(companies.entry).toMatchObject({ announced: COMPANIES, planned: COMPANIES, received: COMPANIES })
  const ids = Array.from({ length: COMPANIES }, (_, at) => at + 1)
  const relations = await pullFrom(from, lake, {
    ...{ content: 'relations', currency: undefined, cap: 50, by: 'RelationsUpdatedAt' },
    search: { InternalId: ids },
  })
  expect(relations.entry).toMatchObject({ announced: COMPANIES, received: COMPANIES })
  // The dictionary comes once with each run.
  const { line_items_history: _, ...tables } = await hashLake(served)
  expect(await hashLake(lake)).toMatchObject(tables)
  expect((await verify(lake)).problems).toEqual([])
  const synced = await sync(
    from.server.address,
    { search: SEARCH, currency: 'USD' },
    { lake, service: from.service, concurrency: 2, limit: { kind: 'count', lines: 0 } },
  )
  expect(synced.findings).toEqual({
    listed: COMPANIES,
    new: [],
    changed: [],
    unchanged: COMPANIES,
    vanished: [],
  })
})

test('a chain of exactly the cap ends at the cap, and one company more is cut in two', async () => {
  const exact = await pullFrom(await serving([], COMPANIES), join(await temporaryFolder(), 'lake'), {
    cap: COMPANIES,
  })
  expect(exact.windows).toMatchObject([{ announced: COMPANIES, received: COMPANIES, pages: COMPANIES / 10 }])
  // The plan is made for a larger cap than the service has.
  const beyond = await pullFrom(await serving([], COMPANIES - 1), join(await temporaryFolder(), 'lake'))
  expect(beyond.windows).toMatchObject([{ announced: COMPANIES, received: COMPANIES }])
})

// The first request to the search is a count, the pages follow.
const PASSING: readonly (readonly [FaultKind, number[]])[] = [
  ['429', [1, 4]],
  ['500', [4]],
  ['502', [4]],
  ['503', [4]],
  ['reset', [4]],
  ['resetInBody', [4]],
  ['truncated', [4]],
  ['truncatedUnannounced', [4]],
  ['halfDocument', [1, 4]],
  ['duplicatePage', [4]],
  ['emptyLastPage', [13]],
  ['omittedCursor', [13]],
  ['expiredCursor', [4]],
]

test.each(PASSING)('pull gives the same lake through a passing fault: %s', async (fault, numbers) => {
  const from = await serving([{ on: 'companies', fault, selection: { kind: 'at', numbers } }])
  const lake = join(await temporaryFolder(), 'lake')
  const { entry } = await pullFrom(from, lake)
  expect(entry).toMatchObject({ announced: COMPANIES, received: COMPANIES })
  const rows = 'SELECT * FROM companies ORDER BY internal_id'
  expect(await queryLake(lake, rows)).toEqual(await queryLake(served, rows))
  expect(await queryLake(lake, 'SELECT count(*) FROM companies_history')).toEqual([[COMPANIES]])
})
