/** What a lake was told to forget does not come back, whatever brings it. */

import { expect, test } from 'vitest'
import { forget } from '../../src/jobs/forget.ts'
import { syncSearch } from '../../src/jobs/sync.ts'
import { companyLines, openBench } from '../run/batch-bench.ts'
import type { FakeCompany } from '../service/fake-service.ts'
import { openPullBench, type PullBench, SWEDEN } from '../service/pull-bench.ts'
import { stepsOf } from '../shared-run/shared-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const companies = (name: string): FakeCompany[] =>
  [1, 2, 3].map((id) => ({
    id,
    country: 'SE',
    name: `${name} ${id}`,
    dates: { ContentUpdatedAt: '2026-01-01' },
  }))

const pulled = async (): Promise<PullBench> => {
  const one = await openPullBench({ companies: companies('First') })
  await one.pull()
  await forget({ lake: one.lake, companies: [2] })
  return one
}

const NAMES = 'SELECT company_name FROM companies ORDER BY internal_id'

test('pull leaves out what was forgotten, counts it as filtered and misses nothing', async () => {
  const one = await pulled()
  one.fake.hold(companies('Second'))
  await one.pull()
  const { partitions, pulls = [] } = await one.snapshot()
  expect(partitions.at(-1)?.counts).toMatchObject({ lines: 3, records: 2, filtered: 1 })
  expect(pulls.at(-1)).toMatchObject({ announced: 3, received: 3 })
  expect(await one.query(NAMES)).toEqual([['Second 1'], ['Second 3']])
})

test('sync neither asks for what was forgotten nor loads it', async () => {
  const one = await pulled()
  one.fake.hold(
    companies('Second').map((company) => ({ ...company, dates: { ContentUpdatedAt: '2026-02-01' } })),
  )
  const { findings } = await syncSearch(
    one.fake.url,
    { search: SWEDEN },
    { lake: one.lake, service: one.service, concurrency: 2, maxQuarantined: { kind: 'count', lines: 0 } },
  )
  expect(findings).toMatchObject({ new: [], changed: [1, 3], vanished: [] })
  expect(await one.query(NAMES)).toEqual([['Second 1'], ['Second 3']])
})

test('a run in steps leaves out what was forgotten, and no forget begins until it is committed', async () => {
  const bench = openBench(await temporaryFolder())
  const steps = stepsOf(bench.folder, bench.lake)
  await bench.write('a.jsonl', companyLines(3))
  await bench.write('b.jsonl', companyLines(4))
  await bench.run(['a.jsonl'])
  await forget({ lake: bench.lake, companies: [2] })
  const run = String((await steps.plan(['b.jsonl'])).run)
  await steps.work(run, [0])
  await expect(forget({ lake: bench.lake, companies: [3] })).rejects.toMatchObject({ code: 'RUN_LIVE' })
  await steps.commit(run)
  expect((await bench.snapshot()).partitions.at(-1)?.counts).toMatchObject({
    lines: 4,
    records: 3,
    filtered: 1,
  })
  expect(await bench.query('SELECT internal_id FROM companies ORDER BY 1')).toEqual([[1], [3], [4]])
})
