/** A service whose pages end before all came that it counts: in pulls and syncs, through every door. */

import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { exitCodeOf, exitCodeOfStep } from '../../../src/core/exit-codes.ts'
import { pull } from '../../../src/jobs/pull.ts'
import { commitRun, planRun, workRun } from '../../../src/jobs/run-steps.ts'
import { sync } from '../../../src/jobs/sync.ts'
import { cli, errorCode } from '../../cli/run-cli.ts'
import { openEndpoint } from '../../observe/endpoint.ts'
import { stoppedBehindCommit } from '../../run/stopped-behind-commit.ts'
import type { FakeCompany } from '../../service/fake-service.ts'
import { openPullBench, SWEDEN } from '../../service/pull-bench.ts'
import { runCommand } from '../../support/run-command.ts'

const COMPANIES = Array.from(
  { length: 25 },
  (_, at): FakeCompany => ({ id: at + 1, country: 'SE', dates: { ContentUpdatedAt: '2026-06-14' } }),
)
const MISSING = {
  code: 'COMPANIES_MISSING',
  message: expect.stringMatching(
    /^Cannot pull all records that the service counts: 25 are, 10 came, expected all; /,
  ),
  context: { asked: 25, came: 10 },
}

/** Chains end behind the first ten companies, listings too, as long as it is broken. */
const brokenBench = async (now = '2026-06-15T12:00:00Z') => {
  const state = { isBroken: true }
  const one = await openPullBench({
    companies: COMPANIES,
    now,
    before: () => (state.isBroken ? { companies: COMPANIES.slice(0, 10), cursor: null } : undefined),
  })
  const held = async () => Number((await one.query('SELECT count(*) FROM companies')).flat()[0])
  const asked = { from: one.service, lake: one.lake, content: 'companies', search: SWEDEN } as const
  return { ...one, state, held, asked }
}

test('pull commits what came and ends with an error, and the next since the last one asks for the rest', async () => {
  const one = await brokenBench()
  const reports: unknown[] = []
  const first = pull({ ...one.asked, onCommitted: (report) => void reports.push(report) })
  const error: unknown = await first.catch((reason: unknown) => reason)
  expect(error).toMatchObject(MISSING)
  expect([exitCodeOf(error), exitCodeOfStep(error)]).toEqual([6, 6])
  const missing = [{ kind: 'counted', asked: 25, came: 10 }]
  expect(reports).toMatchObject([
    { snapshot: 1, missing, pull: { entry: { announced: 25, received: 10, gapLeft: 15 } } },
  ])
  expect(await one.held()).toBe(10)
  one.state.isBroken = false
  const { pull: pulled } = await pull({ ...one.asked, since: 'last' })
  expect([await one.held(), pulled.entry.from, pulled.entry.received]).toEqual([25, undefined, 25])
  one.fake.hold([...COMPANIES, { ...COMPANIES[0], id: 26 }])
  expect((await pull({ ...one.asked, since: 'last' })).pull.entry).toMatchObject({
    from: '2026-06-14',
    received: 26,
  })
})

test('pull since the last one that is short is asked for again from where that one began', async () => {
  const one = await brokenBench()
  one.state.isBroken = false
  await pull(one.asked)
  one.state.isBroken = true
  const since = { ...one.asked, since: 'last' } as const
  for (let night = 0; night < 2; night += 1) await expect(pull(since)).rejects.toMatchObject(MISSING)
  one.state.isBroken = false
  expect((await pull(since)).pull.entry).toMatchObject({ from: '2026-06-14', received: 25 })
})

test('a pull that was committed short and killed then says so when it is called again', async () => {
  const one = await brokenBench()
  await stoppedBehindCommit(one.lake, (onEvent) => one.pull({}, { onEvent }))
  const pages = one.fake.pages.length
  const again = await one.pull()
  expect(again.summary).toMatchObject({ already: {}, missing: [{ asked: 25, came: 10 }] })
  expect(one.fake.pages).toHaveLength(pages)
})

test('a pull of relations whose pages end too early ends with the same error', async () => {
  const one = await brokenBench()
  await expect(pull({ ...one.asked, content: 'relations' })).rejects.toMatchObject(MISSING)
})

test.each([25, 0])(
  'a listing that ends too early, counting %d, is gone through again',
  async (totalCount) => {
    const many = Array.from({ length: 525 }, (_, at): FakeCompany => ({ id: at + 1, country: 'SE' }))
    const one = await openPullBench({
      companies: many,
      before: ({ pageNumber, minified }, nth) =>
        minified && pageNumber === 2 && nth <= 4 ? { companies: [], cursor: null, totalCount } : undefined,
    })
    const { sync: synced } = await sync({ from: one.service, lake: one.lake, search: SWEDEN })
    expect([synced.findings.listed, synced.fetched]).toEqual([525, 525])
  },
)

test('a sync whose listing ends too early each time marks no company as gone, and ends with the error', async () => {
  const one = await brokenBench()
  one.state.isBroken = false
  await pull(one.asked)
  one.state.isBroken = true
  const done = sync({ from: one.service, lake: one.lake, search: SWEDEN, maxGone: '100%' })
  await expect(done).rejects.toMatchObject(MISSING)
  expect(await one.held()).toBe(25)
})

test('the commit of a run of many machines ends with the error, and has committed what came', async () => {
  const one = await brokenBench()
  const { lake } = one
  const { run } = await planRun({ load: 'pull', ...one.asked })
  await workRun({ lake, run: run ?? '', units: [0], service: () => one.service })
  await expect(commitRun({ lake, run: run ?? '' })).rejects.toMatchObject(MISSING)
  expect(await one.held()).toBe(10)
})

test('firmlake pull prints its report and ends with 6', async () => {
  const one = await brokenBench()
  const env = { FIRMLAKE_URL: one.fake.url, FIRMLAKE_TOKEN: one.fake.token, FIRMLAKE_CONFIG: '' }
  const args = ['pull', 'companies', '--lake', one.lake, '--search', JSON.stringify(SWEDEN)]
  const done = await runCommand([...args, '--json', '--trust-clock'], { env })
  expect([done.code, errorCode(done)]).toEqual([6, MISSING.code])
  expect(JSON.parse(done.stdout)).toMatchObject({
    snapshot: 1,
    records: 10,
    pull: { announced: 25, received: 10 },
  })
})

test('a night of which something did not come is partial, does the rest, and rings', async () => {
  const one = await brokenBench(new Date().toISOString())
  const folder = dirname(one.lake)
  const hook = await openEndpoint()
  const settings = [
    ...[`lake = ${JSON.stringify(one.lake)}`, '[service]', `url = "${one.fake.url}"`],
    ...['[[pull]]', 'name = "swedish"', 'content = "companies"', 'search = { CountryCode = ["SE"] }'],
    ...['[check]', 'min_companies = 10', 'data = false', '[hooks]', 'webhook_env = "ALARM_ADDRESS"', ''],
  ]
  await writeFile(join(folder, 'firmlake.toml'), settings.join('\n'), { mode: 0o644 })
  const env = { FIRMLAKE_TOKEN: one.fake.token, FIRMLAKE_LAKE: '', FIRMLAKE_URL: '', FIRMLAKE_CONFIG: '' }
  const { code, stdout } = await cli(['nightly'], { cwd: folder, env: { ...env, ALARM_ADDRESS: hook.url } })
  const { outcome, parts, error } = JSON.parse(stdout)
  expect([code, outcome, error.code]).toEqual([6, 'partial', MISSING.code])
  const swedish = {
    name: 'swedish',
    state: 'failed',
    code: MISSING.code,
    records: 10,
    announced: 25,
    snapshot: 1,
  }
  expect(parts).toMatchObject([swedish, { name: 'check', state: 'done' }])
  expect(JSON.parse(hook.received[0]?.body.toString() ?? '')).toMatchObject({
    ...{ outcome: 'partial', exitCode: 6, code: MISSING.code, failed: ['swedish'] },
  })
})
