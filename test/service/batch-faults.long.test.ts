/**
 * The faults that are a download's own, where they pass and where they stay: it goes on by range, and refuses what is
 * not the file. Of those in place of an answer there is one for each way to take it: the tests of pages have all.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ErrorCode } from '../../src/core/errors.ts'
import { listRuns } from '../../src/manifest/runs/runs.ts'
import { newestSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { FAULT_NAMES, type FaultKind, faultOf } from '../../src/server/faults/fault-kinds.ts'
import type { FaultRule } from '../../src/server/faults/fault-rules.ts'
import { openBench } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  ALL_TABLES,
  batchesFrom,
  type ClientOptions,
  COMPANIES,
  expectRequests,
  loadCompanies,
  makeServable,
  rowsOf,
  serving,
  TOKEN,
} from './serving.ts'

/** Two of companies, two of relations. */
const FILES = 4
const WHOLE = 1 + FILES

let served = ''
let faultless: Awaited<ReturnType<typeof rowsOf>> = {}
/** Of a pull without faults: of the listing, and of all. */
const bytes = { listing: 0, whole: 0 }

beforeAll(async () => {
  const bench = openBench(await mkdtemp(join(tmpdir(), 'firmlake-')))
  served = bench.lake
  await loadCompanies(bench)
  await makeServable(served, COMPANIES / 2)
  faultless = await rowsOf(served, ALL_TABLES)
})
afterAll(() => rm(join(served, '..'), { recursive: true, force: true }))

test('batch files without faults give the lake that they were made of', async () => {
  const from = await serving(served)
  const lake = join(await temporaryFolder(), 'lake')
  await from.service.batchFiles()
  bytes.listing = from.service.counters().bytes
  await batchesFrom(from, lake)
  const counters = from.service.counters()
  bytes.whole = counters.bytes - bytes.listing
  expect(counters.requests).toBe(1 + WHOLE)
  expect(await rowsOf(lake, ALL_TABLES)).toEqual(faultless)
})

interface Case {
  readonly name: string
  readonly fault: FaultKind
  readonly rule?: Partial<FaultRule>
  readonly client?: ClientOptions
  /** Requests for a file that it hits where it passes. @default the first and the third */
  readonly at?: readonly number[]
  /** Requests that it takes more where it passes. @default one for each hit */
  readonly more?: number
  /** Whether no byte comes twice. */
  readonly resumes?: boolean
  /** What the pull fails with where it stays; `passes` where the client makes do with it. */
  readonly stays: ErrorCode | 'passes'
}

const plain = (fault: FaultKind, stays: Case['stays'] = 'SERVICE_FAILED'): Case => ({
  name: fault,
  fault,
  stays,
})
const SLOW = { rule: { bytesPerSecond: 10 }, client: { speed: 200 } }

/** Those that a download answers in a way of its own; all others of a body or head are as `plain`. */
const OWN_CASES: readonly Case[] = [
  plain('503'),
  // What came before a connection broke is kept, and the rest asked for by range.
  { ...plain('resetInBody'), resumes: true },
  { ...plain('truncated'), resumes: true },
  { ...plain('truncatedUnannounced'), resumes: true },
  plain('halfDocument', 'DOWNLOAD_DAMAGED'),
  plain('damaged', 'DOWNLOAD_DAMAGED'),
  { ...plain('drip'), ...SLOW },
  {
    ...{ name: 'drip that flows', fault: 'drip', rule: { bytesPerSecond: 100_000 } },
    ...{ more: 0, resumes: true, stays: 'passes' },
  },
  { name: 'changedETag', fault: 'changedETag', more: 0, resumes: true, stays: 'passes' },
  plain('redirect', 'SERVICE_REDIRECTED'),
  // A download has no cursor: this is a refusal, which is not asked again.
  plain('expiredCursor', 'REQUEST_REFUSED'),
]
const NAMED = new Set(OWN_CASES.map(({ fault }) => fault))
const CASES = [
  ...OWN_CASES,
  ...FAULT_NAMES.filter((name) => ['body', 'head'].includes(faultOf(name).stage) && !NAMED.has(name)).map(
    (name) => plain(name),
  ),
]

const onFiles = ({ fault, rule }: Case, selection: FaultRule['selection']): FaultRule[] => [
  { on: 'batchFile', fault, selection, ...rule },
]

describe('a fault that passes gives the faultless lake in the same run', () => {
  const passing = CASES.filter(({ fault }) => fault !== 'redirect' && fault !== 'expiredCursor')
  test.each(passing)('$name', async (one) => {
    const { at = [1, 3], more = at.length, rule, client, resumes = false } = one
    const short = rule?.retryAfter === undefined ? {} : { retryAfter: '2' }
    const faults = onFiles({ ...one, rule: { ...rule, ...short } }, { kind: 'at', numbers: at })
    const from = await serving(served, { faults }, { ...client, maxWaitMs: 900_000 })
    const lake = join(await temporaryFolder(), 'lake')
    await batchesFrom(from, lake)
    const counters = from.service.counters()
    expectRequests(counters.requests, WHOLE + more, client)
    if (resumes) expect(counters.bytes).toBe(bytes.whole)
    expect(await rowsOf(lake, ALL_TABLES)).toEqual(faultless)
  })

  test('an ETag that changes in the middle of a resumed download', async () => {
    const faults: FaultRule[] = [
      { on: 'batchFile', fault: 'truncated', selection: { kind: 'at', numbers: [1] } },
      { on: 'batchFile', fault: 'changedETag', selection: { kind: 'at', numbers: [2] } },
    ]
    const from = await serving(served, { faults })
    const lake = join(await temporaryFolder(), 'lake')
    await batchesFrom(from, lake)
    const counters = from.service.counters()
    // Half a file more: what came under the old ETag is not believed.
    expect([counters.requests, counters.bytes > bytes.whole]).toEqual([WHOLE + 1, true])
    expect(await rowsOf(lake, ALL_TABLES)).toEqual(faultless)
  })
})

describe('a fault that stays ends in a clear error, and the next run goes on', () => {
  const staying = CASES.flatMap((one) => (one.stays === 'passes' ? [] : [{ ...one, code: one.stays }]))
  test.each(staying)('$name: $code', async (one) => {
    const { code, client, resumes = false } = one
    const from = await serving(served, { faults: onFiles(one, { kind: 'from', first: 2 }) }, client)
    const lake = join(await temporaryFolder(), 'lake')
    const error = await batchesFrom(from, lake).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code })
    expect(String(error)).toMatch(/^ToolkitError: Cannot \w+ batch file "/)
    expect(String(error)).not.toContain(TOKEN)
    expect(await newestSnapshot(lake)).toBeNull()
    expect(await listRuns(lake, { now: new Date() })).toHaveLength(1)
    const before = from.service.counters().bytes
    await from.close()
    const sound = await serving(served, { port: Number(new URL(from.url).port) })
    await batchesFrom(sound, lake)
    const counters = sound.service.counters()
    // All but the first file, which is there.
    expectRequests(counters.requests, WHOLE - 1, client)
    if (client === undefined) expect(counters.bytes).toBeLessThan(bytes.whole)
    if (resumes) expect(before + counters.bytes).toBe(bytes.whole + bytes.listing)
    expect(await listRuns(lake, { now: new Date() })).toEqual([])
    expect(await rowsOf(lake, ALL_TABLES)).toEqual(faultless)
  })

  const lasting = CASES.filter(({ stays }) => stays === 'passes')
  test.each(lasting)('$name: the client makes do with it', async (one) => {
    const from = await serving(served, { faults: onFiles(one, { kind: 'from', first: 1 }) }, one.client)
    const lake = join(await temporaryFolder(), 'lake')
    await batchesFrom(from, lake)
    expect(from.service.counters()).toMatchObject({ requests: WHOLE, bytes: bytes.whole })
    expect(await rowsOf(lake, ALL_TABLES)).toEqual(faultless)
  })
})
