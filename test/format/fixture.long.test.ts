/**
 * The lake of the first release, `test/fixtures/lake`: what later releases have to read, load into, verify, publish, compact and
 * forget from. Neither it nor its answers are ever made again.
 */

import { existsSync } from 'node:fs'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { check, compact, convert, diff, forget, publish, query, records, verify } from '../../src/index.ts'
import { readPage } from '../support/page.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { answerOf, answersOf, TABLES, type TableAnswer } from './lake-answers.ts'
import { readOutside } from './outside-reader.ts'

const FIXTURE = fileURLToPath(new URL('../fixtures/lake', import.meta.url))
const ANSWERS: Readonly<Record<string, TableAnswer>> = JSON.parse(await readFile(`${FIXTURE}.json`, 'utf8'))

/** Git keeps no empty folder and no mode: neither is part of the format. */
const copied = async (): Promise<{ readonly lake: string; readonly folder: string }> => {
  const folder = await temporaryFolder()
  const lake = join(folder, 'lake')
  await cp(FIXTURE, lake, { recursive: true })
  return { lake, folder }
}

const problemsOf = async (lake: string): Promise<readonly unknown[]> => (await verify({ lake })).problems

test('the lake has every table, several versions, a listing, quarantine, a compaction, a forget and a projection', async () => {
  for (const [name, { rows }] of Object.entries(ANSWERS)) expect([name, rows > 0]).toEqual([name, true])
  expect(ANSWERS.companies_history?.rows).toBeGreaterThan(Number(ANSWERS.companies_all?.rows))
  expect(ANSWERS.companies_all?.rows).toBeGreaterThan(Number(ANSWERS.companies?.rows))
  const root = JSON.parse(await readFile(join(FIXTURE, '_manifest/00000012.json'), 'utf8'))
  for (const name of ['forgotten', 'refusals', 'taken', 'merged', 'pulls', 'versions'])
    expect([name, Object.keys(root[name]).length > 0]).toEqual([name, true])
  expect(existsSync(join(FIXTURE, 'published/delta/companies/_delta_log'))).toBe(true)
})

test('an outsider who reads it by the page of the format sees the same rows', async () => {
  expect(readPage('docs/reference/format.md')).toContain('test/format/outside-reader.ts')
  const tables = await readOutside(FIXTURE)
  expect([...tables.keys()].sort()).toEqual([...TABLES].sort())
  for (const [table, rows] of tables) expect([table, answerOf(rows)]).toEqual([table, ANSWERS[table]])
})

test('it is read and proven as it was made', async () => {
  const { lake } = await copied()
  expect(await problemsOf(lake)).toEqual([])
  expect(await answersOf(lake)).toEqual(ANSWERS)
  const found = await Array.fromAsync(records({ lake, content: 'companies' }))
  expect(found.length).toBe(ANSWERS.companies?.rows)
})

const line = (id: number, sales: number): string =>
  JSON.stringify({
    BasicDetails: { InternalId: id, CompanyName: 'Again', CountryCode: 'SE' },
    Financials: { ProfitAndLoss: { NetSales: { 2024: sales } } },
  })

test('it is loaded into, compared, published, compacted and forgotten from, and stays whole', async () => {
  const { lake, folder } = await copied()
  const file = join(folder, 'more.jsonl')
  // One that it has, one that it has forgotten and refuses, one that is new.
  await writeFile(file, `${line(900_001, 7)}\n${line(900_003, 1)}\n${line(900_099, 9)}\n`)
  const loaded = await convert({ from: [file], lake })
  expect([loaded.snapshot, loaded.filtered]).toEqual([13, 1])
  const changes = await diff({ lake })
  expect([changes.companies.new, changes.companies.changed]).toEqual([1, 1])
  await publish({ lake, formats: ['delta', 'iceberg'] })
  const before = await answersOf(lake)
  await compact({ lake })
  const after = await answersOf(lake)
  for (const table of TABLES) expect([table, after[table]]).toEqual([table, before[table]])
  await forget({ lake, companies: [900_001] })
  const [row] = await query({
    lake,
    sql: 'SELECT count(*) AS n FROM companies_all WHERE internal_id = 900001',
  })
  expect(Number(row?.n)).toBe(0)
  await publish({ lake, formats: ['delta', 'iceberg'] })
  expect((await check({ lake, data: false, minCompanies: 1 })).failed).toBe(0)
  expect(await problemsOf(lake)).toEqual([])
})
