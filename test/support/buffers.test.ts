import { expect, test } from 'vitest'
import { freeChunk } from '../../src/support/buffers.ts'

test('memory is freed of a chunk that reaches to the end of it, and of no other', () => {
  const memory = Buffer.allocUnsafeSlow(1000)
  freeChunk(memory.subarray(0, 999), 1000)
  freeChunk(memory.subarray(500), 2000)
  freeChunk(Buffer.alloc(0), 1000)
  freeChunk(Buffer.from(new SharedArrayBuffer(1000)), 1000)
  expect(memory.length).toBe(1000)
  freeChunk(memory.subarray(500), 1000)
  expect(memory.length).toBe(0)
  expect(memory.buffer.byteLength).toBe(0)
})
