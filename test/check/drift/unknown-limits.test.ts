/** Records with many names that the contract does not know, and runs of many such records. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CheckOptions } from '../../../src/check/drift/check-options.ts'
import { MOST_LISTED } from '../../../src/check/drift/drift-log.ts'
import { RecordChecker } from '../../../src/check/record/check-record.ts'
import { Rejection } from '../../../src/check/scan/json-scan.ts'
import { enumNames, newSeenSets, type SeenSets } from '../../../src/rows/seen-sets.ts'
import { Workbench } from '../../load/loaded-lake.ts'

let bench: Workbench
beforeAll(async () => {
  bench = await Workbench.open()
})
afterAll(() => bench.close())

const names = (count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, at) => `Name ${from + at}`)
const objectOf = (keys: readonly string[], value: unknown): object =>
  Object.fromEntries(keys.map((key) => [key, value]))
const company = (parts: object, id = 1): object => ({ BasicDetails: { InternalId: id }, ...parts })

const check = (checker: RecordChecker, record: object): string => {
  const bytes = Buffer.from(JSON.stringify(record))
  try {
    return checker.check(bytes, 0, bytes.length).id
  } catch (error) {
    if (error instanceof Rejection) return error.code
    throw error
  }
}
const checkerOf = (seen: SeenSets = newSeenSets(), options: CheckOptions = {}): RecordChecker =>
  new RecordChecker('companies', seen, options)

const KINDS: readonly (readonly [string, (count: number) => object])[] = [
  ['line items', (count) => ({ Financials: { New: objectOf(names(count), { 2020: 1 }) } })],
  ['line items without a figure', (count) => ({ Financials: { New: objectOf(names(count), null) } })],
  ['categories without line items', (count) => ({ Financials: objectOf(names(count), {}) })],
  ['fields', (count) => objectOf(names(count), 1)],
  ['fields that are null', (count) => objectOf(names(count), null)],
  [
    'line items and fields together',
    (count) => ({
      Financials: { New: objectOf(names(Math.floor(count / 2)), { 2020: 1 }) },
      ...objectOf(names(Math.ceil(count / 2), 5000), 1),
    }),
  ],
]

test.each(KINDS)('check takes 1,000 unknown %s and refuses one more', (_, parts) => {
  expect(check(checkerOf(), company(parts(1000)))).toBe('1')
  expect(check(checkerOf(), company(parts(1001)))).toBe('TOO_MANY_UNKNOWN')
  expect(check(checkerOf(newSeenSets(), { maxUnknownPerRecord: 2000 }), company(parts(1001)))).toBe('1')
  expect(check(checkerOf(newSeenSets(), { maxUnknownPerRecord: 10 }), company(parts(11)))).toBe(
    'TOO_MANY_UNKNOWN',
  )
})

test('check counts a name once, in however many items of a list it stands', () => {
  const roles = Array.from({ length: 3000 }, () => ({ NewField: 1 }))
  const line = { InternalId: 1, Parents: roles }
  const checker = new RecordChecker('relations', newSeenSets())
  expect(check(checker, line)).toBe('1')
  expect(checker.takeDrift()).toEqual([{ kind: 'field', name: 'Parents[].NewField', records: 1 }])
})

test('names of a refused record join no set, and those of the next one are told apart', () => {
  const seen = newSeenSets()
  const [categories, lineItems] = [seen.categories.names.length, seen.lineItems.names.length]
  const checker = checkerOf(seen)
  const bad = company({
    Financials: { Bad: { A: {}, B: {} } },
    MetaData: { CurrentCurrencyCode: 'XXX' },
    Score: true,
  })
  expect(check(checker, bad)).toBe('NOT_A_NUMBER')
  expect(seen.currencies.names).toEqual([])
  expect([seen.categories.names.length, seen.lineItems.names.length]).toEqual([categories, lineItems])
  expect(check(checker, company({ Financials: { Good: { C: {}, D: {} } } }))).toBe('1')
  expect(checker.takeUnknownItems()).toEqual({
    items: [
      { category: 'Good', lineItem: 'C' },
      { category: 'Good', lineItem: 'D' },
    ],
    more: false,
  })
  expect(seen.lineItems.names.slice(lineItems)).toEqual(['C', 'D'])
})

test('check still sees a name twice that no set has room for', () => {
  const seen = newSeenSets()
  const checker = checkerOf(seen)
  for (let at = 0; at < 11; at++)
    check(checker, company({ Financials: { New: objectOf(names(1000, at * 1000), {}) } }))
  expect(enumNames(seen.lineItems)).toEqual([])
  const bytes = Buffer.from('{"BasicDetails":{"InternalId":1},"Financials":{"New":{"Other":{},"Other":{}}}}')
  expect(() => checker.check(bytes, 0, bytes.length)).toThrow(
    expect.objectContaining({ code: 'DUPLICATE_KEY', reason: 'Financials.New.Other has the same key twice' }),
  )
})

test('sets, drift and listed items stay bounded while every record brings 1,000 new names', () => {
  const seen = newSeenSets()
  const checker = checkerOf(seen, { maxUnknownNames: 100 })
  for (let at = 0; at < 40; at++) {
    const items = objectOf(names(990, at * 1000), { 2020: 1 })
    expect(check(checker, company({ Financials: { [`New ${at}`]: items } }))).toBe('1')
  }
  expect(seen.lineItems.names.length).toBe(10_000)
  expect(checker.takeUnknownItems()).toEqual({ items: [], more: true })
  const drift = checker.takeDrift()
  expect(drift).toHaveLength(101)
  expect(drift.at(-1)).toEqual({ kind: 'more', name: 'and 39,500 more', names: 39_500, records: 40 })
  expect(checker.takeDrift()).toEqual([])
})

test('long names fill the sets by their bytes, and are cut where drift writes them down', () => {
  const seen = newSeenSets()
  const checker = checkerOf(seen)
  for (let at = 0; at < 30; at++)
    check(checker, company({ Financials: { New: { [`${at}${'x'.repeat(100_000)}`]: { 2020: 1 } } } }))
  expect(seen.lineItems.names.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(1024 * 1024)
  expect(enumNames(seen.lineItems)).toEqual([])
  expect(checker.takeUnknownItems().more).toBe(true)
  expect(checker.takeDrift().every(({ name }) => name.length === 256 && name.endsWith('…'))).toBe(true)
})

test('takeUnknownItems lists a few, all where that is asked for', () => {
  const few = { Financials: { New: objectOf(names(MOST_LISTED.items), { 2020: 1 }) } }
  const many = { Financials: { New: objectOf(names(MOST_LISTED.items + 1), { 2020: 1 }) } }
  const checker = checkerOf()
  check(checker, company(few))
  expect(checker.takeUnknownItems()).toMatchObject({ items: { length: MOST_LISTED.items }, more: false })
  check(checker, company(many))
  expect(checker.takeUnknownItems()).toEqual({ items: [], more: true })
  checker.listAllItems(true)
  check(checker, company(many))
  expect(checker.takeUnknownItems()).toMatchObject({ items: { length: MOST_LISTED.items + 1 }, more: false })
})

test('load writes the same rows once there are more names than an ENUM holds', async () => {
  const lines = Array.from({ length: 13 }, (_, at) =>
    company(
      {
        MetaData: { FinancialFigureScale: 'Thousands' },
        Financials: {
          ProfitAndLoss: { NetSales: { 2020: 1 }, ...objectOf(names(900, at * 900), { 2020: 2 }) },
        },
      },
      at + 1,
    ),
  )
  const lake = await bench.load(
    { content: 'companies', lines: lines.slice(0, 6) },
    { content: 'companies', lines: lines.slice(6) },
  )
  const rows = await lake.rows('financials', 'internal_id, line_item, value')
  expect(rows).toHaveLength(13 * 901)
  expect(rows.filter(({ line_item }) => line_item === 'NetSales').map(({ value }) => value)).toEqual(
    Array.from({ length: 13 }, () => 1000),
  )
  expect(new Set(rows.map(({ line_item }) => line_item)).size).toBe(13 * 900 + 1)
  expect(lake.rejected).toEqual([])
})
