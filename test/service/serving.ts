/** A lake behind the real server, with faults where wanted, the real client before it, and lakes to compare. */

import { randomBytes } from 'node:crypto'
import { expect, onTestFinished } from 'vitest'
import type { SearchParameters } from '../../src/contract/requests.ts'
import { ToolkitError } from '../../src/core/errors.ts'
import { type PullSummary, pullSearch } from '../../src/jobs/pull.ts'
import { pullBatches } from '../../src/jobs/pull-batch-files.ts'
import { openLakeQuery } from '../../src/lake/query/lake-query.ts'
import { ALWAYS_PRESENT } from '../../src/lake/tables/columns.ts'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import type { ServiceOptions } from '../../src/options/interfaces.ts'
import type { QuarantineLimit } from '../../src/options/value-types.ts'
import type { PullSettings } from '../../src/pull/windows/pull-settings.ts'
import { newTokenRegistry, tokenHash } from '../../src/server/access/choose-tokens.ts'
import { makeBatchFiles } from '../../src/server/batch-files/make-batch-files.ts'
import type { FaultRule } from '../../src/server/faults/fault-rules.ts'
import { chooseEmbedder } from '../../src/server/ranking/choose-embedder.ts'
import { type LakeServer, type ServeLakeRequest, serveLake } from '../../src/server/serve-lake.ts'
import { currentIndex } from '../../src/server/serving-index/build/current-index.ts'
import {
  createService,
  type PageRequest,
  type Service,
  type Timing,
} from '../../src/source/service/service.ts'
import { type Bench, COMPARABLE, companyLine } from '../run/batch-bench.ts'

export const TOKEN = 'service-suite-token'
export const SEARCH = { CountryCode: ['SE'] }
export const COMPANIES = 60
export const PAGE_SIZE = 10
const MEMORY_BYTES = 256 * 1024 ** 2

/** What two lakes are compared by: all versions and the current ones. The dictionary comes once with each run. */
export const ALL_TABLES: readonly string[] = [
  ...TABLES.flatMap(({ name }) => [name, `${name}_history`]).filter((name) => name !== 'line_items_history'),
  'quarantine',
]

/** Cursors outlive a restart of the server. */
const cursorKey = randomBytes(32)

/** Swedish companies and their relations in one run; ids from 1 on, a day of content each. */
export const loadCompanies = async (bench: Bench): Promise<void> => {
  const ids = Array.from({ length: COMPANIES }, (_, at) => at + 1)
  const day = (id: number): string => new Date(Date.UTC(2025, 0, 1 + (id % 40))).toISOString().slice(0, 19)
  const relationsOf = (id: number): string =>
    JSON.stringify({
      ...{ InternalId: id, Name: `Company ${id}`, CountryCode: 'SE' },
      Children: [{ InternalId: id + 1, Name: randomBytes(100).toString('hex') }],
    })
  const companyOf = (id: number): string =>
    companyLine(id, {
      MetaData: {
        ...{ CurrentCurrencyCode: 'USD', LocalCurrencyCode: 'USD', FinancialFigureScale: 'Thousands' },
        ...{ ContentUpdatedAt: day(id), RelationsUpdatedAt: day(id) },
      },
      // Does not become small by Brotli, so that a batch file can break off in many places.
      LinkedIn: { Description: randomBytes(200).toString('hex') },
    })
  await bench.write('companies.jsonl', ids.map(companyOf))
  await bench.write('relations.jsonl', ids.map(relationsOf))
  await bench.run(['companies.jsonl', 'relations.jsonl'])
}

/** Makes the batch files of a lake, and its serving index. */
export const makeServable = async (lake: string, companiesPerFile?: number): Promise<void> => {
  const index = await currentIndex({ lake, embedder: await chooseEmbedder({}), memoryBytes: MEMORY_BYTES })
  await makeBatchFiles({ lake, index, companiesPerFile })
  await index.close()
}

export interface ServingOptions
  extends Partial<Pick<ServeLakeRequest, 'cursorCap' | 'tokens' | 'http' | 'follow'>> {
  readonly faults?: readonly FaultRule[]
  /** @default any free one */
  readonly port?: number
}

/** Serves until `close`. */
export const openServer = async (
  lake: string,
  { port = 0, ...options }: ServingOptions = {},
): Promise<LakeServer> =>
  serveLake({
    ...{ lake, cursorKey, memoryBytes: MEMORY_BYTES, queryTimeoutMs: 30_000, cursorCap: 100_000 },
    tokens: newTokenRegistry([{ caller: { name: 'test', rights: 'everything' }, sha256: tokenHash(TOKEN) }]),
    embedder: await chooseEmbedder({}),
    http: { port, stopTimeoutMs: 100 },
    ...options,
  })

/**
 * A clock that leaps over pauses, so that they take no time.
 *
 * @param speed times as fast as the real one
 */
const leapingClock = (speed: number): Timing => {
  const start = Date.now()
  let leaptMs = 0
  return {
    now: () => start + (Date.now() - start) * speed + leaptMs,
    random: () => 0.5,
    sleep: async (ms, signal) => {
      leaptMs += ms
      // Answers come in between.
      await new Promise(setImmediate)
      signal?.throwIfAborted()
    },
  }
}

export interface ClientOptions extends Partial<ServiceOptions> {
  /** Times as fast as the real clock. @default 1 */
  readonly speed?: number | undefined
}

export const openClient = (url: string, { speed = 1, ...options }: ClientOptions = {}): Service =>
  createService({ url, token: TOKEN, timing: leapingClock(speed), ...options })

/**
 * Compares a count of requests. A client whose patience is short in real time, because it waits for what never comes,
 * asks for sound answers again too where the machine is busy: it may need more, never fewer.
 */
export const expectRequests = (
  requests: number,
  expected: number,
  client: ClientOptions | undefined,
): void => {
  if (client === undefined) expect(requests).toBe(expected)
  else expect(requests).toBeGreaterThanOrEqual(expected)
}

/** Server and client of one test. */
export interface Serving {
  readonly url: string
  readonly service: Service
  readonly close: () => Promise<void>
}

/** Opens both; they are closed when the test is over, or before. */
export const serving = async (
  lake: string,
  options: ServingOptions = {},
  client: ClientOptions = {},
): Promise<Serving> => {
  const server = await openServer(lake, options)
  const service = openClient(server.address, client)
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => {
    closed ??= service.close().then(() => server.close())
    return closed
  }
  onTestFinished(close)
  return { url: server.address, service, close }
}

export const pullFrom = (
  { url, service }: Pick<Serving, 'url' | 'service'>,
  lake: string,
  settings: Partial<PullSettings> = {},
  limit: QuarantineLimit = { kind: 'count', lines: 0 },
): Promise<PullSummary> => {
  const { content = 'companies' } = settings
  const currency = content === 'companies' ? { currency: 'USD' } : {}
  return pullSearch(
    url,
    { content, ...currency, search: SEARCH, pageSize: PAGE_SIZE, cap: 100_000, ...settings },
    { lake, service, concurrency: 1, maxQuarantined: limit },
  )
}

export const batchesFrom = (
  { url, service }: Pick<Serving, 'url' | 'service'>,
  lake: string,
): Promise<unknown> =>
  pullBatches(url, { kind: 'all' }, false, {
    ...{ lake, service, concurrency: 1, maxQuarantined: { kind: 'count', lines: 0 } },
  })

/** What a page has in place of nothing is nothing. */
const unlessServed = (column: string, value: unknown): unknown =>
  ALWAYS_PRESENT.get(column) === JSON.stringify(value)?.replaceAll('"', "'") ? null : value

/** The rows of tables in the newest snapshot, sorted, each as text. @param as what a value is compared as */
export const rowsOf = async (
  lake: string,
  tables: readonly string[],
  as: (column: string, value: unknown) => unknown = (_, value) => value,
): Promise<Readonly<Record<string, readonly string[]>>> => {
  const query = await openLakeQuery({ lake, snapshot: await readSnapshot(lake), memoryBytes: MEMORY_BYTES })
  try {
    const found: Record<string, readonly string[]> = {}
    for (const table of tables) {
      const { columns, rows } = await query.run(`SELECT ${COMPARABLE} FROM ${table}`)
      const textOf = (row: readonly unknown[]): string =>
        JSON.stringify(
          row.map((value, at) => {
            const column = columns[at]?.name ?? ''
            return as(column, unlessServed(column, value))
          }),
        )
      const strings: string[] = []
      for await (const chunk of rows) strings.push(...chunk.map(textOf))
      found[table] = strings.sort()
    }
    return found
  } finally {
    query.close()
  }
}

/** Follows a chain to its end. @returns records delivered, and whether the last cursor was `null` or refused */
export const follow = async (service: Service, search: SearchParameters, pageSize: number) => {
  let delivered = 0
  let cursor: string | null = '*'
  try {
    while (cursor !== null) {
      const request: PageRequest = { content: 'companies', search, pageSize, cursor }
      const { pagination } = await service.page(request, () => undefined)
      delivered += pagination.Count
      cursor = pagination.Cursor
    }
    return { delivered, end: 'null' }
  } catch (error) {
    if (error instanceof ToolkitError) return { delivered, end: error.code }
    throw error
  }
}
