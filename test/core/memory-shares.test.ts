import { expect, test } from 'vitest'
import { DECODE_LIMITS } from '../../src/core/decode-limits.ts'
import {
  compactMemory,
  defaultMemory,
  defaultThreads,
  divideMemory,
  queryMemory,
  servingMemory,
  threadsFor,
} from '../../src/core/memory-shares.ts'

const MEBIBYTE = 1024 ** 2
const DEFAULT_BYTES = defaultMemory(16 * 1024 * MEBIBYTE)

test('the default memory is enough for every kind of work', () => {
  expect(divideMemory(DEFAULT_BYTES, 2, 2)).toEqual({
    ...{ engineBytes: 804 * MEBIBYTE - 10 * DECODE_LIMITS.blockBytes, checkThreads: 0 },
    blockBytes: DECODE_LIMITS.blockBytes,
  })
  expect(compactMemory(DEFAULT_BYTES, 2)).toBe(571 * MEBIBYTE)
  expect([queryMemory(DEFAULT_BYTES), servingMemory(DEFAULT_BYTES)]).toEqual([
    Math.floor((884 * MEBIBYTE) / 1.2),
    704 * MEBIBYTE,
  ])
})

test.each<[string, (mebibytes: number) => unknown, number]>([
  ['divideMemory', (mebibytes) => divideMemory(mebibytes * MEBIBYTE, 2, 2), 500],
  ['divideMemory for 8 threads', (mebibytes) => divideMemory(mebibytes * MEBIBYTE, 8, 16), 1404],
  ['divideMemory for a thread', (mebibytes) => divideMemory(mebibytes * MEBIBYTE, 1, 2), 372],
  ['compactMemory for 5 threads', (mebibytes) => compactMemory(mebibytes * MEBIBYTE, 5), 943],
  ['compactMemory', (mebibytes) => compactMemory(mebibytes * MEBIBYTE, 2), 600],
  ['queryMemory', (mebibytes) => queryMemory(mebibytes * MEBIBYTE), 256],
  ['servingMemory', (mebibytes) => servingMemory(mebibytes * MEBIBYTE), 448],
])('%s says the least memory that is enough, and takes it', (_name, share, min) => {
  expect(() => share(min)).not.toThrow()
  expect(() => share(min - 1)).toThrow(`in ${min - 1} MiB: expected at least ${min}MiB`)
})

test.each([
  [1, 4, 3],
  [2, 2, 2],
  [0.75, 2, 2],
  [1, 8, 3],
  [1, 16, 3],
  [4, 16, 16],
  [8, 64, 38],
])('with %d GiB a machine of %i cores loads %i partitions at once', (gibibytes, cores, expected) => {
  const totalBytes = gibibytes * 1024 * MEBIBYTE
  const threads = defaultThreads(totalBytes, cores)
  expect(threads).toBe(expected)
  const { engineBytes, blockBytes, checkThreads } = divideMemory(totalBytes, threads, cores)
  expect(engineBytes).toBeGreaterThanOrEqual(threads * 120 * MEBIBYTE)
  expect(blockBytes).toBeGreaterThan(12 * MEBIBYTE)
  expect(checkThreads).toBe(cores > 2 ? Math.ceil(threads / 3) : 0)
})

test('two partitions side by side fit into 512 MiB', () => {
  const { blockBytes, engineBytes } = divideMemory(512 * MEBIBYTE, 2, 2)
  expect(blockBytes).toBeGreaterThanOrEqual(5 * MEBIBYTE)
  expect(engineBytes).toBeGreaterThanOrEqual(240 * MEBIBYTE)
})

test('four partitions at once fit into the default memory, on two cores too', () => {
  const { blockBytes, engineBytes } = divideMemory(DEFAULT_BYTES, 4, 2)
  expect(engineBytes).toBeGreaterThanOrEqual(4 * 120 * MEBIBYTE)
  expect(blockBytes).toBeGreaterThan(12 * MEBIBYTE)
})

test.each([
  [16_384, 1024],
  [1463, 1024],
  [1024, 716],
  [800, 560],
  // A compaction takes 486 MiB.
  [600, 485],
  [512, 485],
  [500, 475],
])('in a container of %i MiB commands take %i MiB by default', (limit, expected) => {
  expect(Math.floor(defaultMemory(limit * MEBIBYTE) / MEBIBYTE)).toBe(expected)
})

test.each([
  [16_384, 2, 2],
  [1024, 2, 2],
  [800, 2, 1],
  [512, 1, 1],
])(
  'in a container of %i MiB all can be done by default, %i partitions at once and with %i threads',
  (limit, loading, compacting) => {
    const memoryBytes = defaultMemory(limit * MEBIBYTE)
    expect([defaultThreads(memoryBytes, 2), threadsFor(memoryBytes)]).toEqual([loading, compacting])
    expect(divideMemory(memoryBytes, loading, 2).blockBytes).toBeGreaterThanOrEqual(4 * MEBIBYTE)
    expect(compactMemory(memoryBytes, compacting)).toBeGreaterThanOrEqual(compacting * 100 * MEBIBYTE)
    expect(Math.min(queryMemory(memoryBytes), servingMemory(memoryBytes))).toBeGreaterThan(96 * MEBIBYTE)
  },
)
