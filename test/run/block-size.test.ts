import { expect, test } from 'vitest'
import { inputBlockBytes } from '../../src/run/load-into-lake.ts'

const MIB = 1024 ** 2
const ROOM = { mostBytes: 32 * MIB, threads: 2 }
const plain = (sizeBytes?: number) => ({ name: 'a.jsonl', ...(sizeBytes !== undefined && { sizeBytes }) })

test('inputBlockBytes gives a block for each of the partitions side by side, as far as they are worth a file', () => {
  expect(inputBlockBytes([plain(24 * MIB)], ROOM)).toBe(12 * MIB)
  expect(inputBlockBytes([plain(12 * MIB), plain(20 * MIB)], ROOM)).toBe(16 * MIB)
  expect(inputBlockBytes([plain(24 * MIB)], { ...ROOM, threads: 8 })).toBe(4 * MIB)
  expect(inputBlockBytes([plain(10)], ROOM)).toBe(4 * MIB)
})

test('inputBlockBytes expects more of compressed bytes, by the name that says so', () => {
  expect(inputBlockBytes([{ name: 'a.jsonl.br', sizeBytes: 6 * MIB }], ROOM)).toBe(15 * MIB)
  expect(inputBlockBytes([{ name: 'b-17', decodeName: 'b-17.gz', sizeBytes: 6 * MIB }], ROOM)).toBe(15 * MIB)
})

test('inputBlockBytes leaves blocks as large as there is memory for where the input is large or of unknown size', () => {
  expect(inputBlockBytes([plain(1000 * MIB)], ROOM)).toBe(32 * MIB)
  expect(inputBlockBytes([plain(10), plain()], ROOM)).toBe(32 * MIB)
  expect(inputBlockBytes([plain(10)], { ...ROOM, mostBytes: 3 * MIB })).toBe(3 * MIB)
})
