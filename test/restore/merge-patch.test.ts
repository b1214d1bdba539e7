import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Engine, type Session } from '../../src/lake/duckdb/engine.ts'
import { appendPatched } from '../../src/restore/merge-patch.ts'
import { doubleText } from '../../src/restore/number-text.ts'
import { ByteWriter } from '../../src/support/buffers.ts'
import { membersAt } from '../../src/support/json-bytes.ts'

let engine: Engine
let session: Session
beforeAll(async () => {
  engine = await Engine.open({ memoryBytes: 64 * 1024 ** 2, threads: 1 })
  session = await engine.connect()
})
afterAll(() => engine.close())

const merged = (object: string, patch: string): string => {
  const writer = new ByteWriter()
  appendPatched(writer, membersAt(Buffer.from(object), 0), membersAt(Buffer.from(patch), 0))
  return writer.text()
}

test.each([
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":{"b":"c","d":1}}', '{"a":{"b":"d","c":null}}', '{"a":{"d":1,"b":"d"}}'],
  ['{"a":[1]}', '{"a":[null,{"b":null}]}', '{"a":[null,{"b":null}]}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  [
    '{"b":1}',
    '{ "2" : 1.50 , "1" : [ 1E5 , -0 , { "x" : "\\u00e9\\/" } ] }',
    '{"b":1,"2":1.5,"1":[100000.0,0,{"x":"é/"}]}',
  ],
])('appendPatched sets in %s the members of %s', (object, patch, expected) => {
  expect(merged(object, patch)).toBe(expected)
})

const NUMBERS = [
  ...['0', '-0', '-0.0', '1.50', '1E5', '1e-7', '0.1e-7', '9007199254740993', '18446744073709551616'],
  ...[
    '-9223372036854775809',
    '1e21',
    '1e20',
    '1.7976931348623157e308',
    '1e400',
    '5e-324',
    '1e-400',
    '2.5E-10',
  ],
]
const STRINGS = [
  '""',
  '"a"',
  '"\\u00e9\\/"',
  '"\\u2028\u2028"',
  '"\\u001f\\b\\t"',
  '"\\ud83d\\ude80🚀"',
  '"\\\\u001f"',
  '"}{][,:\\""',
]
const KEYS = ['"a"', '"b"', '"2"', '"10"', '"\\u00e5"', '"å\\""', '"__proto__"', '""']
const space = fc.constantFrom('', '', ' ', '\n\t')
const { value } = fc.letrec<{ value: string; object: string; array: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(...NUMBERS, ...STRINGS, 'null', 'true', 'false'),
    tie('object'),
    tie('array'),
  ),
  array: fc
    .tuple(space, fc.array(tie('value'), { maxLength: 3 }))
    .map(([gap, items]) => `[${gap}${items.join(`${gap},`)}${gap}]`),
  object: fc
    .tuple(
      space,
      fc.uniqueArray(fc.tuple(fc.constantFrom(...KEYS), tie('value')), {
        maxLength: 4,
        selector: ([key]) => key,
      }),
    )
    .map(
      ([gap, members]) =>
        `{${gap}${members.map(([key, text]) => `${key}${gap}:${gap}${text}`).join(`${gap},`)}${gap}}`,
    ),
}))
const objectText = value.filter((text) => text.startsWith('{'))

test('appendPatched writes what DuckDB merges', async () => {
  const cases = fc.sample(fc.tuple(objectText, objectText), { numRuns: 300, seed: 4 })
  for (const [object, patch] of cases) {
    const [row] = await session.rows(
      `SELECT json_merge_patch('{}', $1::VARCHAR)::VARCHAR AS base, json_merge_patch('{}', $1::VARCHAR, $2::VARCHAR)::VARCHAR AS merged`,
      [object, patch],
    )
    expect([object, patch, merged(String(row?.base), patch)]).toEqual([object, patch, row?.merged])
  }
})

test('doubleText writes a double as DuckDB does', async () => {
  const numbers = [
    ...[0.1, 1e-5, 1e-7, 1.5e-7, 2 ** 53, 1e16, 123_456_789_012_345_680, 1e20, 1e21, 1.5e21, 1e22, -1e17],
    ...[1.5e300, 5e-324, Number.MAX_VALUE, -1.5e-9, 100, -0, 0],
  ]
  for (const number of numbers) {
    const text = Object.is(number, -0) ? '-0.0' : String(number)
    const [row] = await session.rows(`SELECT to_json($1::VARCHAR::DOUBLE)::VARCHAR AS text`, [text])
    expect(doubleText(number)).toBe(row?.text)
  }
})
