/** Two processes that pull one run side by side. */

import { expect, test } from 'vitest'
import { cli } from '../cli/run-cli.ts'
import { openPullBench } from '../service/pull-bench.ts'
import type { CliResult } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { companies, sharedPull } from './shared-pull.ts'

test('two processes pull companies below the limit that they share, no window twice', async () => {
  const answered: number[] = []
  const one = await openPullBench({
    companies: companies(4000),
    before: () => {
      answered.push(performance.now())
      return undefined
    },
  })
  const limit = 60
  const pull = sharedPull(one, { pageSize: 50, cap: 400 })
  const { run, units } = await pull.plan([], { maxRequestsPerSecond: limit })
  expect(units).toBeGreaterThan(8)
  const env = {
    ...{ FIRMLAKE_URL: one.fake.url, FIRMLAKE_TOKEN: one.fake.token },
    FIRMLAKE_WORK_DIR: await temporaryFolder(),
  }
  const shards = ['0/2', '1/2']
  const work = (shard: string): Promise<CliResult> =>
    cli(['run', 'work', run ?? '', '--lake', one.lake, '--shard', shard, '--threads', '1', '--trust-clock'], {
      env,
    })
  const codes = (await Promise.all(shards.map(work))).map(({ code }) => code)
  expect(codes.filter((code) => code !== 0 && code !== 75)).toEqual([])
  const again = shards.filter((_, at) => codes[at] === 75)
  expect((await Promise.all(again.map(work))).map(({ code }) => code)).toEqual(again.map(() => 0))
  await pull.commit(run ?? '')
  const chains = one.fake.pages
    .filter(({ cursor }) => cursor === '*')
    .map(({ search }) => JSON.stringify(search))
  expect([chains.length, new Set(chains).size]).toEqual([units, units])
  const seconds = ((answered.at(-1) ?? 0) - (answered[0] ?? 0)) / 1000
  expect(answered.length / seconds).toBeLessThan(limit * 1.05)
  expect(await one.query('SELECT count(*), count(DISTINCT internal_id) FROM companies_history')).toEqual([
    [4000, 4000],
  ])
  expect((await one.snapshot()).pulls).toMatchObject([{ announced: 4000, received: 4000 }])
})
