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

/** Lends a compressor for a group of pages. @returns what their frames hold, read when the last one has been made */
const unpacked = async (compressors: PageCompressors, pages: readonly Buffer[]): Promise<Buffer[]> => {
  const read: Buffer[] = []
  await compressors.lend(async (compress) => {
    const frames: Buffer[] = []
    for (const page of pages) frames.push(await compress(page))
    for (const frame of frames) {
      expect(frame.readUInt32LE(0)).toBe(0xfd2fb528)
      read.push(zstdDecompressSync(frame))
    }
  })
  return read
}

test('compress gives a frame for each page, however large, and nothing of the one before', async () => {
  const compressors = new PageCompressors()
  for (const page of [...PAGES, ...PAGES.toReversed()])
    expect((await unpacked(compressors, [page]))[0]?.equals(page)).toBe(true)
  compressors.close()
})

test('frames of a group stand beside one another, also where their memory grows meanwhile', async () => {
  const compressors = new PageCompressors()
  for (const group of [PAGES, PAGES.toReversed(), PAGES.slice(4, 7)]) {
    const read = await unpacked(compressors, group)
    expect(read.map((page, at) => page.equals(group[at] ?? Buffer.alloc(0)))).toEqual(group.map(() => true))
  }
  compressors.close()
})

test('compress works side by side, and again after memory was given back', async () => {
  const compressors = new PageCompressors()
  for (let round = 0; round < 2; round++) {
    const read = await Promise.all(PAGES.map((page) => unpacked(compressors, [page])))
    for (const [at, [page]] of read.entries()) expect(page?.equals(PAGES[at] ?? Buffer.alloc(0))).toBe(true)
    compressors.close()
  }
})

test('pages leave no memory behind for the garbage collector', async () => {
  const page = noise(1_000_000)
  const compressors = new PageCompressors()
  const group = () => frameBytes(compressors, page)
  await group()
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  for (let at = 0; at < 60; at++) {
    expect(await group()).toBeGreaterThan(1_000_000)
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
  }
  compressors.close()
  expect(most).toBeLessThan(8 * 1024 ** 2)
})

const frameBytes = async (compressors: PageCompressors, page: Buffer): Promise<number> => {
  let bytes = 0
  await compressors.lend(async (compress) => {
    bytes = (await compress(page)).length
  })
  return bytes
}
