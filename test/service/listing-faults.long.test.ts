/**
 * The faults that are a listing's own, and redirects on every operation: nothing goes to the other host. Of those in
 * place of an answer there is one for each way to take it: the tests of pages have all.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { ErrorCode } from '../../src/core/errors.ts'
import { FAULT_NAMES, type FaultKind, faultOf } from '../../src/server/faults/fault-kinds.ts'
import { FAULT_TARGETS, type FaultRule } from '../../src/server/faults/fault-rules.ts'
import type { Service } from '../../src/source/service/service.ts'
import { statPath } from '../../src/support/list-files.ts'
import { openBench } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  batchesFrom,
  type ClientOptions,
  expectRequests,
  loadCompanies,
  makeServable,
  openClient,
  openServer,
  pullFrom,
  SEARCH,
  serving,
  TOKEN,
} from './serving.ts'

let served = ''

beforeAll(async () => {
  const bench = openBench(await mkdtemp(join(tmpdir(), 'firmlake-')))
  served = bench.lake
  await loadCompanies(bench)
  await makeServable(served)
})
afterAll(() => rm(join(served, '..'), { recursive: true, force: true }))

/** What is asked for, and of which fault's target it is. */
const LISTINGS = {
  'the parameters': { on: 'parameters', ask: (service: Service) => service.parameters('companies') },
  'the batch files': { on: 'batchFiles', ask: (service: Service) => service.batchFiles() },
} as const

interface Case {
  readonly name: string
  readonly fault: FaultKind
  readonly rule?: Partial<FaultRule>
  readonly client?: ClientOptions
  readonly stays: ErrorCode | 'passes'
}
const plain = (fault: FaultKind, stays: Case['stays'] = 'SERVICE_FAILED'): Case => ({
  name: fault,
  fault,
  stays,
})

/** Those that a listing answers in a way of its own, and those that are no fault of a body. */
const OWN_CASES: readonly Case[] = [
  { ...plain('503', 'SERVICE_BUSY'), name: '503 with Retry-After', rule: { retryAfter: '600' } },
  { ...plain('drip'), rule: { bytesPerSecond: 10 }, client: { speed: 200, maxWaitMs: 100 } },
  { ...plain('drip', 'passes'), name: 'drip that flows', rule: { bytesPerSecond: 100_000 } },
  plain('redirect', 'SERVICE_REDIRECTED'),
  // A listing has no cursor: this is a refusal, which is not asked again.
  plain('expiredCursor', 'REQUEST_REFUSED'),
]
const NAMED = new Set(OWN_CASES.map(({ fault }) => fault))
const CASES = [
  ...OWN_CASES,
  ...FAULT_NAMES.filter((name) => faultOf(name).stage === 'body' && !NAMED.has(name)).map((name) =>
    plain(name),
  ),
]
const FINAL: readonly FaultKind[] = ['redirect', 'expiredCursor']

describe.each(Object.entries(LISTINGS))('%s', (_, { on, ask }) => {
  let whole: unknown
  const listed = async (service: Service): Promise<unknown> => ask(service)

  beforeAll(async () => {
    const server = await openServer(served)
    const service = openClient(server.address)
    whole = await listed(service)
    await service.close()
    await server.close()
  })

  const passing = CASES.filter(({ fault }) => !FINAL.includes(fault))
  test.each(passing)(
    'come whole through a fault that passes: $name',
    async ({ fault, rule, client, stays }) => {
      const short = rule?.retryAfter === undefined ? {} : { retryAfter: '2' }
      const selection = { kind: 'at', numbers: [1] } as const
      const faults: FaultRule[] = [{ on, fault, selection, ...rule, ...short }]
      const { service } = await serving(served, { faults }, { ...client, maxWaitMs: 900_000 })
      expect(await listed(service)).toEqual(whole)
      expectRequests(service.counters().requests, stays === 'passes' ? 1 : 2, client)
    },
  )

  const staying = CASES.flatMap((one) => (one.stays === 'passes' ? [] : [{ ...one, code: one.stays }]))
  test.each(staying)(
    'fail clearly where the fault stays: $name: $code',
    async ({ fault, rule, client, code }) => {
      const selection = { kind: 'from', first: 1 } as const
      const faults: FaultRule[] = [{ on, fault, selection, ...rule }]
      const from = await serving(served, { faults }, client)
      const lake = join(await temporaryFolder(), 'lake')
      const pulling = on === 'batchFiles' ? batchesFrom(from, lake) : pullFrom(from, lake)
      const error = await pulling.catch((reason: unknown) => reason)
      expect(error).toMatchObject({ code })
      expect(String(error)).toMatch(/^ToolkitError: Cannot \w+ /)
      expect(String(error)).not.toContain(TOKEN)
      // No run was begun, so there is no lake.
      expect(await statPath(lake)).toBeNull()
      if (FINAL.includes(fault)) expect(from.service.counters().requests).toBe(1)
    },
  )
})

test('a redirect sends nothing to the other host, whatever was asked for', async () => {
  let connections = 0
  const other = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => new Promise<void>((resolve) => other.close(() => resolve())))
  const address = other.address()
  const location = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v2/companies`
  const faults = FAULT_TARGETS.map((on): FaultRule => {
    return { on, fault: 'redirect', selection: { kind: 'from', first: 1 }, location }
  })
  const { service } = await serving(served, { faults })
  const folder = await temporaryFolder()
  const asked = [
    service.parameters('companies'),
    service.batchFiles(),
    service.download('companies-SE-0001', join(folder, 'file')),
    service.totalCount('companies', SEARCH),
    service.page({ content: 'relations', search: SEARCH, pageSize: 10, cursor: '*' }, () => undefined),
  ]
  const errors = await Promise.all(
    asked.map((one) =>
      one.then(
        () => undefined,
        (error: unknown) => error,
      ),
    ),
  )
  for (const error of errors) expect(error).toMatchObject({ code: 'SERVICE_REDIRECTED' })
  expect(errors.map(String).join('\n')).not.toContain(TOKEN)
  expect([service.counters().requests, connections]).toEqual([asked.length, 0])
})
