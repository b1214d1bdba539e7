/** Which partitions a merge puts together. */

import { expect, test } from 'vitest'
import { planMerge } from '../../src/compact/plan-compaction.ts'
import type { CommittedPartition, Snapshot } from '../../src/core/partition.ts'

/** A partition of companies with so many rows; `listing`: it says who has left. */
const partition = (rows: number, at: number, listing = false): CommittedPartition =>
  ({
    ...{ id: `p${at}`, run: `r${at}`, content: 'companies', version: at + 1, source: { kind: 'file' } },
    files: [{ table: listing ? 'listings' : 'companies', path: `${at}`, rows, bytes: 1, sha256: '' }],
  }) as unknown as CommittedPartition

const plan = (partitions: readonly CommittedPartition[]) =>
  planMerge({ partitions, versions: [], files: [] } as unknown as Snapshot)

/** How many of the newest partitions are merged. */
const merged = (rows: readonly number[]): number =>
  plan(rows.map((one, at) => partition(one, at))).contents[0]?.partitions.length ?? 0

test('up to twelve partitions of a content stand as they are, whatever their sizes', () => {
  expect(merged(Array.from({ length: 12 }, () => 5))).toBe(0)
  expect(plan([]).compact).toBe(true)
})

test('the newest ones are merged, as few as suffice and all that are not larger than those behind them', () => {
  const base = 1000
  expect(merged([base, ...Array.from({ length: 12 }, () => 5)])).toBe(12)
  expect(merged([base, 60, ...Array.from({ length: 11 }, () => 5)])).toBe(11)
  expect(merged([base, 90, 80, 70, 60, 50, 40, 30, 20, 10, 9, 2, 1])).toBe(2)
})

test('all are merged once those beside the largest have half of its rows', () => {
  const { contents } = plan(
    [1000, 400, ...Array.from({ length: 11 }, () => 10)].map((one, at) => partition(one, at)),
  )
  expect(contents[0]).toMatchObject({ fromVersion: 0, partitions: { length: 13 } })
  const some = plan([1000, 380, ...Array.from({ length: 11 }, () => 10)].map((one, at) => partition(one, at)))
  expect(some.contents[0]).toMatchObject({ fromVersion: 3, partitions: { length: 11 } })
})

test('listings are counted by themselves, and merged with the records between them', () => {
  const nights = Array.from({ length: 13 }, (_, at) => partition(1, at + 1, true))
  expect(plan([partition(1000, 0), ...nights.slice(0, 12)]).compact).toBe(true)
  expect(plan([partition(1000, 0), ...nights]).contents[0]?.partitions).toHaveLength(13)
})

test('what a merge has made stays together: its listings are never merged without its records', () => {
  const made = [partition(400, 1), partition(5, 2, true)].map((one, at) => ({
    ...{ ...one, run: 'merge', source: { ...one.source, kind: at === 0 ? 'compaction' : 'listing' } },
  })) as CommittedPartition[]
  const nights = Array.from({ length: 11 }, (_, at) => partition(10, at + 3))
  expect(plan([partition(10_000, 0), ...made, ...nights]).contents[0]).toMatchObject({
    ...{ fromVersion: 4, partitions: { length: 11 } },
  })
  // Of loads a listing goes without the records of its run.
  const loaded = made.map((one) => ({ ...one, source: { ...one.source, kind: 'pull' } })) as never
  expect(plan([partition(10_000, 0), ...loaded, ...nights]).contents[0]?.partitions).toHaveLength(12)
})

/** Rows written for each row loaded, over nights of 0.5 %; and the most partitions. */
const year = (nights: number) => {
  let [parts, written, most] = [[1000], 0, 0]
  for (let night = 0; night < nights; night += 1) {
    parts.push(5)
    written += 5
    const count = merged(parts)
    if (count > 0) {
      const rows = parts.slice(-count).reduce((sum, one) => sum + one, 0)
      // Of all of them as many are left as there were: the others are superseded.
      const left = count === parts.length ? 1000 : rows
      parts = [...parts.slice(0, -count), left]
      written += left
    }
    most = Math.max(most, parts.length)
  }
  return { most, ratio: written / (nights * 5) }
}

test('nights of 0.5 % leave at most twelve partitions, and write each row less than six times', () => {
  for (const nights of [365, 900]) {
    const { most, ratio } = year(nights)
    expect(most).toBeLessThanOrEqual(12)
    expect(ratio).toBeLessThan(5)
    expect(ratio).toBeGreaterThan(3)
  }
})
