import { expect, test } from 'vitest'
import type { CommittedPartition } from '../../../src/core/partition.ts'
import { numberCompacted, numberLoaded, versionProblem } from '../../../src/manifest/form/version-numbers.ts'

const partitions = (count: number): readonly Omit<CommittedPartition, 'version'>[] =>
  Array.from({ length: count }, (_, at) => ({ id: `${at}` }) as CommittedPartition)

const versionsIn = (numbered: { readonly partitions: readonly CommittedPartition[] }) =>
  numbered.partitions.map(({ version }) => version)

const NONE = { partitions: [], files: [] }

test('loads are numbered in the order of their commits, and none without a partition takes a number', () => {
  const first = numberLoaded(null, { ...NONE, partitions: partitions(3) })
  expect(versionsIn(first)).toEqual([1, 2, 3])
  const empty = numberLoaded(first, NONE)
  expect(empty.nextVersion).toBe(first.nextVersion)
  const second = numberLoaded(empty, { ...NONE, partitions: partitions(2) })
  expect(versionsIn(second)).toEqual([first.nextVersion, first.nextVersion + 1])
})

test('a compaction counts as later than what it merges, and as earlier than what was committed meanwhile', () => {
  const merged = numberLoaded(null, { ...NONE, partitions: partitions(3) })
  const later = numberLoaded(merged, { ...NONE, partitions: partitions(2) })
  const latest = numberLoaded(later, { ...NONE, partitions: partitions(1) })
  const compacted = numberCompacted(
    latest,
    { ...NONE, partitions: partitions(3) },
    { ...NONE, partitions: [...later.partitions, ...latest.partitions] },
  )
  const order = [merged, compacted, later, latest].flatMap(versionsIn)
  expect(order).toEqual(order.toSorted((a, b) => a - b))
  expect(new Set(order).size).toBe(9)
})

test('of compactions that follow each other no two give the same number', () => {
  let newest = numberLoaded(null, { ...NONE, partitions: partitions(3) })
  const given = new Set(versionsIn(newest))
  for (let count = 1; count < 20; count += 1) {
    newest = numberCompacted(newest, { ...NONE, partitions: partitions(3) }, NONE)
    for (const version of versionsIn(newest)) {
      expect(given).not.toContain(version)
      given.add(version)
    }
  }
  expect(versionsIn(numberLoaded(newest, { ...NONE, partitions: partitions(1) }))[0]).toBeGreaterThan(
    Math.max(...[...given]),
  )
  expect(() => numberCompacted(newest, { ...NONE, partitions: partitions(5) }, NONE)).toThrow(RangeError)
})

test('versions that do not rise are found', () => {
  expect(versionProblem([{ version: 1 }, { version: 5 }])).toBeNull()
  expect(versionProblem([{ version: 0 }])).toBe('version 0 stands behind version 0')
  expect(versionProblem([{ version: 5 }, { version: 5 }])).toBe('version 5 stands behind version 5')
})
