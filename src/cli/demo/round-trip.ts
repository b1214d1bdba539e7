/**
 * The round trip of `demo`: a lake is served, pulled over HTTP into a second lake, and both are compared. Server and
 * client are those of `serve`, `pull` and `batches pull`, in one process. Leaves no process and no second lake behind.
 */

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LIMITS } from '../../contract/limits.ts'
import type { SearchParameters } from '../../contract/requests.ts'
import { ToolkitError } from '../../core/errors.ts'
import { pullBatches } from '../../jobs/batch-files/pull-batch-files.ts'
import { type PullRunOptions, pullSearch } from '../../jobs/pull/pull.ts'
import { loadRates } from '../../lake/rates/lake-rates.ts'
import { MAX_QUARANTINED } from '../../options/lake-jobs.ts'
import { chooseTokens } from '../../server/access/choose-tokens.ts'
import { makeBatchFiles } from '../../server/batch-files/make-batch-files.ts'
import { hashingEmbedder } from '../../server/ranking/hashing-embedder.ts'
import { type LakeServer, serveLake } from '../../server/serve-lake.ts'
import { currentIndex } from '../../server/serving-index/build/current-index.ts'
import { createService, type Service } from '../../source/service/service.ts'
import { formatBytes, formatCount, formatCounted, formatDuration } from '../../support/format.ts'
import { askLake } from '../ask-lake.ts'
import { textTable } from '../output/text-table.ts'
import { type ComparedTable, compareLakes } from './compare-lakes.ts'

/** The country whose companies come as a batch file: there is no rate for its currency. */
const BY_BATCH_FILE = 'PL'
/** The currency to ask for if a company has none, or one without a rate: its figures come unconverted. */
const ANY_CURRENCY = 'USD'
/** Both lakes are held in memory to be compared. */
const MOST_COMPANIES = 20_000
/** Small enough that a chain has several pages. */
const PAGE_SIZE = 200

const MEBIBYTE = 1024 ** 2
const SERVER_BYTES = 256 * MEBIBYTE
const QUERY_TIMEOUT_MS = 30_000
const HOST = '127.0.0.1'
/** On this machine no one shares the server; without it the client would start at ten a second. */
const REQUESTS_PER_SECOND = 1000
const CONCURRENCY = 2

interface RoundTrip {
  readonly address: string
  /** Batch files on offer. */
  readonly batchFiles: number
  /** Companies pulled by cursor, by the currency that was asked for. */
  readonly companies: readonly (readonly [currency: string, received: number])[]
  readonly relations: number
  /** Companies of the batch file, and its name. */
  readonly batch: { readonly name: string; readonly records: number }
  readonly requests: number
  readonly bytes: number
  /** Companies pulled by cursor that have a Score in the first lake. */
  readonly scores: number
  readonly compared: readonly ComparedTable[]
}

interface Held {
  /** Ids of companies by the currency to ask for. */
  readonly ids: ReadonlyMap<string, readonly number[]>
  readonly relations: readonly number[]
  readonly scores: number
}

/** The companies and relations of a lake that are to be pulled by cursor. */
const heldBy = async (lake: string): Promise<Held> => {
  const rates = await loadRates(lake)
  return askLake({ lake }, async (query) => {
    const rowsOf = async (sql: string): Promise<readonly (readonly unknown[])[]> => {
      const all: (readonly unknown[])[] = []
      for await (const rows of (await query.run(sql)).rows) all.push(...rows)
      return all
    }
    const companies = await rowsOf(
      'SELECT internal_id, country_code, current_currency_code, score FROM companies ORDER BY 1',
    )
    if (companies.length > MOST_COMPANIES)
      throw new ToolkitError(
        'USAGE',
        `Cannot show the round trip of lake "${lake}": it holds ${companies.length} companies, expected the ` +
          'sample, give another --lake',
      )
    const byPage = companies.filter(([, country]) => country !== BY_BATCH_FILE)
    const currencyOf = (currency: unknown): string =>
      typeof currency === 'string' && rates.has(currency) ? currency : ANY_CURRENCY
    const groups = Map.groupBy(byPage, ([, , currency]) => currencyOf(currency))
    return {
      ids: new Map([...groups].map(([currency, rows]) => [currency, rows.map(([id]) => Number(id))])),
      relations: (await rowsOf('SELECT internal_id FROM relations ORDER BY 1')).map(([id]) => Number(id)),
      scores: byPage.filter(([, , , score]) => score !== null).length,
    }
  })
}

const makeFiles = async (lake: string, signal: AbortSignal): Promise<number> => {
  const index = await currentIndex({ lake, memoryBytes: SERVER_BYTES, embedder: hashingEmbedder(), signal })
  try {
    return (await makeBatchFiles({ lake, index, signal })).files.length
  } finally {
    await index.close()
  }
}

/** The lake behind HTTP at a free port, and the token that was made for it. */
const serve = async (lake: string, signal: AbortSignal): Promise<{ server: LakeServer; token: string }> => {
  const { registry, fresh = '' } = await chooseTokens({ host: HOST, random: randomBytes })
  const server = await serveLake({
    lake,
    tokens: registry,
    embedder: hashingEmbedder(),
    cursorKey: randomBytes(32),
    cursorCap: LIMITS.cursorCap,
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    memoryBytes: SERVER_BYTES,
    http: { host: HOST, port: 0 },
    signal,
  })
  return { server, token: fresh }
}

const inRunsOf = <T>(items: readonly T[], most: number): T[][] =>
  Array.from({ length: Math.ceil(items.length / most) }, (_, at) => items.slice(at * most, (at + 1) * most))

type Pulled = Pick<RoundTrip, 'companies' | 'relations' | 'batch'>

/** Pulls what the first lake holds into the second, as a person would with `pull` and `batches pull`. */
const pullAll = async (url: string, service: Service, lake: string, held: Held, signal: AbortSignal) => {
  const options: PullRunOptions = {
    lake,
    service,
    concurrency: CONCURRENCY,
    maxQuarantined: MAX_QUARANTINED.default.value,
    signal,
  }
  const one = async (content: 'companies' | 'relations', search: SearchParameters, currency?: string) => {
    const settings = { content, search, currency, pageSize: PAGE_SIZE, cap: LIMITS.cursorCap }
    return (await pullSearch(url, settings, options)).entry.received
  }
  const companies: [string, number][] = []
  for (const [currency, InternalId] of held.ids)
    companies.push([currency, await one('companies', { InternalId }, currency)])
  let relations = 0
  for (const InternalId of inRunsOf(held.relations, LIMITS.idsPerRequest))
    relations += await one('relations', { InternalId })
  const selection = { kind: 'all', content: 'companies', countries: [BY_BATCH_FILE] } as const
  const { summary } = await pullBatches(url, selection, false, options)
  const [partition] = summary?.partitions ?? []
  const batch = { name: partition?.source.name ?? '', records: partition?.counts.records ?? 0 }
  return { companies, relations, batch } satisfies Pulled
}

/**
 * @param onStep called as each step begins, with its name
 * @throws {ToolkitError} USAGE where the lake holds far more than the sample; whatever stops a server or a pull
 */
export const roundTrip = async (
  lake: string,
  signal: AbortSignal,
  onStep: (step: string) => void,
): Promise<RoundTrip> => {
  const held = await heldBy(lake)
  onStep('Making the serving index and the batch files')
  const batchFiles = await makeFiles(lake, signal)
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-demo-'))
  try {
    const second = join(folder, 'lake')
    const { server, token } = await serve(lake, signal)
    const service = createService({
      url: server.address,
      token,
      maxRequestsPerSecond: REQUESTS_PER_SECOND,
      concurrency: CONCURRENCY,
    })
    try {
      onStep('Pulling over HTTP')
      const pulled = await pullAll(server.address, service, second, held, signal)
      onStep('Comparing both lakes')
      const compared = await compareLakes(lake, second, {
        memoryBytes: SERVER_BYTES,
        scoreOf: BY_BATCH_FILE,
        signal,
      })
      const { requests, bytes } = service.counters()
      return {
        address: server.address,
        batchFiles,
        ...pulled,
        requests,
        bytes,
        scores: held.scores,
        compared,
      }
    } finally {
      await service.close()
      await server.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export const roundTripLines = (lake: string, trip: RoundTrip, seconds: number): string[] => {
  const { companies, relations, batch, scores } = trip
  const byCursor = companies.reduce((sum, [, received]) => sum + received, 0)
  const currencies = companies.map(
    ([currency, received]) =>
      `${formatCount(received)} in ${currency}${currency === ANY_CURRENCY ? ' or without a currency' : ''}`,
  )
  return [
    `Served ${lake} at ${trip.address} with a token made for this run, ${formatCount(trip.batchFiles)} batch files on offer`,
    `Pulled ${formatCounted(byCursor, 'company', 'companies')} by cursor, a search for each currency, as pages convert:`,
    `  ${currencies.join(', ')}`,
    `Pulled ${formatCount(relations)} relations by cursor`,
    `Pulled ${formatCounted(batch.records, 'company', 'companies')} by batch file ${batch.name}: PLN has no built-in rate`,
    `${formatCounted(trip.requests, 'request')}, ${formatBytes(trip.bytes)}, ${formatDuration(seconds)} in all`,
    '',
    'Both lakes compared, row by row:',
    ...textTable(
      [
        { title: 'table' },
        ...['rows', 'only served', 'only pulled'].map((title) => ({ title, right: true })),
      ],
      trip.compared.map(({ table, rows, onlyFirst, onlySecond }) => [
        table,
        ...[rows, onlyFirst, onlySecond].map(formatCount),
      ]),
    ),
    ...(scores > 0
      ? [
          `Left out: the Score that ${formatCount(scores)} of the companies by cursor have from an earlier search`,
        ]
      : []),
  ]
}

/** @throws {ToolkitError} RECORDS_DIFFER naming the tables */
export const checkRoundTrip = ({ compared }: Pick<RoundTrip, 'compared'>): void => {
  const differing = compared.filter(({ onlyFirst, onlySecond }) => onlyFirst + onlySecond > 0)
  if (differing.length === 0) return
  const sum = (count: (table: ComparedTable) => number): number =>
    differing.reduce((all, table) => all + count(table), 0)
  throw new ToolkitError(
    'RECORDS_DIFFER',
    `Cannot show that both lakes hold the same: they differ in ${differing.map(({ table }) => table).join(', ')}`,
    { onlyFirst: sum(({ onlyFirst }) => onlyFirst), onlySecond: sum(({ onlySecond }) => onlySecond) },
  )
}
