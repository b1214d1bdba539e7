import { expect, test } from 'vitest'
import type { CommittedPartition, Snapshot } from '../../../../src/core/partition.ts'
import {
  type EarlierIndex,
  segmentName,
  usableSegments,
} from '../../../../src/server/serving-index/build/plan-segments.ts'

const EMBEDDER = { name: 'length', dimensions: 2 }

const partition = (id: string, records: number, sha256 = id): CommittedPartition => ({
  id,
  run: id,
  content: 'companies',
  source: { kind: 'stdin', name: id, block: 0, firstLine: 1, offset: 0, last: true, bytes: 1, sha256: id },
  range: { field: 'ContentUpdatedAt', requested: null, observed: null },
  counts: { lines: records, records, quarantined: 0, rows: {} },
  files: [{ table: 'companies', path: `companies/load=${id}/0.parquet`, rows: records, bytes: 1, sha256 }],
  drift: [],
  ...{ committed: { snapshot: 1, time: '' }, version: 1, asOf: '' },
})
const snapshotOf = (partitions: readonly CommittedPartition[]): Snapshot => ({
  snapshot: partitions.length,
  parent: null,
  run: 'r',
  pipeline: 'convert',
  tool: 't',
  time: '2025-01-01T00:00:00Z',
  partitions,
  files: [],
  versions: [],
})

/** The index of a snapshot that has these numbers of partitions in its segments. @param current records that count */
const indexOf = (snapshot: Snapshot, lengths: readonly number[], current?: number): EarlierIndex => {
  let from = 0
  const segments = lengths.map((length) => {
    const partitions = snapshot.partitions.slice(from, from + length)
    from += length
    const companies = partitions.reduce((sum, { counts }) => sum + counts.records, 0)
    return {
      name: segmentName(partitions, EMBEDDER),
      partitions: length,
      records: { companies, relations: 0 },
    }
  })
  const companies = current ?? segments.reduce((sum, { records }) => sum + records.companies, 0)
  return {
    folder: `f${snapshot.snapshot}`,
    description: {
      version: 4,
      contract: 'c',
      snapshot: snapshot.snapshot,
      snapshotTime: '',
      snapshotAsOf: '',
      snapshotSha256: '',
      records: { companies, relations: 0 },
      segments,
      embedder: EMBEDDER,
    },
  }
}
const lengthsOf = (found: ReturnType<typeof usableSegments>): readonly number[] | undefined =>
  found?.segments.map(({ partitions }) => partitions)

const WHOLE = partition('whole', 1000)
const nights = (count: number): CommittedPartition[] =>
  Array.from({ length: count }, (_, at) => partition(`n${at}`, 10))

test('usableSegments gives those of the same partitions, up to the first that is another', () => {
  const before = snapshotOf([WHOLE, ...nights(3)])
  expect(lengthsOf(usableSegments([indexOf(before, [1, 2, 1])], snapshotOf([WHOLE, ...nights(3)])))).toEqual([
    1, 2, 1,
  ])
  const rewritten = snapshotOf([
    WHOLE,
    partition('n0', 10, 'other'),
    partition('n1', 10),
    partition('n2', 10),
  ])
  expect(lengthsOf(usableSegments([indexOf(before, [1, 2, 1])], rewritten))).toEqual([1])
  expect(usableSegments([indexOf(before, [4])], rewritten)).toBeNull()
  expect(usableSegments([], before)).toBeNull()
})

test('usableSegments takes the index of which the most can be used', () => {
  const [one, two] = [snapshotOf([WHOLE]), snapshotOf([WHOLE, ...nights(1)])]
  const found = usableSegments([indexOf(one, [1]), indexOf(two, [1, 1])], snapshotOf([WHOLE, ...nights(1)]))
  expect(found?.folder).toBe('f2')
})

test('usableSegments leaves ten segments of a hundred nights, and no night merges more than an eighth', () => {
  let index = indexOf(snapshotOf([WHOLE]), [1])
  let most = 0
  for (let night = 1; night <= 40; night++) {
    const snapshot = snapshotOf([WHOLE, ...nights(night)])
    const kept = lengthsOf(usableSegments([index], snapshot)) ?? []
    const used = kept.reduce((sum, length) => sum + length, 0)
    expect(used).toBeGreaterThan(0)
    const merged = night + 1 - used
    expect(merged * 10 * 8).toBeLessThanOrEqual(1000 + 10 * night)
    most = Math.max(most, kept.length + 1)
    index = indexOf(snapshot, [...kept, merged])
  }
  expect(most).toBeLessThanOrEqual(10)
})

test('usableSegments has all made anew when half as many records again are superseded', () => {
  const before = snapshotOf([WHOLE, ...nights(49)])
  const after = snapshotOf([WHOLE, ...nights(50)])
  expect(lengthsOf(usableSegments([indexOf(before, [1, 49], 1000)], after))).toEqual([1, 49])
  const [more, evenMore] = [snapshotOf([WHOLE, ...nights(55)]), snapshotOf([WHOLE, ...nights(56)])]
  expect(usableSegments([indexOf(more, [1, 55], 1000)], evenMore)).toBeNull()
})
