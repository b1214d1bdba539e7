/** A pull that is killed while it closes a gap. */

import { expect, test } from 'vitest'
import { cli } from '../../cli/run-cli.ts'
import type { FakeCompany } from '../../service/fake-service.ts'
import { openPullBench } from '../../service/pull-bench.ts'

/** One in thirty has no status, and one in twenty no date. */
const COMPANIES: readonly FakeCompany[] = Array.from({ length: 3000 }, (_, at) => at + 1).map((id) => ({
  ...{ id, country: 'SE' },
  ...(id % 30 > 0 && { status: 10 + (id % 17) }),
  ...(id % 20 > 0 && { dates: { ContentUpdatedAt: `2026-01-${10 + (id % 20)}` } }),
}))

test('pull that is killed while it closes a gap goes on there, lists nothing again, and brings each company once', async () => {
  let kill: (() => void) | undefined
  let asked = 0
  const one = await openPullBench({
    companies: COMPANIES,
    cap: 200,
    before: ({ search }) => {
      if (search.InternalId === undefined) return undefined
      asked += 1
      if (asked !== 2 || kill === undefined) return undefined
      kill()
      kill = undefined
      return new Promise(() => undefined)
    },
  })
  const env = { FIRMLAKE_URL: one.fake.url, FIRMLAKE_TOKEN: one.fake.token }
  const search = ['--search', '{"CountryCode":["SE"]}', '--cap', '200', '--page-size', '50']
  const args = ['pull', 'companies', '--lake', one.lake, ...search, '--trust-clock']
  const killed = await cli([...args, '--json', '--max-requests-per-second', '2000'], {
    env,
    onStart: (child) => {
      kill = () => child.kill('SIGKILL')
    },
  })
  expect(killed.code).toBe(null)
  const listed = one.fake.pages.filter(({ minified }) => minified).length
  expect(listed).toBe(6)
  const { code, stdout, stderr } = await cli([...args, '--json', '--max-requests-per-second', '2000'], {
    env,
  })
  expect([code, stderr]).toEqual([0, expect.not.stringContaining('no window, and not found')])
  expect(JSON.parse(stdout)).toMatchObject({ records: 3000, pull: { received: 3000, gap: 0, gapLeft: 0 } })
  expect(one.fake.pages.filter(({ minified }) => minified)).toHaveLength(listed)
  // Two pages in each try, if the first of them was still on its way to the disk.
  expect(asked).toBeLessThanOrEqual(4)
  expect(await one.query('SELECT count(*) FROM companies_history')).toEqual([[3000]])
  expect(await one.runs()).toEqual([])
})
