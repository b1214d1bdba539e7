import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type PageKind, pageLines } from '../../src/decode/page-lines.ts'

const lines = (text: string | Buffer, kind: PageKind = 'relations') => {
  const page = pageLines(Buffer.from(text), kind)
  return { text: page.lines.toString('utf8'), records: page.records, ids: [...page.ids].map(Number) }
}
const kindOf = (text: string, kind: PageKind = 'relations'): unknown => {
  try {
    pageLines(Buffer.from(text), kind)
    return 'whole'
  } catch (error) {
    return error instanceof Error && 'context' in error ? error.context : error
  }
}
const HALF = { kind: 'half' }
const FORMLESS = { kind: 'form' }

test('pageLines gives each element as a line with its id', () => {
  expect(lines('{"Relations":[{"InternalId":1,"Name":"A"},{"Name":"B","InternalId":22}]}')).toEqual({
    text: '{"InternalId":1,"Name":"A"}\n{"Name":"B","InternalId":22}\n',
    records: 2,
    ids: [1, 22],
  })
})

test.each([
  ['companies', 'BasicDetails', 'MinifiedInfo'],
  ['minified', 'MinifiedInfo', 'BasicDetails'],
] as const)('pageLines reads the id of %s from their %s', (kind, owner, other) => {
  const element = `{"InternalId":1,"${other}":{"InternalId":2},"${owner}":{"x":{"InternalId":3},"y":["InternalId"],"InternalId":4},"z":{"InternalId":5}}`
  expect(lines(`{"Companies":[${element}]}`, kind)).toEqual({ text: `${element}\n`, records: 1, ids: [4] })
})

test('pageLines takes no id from deeper down', () => {
  const element = '{"Parents":[{"InternalId":7}],"UBODetails":{"InternalId":8},"Name":"InternalId"}'
  expect(lines(`{"Relations":[${element}]}`)).toEqual({ text: `${element}\n`, records: 1, ids: [] })
})

test.each([
  ['9007199254740993', 9007199254740993n],
  ['-5', -5n],
  ['"17"', 17n],
  ['17.0', 17n],
  ['1.7e1', 17n],
  ['9223372036854775807', 9223372036854775807n],
  ['9223372036854775808', undefined],
  ['99999999999999999999999999', undefined],
  ['17.5', undefined],
  ['null', undefined],
  ['"x"', undefined],
  ['[1]', undefined],
])('pageLines reads the id %s', (written, id) => {
  const page = pageLines(Buffer.from(`{"Relations":[{"InternalId": ${written} }]}`), 'relations')
  expect([...page.ids]).toEqual(id === undefined ? [] : [id])
})

test('pageLines keeps lines without an id, and what is no object', () => {
  expect(lines('{"Relations":[{}, null ,5,"a]",[1,{"b":2}],{"InternalId":3}]}')).toEqual({
    text: '{}\nnull\n5\n"a]"\n[1,{"b":2}]\n{"InternalId":3}\n',
    records: 6,
    ids: [3],
  })
})

test('pageLines takes an empty page', () => {
  expect(lines(' { "Relations" : [ ] } \n')).toEqual({ text: '', records: 0, ids: [] })
})

test('pageLines steps over other members, whatever is in them', () => {
  const other =
    '"ValidationResults":{"a":["}","\\"]",{"Relations":[1]}]},"n":null,"t":true,"f":-1.5e3,"s":"\\\\"'
  expect(lines(`{${other},"Relations":[{"InternalId":1}],"x":[]}`).records).toBe(1)
})

test('pageLines takes a byte order mark', () => {
  expect(lines('\ufeff{"Relations":[{}]}').records).toBe(1)
})

test('pageLines makes spaces of line ends within an element', () => {
  const body = '{\r\n  "Relations": [\r\n    {\r\n "InternalId": 1\n },\n {"a":\r2}\n ]\n}\n'
  expect(lines(body).text).toBe('{   "InternalId": 1  }\n{"a": 2}\n')
})

test('pageLines does not mend a text with a raw line end', () => {
  const { text, records } = lines('{"Relations":[{"a":"b\nc"},{"d":"\\\\","e":"f\\\ng"},{"h":\n1}]}')
  expect(records).toBe(3)
  expect(text.split('\n')).toHaveLength(4)
  const [first = '', second = '', third = ''] = text.split('\n')
  expect(() => JSON.parse(first)).toThrow()
  expect(() => JSON.parse(second)).toThrow()
  expect(JSON.parse(third)).toEqual({ h: 1 })
})

test.each([
  ['equal', '[{"InternalId":5},{"InternalId":5}]'],
  ['smaller', '[{"InternalId":5},{},{"InternalId":4}]'],
])('pageLines refuses an id that is %s', (_what, list) => {
  expect(() => lines(`{"Relations":${list}}`)).toThrow(expect.objectContaining({ code: 'ANSWER_DISORDERED' }))
})

test.each([
  '',
  ' ',
  '<html>',
  'null x',
  '{"Relations":[}]',
  '{"Relations":[{]}}',
  '{"Relations":[{}{}]}',
  '{"Relations":[{},]}',
  '{"Relations":[,{}]}',
  '{"Relations":[{}]},',
  '{"Relations":[{}]}{}',
  '{"Relations":[{}],}',
  '{"Relations" [{}]}',
  '{"Relations":[tru]}',
  '{"Relations":[01]}',
  '{"a":nul,"Relations":[]}',
  '{"a":,"Relations":[]}',
  '{Relations:[]}',
])('pageLines takes %j for no whole document', (text) => {
  expect(kindOf(text)).toEqual(HALF)
})

test.each([
  '{}',
  '{"Companies":[]}',
  '{"Relations":null}',
  '{"Relations":{}}',
  '[]',
  '{"a":{"Relations":[]}}',
  '{"Relations":[],"Relations":[]}',
])('pageLines says of %j that it has no such list', (text) => {
  expect(kindOf(text)).toEqual(FORMLESS)
})

test('pageLines takes brackets nested deeper than any record', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  expect(lines(`{"Relations":[{"a":${deep}}]}`).records).toBe(1)
  expect(kindOf(`{"Relations":[{"a":${deep.slice(1)}}]}`)).toEqual(HALF)
})

/** Text that looks like JSON's own marks. */
const trickyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', '\\"', '\n', '\r\n', 'InternalId', 'é', '🏭'),
)
const tree = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    trickyText,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, false, 0),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(trickyText, tie('value'), { maxKeys: 3 }),
  ),
})).value
const SPACES = fc.constantFrom(undefined, 1, '\t')
/** Pages with ids that increase, some records without one, and other members around the list. */
const pages = fc.record({
  elements: fc.array(
    fc.record({ step: fc.integer({ min: 1, max: 1e9 }), hasId: fc.boolean(), before: tree, after: tree }),
    { maxLength: 5 },
  ),
  before: tree,
  after: tree,
  space: SPACES,
  kind: fc.constantFrom<PageKind>('companies', 'minified', 'relations'),
})
const bodyOf = ({
  elements,
  before,
  after,
  space,
  kind,
}: typeof pages extends fc.Arbitrary<infer T> ? T : never) => {
  let id = 0
  const ids: number[] = []
  const records = elements.map(({ step, hasId, ...others }) => {
    id += step
    if (hasId) ids.push(id)
    const own = { before: others.before, ...(hasId && { InternalId: id }), after: others.after }
    if (kind === 'relations') return own
    return { Score: 1, [kind === 'companies' ? 'BasicDetails' : 'MinifiedInfo']: own, InternalId: 'none' }
  })
  const list = kind === 'relations' ? 'Relations' : 'Companies'
  return { body: Buffer.from(JSON.stringify({ before, [list]: records, after }, null, space)), records, ids }
}

test('pageLines gives what JSON.parse gives', () => {
  fc.assert(
    fc.property(pages, (given) => {
      const { body, records, ids } = bodyOf(given)
      const page = pageLines(body, given.kind)
      const parsed = page.lines.toString('utf8').split('\n')
      expect(parsed.pop()).toBe('')
      expect(parsed.map((line) => JSON.parse(line))).toEqual(JSON.parse(JSON.stringify(records)))
      expect([...page.ids].map(Number)).toEqual(ids)
      expect(page.records).toBe(records.length)
    }),
    { numRuns: 300 },
  )
})

test('pageLines reports a body that is cut, at every byte', () => {
  fc.assert(
    fc.property(pages, (given) => {
      const body = Buffer.from(bodyOf(given).body.toString('utf8').trimEnd())
      for (let end = 0; end < body.length; end++) {
        expect(() => pageLines(Buffer.from(body.subarray(0, end)), given.kind)).toThrow(
          expect.objectContaining({ code: 'ANSWER_INVALID', context: HALF }),
        )
      }
    }),
    { numRuns: 10 },
  )
})

test('pageLines takes no whole document for half of one', () => {
  fc.assert(
    fc.property(pages, fc.nat(), fc.constantFrom('{', '}', '[', ']'), (given, where, bracket) => {
      const { body } = bodyOf(given)
      const broken = Buffer.from(body)
      broken.write(bracket, where % body.length)
      let isWhole = true
      try {
        JSON.parse(broken.toString('utf8'))
      } catch {
        isWhole = false
      }
      // The other way round does not hold: within a record only brackets and quotes are looked at.
      if (isWhole && broken.toString('utf8').includes('"Relations"'))
        expect(kindOf(broken.toString('utf8'), given.kind)).not.toEqual(HALF)
    }),
    { numRuns: 300 },
  )
})
