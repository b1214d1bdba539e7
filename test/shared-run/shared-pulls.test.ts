/** Pulls, syncs and batch files in steps: windows of the service as units, worked on by several, none of them twice. */

import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { PullEntry } from '../../src/core/partition.ts'
import { inLake, runPath } from '../../src/lake/files/layout.ts'
import { readUnits } from '../../src/manifest/runs/units.ts'
import { newestSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { syncSettings } from '../../src/pull/sync/find-changes.ts'
import type { BatchFilesJob } from '../../src/run/run-plan.ts'
import { createService } from '../../src/source/service/service.ts'
import { companyLines, hashLake, openBench, queryLake, verify } from '../run/batch-bench.ts'
import { offer, startBatchService, TOKEN } from '../run/batch-service.ts'
import type { FakeCompany } from '../service/fake-service.ts'
import { openPullBench, SWEDEN } from '../service/pull-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { stepsOf } from './shared-bench.ts'
import { companies, dayOf, opening, sharedPull } from './shared-pull.ts'

/** One in thirty has no status, and one in twenty no date: statuses cut better, and leave a gap. */
const gappy = (count: number): FakeCompany[] =>
  Array.from({ length: count }, (_, at) => at + 1).map((id) => ({
    ...{ id, country: 'SE' },
    ...(id % 30 > 0 && { status: 10 + (id % 10) }),
    ...(id % 20 > 0 && { dates: { ContentUpdatedAt: dayOf(id) } }),
  }))

/** The entry of a pull without what differs from run to run. */
const asked = ({ run: _, ...entry }: PullEntry): Omit<PullEntry, 'run'> => entry

const pullsOf = async (lake: string): Promise<unknown> =>
  ((await newestSnapshot(lake))?.pulls ?? []).map(asked)

test('a pull by four workers brings what one machine brings; its growing window waits for the others', async () => {
  const all = companies(1000)
  const [one, whole] = [
    await openPullBench({ companies: all, cap: 200 }),
    await openPullBench({ companies: all, cap: 200 }),
  ]
  await whole.pull({ pageSize: 50, cap: 200 })
  const pull = sharedPull(one)
  const { run, phases } = await pull.plan([])
  expect(phases).toHaveLength(2)
  const last = phases[1]?.first ?? 0
  expect(await pull.plan([])).toMatchObject({ run, existing: true })
  await expect(pull.work(run ?? '', last, last + 1)).rejects.toMatchObject({ code: 'RUN_INCOMPLETE' })
  const shards = [0, 1, 2, 3].map((index) => pull.work(run ?? '', index, 4))
  const early = await Promise.allSettled(shards)
  // Whoever has the growing window may have come too early, and comes again.
  for (const [index, { status }] of early.entries())
    if (status === 'rejected') await pull.work(run ?? '', index, 4)
  await pull.commit(run ?? '')
  expect(await hashLake(one.lake)).toEqual(await hashLake(whole.lake))
  const entries = [await pullsOf(one.lake), await pullsOf(whole.lake)]
  expect(JSON.parse(JSON.stringify(entries[0]).replaceAll(one.fake.url, whole.fake.url))).toEqual(entries[1])
  const first = one.fake.pages
    .filter(({ cursor }) => cursor === '*')
    .map(({ search }) => JSON.stringify(search))
  expect(new Set(first).size).toBe(first.length)
  expect((await verify(one.lake)).problems).toEqual([])
  expect((await one.pull({ pageSize: 50, cap: 200, since: 'last' })).plan.since).toMatchObject({ run })
})

test('companies that no window covers are found once all windows are pulled, by whichever worker', async () => {
  const one = await openPullBench({ companies: gappy(1500), cap: 200 })
  const pull = sharedPull(one, { pageSize: 100 })
  const { run, phases, units } = await pull.plan([])
  const closing = phases.at(-1)
  expect(closing).toMatchObject({ count: 1, first: units - 1 })
  await expect(pull.work(run ?? '', units - 1, units)).rejects.toMatchObject({ code: 'RUN_INCOMPLETE' })
  for (const index of [0, 1, 2]) await pull.work(run ?? '', index, 3).catch(() => undefined)
  for (const index of [0, 1, 2]) await pull.work(run ?? '', index, 3)
  const committed = await pull.commit(run ?? '')
  expect(committed.kind).toBe('committed')
  expect(await one.query('SELECT count(*) FROM companies_history')).toEqual([[1500]])
  expect((await one.snapshot()).pulls).toMatchObject([
    { announced: 1500, planned: 1450, received: 1500, gapLeft: 0 },
  ])
})

test('a worker asks at its share of the rate that all have together', async () => {
  const one = await openPullBench({ companies: companies(400), cap: 200 })
  const pull = sharedPull(one)
  const { run } = await pull.plan([], { maxRequestsPerSecond: 2000 })
  const shares: (number | undefined)[] = []
  const steps = stepsOf('/', one.lake)
  const watched = {
    service: async (_: string, share: number | undefined) => {
      shares.push(share)
      return opening(one).service()
    },
  }
  await steps.work(run ?? '', { shard: { index: 0, of: 4 } }, watched)
  await steps.work(run ?? '', [1], { ...watched, workers: 10 })
  await steps.work(run ?? '', [2], watched).catch(() => undefined)
  expect(shares.slice(0, 2)).toEqual([500, 200])
  expect((await readUnits(one.lake, run ?? ''))?.requestsPerSecond).toBe(2000)
})

test('a sync is listed by whoever plans it, and fetched by its workers', async () => {
  const one = await openPullBench({ companies: companies(40) })
  await one.pull()
  one.fake.hold([...companies(38), { id: 99, country: 'SE', dates: { ContentUpdatedAt: '2026-06-15' } }])
  const steps = stepsOf('/', one.lake)
  const job = { kind: 'sync', url: one.fake.url, ...syncSettings({ search: SWEDEN }) } as const
  const { run, units } = await steps.plan([], { job, service: async () => one.service, limits: {} })
  expect(units).toBe(1)
  await steps.work(run ?? '', [0], opening(one))
  const at = inLake(one.lake, runPath(run ?? ''))
  await cp(at, `${one.lake}-kept`, { recursive: true })
  await steps.commit(run ?? '')
  expect(await one.query('SELECT max(internal_id), count(*) FROM companies')).toEqual([[99, 41]])
  expect((await one.snapshot()).pulls?.at(-1)).toMatchObject({ run, announced: 39, received: 39 })
  // Also where the one that committed it was killed before the run was removed, the next sync lists what is new.
  await cp(`${one.lake}-kept`, at, { recursive: true })
  one.fake.hold([{ id: 100, country: 'SE', dates: { ContentUpdatedAt: '2026-06-15' } }])
  const next = await steps.plan([], { job, service: async () => one.service, limits: {} })
  expect([next.run === run, next.existing, next.units]).toEqual([false, false, 1])
})

test('batch files are a unit each, and make the lake that one machine makes of them', async () => {
  const folder = await temporaryFolder()
  const service = await startBatchService([
    offer('b-1', companyLines(50)),
    offer('b-2', companyLines(50, 40)),
  ])
  onTestFinished(service.close)
  const opened = createService({ url: service.url, token: TOKEN })
  onTestFinished(opened.close)
  const lake = join(folder, 'lake')
  const steps = stepsOf('/', lake)
  const job: BatchFilesJob = { kind: 'batches', url: service.url, selection: { kind: 'all' } }
  const { run, units } = await steps.plan([], { job, service: async () => opened, limits: {} })
  expect(units).toBe(2)
  const call = { service: async () => createService({ url: service.url, token: TOKEN }) }
  await Promise.all([steps.work(run ?? '', [1], call), steps.work(run ?? '', [0], call)])
  await steps.commit(run ?? '')
  const local = openBench(await temporaryFolder())
  await local.write('b-1.jsonl', companyLines(50))
  await local.write('b-2.jsonl', companyLines(50, 40))
  await local.run(['b-1.jsonl', 'b-2.jsonl'])
  expect(await hashLake(lake)).toEqual(await hashLake(local.lake))
  expect(await queryLake(lake, 'SELECT count(*) FROM companies')).toEqual([[89]])
  expect(await steps.plan([], { job, service: async () => opened, limits: {} })).toMatchObject({ run: null })
})
