import { describe, expect, test } from 'vitest'
import { type CheckedBlock, type CheckedPart, checkBlock, lineOf } from '../../src/check/check-block.ts'
import { RecordChecker } from '../../src/check/record/check-record.ts'
import type { Block } from '../../src/core/lines.ts'
import { newSeenSets } from '../../src/rows/seen-sets.ts'
import { blockOf } from '../load/loaded-lake.ts'

const checked = (text: string | Buffer, block: Partial<Block> = {}): CheckedBlock =>
  checkBlock({ ...blockOf(Buffer.from(text)), ...block }, new RecordChecker('companies', newSeenSets()))

const record = (id: number | string, more = ''): string => `{"BasicDetails":{"InternalId":${id}}${more}}`
/** The lines of each part as text. */
const partsOf = (text: string, { parts }: CheckedBlock): string[] =>
  parts.map((part) =>
    part.members.map((member) => Buffer.from(text).toString('utf8', ...lineOf(part, member))).join(''),
  )
const extrasOf = ({ rows, members }: CheckedPart): (string | undefined)[] =>
  members.map((member) => rows.extras.get(member))

describe('checkBlock', () => {
  test('takes whole lines', () => {
    const text = `${record(1)}\n${record(2)}\n`
    const result = checked(text)
    expect(partsOf(text, result)).toEqual([text])
    expect(result.parts.map(extrasOf)).toEqual([[undefined, undefined]])
    expect([result.rejected, result.lines]).toEqual([[], 2])
  })

  test('counts blank lines as lines of the source and loads none of them', () => {
    const text = `\n  \t\r\n${record(1)}\n\r\n{}\n\n`
    const result = checked(text)
    expect(partsOf(text, result)).toEqual([`${record(1)}\n`])
    expect(result.lines).toBe(2)
    expect(result.rejected).toMatchObject([
      { line: 5, offset: text.indexOf('{}\n'), sizeBytes: 2, code: 'ID_MISSING' },
    ])
  })

  test('leaves CRLF and white space out of what it sets aside, and counts offsets from the first byte of the record', () => {
    const { rejected } = checked(`${record(1)}\r\n \t{"a":1} \r\n${record(2)}\r\n`)
    const offset = record(1).length + 4
    expect(rejected).toMatchObject([{ line: 2, offset, sizeBytes: 7, raw: Buffer.from('{"a":1}') }])
  })

  test('drops a byte order mark at the start of any line and nowhere else', () => {
    const text = `\ufeff${record(1)}\n\ufeff${record(2)}\n ${record(3)}\ufeff\n`
    const result = checked(text)
    expect(partsOf(text, result)).toEqual([`${record(1)}\n${record(2)}\n`])
    expect(result.rejected.map(({ line, code }) => [line, code])).toEqual([[3, 'NOT_JSON']])
  })

  test('counts lines and offsets from where the block begins', () => {
    const { rejected } = checked(`${record(1)}\nbad\n`, { firstLine: 1001, offset: 5_000_000_000 })
    expect(rejected).toMatchObject([{ line: 1002, offset: 5_000_000_000 + record(1).length + 1 }])
  })

  test('takes lines and offsets from the places of a block that has them', () => {
    const places = [7, 90, 4000].map((line) => ({ line, offset: line * 100 }))
    const { rejected } = checked(`bad\n\n${record(1)}\n{}\n`, { places })
    expect(rejected).toMatchObject([
      { line: 7, offset: 700, code: 'NOT_JSON', sizeBytes: 3 },
      { line: 4000, offset: 400_000, code: 'ID_MISSING', sizeBytes: 2 },
    ])
  })

  test('parts the block where a company occurs again, in the order of occurrence', () => {
    const name = (text: string): string => `,"Foo":"${text}"`
    const all = [
      record(1, name('a')),
      record(2),
      record(1, name('b')),
      record('1.0', name('c')),
      record('"2"'),
    ]
    const text = `${all.join('\n')}\n`
    const result = checked(text)
    expect(partsOf(text, result)).toEqual([`${all[0]}\n${all[1]}\n`, `${all[2]}\n${all[4]}\n`, `${all[3]}\n`])
    expect(result.parts.map(({ members }) => members)).toEqual([[0, 1], [2, 4], [3]])
    expect(result.parts.map(extrasOf)).toEqual([
      ['{"Foo":"a"}', undefined],
      ['{"Foo":"b"}', undefined],
      ['{"Foo":"c"}'],
    ])
  })

  test('leaves rejected lines out of occurrences, extras and drift', () => {
    const result = checked(`${record(1, ',"Foo":1,"Score":true')}\n${record(1, ',"Bar":1')}\n`)
    expect(result.parts.map(extrasOf)).toEqual([['{"Bar":1}']])
    expect(result.drift).toEqual([{ kind: 'field', name: 'Bar', records: 1 }])
    expect(result.lines).toBe(2)
  })

  test('counts drift by records, the most frequent first', () => {
    const text = `${record(1, ',"A":1,"B":1')}\n${record(2, ',"B":1')}\n${record(3, ',"LinkedIn":{"B":[{"C":1}]}')}\n`
    expect(checked(text).drift).toEqual([
      { kind: 'field', name: 'B', records: 2 },
      { kind: 'field', name: 'A', records: 1 },
      { kind: 'field', name: 'LinkedIn.B', records: 1 },
    ])
  })

  test('rejects bytes that are no UTF-8 in the line that has them, not in its neighbours', () => {
    const bad = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])
    const result = checked(
      Buffer.concat([Buffer.from(`${record(1)}\n`), bad, Buffer.from(`\n${record('2')}\n`)]),
    )
    expect(result.parts.map(({ members }) => members)).toEqual([[0, 1]])
    expect(result.rejected).toMatchObject([
      { line: 2, offset: record(1).length + 1, code: 'NOT_UTF8', raw: bad },
    ])
  })

  test('keeps a copy of what it sets aside, because the block is used again', () => {
    const bytes = Buffer.from('bad\n')
    const { rejected } = checkBlock(blockOf(bytes), new RecordChecker('companies', newSeenSets()))
    bytes.fill(0x20)
    expect(rejected[0]?.raw.toString()).toBe('bad')
  })

  test('rejects the lines that were too long to be held', () => {
    const head = Buffer.from('{"Basic')
    const { rejected, lines, parts } = checked(`${record(1)}\n`, {
      overlong: [{ line: 2, offset: 34, sizeBytes: 17_000_000, head }],
    })
    expect([lines, parts[0]?.members]).toEqual([2, [0]])
    expect(rejected).toEqual([
      {
        line: 2,
        offset: 34,
        sizeBytes: 17_000_000,
        code: 'LINE_TOO_LONG',
        reason: 'Line has 17000000 bytes, more than the limit',
        raw: head,
      },
    ])
  })

  test('has no parts for a block without records', () => {
    const unknownItems = { items: [], more: false }
    expect(checked('\n \n')).toEqual({ parts: [], rejected: [], lines: 0, drift: [], unknownItems })
  })

  test('takes a last line that has no line end', () => {
    const text = `${record(1)}\n${record(2)}`
    expect(partsOf(text, checked(text))).toEqual([text])
  })
})
