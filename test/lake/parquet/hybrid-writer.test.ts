/** Packed bits are what the reader unpacks again, and their bytes depend on the numbers alone. */

import { expect, test } from 'vitest'
import { readHybrid } from '../../../src/lake/parquet/hybrid-runs.ts'
import { writePacked } from '../../../src/lake/parquet/hybrid-writer.ts'
import { ByteWriter } from '../../../src/support/byte-writer.ts'
import { seededRandom } from '../../manifest/damage.ts'

const COUNTS = [1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 1000, 5001]

test('writePacked packs numbers of every width in any count, behind what was written', () => {
  const next = seededRandom(3)
  for (let width = 1; width <= 16; width++)
    for (const count of COUNTS) {
      const numbers = Uint16Array.from({ length: count }, () => Math.floor(next() * 2 ** width))
      const out = new ByteWriter()
      out.byte(42)
      writePacked(out, numbers, count, width)
      const into = new Uint32Array(count)
      expect(readHybrid(out.written(), 1, { width, into, from: 0, count })).toBe(out.length)
      expect([out.bytes[0], ...into]).toEqual([42, ...numbers])
    }
})

test('writePacked writes nothing of what stands behind the numbers', () => {
  const bytesOf = (behind: number): Buffer => {
    const out = new ByteWriter()
    writePacked(out, Uint16Array.of(1, 2, 3, behind, behind, behind, behind, behind, behind), 3, 4)
    return Buffer.from(out.written())
  }
  // A head of one group of eight, and the numbers from the lowest bits on.
  expect(bytesOf(0xffff)).toEqual(Buffer.of(3, 0x21, 0x03, 0, 0))
  expect(bytesOf(0)).toEqual(bytesOf(0xffff))
})
