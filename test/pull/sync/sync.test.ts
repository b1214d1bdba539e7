/** A sync whose service lists companies that it does not give. */

import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { commitRun, planRun, workRun } from '../../../src/jobs/run-steps.ts'
import { sync } from '../../../src/jobs/sync.ts'
import { createService } from '../../../src/source/service/service.ts'
import { cli, errorCode } from '../../cli/run-cli.ts'
import type { FakeCompany } from '../../service/fake-service.ts'
import { openPullBench, SWEDEN } from '../../service/pull-bench.ts'
import { runCommand } from '../../support/run-command.ts'

const COMPANIES = [1, 2, 3].map((id): FakeCompany => ({ id, country: 'SE' }))
const some = (...ids: readonly number[]): readonly FakeCompany[] =>
  COMPANIES.filter(({ id }) => ids.includes(id))

/** A service that lists three companies, and gives those that are named in full. */
const shortBench = async (...given: readonly number[]) => {
  const state = { given }
  const bench = await openPullBench({
    companies: COMPANIES,
    before: ({ minified }) => (minified ? undefined : { companies: some(...state.given), cursor: null }),
  })
  return { ...bench, state }
}

const MISSING = {
  code: 'COMPANIES_MISSING',
  message:
    'Cannot fetch all companies that are new or changed: 3 are, 2 came when asked for by their ids, expected all; what came is ' +
    'committed, and the next sync finds the others again',
  context: { asked: 3, came: 2 },
}

test('sync commits what came, says as an error how much did not, and asks for that alone the next time', async () => {
  const one = await shortBench(1, 3)
  const asked = { from: one.service, lake: one.lake, search: SWEDEN }
  const reports: unknown[] = []
  const first = sync({ ...asked, onCommitted: (report) => void reports.push(report) })
  await expect(first).rejects.toMatchObject(MISSING)
  expect(reports).toMatchObject([{ snapshot: 1, missing: [{ asked: 3, came: 2 }], sync: { fetched: 2 } }])
  expect(await one.query('SELECT internal_id FROM companies ORDER BY 1')).toEqual([[1], [3]])
  one.state.given = [2]
  expect((await sync(asked)).sync).toMatchObject({ findings: { new: [2], unchanged: 2 }, fetched: 1 })
})

test('sync refuses companies that it has not asked for, and loads none of them', async () => {
  const one = await openPullBench({
    companies: COMPANIES,
    before: ({ minified }) =>
      minified ? undefined : { companies: [...some(1, 2), { id: 4, country: 'SE' }], cursor: null },
  })
  await expect(sync({ from: one.service, lake: one.lake, search: SWEDEN })).rejects.toMatchObject({
    code: 'ANSWER_INVALID',
    message: expect.stringContaining(
      'the service gave InternalId 4, expected only those that were asked for',
    ),
  })
})

test('firmlake sync prints its report and ends with the error', async () => {
  const one = await shortBench(1, 3)
  const env = { FIRMLAKE_URL: one.fake.url, FIRMLAKE_TOKEN: one.fake.token, FIRMLAKE_CONFIG: '' }
  const search = JSON.stringify(SWEDEN)
  const args = ['sync', '--lake', one.lake, '--search', search, '--json', '--trust-clock']
  const done = await runCommand(args, { env })
  expect([done.code, errorCode(done)]).toEqual([6, MISSING.code])
  expect(JSON.parse(done.stdout)).toMatchObject({ snapshot: 1, sync: { new: 3, fetched: 2 } })
})

test('a night tells what did not come of a sync, and does the rest', async () => {
  const one = await shortBench(1, 3)
  const folder = dirname(one.lake)
  const settings = [
    ...[`lake = ${JSON.stringify(one.lake)}`, '[service]', `url = "${one.fake.url}"`, 'trust_clock = true'],
    ...['[[sync]]', 'name = "swedish"', 'needed = true', 'search = { CountryCode = ["SE"] }'],
    ...['[check]', 'min_companies = 2', 'data = false', 'max_unlooked = "9999d"', ''],
  ]
  await writeFile(join(folder, 'firmlake.toml'), settings.join('\n'), { mode: 0o644 })
  const env = { FIRMLAKE_TOKEN: one.fake.token, FIRMLAKE_LAKE: '', FIRMLAKE_URL: '', FIRMLAKE_CONFIG: '' }
  const { code, stdout } = await cli(['nightly'], { cwd: folder, env })
  const { parts, error } = JSON.parse(stdout)
  expect([code, error.code]).toEqual([6, MISSING.code])
  expect(parts).toMatchObject([
    {
      name: 'swedish',
      state: 'failed',
      ...{ code: MISSING.code, reason: MISSING.message },
      records: 2,
      snapshot: 1,
    },
    { name: 'check', state: 'done' },
  ])
})

test('commitRun tells what did not come of a sync, and has committed the rest', async () => {
  const one = await shortBench(1, 3)
  const { lake } = one
  const { run } = await planRun({ load: 'sync', from: one.service, lake, search: SWEDEN })
  const service = (url: string) => createService({ url, token: one.fake.token, now: one.fake.clock })
  await workRun({ lake, run: run ?? '', units: [0], service })
  await expect(commitRun({ lake, run: run ?? '' })).rejects.toMatchObject(MISSING)
  expect(await one.query('SELECT count(*) FROM companies')).toEqual([[2]])
})
