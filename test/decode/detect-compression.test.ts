import { brotliCompressSync, constants } from 'node:zlib'
import { expect, test } from 'vitest'
import { detectCompression } from '../../src/decode/decompress.ts'
import { pretendNode } from '../support/pretend-node.ts'
import { blocksOf, COMPRESS, TRICKY, textOf } from './byte-sources.ts'

const JSON_LINES = Buffer.from('{"a":1}\n{"a":2}\n')

test.each(['brotli', 'gzip', 'zstd', 'none'] as const)(
  'detectCompression knows %s by its content',
  (kind) => {
    expect(detectCompression(COMPRESS[kind](TRICKY), 'b-17')).toBe(kind)
  },
)

test.each(['gzip', 'zstd', 'none'] as const)('detectCompression believes %s in a file called .br', (kind) => {
  expect(detectCompression(COMPRESS[kind](JSON_LINES), 'companies.BR')).toBe(kind)
})

test('detectCompression knows the skippable frames of zstd', () => {
  for (const first of [0x50, 0x5f]) {
    expect(detectCompression(Buffer.from([first, 0x2a, 0x4d, 0x18, 0, 0, 0, 0]), 'b-17')).toBe('zstd')
  }
})

test('detectCompression takes text with blanks and a BOM before its first object as not compressed', () => {
  for (const text of ['\ufeff{"a":1}', ' \r\n\n\t{ "a":1}', '{', '{}']) {
    expect(detectCompression(Buffer.from(text), 'a.br')).toBe('none')
  }
})

test('detectCompression takes other text without a telling name as not compressed', () => {
  for (const text of ['', '\n\n', 'hello world', '[1,2]', '<html>', '"a"', 'null\n{"a":1}\n', 'id;name\n']) {
    expect(detectCompression(Buffer.from(text), 'lines.jsonl')).toBe('none')
  }
})

test('detectCompression believes the name where the content does not tell', () => {
  const cases = { 'a.br': 'brotli', 'a.jsonl.gz': 'gzip', 'a.zst': 'zstd', 'a.jsonl': 'none', br: 'none' }
  for (const [name, kind] of Object.entries(cases))
    expect(detectCompression(Buffer.alloc(0), name)).toBe(kind)
})

test('detectCompression knows a Brotli stream that begins with the magic of gzip', () => {
  const text = JSON.stringify({ text: Array.from({ length: 2177 }, (_, i) => (i * i * 7) % 10).join('') })
  const params = { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_QUALITY]: 5 }
  const bytes = brotliCompressSync(text, { params }) as Buffer
  expect(bytes.subarray(0, 3).toString('hex')).toBe('1f8b08')
  expect(detectCompression(bytes, 'b-17')).toBe('brotli')
})

test('detectCompression knows a Brotli bomb without decoding it whole', () => {
  const bomb = brotliCompressSync(Buffer.alloc(24 << 20), { params: { [constants.BROTLI_PARAM_QUALITY]: 2 } })
  expect(detectCompression(bomb as Buffer, 'b-17')).toBe('brotli')
})

test('a vulnerable Node tells Brotli from text without decoding it, and decodes none', async () => {
  const compressed = COMPRESS.brotli(TRICKY)
  pretendNode('24.21.0')
  for (const name of ['b-17', 'b-17.br']) expect(detectCompression(compressed, name)).toBe('brotli')
  for (const text of ['', 'hello world', '[1,2]', '"a"', 'null\n{"a":1}\n', '[\n\t{"a":"\u00e9"}]'])
    expect(detectCompression(Buffer.from(text), 'lines')).toBe('none')
  await expect(blocksOf(compressed)).rejects.toMatchObject({ code: 'NODE_VULNERABLE' })
  expect(textOf(await blocksOf(TRICKY))).toBe(textOf(await blocksOf(COMPRESS.gzip(TRICKY))))
})
