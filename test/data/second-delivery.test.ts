import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { check } from '../../src/jobs/check.ts'
import { diff } from '../../src/jobs/diff.ts'
import { query } from '../../src/jobs/query.ts'
import { sharedLake } from '../support/lakes.ts'

let folder: string
let lake: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  lake = await sharedLake('deliveries')
}, 120_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

test('the rules on the data find nothing wrong in the sample, nor in its second delivery', async () => {
  const { failed, checks, findings } = await check({ lake })
  expect([failed, findings.filter(({ severity }) => severity === 'error')]).toEqual([0, []])
  expect(checks.length).toBeGreaterThan(7)
})

test('the second delivery has companies that are new, restated, renamed and dissolved', async () => {
  const { rows, ...summary } = await diff({ lake })
  expect(summary).toMatchObject({ companies: { new: 12, changed: 47, gone: 0 } })
  const kinds = new Set(rows.map(({ kind, change }) => `${kind} ${change}`))
  for (const kind of ['company new', 'relations changed', 'restatement changed', 'restatement withdrawn'])
    expect(kinds).toContain(kind)
  const sql = 'SELECT column_name, count(*) AS companies FROM company_changes GROUP BY 1 ORDER BY 1'
  const changed = new Map((await query({ lake, sql })).map((row) => [row.column_name, Number(row.companies)]))
  for (const column of ['company_name', 'operational_status_name', 'last_fiscal_year_end'])
    expect(changed.get(column), column).toBeGreaterThan(3)
})
