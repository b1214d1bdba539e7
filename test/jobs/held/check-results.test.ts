/** The results of checks of loads that are checked before they are shown. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import { compact } from '../../../src/jobs/compact.ts'
import { convert } from '../../../src/jobs/convert.ts'
import { forget } from '../../../src/jobs/forget.ts'
import { gc } from '../../../src/jobs/gc.ts'
import { query } from '../../../src/jobs/query.ts'
import { release } from '../../../src/jobs/release.ts'
import { report } from '../../../src/jobs/report.ts'
import { verify } from '../../../src/jobs/verify.ts'
import { inCatalog } from '../../manifest/ducklake/in-catalog.ts'
import { sectionsOf } from '../../report/read-report.ts'
import { companyLine, openBench } from '../../run/batch-bench.ts'
import { missingDuckLake } from '../../support/ducklake.ts'
import { needs } from '../../support/needs.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** Ten companies with two figures each. */
const lines = (scale: number, day: number, from = 1): string[] =>
  Array.from({ length: 10 }, (_, at) =>
    companyLine(
      from + at,
      { Financials: { ProfitAndLoss: { NetSales: { 2023: scale, 2024: 2 * scale } } } },
      day,
    ),
  )

const asked = {
  rules: { small: 'SELECT internal_id FROM financials WHERE value > 100' },
  data: false,
  minCompanies: 5,
}

test('results of checks are kept, through compaction, gc and forget, in every view of the lake', async (context: TestContext) => {
  const { folder, lake, write } = openBench(await temporaryFolder())
  const load = async (name: string, content: readonly string[], check?: typeof asked) => {
    await write(name, content)
    return convert({ from: join(folder, name), lake, check })
  }
  await load('first.jsonl', lines(1, 1))
  await load('second.jsonl', lines(1, 2, 11), asked)
  await expect(load('large.jsonl', lines(1000, 3), asked)).rejects.toMatchObject({ code: 'LOAD_HELD' })
  await release({ lake, check: asked })
  await load('third.jsonl', lines(1, 4, 21), asked)
  await compact({ lake })
  await gc({ lake, keep: 1 })
  const sql =
    'SELECT snapshot, rule, status, value, value_limit, keys::VARCHAR AS keys FROM check_results ORDER BY snapshot, rule'
  const keptWith = (keys: string) => [
    { snapshot: 2, rule: 'companies', status: 'passed', value: 20, value_limit: 5, keys: null },
    { snapshot: 2, rule: 'small', status: 'passed', value: 0, value_limit: null, keys: null },
    { snapshot: 3, rule: 'companies', status: 'passed', value: 20, value_limit: 5, keys: null },
    { snapshot: 3, rule: 'small', status: 'failed', value: 20, value_limit: null, keys },
    { snapshot: 4, rule: 'companies', status: 'passed', value: 30, value_limit: 5, keys: null },
    { snapshot: 4, rule: 'small', status: 'failed', value: 20, value_limit: null, keys },
  ]
  expect(await query({ lake, sql })).toEqual(keptWith('[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]'))
  await forget({ lake, companies: [2, 9] })
  const kept = keptWith('[1, 3, 4, 5, 6, 7, 8, 10]')
  expect(await query({ lake, sql })).toEqual(kept)
  const to = join(folder, 'report.html')
  await report({ lake, to })
  const shown = sectionsOf(await readFile(to, 'utf8')).find(({ id }) => id === 'check-nights')
  expect(shown?.rows.map(([rule, , status, value]) => [rule, status, value]).sort()).toEqual([
    ['companies', 'passed', '30'],
    ['small', 'failed', '20'],
  ])
  needs(context, "DuckDB's extension ducklake", missingDuckLake())
  await inCatalog(lake, async (ask) => expect(await ask(sql)).toEqual(kept))
  expect((await verify({ lake })).problems).toEqual([])
})

test('keys are the ids of own rules alone, at most 100, and go from a held load with whom they name', async () => {
  const { folder, lake, write } = openBench(await temporaryFolder())
  await write(
    'many.jsonl',
    Array.from({ length: 120 }, (_, at) => companyLine(1 + at)),
  )
  const check = {
    data: false,
    rules: {
      all: 'SELECT country_code, internal_id, internal_id AS company_id FROM companies',
      by_country: 'SELECT country_code, count(*) AS companies FROM companies GROUP BY ALL',
      notes: "SELECT internal_id, 'note' AS severity FROM companies",
    },
  }
  await expect(convert({ from: join(folder, 'many.jsonl'), lake, check })).rejects.toMatchObject({
    code: 'LOAD_HELD',
  })
  await release({ lake })
  await write(
    'more.jsonl',
    Array.from({ length: 50 }, (_, at) => companyLine(201 + at)),
  )
  await expect(convert({ from: join(folder, 'more.jsonl'), lake, check })).rejects.toMatchObject({
    code: 'LOAD_HELD',
  })
  const sql =
    'SELECT rule, value, len(keys)::INTEGER AS keys, 7 IN (SELECT unnest(keys)) AS has_7 FROM check_results WHERE snapshot >= 1 ORDER BY ALL'
  const rows = (all: object) => [
    { rule: 'all', value: 120, ...all },
    { rule: 'by_country', value: 1, keys: null, has_7: false },
    { rule: 'notes', value: 120, keys: null, has_7: false },
  ]
  expect(await query({ lake, sql })).toEqual(rows({ keys: 100, has_7: true }))
  await forget({ lake, companies: [7] })
  expect(await query({ lake, sql })).toEqual(rows({ keys: 99, has_7: false }))
  await release({ lake })
  expect((await query({ lake, sql })).map(({ has_7 }) => has_7)).toEqual(Array(6).fill(false))
})
