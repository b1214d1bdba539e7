import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { promisify } from 'node:util'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_EMPTY_STREAMS } from '../../src/core/decode-limits.ts'
import { ToolkitError } from '../../src/core/errors.ts'
import { decodeBlocks } from '../../src/decode/decode-blocks.ts'
import { blocksOf, COMPRESS, COMPRESSED, chunksAt, collect, TRICKY, textOf } from './byte-sources.ts'

const TEXT = TRICKY.subarray(3).toString()
const OPTIONS = { blockBytes: 48, maxLineBytes: 40 }

/** The error of decoding, as its code and context. */
const failureOf = async (bytes: Buffer, name: string, borders: readonly number[] = []) => {
  try {
    await blocksOf(bytes, { name }, borders)
  } catch (error) {
    if (error instanceof ToolkitError) return { code: error.code, ...error.context }
    throw error
  }
  return undefined
}

test.each(Object.keys(COMPRESS) as (keyof typeof COMPRESS)[])(
  'decodeBlocks gives the same blocks of %s input cut at every byte',
  async (kind) => {
    const expected = await blocksOf(TRICKY, OPTIONS)
    const bytes = COMPRESS[kind](TRICKY)
    for (const border of bytes.keys()) expect(await blocksOf(bytes, OPTIONS, [border])).toEqual(expected)
    expect(await blocksOf(bytes, OPTIONS, Array.from(bytes.keys()))).toEqual(expected)
  },
)

describe.each(COMPRESSED)('%s', (kind, ending) => {
  const compress = COMPRESS[kind]
  const name = `lines.jsonl.${ending}`

  test('decodeBlocks reads all streams of a file wherever chunks begin', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(TRICKY.length), { maxLength: 4 }),
        fc.array(fc.nat(400), { maxLength: 8 }),
        async (cuts, places) => {
          const parts = await collect(chunksAt(TRICKY, cuts))
          const bytes = Buffer.concat(parts.map(compress))
          const borders = places.map((place) => Math.min(place, bytes.length))
          expect(textOf(await blocksOf(bytes, { name }, borders))).toBe(`${TEXT}\n`)
        },
      ),
      { numRuns: 40 },
    )
  })

  test('decodeBlocks reads two streams that meet at a chunk border', async () => {
    const one = compress(Buffer.from('{"a":1}\n'))
    expect(textOf(await blocksOf(Buffer.concat([one, one]), { name }, [one.length]))).toBe(
      '{"a":1}\n{"a":1}\n',
    )
  })

  test('decodeBlocks reads megabytes in many chunks', async () => {
    const text = Array.from({ length: 45_000 }, (_, i) => `{"id":${i},"x":"${(i * 7919) % 10007}"}\n`).join(
      '',
    )
    const bytes = Buffer.concat([compress(Buffer.from(text)), compress(Buffer.from(text))])
    const borders = Array.from({ length: 20 }, (_, i) => Math.floor((bytes.length * i) / 20))
    const blocks = await blocksOf(bytes, { name, blockBytes: 500_000 }, borders)
    expect(textOf(blocks) === text + text).toBe(true)
  })

  test('decodeBlocks reports truncation at every length', async () => {
    const bytes = compress(TRICKY)
    for (const length of bytes.keys()) {
      const failure = await failureOf(bytes.subarray(0, length), name, [Math.floor(length / 2)])
      expect(failure).toMatchObject({ code: 'DECODE_TRUNCATED', source: name, offset: length })
    }
  })

  test('decodeBlocks reports truncation of a further stream at every length', async () => {
    const one = compress(TRICKY)
    for (let length = 1; length < one.length; length++) {
      const failure = await failureOf(Buffer.concat([one, one.subarray(0, length)]), name)
      expect(failure?.code).toMatch(/^DECODE_(TRUNCATED|TRAILING)$/)
    }
  })

  test('decodeBlocks names the offset of bytes after the end', async () => {
    const bytes = compress(TRICKY)
    const tails = ['\n', '\r\n', 'garbage', '{"a":1}\n', '\0', '\0'.repeat(512), 'x'.repeat(100_000)]
    for (const tail of tails) {
      const all = Buffer.concat([bytes, Buffer.from(tail)])
      for (const borders of [[], [bytes.length], [bytes.length - 1, bytes.length + 1]]) {
        const wanted = { code: 'DECODE_TRAILING', offset: bytes.length, decodedBytes: TRICKY.length }
        expect(await failureOf(all, name, borders)).toMatchObject(wanted)
      }
    }
  })

  test('decodeBlocks ends on a flipped bit in every byte, with an error or with bytes', async () => {
    const bytes = compress(TRICKY)
    let refused = 0
    const decodeFlipped = async (bit: number) => {
      const flipped = Buffer.from(bytes)
      flipped[bit >>> 3] = (flipped[bit >>> 3] ?? 0) ^ (1 << (bit & 7))
      const outcome = await blocksOf(flipped, { compression: kind }).catch((error: unknown) => error)
      if (outcome instanceof ToolkitError) refused++
      else expect(outcome).toBeInstanceOf(Array)
    }
    // Two of each byte, others of the next.
    for (const at of bytes.keys())
      await Promise.all([at % 4, 4 + (at % 4)].map((bit) => decodeFlipped(at * 8 + bit)))
    // Brotli has no checksum; of the others only a header's flags may change unseen.
    expect(refused).toBeGreaterThan(kind === 'brotli' ? 0 : bytes.length * 1.75)
  })

  test('decodeBlocks stops at the expansion limit', async () => {
    const bomb = compress(Buffer.alloc(24 << 20, 'a'.repeat(999).concat('\n')))
    expect(await failureOf(bomb, name)).toMatchObject({ code: 'DECODE_LIMIT' })
    expect(textOf(await blocksOf(bomb, { name, maxRatio: 1e7 }))).toHaveLength((24 << 20) + 1)
  })
})

test('decodeBlocks reads gzip members with names, comments and extra fields', async () => {
  const plain = gzipSync('{"a":1}\n')
  const header = Buffer.from(plain.subarray(0, 10))
  header[3] = 4 | 8 | 16 | 2
  const fields = Buffer.from('\x03\0abcname.jsonl\0a comment\0\x12\x34', 'latin1')
  const bytes = Buffer.concat([header, fields, plain.subarray(10)])
  for (const border of bytes.keys()) expect(textOf(await blocksOf(bytes, {}, [border]))).toBe('{"a":1}\n')
})

test('decodeBlocks passes over skippable frames of zstd', async () => {
  const frame = COMPRESS.zstd(Buffer.from('{"a":1}\n'))
  const skippable = Buffer.from('\x57\x2a\x4d\x18\x03\0\0\0abc', 'latin1')
  const bytes = Buffer.concat([skippable, skippable, frame, skippable, frame, skippable])
  for (const border of bytes.keys()) {
    expect(textOf(await blocksOf(bytes, {}, [border]))).toBe('{"a":1}\n{"a":1}\n')
  }
  expect(await blocksOf(skippable)).toEqual([])
  expect(await failureOf(skippable.subarray(0, 10), 'a')).toMatchObject({
    code: 'DECODE_TRUNCATED',
    offset: 10,
  })
})

test('decodeBlocks refuses a file of empty Brotli streams', async () => {
  const bytes = Buffer.alloc(MAX_EMPTY_STREAMS + 1, 0x06)
  expect(await failureOf(bytes, 'a.br')).toMatchObject({ code: 'DECODE_TRAILING', offset: 0 })
})

test('decodeBlocks takes an empty plain source as no blocks and an empty compressed one as truncated', async () => {
  expect(await blocksOf(Buffer.alloc(0), { name: 'lines.jsonl' })).toEqual([])
  expect(await failureOf(Buffer.alloc(0), 'lines.br')).toMatchObject({ code: 'DECODE_TRUNCATED', offset: 0 })
})

test('decodeBlocks reports every chunk it takes in', async () => {
  const sizes: number[] = []
  await blocksOf(TRICKY, { onInput: (bytes) => sizes.push(bytes) }, [10, 25])
  expect(sizes).toEqual([10, 15, TRICKY.length - 25])
})

test('decodeBlocks passes on the error of its source', async () => {
  const failing = async function* () {
    yield COMPRESS.brotli(TRICKY).subarray(0, 20)
    throw new ToolkitError('SOURCE_UNREADABLE', 'Cannot read "a.br": the disk is bad')
  }
  const blocks = collect(decodeBlocks(failing, { name: 'a.br' }))
  await expect(blocks).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
})

test('decodeBlocks names the source, the offset and the decoded bytes in its message', async () => {
  const bytes = Buffer.concat([COMPRESS.brotli(TRICKY), Buffer.from('\n')])
  await expect(blocksOf(bytes, { name: 'b-17.br' })).rejects.toThrow(
    `Cannot decode "b-17.br" as brotli: at compressed byte ${bytes.length - 1}, after ${TRICKY.length} decoded ` +
      'bytes, the data continues with bytes that are no further stream, expected the end of the source or a further stream',
  )
})

test('decodeBlocks closes its source when the consumer stops early', async () => {
  for (const kind of ['brotli', 'gzip', 'zstd', 'none'] as const) {
    const bytes = COMPRESS[kind](Buffer.from('{"a":1}\n'.repeat(1000)))
    let closed = false
    const open = async function* () {
      try {
        yield* chunksAt(bytes, [bytes.length - 1])
      } finally {
        closed = true
      }
    }
    for await (const _ of decodeBlocks(open, { name: 'a', blockBytes: 64 })) break
    expect(closed).toBe(true)
  }
})

test('decodeBlocks destroys a readable when the consumer stops early', async () => {
  const source = new PassThrough()
  source.write('{"a":1}\n{"a":2}\n'.repeat(10_000))
  for await (const _ of decodeBlocks(() => source, { name: 'a', blockBytes: 64 })) break
  if (!source.closed) await once(source, 'close')
  expect(source.destroyed).toBe(true)
})

test('decodeBlocks stops with the reason of its signal', async () => {
  const stop = new AbortController()
  const reason = new Error('enough')
  const bytes = COMPRESS.brotli(Buffer.from('{"a":1}\n'.repeat(100_000)))
  const run = async () => {
    for await (const _ of decodeBlocks(() => chunksAt(bytes), {
      name: 'a',
      blockBytes: 64,
      signal: stop.signal,
    })) {
      stop.abort(reason)
    }
  }
  await expect(run()).rejects.toBe(reason)
})

/** Decodes a Brotli file in a process of its own; gives the outcome and that process's peak memory in MiB. */
const decodedApart = async (bytes: Buffer, maxRatio: number) => {
  const program = `
    const { decodeBlocks } = await import(${JSON.stringify(import.meta.resolve('../../src/decode/decode-blocks.ts'))})
    const source = async function* () { yield Buffer.from(process.argv[1], 'base64') }
    let outcome = []
    let peak = 0
    const watch = setInterval(() => { peak = Math.max(peak, process.memoryUsage.rss()) }, 5)
    try {
      for await (const block of decodeBlocks(source, { name: 'a.br', maxRatio: ${maxRatio} })) {
        for (const { head, ...line } of block.overlong) outcome.push(line)
      }
    } catch (error) { outcome = error.code }
    clearInterval(watch)
    console.log(JSON.stringify({ outcome, peakMib: peak / 2 ** 20 }))`
  const flags = ['--no-warnings', '--max-old-space-size=32', '--input-type=module', '-e', program]
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, bytes.toString('base64')])
  return JSON.parse(stdout) as { outcome: unknown; peakMib: number }
}

const quickBrotli = (bytes: Buffer) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } }) as Buffer

test('decodeBlocks stops a bomb of 1 GiB in bounded memory', async () => {
  const quarter = quickBrotli(Buffer.alloc(256 << 20, 'x'))
  const { outcome, peakMib } = await decodedApart(Buffer.concat([quarter, quarter, quarter, quarter]), 250)
  expect(outcome).toBe('DECODE_LIMIT')
  expect(peakMib).toBeLessThan(200)
})
