import { createHash } from 'node:crypto'
import { zstdDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { PageCompressors } from '../../../src/lake/parquet/compress-pages.ts'

/** Bytes that cannot be compressed, the same ones each time. */
const noise = (bytes: number): Buffer => {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes; at += 32) parts.push(createHash('sha256').update(`${bytes} ${at}`).digest())
  return Buffer.concat(parts).subarray(0, bytes)
}

const PAGES = [1, 31, 4096, 65_536, 524_287, 524_288, 983_071, 3_000_000].flatMap((bytes) => [
  noise(bytes),
  Buffer.alloc(bytes, 'ab'),
])

test('compress gives a frame for each page, however large, and nothing of the one before', async () => {
  const compressors = new PageCompressors()
  for (const page of [...PAGES, ...PAGES.toReversed()]) {
    const frame = Buffer.concat(await compressors.lend((compress) => compress(page)))
    expect(zstdDecompressSync(frame).equals(page)).toBe(true)
    expect(frame.readUInt32LE(0)).toBe(0xfd2fb528)
  }
  compressors.close()
})

test('compress works side by side, and again after memory was given back', async () => {
  const compressors = new PageCompressors()
  for (let round = 0; round < 2; round++) {
    const frames = await Promise.all(PAGES.map((page) => compressors.lend((compress) => compress(page))))
    for (const [at, frame] of frames.entries())
      expect(zstdDecompressSync(Buffer.concat(frame)).equals(PAGES[at] ?? Buffer.alloc(0))).toBe(true)
    compressors.close()
  }
})
