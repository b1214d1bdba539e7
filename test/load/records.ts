/** Arbitrary records for fast-check, made from the contract's declarations, unknown fields included. */

import fc from 'fast-check'
import { DICTIONARIES, FIGURE_SCALE } from '../../src/contract/dictionaries.ts'
import type { Field, ObjectType } from '../../src/contract/fields.ts'
import { LINE_ITEMS } from '../../src/contract/line-items.ts'
import { COMPANY, CONTENT, type Content, PROTECTED_IDENTITY } from '../../src/contract/objects.ts'

const oddStrings = [
  '',
  '\u0000',
  '__proto__',
  'constructor',
  'null',
  "'; DROP TABLE companies; --",
  'a "quoted" \\ text',
  '\u2028\ufeff\t\r\n',
  'Åse 株式会社 🚀',
  '/Parents/0',
  '$.a[*]',
  PROTECTED_IDENTITY,
]
const text = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 8 }) },
  { weight: 1, arbitrary: fc.constantFrom(...oddStrings) },
)
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const number = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e12, max: 1e12 }),
)
/** A figure that stays finite in billions. */
const figure = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e290, max: 1e290 }),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e12, max: 1e12 }),
)
const moment = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .record({
        at: fc.date({ noInvalidDate: true, min: new Date('0000-01-01'), max: new Date('9999-12-31') }),
        digits: fc.stringMatching(/^(\.\d{1,9})?$/),
        zone: fc.constantFrom('', 'Z', '+05:30', '-00:30', '+00:00', '-14:00'),
      })
      .map(({ at, digits, zone }) => `${at.toISOString().slice(0, 19)}${digits}${zone}`),
  },
  fc.constantFrom(
    '0001-01-01T00:00:00',
    '0001-01-01T00:00:00.0000000Z',
    '0001-01-01',
    '0001-01-01 00:00:00',
    '0001-01-01T00:00:00+02:00',
    '0000-12-31T23:59:59',
    '2020-02-30T00:00:00',
    '2020-01-01T24:00:00',
    '2016-12-31T23:59:60',
    '2020-01-02',
    '9999-12-31T23:59:59.9999999',
    'infinity',
    '2020-infinity',
    'soon',
    '',
  ),
)
const year = fc.integer({ min: 1000, max: 9999 }).map(String)
const mask = fc.constantFrom<unknown>(PROTECTED_IDENTITY, [PROTECTED_IDENTITY])

const knownItem = fc
  .constantFrom(...LINE_ITEMS)
  .map(({ category, lineItem }) => [category, lineItem] as const)
const anyItem = fc.oneof(
  { weight: 4, arbitrary: knownItem },
  { weight: 1, arbitrary: fc.tuple(text, text) },
  {
    weight: 1,
    arbitrary: fc.tuple(text, knownItem).map(([category, [, item]]) => [category, item] as const),
  },
)
const series = fc.dictionary(year, fc.option(figure, { freq: 9 }), { maxKeys: 3 })
const financials = fc.array(fc.tuple(anyItem, series), { maxLength: 4 }).map((items) => {
  const categories = new Map<string, Map<string, object>>()
  for (const [[category, item], years] of items) {
    const inside = categories.get(category) ?? new Map<string, object>()
    categories.set(category, inside.set(item, years))
  }
  return Object.fromEntries([...categories].map(([name, inside]) => [name, Object.fromEntries(inside)]))
})

const codes = (name: string | undefined): readonly (string | number)[] =>
  Object.entries(DICTIONARIES)
    .find(([key]) => key === name)?.[1]
    .values.map(({ value }) => value) ?? []

const valuesOf = (field: Field, self: ObjectType, depth: number): fc.Arbitrary<unknown> => {
  const plain = unmasked(field, self, depth)
  if (!('masked' in field) || field.masked !== true) return plain
  const hidden = field.kind === 'text' ? fc.constant(PROTECTED_IDENTITY) : mask
  return fc.oneof({ weight: 4, arbitrary: plain }, { weight: 1, arbitrary: hidden })
}

const unmasked = (field: Field, self: ObjectType, depth: number): fc.Arbitrary<unknown> => {
  switch (field.kind) {
    case 'text':
      if (field.codes === 'FinancialFigureScale') return fc.constantFrom(...Object.keys(FIGURE_SCALE))
      return field.codes ? fc.oneof(fc.constantFrom(...codes(field.codes)), text) : text
    case 'integer':
      return field.codes ? fc.oneof(fc.constantFrom(0, 777, ...codes(field.codes)), int64) : int64
    case 'number':
      return number
    case 'boolean':
      return fc.boolean()
    case 'date-time':
      return moment
    case 'strings':
      return fc.array(fc.option(text, { freq: 9 }), { maxLength: 3 })
    case 'object':
      return objectOf(field.of, depth)
    case 'objects':
      return fc.array(objectOf(field.of, depth), { maxLength: 2 })
    case 'self-list':
      return depth > 2 ? fc.constant([]) : fc.array(objectOf(self, depth + 1), { maxLength: 2 })
    case 'series':
      return series
    default:
      return financials
  }
}

/** A member that the contract does not know, in one object of four. */
const unknown = fc.oneof(
  { weight: 3, arbitrary: fc.constant<readonly (readonly [string, unknown])[]>([]) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(text, fc.jsonValue({ maxDepth: 3, stringUnit: 'grapheme' }))
      .map(([name, value]) => [[name, value] as const]),
  },
)

const arbitraries = new Map<string, fc.Arbitrary<object>>()

/** An object with some of its fields, in any order, and now and then an unknown one. */
const objectOf = (object: ObjectType, depth: number): fc.Arbitrary<object> => {
  const key = `${object.name} ${depth}`
  const made = arbitraries.get(key)
  if (made) return made
  const share = object === COMPANY ? 2 : 4
  const fields = Object.entries(object.fields).map(([name, field]) =>
    fc
      .option(fc.option(valuesOf(field, object, depth), { freq: 9 }), { nil: undefined, freq: share })
      .map((value) => [name, value] as const),
  )
  const arbitrary = fc.tuple(unknown, fc.boolean(), ...fields).map(([others, reversed, ...members]) => {
    const known = members.filter(([, value]) => value !== undefined)
    const all = [...known, ...others.filter(([name]) => !Object.hasOwn(object.fields, name))]
    return Object.fromEntries(reversed ? all.reverse() : all)
  })
  arbitraries.set(key, arbitrary)
  return arbitrary
}

/** JSON text; BigInt as its digits. */
const jsonText = (value: unknown): string => {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    return `{${Object.entries(value)
      .map(([name, item]) => `${JSON.stringify(name)}:${jsonText(item)}`)
      .join(',')}}`
  }
  return Object.is(value, -0) ? '-0' : JSON.stringify(value)
}

const withId = (content: Content, record: object, id: bigint): object =>
  content === 'relations'
    ? { ...record, InternalId: id }
    : {
        ...record,
        BasicDetails: { ...('BasicDetails' in record ? (record.BasicDetails ?? {}) : {}), InternalId: id },
      }

/** Lines of records that the loader must take, each with an InternalId of its own. */
export const recordLines = (content: Content, most: number): fc.Arbitrary<string[]> =>
  fc
    .array(fc.tuple(int64, objectOf(CONTENT[content], 0)), { minLength: 1, maxLength: most })
    .map((records) => {
      const byId = new Map(records)
      return [...byId].map(([id, record]) => jsonText(withId(content, record, id)))
    })
