/** Which rules are checked, how much they may find, and what is newly broken. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { check } from '../../../src/jobs/check.ts'
import { convert } from '../../../src/jobs/convert.ts'
import { companyLine, openBench } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const RULES = {
  large: 'SELECT internal_id FROM financials WHERE value > 100',
  named: "SELECT internal_id, 'note' AS severity FROM companies WHERE company_name LIKE '%2'",
}
const sales = (value: number) => ({ Financials: { ProfitAndLoss: { NetSales: { 2023: value } } } })

const twoLoads = async (): Promise<string> => {
  const { folder, lake, write } = openBench(await temporaryFolder())
  const load = async (name: string, lines: readonly string[]) => {
    await write(name, lines)
    await convert({ from: join(folder, name), lake })
  }
  await load('a.jsonl', [companyLine(1, sales(101)), companyLine(2, sales(1)), companyLine(3, sales(102))])
  await load('b.jsonl', [companyLine(2, sales(103), 2), companyLine(3, sales(3), 2)])
  return lake
}

const short = ({ checks }: Awaited<ReturnType<typeof check>>) =>
  checks.map(({ name, status, value, limit }) => [
    name,
    status,
    value,
    ...(limit === undefined ? [] : [limit]),
  ])

test('rules are chosen by name, and some findings of one may pass', async () => {
  const lake = await twoLoads()
  const asked = { lake, data: false, rules: RULES }
  expect(short(await check(asked))).toEqual([
    ['large', 'failed', 2],
    ['named', 'note', 1],
  ])
  expect(short(await check({ ...asked, only: ['named'] }))).toEqual([['named', 'note', 1]])
  expect(short(await check({ ...asked, skip: ['named'], limits: { large: 1 } }))).toEqual([
    ['large', 'failed', 2, 1],
  ])
  const enough = await check({ ...asked, skip: ['named'], limits: { large: 2 } })
  expect([short(enough), enough.checks[0]?.expected]).toEqual([
    [['large', 'passed', 2, 2]],
    'at most 2 findings',
  ])
  await expect(check({ ...asked, only: ['larg'] })).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringMatching(/^Cannot check rule "larg": there is none, expected some of .*large/),
  })
})

test('since a time only what is newly broken fails', async () => {
  const lake = await twoLoads()
  const asked = { lake, data: false, rules: RULES }
  // The first snapshot is the oldest: of an earlier time it counts.
  expect(short(await check({ ...asked, since: '1h' }))).toEqual([
    ['large', 'failed', 1],
    ['named', 'passed', 0],
  ])
  const later = () => new Date(Date.now() + 24 * 3_600_000)
  expect(await check({ ...asked, since: '23h', now: later })).toMatchObject({
    ...{ failed: 0, findings: [] },
    checks: [{ name: 'large', status: 'passed', value: 0 }, { name: 'named' }],
  })
  await expect(check({ ...asked, since: 'yesterday' })).rejects.toMatchObject({ code: 'USAGE' })
})
