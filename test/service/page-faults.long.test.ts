/** Every fault on the pages of companies and of relations: where it passes, and where it stays. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Content } from '../../src/contract/objects.ts'
import type { ErrorCode } from '../../src/core/errors.ts'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { listRuns } from '../../src/manifest/runs/runs.ts'
import { newestSnapshot, readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import type { PullSettings } from '../../src/pull/windows/pull-settings.ts'
import { FAULT_NAMES, type FaultKind, faultOf } from '../../src/server/faults/fault-kinds.ts'
import type { FaultRule } from '../../src/server/faults/fault-rules.ts'
import { openBench } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  ALL_TABLES,
  type ClientOptions,
  COMPANIES,
  expectRequests,
  loadCompanies,
  PAGE_SIZE,
  pullFrom,
  rowsOf,
  SEARCH,
  serving,
  TOKEN,
} from './serving.ts'

const PAGES = COMPANIES / PAGE_SIZE
/** The listing of the parameters, a count for the plan, and the pages. */
const WHOLE = 2 + PAGES
/** Of the requests to a search the first is the count; the fourth is for the third page. */
const COUNT = 1
const THIRD_PAGE = 4

const CONTENTS = ['companies', 'relations'] as const

let served = ''
let faultless: Awaited<ReturnType<typeof rowsOf>> = {}

const settingsOf = (content: Content): Partial<PullSettings> =>
  content === 'companies' ? { content } : { content, currency: undefined }

beforeAll(async () => {
  const bench = openBench(await mkdtemp(join(tmpdir(), 'firmlake-')))
  served = bench.lake
  await loadCompanies(bench)
  faultless = await rowsOf(served, ALL_TABLES)
})
afterAll(() => rm(join(served, '..'), { recursive: true, force: true }))

interface Case {
  readonly name: string
  readonly fault: FaultKind
  readonly rule?: Partial<FaultRule>
  readonly client?: ClientOptions
  /** Requests in which it hits where it passes. @default the count and the third page */
  readonly at?: readonly number[]
  /** Requests that it takes more where it passes. @default one for each hit */
  readonly more?: number
  /** What the pull fails with where it stays; `passes` where the client makes do with it. */
  readonly stays: ErrorCode | 'passes'
  /** Requests of the next run. @default the listing and the pages from the third on */
  readonly next?: number
}

/** Where a waiting client gives up soon: a stall takes real time. */
const IMPATIENT = { headersTimeoutMs: 1000, maxWaitMs: 100 }
/** A minute of the client's clock is shorter than the pause between two drops. */
const SLOW = { rule: { bytesPerSecond: 10 }, client: { speed: 200, maxWaitMs: 100 } }
const plain = (fault: FaultKind, stays: ErrorCode = 'SERVICE_FAILED'): Case => ({ name: fault, fault, stays })

/** Those that pages answer in a way of their own; all others are as `plain`. */
const OWN_CASES: readonly Case[] = [
  plain('429', 'SERVICE_BUSY'),
  { ...plain('429', 'SERVICE_BUSY'), name: '429 with Retry-After', rule: { retryAfter: '600' } },
  { ...plain('502'), name: '502 with HTML' },
  plain('503'),
  { ...plain('503', 'SERVICE_BUSY'), name: '503 with Retry-After', rule: { retryAfter: '600' } },
  plain('damaged', 'QUARANTINE_LIMIT'),
  { ...plain('stall'), client: IMPATIENT, at: [THIRD_PAGE] },
  { ...plain('drip'), ...SLOW },
  { name: 'drip that flows', fault: 'drip', rule: { bytesPerSecond: 100_000 }, more: 0, stays: 'passes' },
  { name: 'duplicatePage', fault: 'duplicatePage', at: [THIRD_PAGE], stays: 'ANSWER_DISORDERED' },
  { name: 'emptyLastPage', fault: 'emptyLastPage', at: [1], stays: 'passes' },
  { name: 'omittedCursor', fault: 'omittedCursor', at: [1], more: 0, stays: 'passes' },
  // A new chain: the two pages before are asked for again, now and in the next run.
  {
    ...{ name: 'expiredCursor', fault: 'expiredCursor', at: [THIRD_PAGE], more: 3 },
    ...{ stays: 'CURSOR_REFUSED', next: 1 + PAGES },
  },
  { name: 'redirect', fault: 'redirect', stays: 'SERVICE_REDIRECTED' },
]
const NAMED = new Set(OWN_CASES.map(({ fault }) => fault))
const ALL_CASES = [
  ...OWN_CASES,
  ...FAULT_NAMES.filter((name) => faultOf(name).stage !== 'head' && !NAMED.has(name)).map((name) =>
    plain(name),
  ),
]
/** The contents take turns: whoever asks for a page does not know what is on it. */
const CASES = ALL_CASES.map((one, at) => ({ ...one, content: CONTENTS[at % 2] ?? 'companies' }))

/** The rows of the tables of a content. */
const expectFaultless = async (lake: string, content: Content): Promise<void> => {
  const own = TABLES.filter((table) => table.content === content).flatMap(({ name }) => [
    name,
    `${name}_history`,
  ])
  expect(await rowsOf(lake, own)).toEqual(Object.fromEntries(own.map((name) => [name, faultless[name]])))
}

const isLastPage = (fault: FaultKind): boolean => fault === 'emptyLastPage' || fault === 'omittedCursor'
const rulesOf = ({ fault, rule }: Case, selection: FaultRule['selection']): FaultRule[] =>
  CONTENTS.map((on) => ({ on, fault, selection, ...rule }))

describe('a fault that passes gives the faultless lake in the same run', () => {
  // A redirect is an answer like a refusal: it is not asked again.
  const passing = CASES.filter(({ fault }) => fault !== 'redirect')
  test.each(passing)('$name: $content', async (one) => {
    const { at = [COUNT, THIRD_PAGE], more = at.length, rule, client, content } = one
    const short = rule?.retryAfter === undefined ? {} : { retryAfter: '2' }
    const rules = rulesOf({ ...one, rule: { ...rule, ...short } }, { kind: 'at', numbers: at })
    // Where it passes there is time: what it is given up for is another test.
    const from = await serving(served, { faults: rules }, { ...client, maxWaitMs: 900_000 })
    const lake = join(await temporaryFolder(), 'lake')
    const { entry, windows } = await pullFrom(from, lake, settingsOf(content))
    expect(entry).toMatchObject({ announced: COMPANIES, received: COMPANIES })
    expect(windows).toMatchObject([{ announced: COMPANIES, received: COMPANIES, pages: PAGES }])
    expectRequests(from.service.counters().requests, WHOLE + more, client)
    await expectFaultless(lake, content)
  })
})

test('a last page of the server has no Cursor where that is its fault', async () => {
  const rules = rulesOf(
    { name: 'omittedCursor', fault: 'omittedCursor', stays: 'passes' },
    { kind: 'from', first: 1 },
  )
  const { url } = await serving(served, { faults: rules })
  for (const content of CONTENTS) {
    const answer = await fetch(`${url}/v2/${content}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ SearchParameters: SEARCH, PageSize: 500, Cursor: '*' }),
    })
    const pagination: object = JSON.parse(answer.headers.get('x-pagination') ?? '')
    expect(pagination).toMatchObject({ Count: COMPANIES })
    expect(pagination).not.toHaveProperty('Cursor')
  }
})

describe('a fault that stays ends in a clear error, and the next run goes on', () => {
  // A damage that stays is what the service has: see below.
  const staying = CASES.filter(({ fault }) => fault !== 'damaged').flatMap((one) =>
    one.stays === 'passes' ? [] : [{ ...one, code: one.stays }],
  )
  test.each(staying)('$name: $code, $content', async (one) => {
    const { code, client, content, next = 1 + PAGES - 2 } = one
    const first = isLastPage(one.fault) ? 1 : THIRD_PAGE
    const faults = rulesOf(one, { kind: 'from', first })
    const from = await serving(served, { faults }, client)
    const lake = join(await temporaryFolder(), 'lake')
    const error = await pullFrom(from, lake, settingsOf(content)).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code })
    expect(String(error)).toMatch(/^ToolkitError: Cannot \w+ /)
    expect(String(error)).not.toContain(TOKEN)
    expect(await newestSnapshot(lake)).toBeNull()
    expect(await listRuns(lake, { now: new Date() })).toHaveLength(1)
    await from.close()
    const sound = await serving(served, { port: Number(new URL(from.url).port) })
    const { entry, windows } = await pullFrom(sound, lake, settingsOf(content))
    expect(entry).toMatchObject({ announced: COMPANIES, received: COMPANIES })
    expect(windows).toMatchObject([{ announced: COMPANIES, received: COMPANIES, pages: PAGES }])
    expectRequests(sound.service.counters().requests, next, client)
    expect(await listRuns(lake, { now: new Date() })).toEqual([])
    expect((await readSnapshot(lake)).snapshot).toBe(1)
    await expectFaultless(lake, content)
  })

  const lasting = CASES.filter(({ stays }) => stays === 'passes')
  test.each(lasting)('$name: the client makes do with it, $content', async (one) => {
    const from = await serving(served, { faults: rulesOf(one, { kind: 'from', first: 1 }) }, one.client)
    const lake = join(await temporaryFolder(), 'lake')
    await pullFrom(from, lake, settingsOf(one.content))
    await expectFaultless(lake, one.content)
  })

  test('damaged: the record stands in the quarantine, and the pull ends or goes on as its limit says', async () => {
    const on = 'companies'
    const faults: FaultRule[] = [{ on, fault: 'damaged', selection: { kind: 'at', numbers: [4, 5] } }]
    const from = await serving(served, { faults })
    const lake = join(await temporaryFolder(), 'lake')
    await expect(pullFrom(from, lake)).rejects.toMatchObject({ code: 'QUARANTINE_LIMIT' })
    expect(await newestSnapshot(lake)).toBeNull()
    const requests = from.service.counters().requests
    await pullFrom(from, lake, {}, { kind: 'count', lines: 1 })
    // The listing alone: the window is there.
    expect(from.service.counters().requests - requests).toBe(1)
    const { companies = [], quarantine } = await rowsOf(lake, ['companies', 'quarantine'])
    expect(quarantine).toHaveLength(1)
    const missing = (faultless.companies ?? []).filter((row) => !companies.includes(row))
    expect([companies.length, missing.length]).toEqual([COMPANIES - 1, 1])
  })
})
