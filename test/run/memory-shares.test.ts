import { expect, test } from 'vitest'
import { DECODE_LIMITS } from '../../src/decode/decode-limits.ts'
import {
  compactMemory,
  DEFAULT_MEMORY_BYTES,
  defaultThreads,
  divideMemory,
  queryMemory,
  servingMemory,
} from '../../src/run/memory-shares.ts'

const MEBIBYTE = 1024 ** 2

test('the default memory is enough for every kind of work', () => {
  expect(divideMemory(DEFAULT_MEMORY_BYTES, 2, 2)).toEqual({
    ...{ engineBytes: 804 * MEBIBYTE - 10 * DECODE_LIMITS.blockBytes, checkThreads: 0 },
    blockBytes: DECODE_LIMITS.blockBytes,
  })
  expect(compactMemory(DEFAULT_MEMORY_BYTES, 2)).toBe(571 * MEBIBYTE)
  expect([queryMemory(DEFAULT_MEMORY_BYTES), servingMemory(DEFAULT_MEMORY_BYTES)]).toEqual([
    864 * MEBIBYTE,
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
])('%s says the least memory that is enough, and takes it', (_name, share, least) => {
  expect(() => share(least)).not.toThrow()
  expect(() => share(least - 1)).toThrow(`in ${least - 1} MiB: expected at least ${least}MiB`)
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
  const { blockBytes, engineBytes } = divideMemory(DEFAULT_MEMORY_BYTES, 4, 2)
  expect(engineBytes).toBeGreaterThanOrEqual(4 * 120 * MEBIBYTE)
  expect(blockBytes).toBeGreaterThan(12 * MEBIBYTE)
})
