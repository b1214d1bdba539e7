import { expect, test } from 'vitest'
import { filesAtOnce, sortedAtOnce } from '../../src/compact/plan-compaction.ts'
import { LISTINGS, TABLES } from '../../src/lake/tables/tables.ts'

const MEBIBYTE = 1024 ** 2

const tableOf = (name: string) => {
  const table = [...TABLES, LISTINGS].find((one) => one.name === name)
  if (table === undefined) throw new TypeError(`no table "${name}"`)
  return table
}

/** How many rows of a table are sorted at once, where there are more of them. */
const rowsAtOnce = (name: string, mebibytes: number, threads = 2): number => {
  const sizes = { rows: 1e12, bytes: 4e12 }
  return sortedAtOnce({ engineBytes: mebibytes * MEBIBYTE, threads }, tableOf(name), sizes) / 4
}

test.each([
  // What DuckDB was seen to sort, and not to sort.
  ['financials', 150, 57e6],
  ['financials', 260, 173e6],
  ['companies', 200, 100_000],
  ['companies', 240, 300_000],
  ['companies', 300, 1_200_000],
])('of "%s" less is sorted at once in %i MiB than DuckDB has failed at', (name, mebibytes, failed) => {
  expect(rowsAtOnce(name, mebibytes)).toBeLessThan(failed)
  expect(rowsAtOnce(name, mebibytes)).toBeGreaterThan(failed / 20)
})

test('twice the memory sorts four times as many rows, and each further thread takes of it', () => {
  expect(rowsAtOnce('financials', 1200)).toBe(4 * rowsAtOnce('financials', 600))
  expect(rowsAtOnce('financials', 600, 4)).toBe(rowsAtOnce('financials', 300))
  expect(rowsAtOnce('financials', 600, 1)).toBe(rowsAtOnce('financials', 600))
})

test('what fits is not cut, also where nothing is known of its bytes', () => {
  const memory = { engineBytes: 624 * MEBIBYTE, threads: 2 }
  for (const { name } of TABLES)
    expect(sortedAtOnce(memory, tableOf(name), { rows: 1_000_000, bytes: 0 })).toBe(Number.POSITIVE_INFINITY)
})

test('the least memory sorts some thousand companies at once, as many as a load puts into a file', () => {
  expect(rowsAtOnce('companies', 100, 1)).toBeGreaterThan(2000)
})

test('of tables with many columns fewer files are read together', () => {
  expect([filesAtOnce(tableOf('companies')), filesAtOnce(tableOf('financials'))]).toEqual([140, 727])
})
