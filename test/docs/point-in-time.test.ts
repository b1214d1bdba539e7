/** The questions of docs/point-in-time.md: their answers from query and lake.duckdb, and from the records. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { convert } from '../../src/jobs/convert.ts'
import { query } from '../../src/jobs/query.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { cellText, questions } from '../analysis/cookbook.ts'
import { type Figure, figuresOf } from '../analysis/expected.ts'
import { type SampleRecords, sampleRecords } from '../analysis/sample-lake.ts'

const ALL = questions('docs/point-in-time.md')
const DATA = join(import.meta.dirname, '../../data')

let folder: string
let lake: string
let records: SampleRecords
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  lake = join(folder, 'lake')
  await convert({ from: join(DATA, 'sample'), lake, asOf: '2026-01-31' })
  await convert({ from: join(DATA, 'sample-second'), lake, asOf: '2026-06-30' })
  records = await sampleRecords()
})
afterAll(() => rm(folder, { recursive: true }))

test('the page answers three questions, from query and from lake.duckdb', async () => {
  expect(ALL).toHaveLength(3)
  const engine = await Engine.open({ memoryBytes: 512 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    await session.run(`ATTACH '${join(lake, 'lake.duckdb')}' AS lake (READ_ONLY); USE lake`)
    for (const { title, sql, columns, rows } of ALL) {
      const found = await query({ lake, sql })
      expect([title, Object.keys(found[0] ?? {})]).toEqual([title, columns])
      for (const answer of [found, await session.rows(sql)])
        expect([title, answer.map((row) => Object.values(row).map(cellText))]).toEqual([title, rows])
    }
  } finally {
    engine.close()
  }
})

/** Values to twelve digits: one way to apply a scale rounds otherwise than another. */
const digits = (value: unknown): string =>
  typeof value === 'number' ? String(Number(value.toPrecision(12))) : cellText(value)

test('the back-test and the report of March are those of the first delivery', () => {
  const [first, now] = [figuresOf(records.companies), figuresOf(records.current)]
  const sales = (figures: readonly Figure[]) =>
    figures.filter(({ item, year, isPreferred }) => item === 'NetSales' && year === 2024 && isPreferred)
  const largest = sales(first)
    .filter(({ country, currency }) => country === 'US' && currency === 'USD')
    .toSorted((a, b) => b.value - a.value)
    .slice(0, 3)
  const [backTest, reported] = ALL
  expect(backTest?.rows).toEqual(
    largest.map(({ id, value }) => [id, value, sales(now).find((one) => one.id === id)?.value].map(digits)),
  )
  const then = sales(first).find(({ id }) => id === 1000781)
  expect(reported?.rows[0]?.slice(3)).toEqual([digits(then?.value), 'USD'])
  expect(then?.value).not.toBe(sales(now).find(({ id }) => id === 1000781)?.value)
})

const keyOf = ({ id, consolidation, category, item, year }: Figure): string =>
  [id, consolidation, category, item, year].join(' ')
const preferred = (figures: readonly Figure[]): unknown[][] =>
  figures
    .filter(({ isPreferred }) => isPreferred)
    .map(({ id, item, category, year, value }) => [id, category, item, year, value])

const sorted = (rows: readonly (readonly unknown[])[]): string[] =>
  rows.map((row) => row.map(digits).join(' ')).sort()

test.each([
  ['2026-01-30', 'nothing'],
  ['2026-01-31', 'first'],
  ['2026-06-29', 'first'],
  ['2026-06-30', 'both'],
] as const)('all figures as of %s are those of the records: %s', async (day, what) => {
  const held = { nothing: [], first: records.companies, both: records.current }[what]
  const found = await query({
    lake,
    sql: `SELECT internal_id, category, line_item, fiscal_year, value FROM figures_as_of('${day}')`,
  })
  expect(sorted(found.map((row) => Object.values(row)))).toEqual(sorted(preferred(figuresOf(held))))
})

test('first_reported has each figure of both deliveries once, its first value and its newest one', async () => {
  const [first, second] = [figuresOf(records.companies), figuresOf(records.second.companies)]
  const newest = new Map([...first, ...second].map((one) => [keyOf(one), one.value]))
  const expected = [...new Map([...second, ...first].map((one) => [keyOf(one), one.value]))].map(
    ([key, value]) => [key, value, newest.get(key)],
  )
  const found = await query({
    lake,
    sql: `SELECT concat_ws(' ', internal_id, consolidation, category, line_item, fiscal_year) AS key, first_value, newest_value FROM first_reported`,
  })
  expect(sorted(found.map((row) => Object.values(row)))).toEqual(sorted(expected))
})
