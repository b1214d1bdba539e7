/** A lake of the version before, whose values are products of doubles, in the hands of this one. */

import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { type DiffRows, openComparison } from '../../src/lake/diff/open-comparison.ts'
import { restoreRecords } from '../../src/load/restore/restore.ts'
import { readSnapshot } from '../../src/manifest/snapshots.ts'
import { canonicalAll } from '../load/same-record.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Bench, openBench } from './batch-bench.ts'

const FIXTURE = join(import.meta.dirname, '../fixtures/scaled-by-doubles')
const MEMORY_BYTES = 256 * 1024 ** 2

let lines: string[]
beforeAll(async () => {
  lines = (await readFile(join(FIXTURE, 'companies.jsonl'), 'utf8')).split('\n').filter((line) => line !== '')
})

const copied = async (): Promise<Bench> => {
  const folder = await temporaryFolder()
  await cp(join(FIXTURE, 'lake'), join(folder, 'lake'), { recursive: true })
  return openBench(folder)
}

const records = async ({ lake, snapshot }: Bench): Promise<string[]> => {
  const texts: string[] = []
  for await (const text of restoreRecords({ lake, snapshot: await snapshot(), memoryBytes: MEMORY_BYTES }))
    texts.push(text)
  return texts
}

const NET_SALES = `SELECT value FROM financials WHERE internal_id = 2 AND fiscal_year IN (2001, 2002, 2007, 2011)
  AND category = 'ProfitAndLoss' AND line_item = 'NetSales' ORDER BY fiscal_year`

/** Differences of the first snapshot and the newest. */
const compared = async ({ lake, snapshot }: Bench, which: DiffRows) => {
  const from = await readSnapshot(lake, 1)
  const diff = await openComparison({ lake, from, to: await snapshot(), memoryBytes: MEMORY_BYTES })
  onTestFinished(() => diff.close())
  const rows: (readonly unknown[])[] = []
  for await (const chunk of (await diff.rows(which)).rows) rows.push(...chunk)
  return { summary: diff.summary, rows }
}

test('a lake of the version before is sound, holds what it held, and gives every record back', async () => {
  const bench = await copied()
  expect((await bench.verify()).problems).toEqual([])
  expect(await bench.query(NET_SALES)).toEqual([
    [2_130_699_999.999_999_8],
    [700_000],
    [-17_299_999.999_999_996],
    [0.099_999_999_999_999_99],
  ])
  expect(canonicalAll(await records(bench), 'companies')).toEqual(canonicalAll(lines, 'companies'))
})

test('records of the version before that are loaded again have exact values and are no restatements', async () => {
  const bench = await copied()
  await bench.write('companies.jsonl', lines)
  await bench.run(['companies.jsonl'], { again: true })
  expect(await bench.query(NET_SALES)).toEqual([[2_130_700_000], [700_000], [-17_299_999.999_999_996], [0.1]])
  expect(canonicalAll(await records(bench), 'companies')).toEqual(canonicalAll(lines, 'companies'))
  const { summary, rows } = await compared(bench, 'restatements')
  expect(summary).toMatchObject({
    companies: { new: 0, changed: 0, gone: 0 },
    restatements: { changed: 0, added: 0, withdrawn: 0 },
  })
  expect(rows).toEqual([])
})

test('a figure of the version before that is reported anew is a restatement, however little it differs', async () => {
  const bench = await copied()
  const restated = lines.map((line) => line.replace('"2007":-17.299999999999997', '"2007":-17.3'))
  await bench.write('companies.jsonl', restated)
  await bench.run(['companies.jsonl'])
  const { summary, rows } = await compared(bench, 'restatements')
  expect(summary).toMatchObject({ companies: { changed: 5 }, restatements: { changed: 5, companies: 5 } })
  expect(rows.filter(([, id, , , category]) => id === 2 && category === 'ProfitAndLoss')).toMatchObject([
    [
      'changed',
      2,
      'SE',
      'Consolidated',
      'ProfitAndLoss',
      'NetSales',
      2007,
      -17_299_999.999_999_996,
      'EUR',
      -17_300_000,
      'EUR',
      'Company 2',
      0,
    ],
  ])
})

test('the same report in another scale is no restatement of the version before', async () => {
  const bench = await copied()
  const inMillions = (lines[1] ?? '').replaceAll('"2001":2130.7', '"2001":2130700')
  await bench.write('companies.jsonl', [
    inMillions.replace('Millions', 'Thousands').replaceAll(/"(20(?:0[2-9]|1\d))":("?[^,}]+"?)/g, '"$1":null'),
  ])
  await bench.run(['companies.jsonl'])
  const { rows } = await compared(bench, 'restatements')
  expect(
    rows.filter(([change, , , , category]) => change === 'changed' && category === 'ProfitAndLoss'),
  ).toEqual([])
})
