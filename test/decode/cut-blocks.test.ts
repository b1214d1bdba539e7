import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Block } from '../../src/core/lines.ts'
import { type ByteFeed, byteFeed } from '../../src/decode/byte-feed.ts'
import { type CutOptions, cutBlocks } from '../../src/decode/cut-blocks.ts'
import { chunksAt, collect, TRICKY } from './byte-sources.ts'

const cut = (text: string | Buffer, options: CutOptions = {}, borders: readonly number[] = []) =>
  collect(cutBlocks(chunksAt(Buffer.from(text), borders), options))

const shown = (blocks: readonly Block[]) =>
  blocks.map(({ bytes, firstLine, offset, overlong }) => ({
    text: bytes.toString('latin1'),
    firstLine,
    offset,
    overlong: overlong.map((line) => ({ ...line, head: line.head.toString('latin1') })),
  }))

/** The rules once more, over a text that is whole in memory. */
const expectedBlocks = (text: string, blockBytes: number, maxLineBytes: number) => {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const blocks: ReturnType<typeof shown> = []
  let block: ReturnType<typeof shown>[number] | undefined
  let offset = 0
  for (const [index, content] of lines.entries()) {
    const fresh = { text: '', firstLine: index + 1, offset, overlong: [] }
    if (content.length > maxLineBytes) {
      const line = { line: index + 1, offset, sizeBytes: content.length, head: content }
      blocks.push({ ...(block ?? fresh), overlong: [line] })
      block = undefined
    } else {
      if (block && block.text.length + content.length + 1 > blockBytes) {
        blocks.push(block)
        block = undefined
      }
      block ??= fresh
      block.text += `${content}\n`
    }
    offset += content.length + 1
  }
  return block ? [...blocks, block] : blocks
}

test('cutBlocks gives the same blocks wherever chunks begin', async () => {
  const line = fc.string({ unit: fc.constantFrom('a', 'ü', '\r', ' ', '{'), maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { maxLength: 12 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 16 }),
      fc.array(fc.nat(200), { maxLength: 12 }),
      async (lines, ended, blockBytes, maxLineBytes, places) => {
        const bytes = Buffer.from(lines.join('\n') + (ended ? '\n' : ''))
        const borders = places.map((place) => Math.min(place, bytes.length))
        const blocks = await cut(bytes, { blockBytes, maxLineBytes }, borders)
        expect(shown(blocks)).toEqual(expectedBlocks(bytes.toString('latin1'), blockBytes, maxLineBytes))
      },
    ),
    { numRuns: 1000 },
  )
})

test('cutBlocks gives the same blocks for chunks of one byte', async () => {
  const everywhere = Array.from(TRICKY.keys())
  const options = { blockBytes: 48, maxLineBytes: 40 }
  expect(shown(await cut(TRICKY, options, everywhere))).toEqual(shown(await cut(TRICKY, options)))
})

test('cutBlocks drops a BOM at the very start and counts it in offsets', async () => {
  const blocks = await cut('\ufeffa\n\ufeffb\n', { blockBytes: 2 })
  expect(blocks.map((block) => [block.bytes.toString(), block.offset])).toEqual([
    ['a\n', 3],
    ['\ufeffb\n', 5],
  ])
})

test('cutBlocks keeps a source shorter than a BOM', async () => {
  expect(shown(await cut(Buffer.from([0xef, 0xbb])))).toMatchObject([{ text: '\xef\xbb\n', offset: 0 }])
})

test('cutBlocks gives no block for no bytes and for a BOM alone', async () => {
  expect(await cut('')).toEqual([])
  expect(await cut('\ufeff')).toEqual([])
})

test('cutBlocks adds a missing last newline and leaves CRLF and blank lines in place', async () => {
  expect(shown(await cut('a\r\n\n \nb'))).toEqual([
    { text: 'a\r\n\n \nb\n', firstLine: 1, offset: 0, overlong: [] },
  ])
})

test('cutBlocks gives a line longer than a block a block of its own', async () => {
  const blocks = await cut('a\nbbbbbbbb\nc\n', { blockBytes: 4 })
  expect(blocks.map((block) => block.bytes.toString())).toEqual(['a\n', 'bbbbbbbb\n', 'c\n'])
})

test('cutBlocks closes the block at an overlong line and reports it there', async () => {
  expect(shown(await cut('a\nb\nccccc\nd\neeeee', { maxLineBytes: 4 }))).toEqual([
    {
      text: 'a\nb\n',
      firstLine: 1,
      offset: 0,
      overlong: [{ line: 3, offset: 4, sizeBytes: 5, head: 'ccccc' }],
    },
    {
      text: 'd\n',
      firstLine: 4,
      offset: 10,
      overlong: [{ line: 5, offset: 12, sizeBytes: 5, head: 'eeeee' }],
    },
  ])
})

test('cutBlocks yields a block without bytes for an overlong line that stands alone', async () => {
  expect(shown(await cut('ccccc\n', { maxLineBytes: 4 }))).toEqual([
    { text: '', firstLine: 1, offset: 0, overlong: [{ line: 1, offset: 0, sizeBytes: 5, head: 'ccccc' }] },
  ])
})

test('cutBlocks keeps the first 64 KiB of an overlong line', async () => {
  const text = `${'x'.repeat(70_000)}y\nz\n`
  const [first] = await cut(text, { maxLineBytes: 1000 }, [10, 64_000, 66_000])
  expect(first?.overlong[0]?.head.equals(Buffer.alloc(65_536, 'x'))).toBe(true)
  expect(first?.overlong[0]?.sizeBytes).toBe(70_001)
})

test('cutBlocks does not change a block after it was given', async () => {
  const lines = Array.from({ length: 300 }, (_, i) => `${i}`.padEnd(i % 17, '.'))
  const blocks = await cut(lines.join('\n'), { blockBytes: 64 })
  expect(Buffer.concat(blocks.map((block) => block.bytes)).toString()).toBe(`${lines.join('\n')}\n`)
})

test('cutBlocks fills blocks of megabytes to their limit', async () => {
  const line = Buffer.from(`${'v'.repeat(9_999)}\n`)
  const source = Buffer.concat(Array.from({ length: 700 }, () => line))
  const blocks = await cut(source, { blockBytes: 3_000_000 }, [1, 1_000_000, 3_000_001, 6_543_210])
  expect(blocks.map((block) => [block.bytes.length, block.firstLine, block.offset])).toEqual([
    [3_000_000, 1, 0],
    [3_000_000, 301, 3_000_000],
    [1_000_000, 601, 6_000_000],
  ])
})

test('cutBlocks refuses a limit that is not a whole number above 0', async () => {
  await expect(cut('a', { blockBytes: 0 })).rejects.toThrow(RangeError)
  await expect(cut('a', { maxLineBytes: 1.5 })).rejects.toThrow(RangeError)
})

test('cutBlocks and byteFeed read a chunk only until the next one is asked for', async () => {
  const text = Array.from({ length: 400 }, (_, line) => `line ${line} ${'x'.repeat(line % 37)}\n`).join('')
  const bytes = Buffer.from(text)
  for (const size of [1, 2, 7, 64, 1000]) {
    async function* chunks(): AsyncGenerator<Buffer> {
      const memory = Buffer.alloc(size)
      for (let at = 0; at < bytes.length; at += size) {
        yield memory.subarray(0, bytes.copy(memory, 0, at, at + size))
        memory.fill(0)
      }
    }
    const feed = byteFeed(chunks())
    await feed.peek(100)
    const blocks: string[] = []
    for await (const block of cutBlocks(eachOf(feed), { blockBytes: 500 }))
      blocks.push(block.bytes.toString())
    expect(blocks.join('')).toBe(text)
  }
})

async function* eachOf(feed: ByteFeed): AsyncGenerator<Buffer> {
  for (let chunk = await feed.next(); chunk !== undefined; chunk = await feed.next()) yield chunk
}

test('a block begins at the place in a word at which its bytes came, also behind a line that came in two chunks', async () => {
  const lines = Array.from({ length: 40 }, (_, at) => `{"line":${at}}\n`).join('')
  const memory = Buffer.allocUnsafeSlow(lines.length)
  memory.write(lines)
  const feed = (async function* () {
    yield* [memory.subarray(0, 100), memory.subarray(100)]
  })()
  const blocks = await collect(cutBlocks(feed, { blockBytes: 64 }))
  expect(Buffer.concat(blocks.map(({ bytes }) => bytes)).toString()).toBe(lines)
  // The last one fills little of its memory and is a copy.
  const places = blocks.slice(0, -1).map(({ bytes, offset }) => [bytes.byteOffset % 8, offset % 8])
  expect(new Set(places.map(([place]) => place)).size).toBeGreaterThan(3)
  for (const [place, expected] of places) expect(place).toBe(expected)
})
