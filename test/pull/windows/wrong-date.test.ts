/** A service with a wrong clock, at every place where a load goes by what it says. */

import { expect, onTestFinished, test } from 'vitest'
import { pull } from '../../../src/jobs/pull.ts'
import { pullBatchFiles } from '../../../src/jobs/pull-batch-files.ts'
import { resume } from '../../../src/jobs/resume.ts'
import { planRun, workRun } from '../../../src/jobs/run-steps.ts'
import { sync } from '../../../src/jobs/sync.ts'
import { listRunIds } from '../../../src/manifest/runs/runs.ts'
import { newestSnapshot } from '../../../src/manifest/snapshots/snapshots.ts'
import { nightly } from '../../../src/nightly/nightly.ts'
import type { ServiceOptions } from '../../../src/options/interfaces.ts'
import { batchFiles } from '../../../src/source/inputs.ts'
import { createService, type Service } from '../../../src/source/service/service.ts'
import type { FakeCompany } from '../../service/fake-service.ts'
import { openPullBench, SWEDEN } from '../../service/pull-bench.ts'
import { answeringServer, client } from '../../source/service/answering-server.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const HERE = '2026-11-28T12:00:00.000Z'
const COMPANIES = [1, 2, 3].map(
  (id): FakeCompany => ({ id, country: 'SE', dates: { ContentUpdatedAt: '2026-11-20' } }),
)
const DIFFERS = { code: 'CLOCK_DIFFERS' }

/** @param pages the service's date from the n-th page on, where it differs from that of the counts */
const bench = async (date = HERE, pages?: { readonly from: number; readonly date: string }) => {
  const state = { date, pages: 0 }
  const one = await openPullBench({
    companies: COMPANIES,
    now: () => (pages && state.pages >= pages.from ? pages.date : state.date),
    before: () => {
      state.pages += 1
      return undefined
    },
  })
  const open = (options: Partial<ServiceOptions> = {}): Service => {
    const service = createService({
      ...{ url: one.fake.url, token: one.fake.token, now: () => new Date(HERE), maxRequestsPerSecond: 5000 },
      ...options,
    })
    onTestFinished(() => service.close())
    return service
  }
  const asked = { lake: one.lake, content: 'companies', search: SWEDEN } as const
  const asOf = async () => (await newestSnapshot(one.lake).catch(() => null))?.pulls?.at(-1)?.asOf
  return { ...one, state, open, asked, asOf }
}

test.each(['2036-01-01T00:00:00Z', '2001-01-01T00:00:00Z', '2026-11-30T00:00:00Z', '2026-11-26T23:00:00Z'])(
  'no load begins where the service says that it is %s',
  async (date) => {
    const one = await bench(date)
    const from = one.open()
    await expect(pull({ from, ...one.asked })).rejects.toMatchObject({
      ...DIFFERS,
      message: expect.stringMatching(
        `the clock of the service says ${new Date(date).toISOString()}, that of this machine ${HERE}`,
      ),
    })
    await expect(pull({ from, ...one.asked, content: 'relations' })).rejects.toMatchObject(DIFFERS)
    const { lake } = one
    await expect(sync({ from, lake, search: SWEDEN })).rejects.toMatchObject(DIFFERS)
    await expect(planRun({ load: 'pull', from, ...one.asked })).rejects.toMatchObject(DIFFERS)
    await expect(planRun({ load: 'sync', from, lake, search: SWEDEN })).rejects.toMatchObject(DIFFERS)
    expect([await one.asOf(), await listRunIds(lake)]).toEqual([undefined, []])
    // The service's clock counts where that of this machine is wrong.
    await pull({ from: one.open({ trustClock: true }), ...one.asked })
    expect(await one.asOf()).toBe(new Date(date).toISOString())
  },
)

test('a service that goes back behind the last pull is refused, and so is a lake whose last pull was too late', async () => {
  const one = await bench('2026-11-29T11:00:00Z')
  await pull({ from: one.open(), ...one.asked })
  one.state.date = '2026-11-28T10:00:00Z'
  await expect(pull({ from: one.open(), ...one.asked, since: 'last' })).rejects.toMatchObject({
    ...DIFFERS,
    message: expect.stringContaining(
      'says 2026-11-28T10:00:00.000Z, the last pull from it was at 2026-11-29T11:00:00.000Z',
    ),
  })
  one.state.date = '2026-11-28T11:30:00Z'
  await pull({ from: one.open(), ...one.asked, since: 'last' })
  expect(await one.asOf()).toBe('2026-11-28T11:30:00.000Z')
})

test('a pull since the last one that is of the future is an error, until a day is named', async () => {
  const one = await bench('2036-01-01T00:00:00Z')
  const trusting = one.open({ trustClock: true })
  await pull({ from: trusting, ...one.asked })
  one.state.date = HERE
  const last = { ...one.asked, since: 'last' } as const
  await expect(pull({ from: one.open(), ...last })).rejects.toMatchObject(DIFFERS)
  await expect(sync({ from: one.open(), lake: one.lake, search: SWEDEN })).rejects.toMatchObject(DIFFERS)
  await expect(pull({ from: trusting, ...last })).rejects.toMatchObject({
    code: 'DAYS_AHEAD',
    message: expect.stringMatching(
      /from 2035-12-31 on, the day before run \S+ pulled this search: .* it is 2026-11-28T/,
    ),
  })
  await pull({ from: trusting, ...one.asked, since: '2026-11-01' })
  one.fake.hold([...COMPANIES, { id: 4, country: 'SE', dates: { ContentUpdatedAt: '2026-11-28' } }])
  const { records, pull: pulled } = await pull({ from: one.open(), ...last })
  expect([records, pulled.entry.from]).toEqual([1, '2026-11-27'])
})

test.each([
  ['a first day', { since: '2026-11-29' }],
  ['a first day of another date', { since: '2026-11-29', by: 'CompanyInfoUpdatedAt' }],
  ['a filter of the search', { search: { ...SWEDEN, contentupdatedat: ['2026-11-29', '2026-12-31'] } }],
])('%s in the future is an error', async (_what, settings) => {
  const one = await bench()
  await expect(pull({ from: one.open(), ...one.asked, ...settings })).rejects.toMatchObject({
    code: 'DAYS_AHEAD',
    message: expect.stringContaining('from 2026-11-29 on: by the clock of the service it is 2026-11-28'),
  })
  await pull({ from: one.open(), ...one.asked, since: '2026-11-28' })
})

test('a night has a part that failed, and no pull of the future', async () => {
  const one = await bench('2036-01-01T00:00:00Z')
  const reports: object[] = []
  const env = {
    ...{ FIRMLAKE_URL: one.fake.url, FIRMLAKE_TOKEN: one.fake.token, FIRMLAKE_LAKE: one.lake },
    FIRMLAKE_SEARCH: JSON.stringify(SWEDEN),
  }
  const { signal } = new AbortController()
  const night = nightly({ env, signal, report: (done) => void reports.push(done) })
  await expect(night).rejects.toMatchObject(DIFFERS)
  expect(Object.assign({}, ...reports)).toMatchObject({
    parts: [
      { name: 'companies', state: 'failed', ...DIFFERS },
      { name: 'relations', state: 'failed', ...DIFFERS },
    ],
  })
  expect(await one.asOf()).toBeUndefined()
})

test('a page of another day stops a pull, and a resumed one, until the clock is right again', async () => {
  const wrong = { from: 1, date: '2036-01-01T00:00:00Z' }
  const one = await bench(HERE, wrong)
  const { lake } = one
  const differs = expect.objectContaining({ code: 'CLOCK_DIFFERS' })
  await expect(pull({ from: one.open(), ...one.asked, pageSize: 2 })).rejects.toEqual(differs)
  const service = () => one.open()
  expect((await resume({ lake, service })).runs).toEqual([expect.objectContaining({ error: differs })])
  wrong.from = Number.POSITIVE_INFINITY
  expect((await resume({ lake, service })).runs).toMatchObject([{ kind: 'loaded', report: { records: 3 } }])
  expect(await one.asOf()).toBe(HERE)
})

test('a worker of many refuses a page of another day', async () => {
  const one = await bench()
  const { lake } = one
  const { run } = await planRun({ load: 'pull', from: one.open(), ...one.asked })
  one.state.date = '2036-01-01T00:00:00Z'
  const work = workRun({ lake, run: run ?? '', units: [0], service: () => one.open() })
  await expect(work).rejects.toMatchObject(DIFFERS)
})

test.each([
  ['2036-01-01T00:00:00Z', HERE, 'made at 2036-01-01T00:00:00.000Z, the clock of this machine says'],
  [
    HERE,
    '2036-01-01T00:00:00Z',
    'the clock of the service says 2036-01-01T00:00:00.000Z, that of this machine',
  ],
])('batch files made at %s and listed at %s are not pulled', async (CreatedAt, date, said) => {
  const listing = { BatchFiles: [{ BatchFileId: 'b-1', Content: 'Companies', CreatedAt }] }
  const server = await answeringServer((response) => {
    response.setHeader('Date', new Date(date).toUTCString())
    response.end(JSON.stringify(listing))
  })
  const from = batchFiles(client(server.url, { now: () => new Date(HERE) }))
  const lake = await temporaryFolder()
  const refused = { ...DIFFERS, message: expect.stringContaining(said) }
  await expect(pullBatchFiles({ from, lake })).rejects.toMatchObject(refused)
  await expect(planRun({ load: 'batches', from, lake })).rejects.toMatchObject(refused)
  expect(server.seen.map(({ url }) => url)).toEqual(Array(2).fill('/v2/batches/batch-files'))
})
