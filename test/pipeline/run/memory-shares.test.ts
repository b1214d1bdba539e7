import { expect, test } from 'vitest'
import {
  compactMemory,
  DEFAULT_MEMORY_BYTES,
  divideMemory,
  queryMemory,
  servingMemory,
} from '../../../src/pipeline/run/memory-shares.ts'

const MEBIBYTE = 1024 ** 2

test('the default memory is enough for every kind of work', () => {
  const { engineBytes, blockBytes } = divideMemory(DEFAULT_MEMORY_BYTES)
  expect([engineBytes + 6 * blockBytes, compactMemory(DEFAULT_MEMORY_BYTES, 2)]).toEqual([
    704 * MEBIBYTE,
    624 * MEBIBYTE,
  ])
  expect([queryMemory(DEFAULT_MEMORY_BYTES), servingMemory(DEFAULT_MEMORY_BYTES)]).toEqual([
    864 * MEBIBYTE,
    704 * MEBIBYTE,
  ])
})

test.each<[string, (mebibytes: number) => unknown, number]>([
  ['divideMemory', (mebibytes) => divideMemory(mebibytes * MEBIBYTE, 2), 764],
  ['compactMemory', (mebibytes) => compactMemory(mebibytes * MEBIBYTE, 2), 600],
  ['queryMemory', (mebibytes) => queryMemory(mebibytes * MEBIBYTE), 256],
  ['servingMemory', (mebibytes) => servingMemory(mebibytes * MEBIBYTE), 448],
])('%s says the least memory that is enough, and takes it', (_name, share, least) => {
  expect(() => share(least)).not.toThrow()
  expect(() => share(least - 1)).toThrow(new RegExp(`expected at least ${least} ?MiB`))
})
