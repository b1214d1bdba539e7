/** A load that is held back has the forgotten too: it is written again, stays held back, and is released without them. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { convert } from '../../src/jobs/convert.ts'
import { diff } from '../../src/jobs/diff.ts'
import { discard } from '../../src/jobs/discard.ts'
import { forget } from '../../src/jobs/forget.ts'
import { readStatus } from '../../src/jobs/lake-status.ts'
import { query } from '../../src/jobs/query.ts'
import { release } from '../../src/jobs/release.ts'
import { commitRun, planRun, workRun } from '../../src/jobs/run-steps.ts'
import type { LoadCheck } from '../../src/options/interfaces.ts'
import { filesOf } from '../manifest/damage.ts'
import { type Bench, companyLine, hashLake, openBench } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  badLines,
  badRelations,
  COMPANIES,
  company,
  companyMarks,
  escaped,
  marksBelow,
  numbers,
  personMarks,
  relations,
} from './planted-lake.ts'

const HELD = { code: 'LOAD_HELD' }
/** Finds something in whatever is loaded. */
const ALL: LoadCheck = {
  data: false,
  rules: { all: 'SELECT internal_id, company_name FROM companies_history' },
}
const SECOND = ['companies-b', 'relations-b']
const gone = [...companyMarks(2), ...personMarks(902)]

/** A lake, and files of a second load that has companies 1 to 3 once more, and lines that nobody can load. */
const planted = async (): Promise<Bench> => {
  const bench = openBench(await temporaryFolder())
  const relationsOf = (id: number): string => escaped(relations(id, COMPANIES))
  await bench.write(
    'companies-a',
    numbers(COMPANIES).map((id) => escaped(company(id))),
  )
  await bench.write('relations-a', numbers(COMPANIES).map(relationsOf))
  await bench.write('companies-b', [
    ...numbers(3).map((id) => escaped(company(id, 2))),
    ...badLines(2, 902),
    ...badLines(3, 903),
  ])
  await bench.write('relations-b', [...numbers(3).map(relationsOf), badRelations(4, 902)])
  await bench.run(['companies-a', 'relations-a'])
  return bench
}

const load = ({ lake, folder }: Bench, names: readonly string[], check?: LoadCheck) =>
  convert({ from: names.map((name) => join(folder, name)), lake, maxQuarantined: '90%', check })

const COMPANIES_HELD = 'SELECT internal_id::INTEGER AS id FROM companies_history ORDER BY ALL'

test('no byte of a lake with a held load has them; released it is as if it had been shown before', async () => {
  const bench = await planted()
  const { lake } = bench
  await expect(load(bench, SECOND, ALL)).rejects.toMatchObject(HELD)
  const { run } = (await readStatus(lake)).held ?? {}
  expect([...(await marksBelow(lake, gone))].sort()).toEqual([...gone].sort())
  expect(await forget({ lake, companies: [2], persons: [902] })).toMatchObject({
    ...{ kind: 'forgotten', snapshot: 2, held: 'kept', runs: [] },
    files: expect.arrayContaining([{ kind: 'companies', files: 2, rows: 2 }]),
  })
  expect([...(await marksBelow(lake, gone))]).toEqual([])
  const { held, unfinished } = await readStatus(lake)
  expect(held).toMatchObject({ run, snapshot: 3, checks: [{ name: 'all' }] })
  expect(unfinished).toMatchObject([{ run, state: 'gone' }])
  expect(await query({ lake, held: true, sql: COMPANIES_HELD })).toEqual(
    [1, 1, 3, 3, 4, 5, 6].map((id) => ({ id })),
  )
  expect((await diff({ lake, held: true })).companies).toMatchObject({ changed: 2 })
  expect((await bench.verify()).problems).toEqual([])
  await expect(load(bench, SECOND)).rejects.toMatchObject(HELD)
  expect(await release({ lake })).toMatchObject({ snapshot: 3 })
  expect([...(await marksBelow(lake, gone))]).toEqual([])
  const other = await planted()
  await load(other, SECOND)
  await forget({ lake: other.lake, companies: [2], persons: [902] })
  // The names of files are others.
  const hashed = ({ quarantine: _, ...tables }: Readonly<Record<string, string>>) => tables
  expect(hashed(await hashLake(lake))).toEqual(hashed(await hashLake(other.lake)))
  const lines = 'SELECT content, code, raw FROM quarantine ORDER BY ALL'
  expect(await query({ lake, sql: lines })).toEqual(await query({ lake: other.lake, sql: lines }))
  await bench.gc()
  expect(await bench.verify()).toMatchObject({ problems: [], notes: [] })
})

test('a company that only the held load has is forgotten, again and again; discarded it leaves nothing', async () => {
  const bench = await planted()
  const { lake } = bench
  await bench.write(
    'more',
    [7, 8, 9].map((id) => escaped(company(id, 3))),
  )
  await expect(load(bench, ['more'], ALL)).rejects.toMatchObject(HELD)
  expect(await forget({ lake, companies: [7] })).toMatchObject({ unknown: 0, held: 'kept' })
  expect(await forget({ lake, companies: [8] })).toMatchObject({ unknown: 0, held: 'kept' })
  expect([...(await marksBelow(lake, [7, 8].flatMap(companyMarks)))]).toEqual([])
  expect(await query({ lake, held: true, sql: COMPANIES_HELD })).toEqual([
    ...numbers(COMPANIES).map((id) => ({ id })),
    { id: 9 },
  ])
  await expect(forget({ lake, companies: [77] })).rejects.toMatchObject({ code: 'IDS_UNKNOWN' })
  await forget({ lake, companies: [9] })
  await discard({ lake })
  expect((await filesOf(lake)).filter((path) => /_runs\/2|held/.test(path))).toEqual([])
  await bench.gc()
  expect(await bench.verify()).toMatchObject({ problems: [], notes: [] })
})

test('a dry run counts its rows and changes nothing', async () => {
  const bench = await planted()
  const { lake } = bench
  await expect(load(bench, SECOND, ALL)).rejects.toMatchObject(HELD)
  const before = (await filesOf(lake)).sort()
  expect(await forget({ lake, companies: [2], dryRun: true })).toMatchObject({
    ...{ kind: 'planned', runs: [] },
    files: expect.arrayContaining([{ kind: 'companies', files: 2, rows: 2 }]),
  })
  expect((await filesOf(lake)).sort()).toEqual(before)
  expect(await release({ lake })).toMatchObject({ snapshot: 2 })
})

test('a load whose file is named after them is given up, and named', async () => {
  const bench = await planted()
  const { lake, folder } = bench
  await bench.write('AB 1234567.jsonl', [companyLine(1_234_567), companyLine(20)])
  await expect(load(bench, ['AB 1234567.jsonl'], ALL)).rejects.toMatchObject(HELD)
  const { run = '' } = (await readStatus(lake)).held ?? {}
  expect(await forget({ lake, companies: [1_234_567] })).toMatchObject({ held: 'removed', runs: [run] })
  expect((await filesOf(lake)).filter((path) => path.includes(run))).toEqual([])
  expect((await readStatus(lake)).held).toBeUndefined()
  // Its command loads it again, without them.
  await expect(load(bench, ['AB 1234567.jsonl'], ALL)).rejects.toMatchObject(HELD)
  await discard({ lake })
  await bench.write('AB 7654321.jsonl', [companyLine(7_654_321)])
  await load(bench, ['AB 7654321.jsonl'])
  await forget({ lake, companies: [7_654_321] })
  expect((await readStatus(lake)).discarded).toMatchObject([{ source: join(folder, 'AB 1234567.jsonl') }])
  await forget({ lake, companies: [1_234_567] }).catch(() => undefined)
})

test('a run of many machines is written again alike', async () => {
  const bench = await planted()
  const { lake, folder } = bench
  const from = SECOND.map((name) => join(folder, name))
  const { run, units } = await planRun({ load: 'convert', from, lake })
  await workRun({ lake, run: run ?? '', units: Array.from({ length: units ?? 1 }, (_, at) => at) })
  const commit = () => commitRun({ lake, run: run ?? '', maxQuarantined: '90%', check: ALL })
  await expect(commit()).rejects.toMatchObject(HELD)
  expect(await forget({ lake, companies: [2], persons: [902] })).toMatchObject({ held: 'kept' })
  expect([...(await marksBelow(lake, gone))]).toEqual([])
  expect(await release({ lake })).toMatchObject({ snapshot: 3 })
  expect(await query({ lake, sql: COMPANIES_HELD })).toEqual([1, 1, 3, 3, 4, 5, 6].map((id) => ({ id })))
  await bench.gc()
  expect(await bench.verify()).toMatchObject({ problems: [], notes: [] })
})
