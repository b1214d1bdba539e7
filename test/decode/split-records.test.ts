import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ToolkitError } from '../../src/core/errors.ts'
import type { Block } from '../../src/core/lines.ts'
import { blocksOf, COMPRESS } from './byte-sources.ts'

/** Each line that is not blank with its number and its offset in the source. */
const linesOf = (blocks: readonly Block[]) =>
  blocks.flatMap(({ bytes, firstLine, offset }) => {
    let at = offset
    return bytes
      .toString('latin1')
      .split('\n')
      .slice(0, -1)
      .flatMap((text, i) => {
        const found = {
          line: firstLine + i,
          offset: at + text.length - text.trimStart().length,
          text: text.trim(),
        }
        at += text.length + 1
        return found.text === '' ? [] : [found]
      })
  })

const read = async (text: string, borders: readonly number[] = []) =>
  linesOf(await blocksOf(Buffer.from(text), {}, borders))

const failureOf = async (text: string | Buffer) => {
  try {
    await blocksOf(Buffer.from(text))
  } catch (error) {
    if (error instanceof ToolkitError) return { code: error.code, message: error.message, ...error.context }
    throw error
  }
  return undefined
}

const RECORDS = [
  { InternalId: 1, Name: 'a ",]}[{\\ \u2028 ß', Parents: [{ Id: 2, History: [[], {}] }] },
  { InternalId: 2, Children: [] },
  {},
  { InternalId: 3, Name: '東京' },
]

const page = (list: string, records: readonly object[], indent?: number): string =>
  JSON.stringify(
    { Total: 3, Note: { Companies: ['no'] }, [list]: records, Rest: ['x', 1, null, 'y\\'] },
    null,
    indent,
  )

const DOCUMENTS: Readonly<Record<string, string>> = {
  'a list': JSON.stringify(RECORDS),
  'a list over lines': JSON.stringify(RECORDS, null, 2),
  'a list with a BOM and CRLF': `\ufeff${JSON.stringify(RECORDS, null, '\t').replaceAll('\n', '\r\n')}\r\n`,
  'a page of companies': page('Companies', RECORDS),
  'a page of relations over lines': page('Relations', RECORDS, 1),
  'pages one after the other': `${page('Companies', RECORDS.slice(0, 1))}${page('Companies', [])}\n\n${page('Companies', RECORDS.slice(1))}`,
  'lists one after the other': `${JSON.stringify(RECORDS.slice(0, 3))}\n[ ]\n${JSON.stringify(RECORDS.slice(3))}`,
  'records over lines': RECORDS.map((record) => JSON.stringify(record, null, 2)).join('\n'),
}

describe.each(Object.entries(DOCUMENTS))('decodeBlocks of %s', (_name, text) => {
  const bytes = Buffer.from(text)

  test('gives each record a line of its number, at its place', async () => {
    const lines = await read(text)
    expect(lines.map((line) => JSON.parse(Buffer.from(line.text, 'latin1').toString()))).toEqual(RECORDS)
    expect(lines.map(({ line }) => line)).toEqual([1, 2, 3, 4])
    for (const { offset, text: record } of lines)
      expect(bytes.toString('latin1', offset, offset + record.length).replaceAll(/[\r\n]/g, ' ')).toBe(record)
  })

  test('gives the same lines wherever chunks and blocks end, in every compression', async () => {
    const expected = await read(text)
    // Texts are compared: deep comparisons at every border take longer than all that is tested.
    const expectedText = JSON.stringify(expected)
    const differing: number[] = []
    for (let border = 1; border < bytes.length; border++)
      if (JSON.stringify(await read(text, [border])) !== expectedText) differing.push(border)
    expect(differing).toEqual([])
    expect(await read(text, Array.from(bytes.keys()))).toEqual(expected)
    for (const compress of Object.values(COMPRESS)) {
      const blocks = await blocksOf(compress(bytes), { blockBytes: 40 })
      expect(blocks.length).toBeGreaterThan(2)
      expect(linesOf(blocks)).toEqual(expected)
    }
  })

  test('is damaged wherever it is cut off within a document', async () => {
    const begun = bytes.indexOf('InternalId')
    const whole = new Set<number>()
    const misreported: unknown[] = []
    for (let size = bytes.length - 1; size > begun; size--) {
      const failure = await failureOf(bytes.subarray(0, size))
      if (failure === undefined) whole.add(size)
      else if (failure.code !== 'DOCUMENT_DAMAGED' || !('offset' in failure) || failure.offset !== size)
        misreported.push({ size, failure })
    }
    expect(misreported).toEqual([])
    // Only between two documents, or in the white space at the end.
    expect(whole.size).toBeLessThan(8)
  })
})

test('decodeBlocks leaves JSON Lines as they are, also where lines hold lists or pages', async () => {
  for (const text of [
    '{"a":1}\n[{"b":2}]\n',
    '{"BasicDetails":{},"Companies":[{"a":1}]}\n',
    '[1]\n{"a":1}\n',
    '{\n{"a":1}\n',
  ])
    expect((await blocksOf(Buffer.from(text))).map(({ bytes }) => bytes.toString()).join('')).toBe(text)
})

test.each([
  ['a carriage return', '\r', ''],
  ['a space', ' ', '\n'],
  ['a comma', ',', ''],
  ['a comma and a line end', ',\n', ',\n'],
  ['a line end and a comma', '\r\n, ', ''],
  ['a record separator', '\x1e', ''],
])('decodeBlocks makes lines of records with %s between them', async (_what, between, end) => {
  const records = ['{"a":"} , {\\""}', '{"b":[1,2]}', '{"c":{}}']
  const text = `${records.join(between)}${end}`
  expect((await read(text)).map((line) => line.text)).toEqual(records)
  expect(await read(text, Array.from(Buffer.from(text).keys()))).toEqual(await read(text))
})

test('decodeBlocks makes lines of a JSON text sequence (RFC 7464)', async () => {
  const lines = await read('\x1e{"a":1}\n\x1e{"a":2}\n')
  expect(lines.map(({ text }) => text)).toEqual(['{"a":1}', '{"a":2}'])
})

test('decodeBlocks makes a line of everything in a list, for the loader to judge', async () => {
  const text = '[{"a":1}, 2 ,"x,y]",null,[1,[2]],{"a":"line\nend\\\r\\"\\\\"},{"b":[}]]\n'
  const lines = await read(text)
  expect(lines.map((line) => line.text)).toEqual([
    ...['{"a":1}', '2', '"x,y]"', 'null', '[1,[2]]', '{"a":"line\u0001end\\\u0001\\"\\\\"}', '{"b":[}]'],
  ])
  expect(await read(text, Array.from(Buffer.from(text).keys()))).toEqual(lines)
  expect(await read('[]')).toEqual([])
  expect(await read('{"Companies":[]}')).toEqual([])
})

test.each([
  ['a record without a comma', '[{"a":1} {"a":2}]', 9, 1, 'a comma or the end of the list'],
  ['a comma behind the last', '[{"a":1},]', 9, 1, 'a record'],
  ['two commas', '[{"a":1},,{"a":2}]', 9, 1, 'a record'],
  ['a bracket too much', '[{"a":1}}]', 8, 1, 'a comma or the end of the list'],
  ['something behind the end', '[{"a":1}] x', 10, 1, 'a JSON object or list'],
  ['two lists in a page', '{"Companies":[{"a":1}],"Relations":[]}', 35, 1, 'a value'],
  ['pages of both kinds', '{"Companies":[{"a":1}]}{"Relations":[]}', 36, 1, 'a value'],
  ['a page without a list', '{"Companies":[{"a":1}]}{"Total":0}', 33, 1, 'a comma or the end of the page'],
  ['records without a space', '{\n"a":1}{"a":2}', 8, 1, 'white space or a comma between two records'],
])(
  'decodeBlocks refuses a document with %s, and says where',
  async (_what, text, offset, records, expected) => {
    const failure = await failureOf(text)
    expect(failure).toMatchObject({ code: 'DOCUMENT_DAMAGED', offset, records })
    expect(failure?.message).toContain(`, expected ${expected}`)
  },
)

test('decodeBlocks gives what JSON.parse gives, for any list of records', async () => {
  const record = fc.dictionary(fc.string(), fc.jsonValue())
  await fc.assert(
    fc.asyncProperty(
      fc.array(record, { minLength: 1 }),
      fc.constantFrom(0, 1, 2),
      fc.array(fc.nat(300)),
      async (records, indent, cuts) => {
        const text = JSON.stringify(records, null, indent)
        const size = Buffer.byteLength(text)
        const lines = await read(
          text,
          cuts.map((cut) => cut % size),
        )
        expect(
          lines.map((line) => JSON.stringify(JSON.parse(Buffer.from(line.text, 'latin1').toString()))),
        ).toEqual(records.map((one) => JSON.stringify(one)))
        expect(lines.map(({ line }) => line)).toEqual(records.map((_one, i) => i + 1))
      },
    ),
    { numRuns: 150 },
  )
})
