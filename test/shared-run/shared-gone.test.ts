/** Companies that a whole search of a run in steps lacks are marked as by one machine, whoever commits it. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pullOnEngine } from '../../src/engine/on-engine.ts'
import type { RunEngine } from '../../src/engine/run-engine.ts'
import { syncSearch } from '../../src/jobs/sync.ts'
import { syncSettings } from '../../src/pull/sync/find-changes.ts'
import { createService } from '../../src/source/service/service.ts'
import { verify } from '../run/batch-bench.ts'
import type { FakeCompany, FakeServiceOptions } from '../service/fake-service.ts'
import { openPullBench, type PullBench, SWEDEN } from '../service/pull-bench.ts'
import { type Steps, stepsOf } from './shared-bench.ts'
import { companies, opening, sharedPull } from './shared-pull.ts'

const all = companies(100)
const without = (...ids: number[]): FakeCompany[] => all.filter(({ id }) => !ids.includes(id))

const SEARCH = '{"CountryCode":["SE"]}'

/** A lake with all of a search; afterwards the service has no longer some of it. */
const lacking = async (
  gone: readonly number[],
  before?: FakeServiceOptions['before'],
): Promise<PullBench> => {
  let isPulled = false
  const one = await openPullBench({
    companies: all,
    before: (...asked) => (isPulled ? before?.(...asked) : undefined),
  })
  await one.pull({ pageSize: 100 })
  isPulled = true
  one.fake.hold(without(...gone))
  return one
}

/** Plans a pull of the whole search and works on all of it. */
const pulled = async (
  one: PullBench,
  more: Parameters<typeof sharedPull>[1] = {},
): Promise<{ readonly run: string; readonly commit: (...[options]: CommitArgs) => Commit }> => {
  const pull = sharedPull(one, { pageSize: 100, ...more })
  const { run } = await pull.plan([])
  await pull.work(run ?? '', 0, 1)
  return { run: run ?? '', commit: (options) => pull.commit(run ?? '', { ...opening(one), ...options }) }
}
type CommitArgs = [options?: Parameters<Steps['commit']>[1]]
type Commit = ReturnType<Steps['commit']>

const marks = (one: PullBench) =>
  one.query('SELECT internal_id, search, seen IS NOT NULL, gone_since FROM listings ORDER BY 1')

const gone = async (one: PullBench): Promise<unknown[]> => (await marks(one)).map(([id]) => id)

const count = async (one: PullBench, view = 'companies'): Promise<unknown> =>
  (await one.query(`SELECT count(*) FROM ${view}`))[0]?.[0]

test('a pull in steps marks the companies that its search no longer has, as a pull on one machine does', async () => {
  const [steps, local] = [await lacking([7, 50]), await lacking([7, 50])]
  const { summary } = await local.pull({ pageSize: 100 })
  const { commit } = await pulled(steps)
  const committed = await commit()
  expect(committed).toMatchObject({ kind: 'committed', summary: { gone: [{ search: SEARCH, marked: 2 }] } })
  expect(summary.gone).toEqual([{ search: SEARCH, marked: 2 }])
  const asked = steps.fake.pages.filter(({ search }) => 'InternalId' in search)
  expect(committed).toMatchObject({ requests: { requests: asked.length } })
  expect(await marks(steps)).toEqual([
    [7, SEARCH, true, '2026-06-15T12:00:00.000Z'],
    [50, SEARCH, true, '2026-06-15T12:00:00.000Z'],
  ])
  expect(await marks(local)).toEqual(await marks(steps))
  expect([await count(steps), await count(steps, 'companies_all')]).toEqual([98, 100])
  expect((await verify(steps.lake)).problems).toEqual([])
})

test('a pull on an engine says what it has marked, also where the answer to its commit was lost', async () => {
  const one = await lacking([7, 50])
  const { service } = opening(one)
  const steps = stepsOf('/', one.lake)
  const engine: RunEngine = {
    ...{ unitsAtOnce: 1, maxWaitMs: 0 },
    work: async ({ run }) => {
      await steps.work(run, { shard: { index: 0, of: 1 } }, { service })
      await steps.commit(run, { service })
      const again = await steps.commit(run, { service })
      if (again.kind !== 'already') throw new Error('it was committed twice')
      const requests = { requests: 0, retries: 0, throttled: 0, bytes: 0 }
      return { snapshot: again.snapshot, skipped: [], excluded: [], requests }
    },
  }
  const asked = { from: one.service, lake: one.lake, search: SWEDEN, pageSize: 100 }
  const { gone: reported } = await pullOnEngine({ ...asked, content: 'companies' }, { engine })
  expect(reported).toEqual([{ search: SEARCH, marked: 2 }])
  expect(await gone(one)).toEqual([7, 50])
})

test('a sync in steps marks what it finds vanished, also where nothing else changed', async () => {
  const one = await lacking([3])
  const steps = stepsOf('/', one.lake)
  const job = { kind: 'sync', url: one.fake.url, ...syncSettings({ search: SWEDEN }) } as const
  const { run, units } = await steps.plan([], { job, service: async () => one.service, limits: {} })
  expect(units).toBe(0)
  expect(await steps.commit(run ?? '', opening(one))).toMatchObject({
    summary: { gone: [{ search: SEARCH, marked: 1 }] },
  })
  expect(await gone(one)).toEqual([3])
  const again = await syncSearch(
    one.fake.url,
    { search: SWEDEN },
    { lake: one.lake, service: one.service, concurrency: 1, maxQuarantined: { kind: 'count', lines: 0 } },
  )
  expect([again.findings.vanished, again.summary.gone]).toEqual([[], undefined])
})

test('more than --max-gone of a run in steps marks none and says so; a commit that allows them does', async () => {
  const one = await lacking([1, 2, 3])
  const first = await pulled(one)
  const reason = '3 of 100 companies of the search were not listed (3 %), more than the 2 % of --max-gone'
  expect(await first.commit()).toMatchObject({ summary: { gone: [{ search: SEARCH, marked: 0, reason }] } })
  expect(await count(one)).toBe(100)
  const second = await pulled(one)
  await second.commit({ maxGone: { kind: 'count', lines: 3 } })
  expect(await gone(one)).toEqual([1, 2, 3])
})

test('a window of a run in steps that is cut short marks none, nor a pull of some days', async () => {
  const one = await lacking([], ({ cursor }) =>
    cursor === '*' ? { companies: all.slice(0, 99), cursor: null, totalCount: 100 } : undefined,
  )
  const { commit } = await pulled(one)
  expect(await commit()).toMatchObject({
    summary: { gone: [{ marked: 0, reason: '99 of 100 announced companies came' }] },
  })
  const days = await lacking([5])
  const some = await pulled(days, { since: '2025-01-01' })
  const committed = await some.commit()
  expect(committed.kind === 'committed' && committed.summary.gone).toBeUndefined()
  expect([await count(one), await count(days)]).toEqual([100, 100])
})

test('a commit in steps that cannot call the service marks none and says why', async () => {
  const one = await lacking([7])
  const { commit } = await pulled(one)
  const service = async () => createService({ url: one.fake.url, token: 'another', now: one.fake.clock })
  const reason = expect.stringMatching(/^the service could not be asked for them: /)
  expect(await commit({ service })).toMatchObject({ summary: { gone: [{ marked: 0, reason }] } })
  expect(await count(one)).toBe(100)
})

test('of several commits of a run in steps at once one marks, and the files of the others go', async () => {
  const one = await lacking([7])
  const { run, commit } = await pulled(one)
  const commits = await Promise.all([1, 2, 3].map(() => commit()))
  const reported = commits.flatMap((one) => (one.kind === 'committed' ? (one.summary.gone ?? []) : []))
  expect(reported).toEqual([{ search: SEARCH, marked: 1 }])
  expect(await gone(one)).toEqual([7])
  expect(await readdir(join(one.lake, 'listings', `load=${run}`))).toHaveLength(1)
  expect((await verify(one.lake)).problems).toEqual([])
})
