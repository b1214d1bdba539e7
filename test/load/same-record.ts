/**
 * When two records are the same: they are equal as JSON data once what the contract says
 * is omitted counts as absent on both sides: null, an empty object, a default date-time, 0 where so marked. A
 * figure of 0 stays, an empty list stays. A number in quotes is the number.
 */

import type { Field, ObjectType } from '../../src/contract/fields.ts'
import { CONTENT, type Content } from '../../src/contract/objects.ts'

/** Whole numbers beyond 2^53 as BigInt, so that ids are compared digit by digit. */
type Json = null | boolean | number | bigint | string | Json[] | Members
type Members = ReadonlyMap<string, Json>

const DEFAULT_MOMENT = /^0001-01-01([Tt ]00:00(:00([.,]0*)?)?)? ?([Zz]|[+-]\d\d(:?\d\d)?)?\s*$/

/** JSON with objects as maps, so that no key is special. */
const parse = (text: string): Json =>
  JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) => {
    const source = context?.source ?? ''
    if (typeof value === 'number') {
      return Number.isSafeInteger(value) || !/^-?\d+$/.test(source) ? value : BigInt(source)
    }
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? new Map(Object.entries(value))
      : value
  })

/** A text that is the same for equal records and for no others. */
export const canonical = (text: string, content: Content): string =>
  written(members(parse(text), CONTENT[content]) ?? new Map())

const members = (value: Json, object: ObjectType): Json | undefined => {
  if (!(value instanceof Map)) return value
  return kept(value, (name, item) => {
    const field = Object.hasOwn(object.fields, name) ? object.fields[name] : undefined
    return field ? known(item, field, object) : unknown(item)
  })
}

const known = (value: Json, field: Field, self: ObjectType): Json | undefined => {
  if (value === null) return undefined
  switch (field.kind) {
    case 'date-time':
      return typeof value === 'string' && DEFAULT_MOMENT.test(value) ? undefined : value
    case 'integer': {
      const whole = typeof value === 'string' ? BigInt(value) : value
      const digits = typeof whole === 'number' ? BigInt(whole) : whole
      return digits === 0n && field.omitted === 'zero' ? undefined : digits
    }
    case 'number':
      return figure(value)
    case 'object':
      return members(value, field.of)
    case 'objects':
      return Array.isArray(value) ? value.map((item) => members(item, field.of) ?? new Map()) : value
    case 'self-list':
      return Array.isArray(value) ? value.map((item) => members(item, self) ?? new Map()) : value
    case 'series':
      return series(value)
    case 'financials':
      return level(value, (items) => level(items, series))
    default:
      return value
  }
}

/** What is not in the contract: nulls and empty objects count as absent there too. */
const unknown = (value: Json): Json | undefined => {
  if (value === null) return undefined
  if (Array.isArray(value)) return value.map((item) => (item === null ? null : (unknown(item) ?? new Map())))
  if (value instanceof Map) return kept(value, (_name, item) => unknown(item))
  return typeof value === 'bigint' ? Number(value) : value
}

const series = (value: Json): Json | undefined => level(value, figure)
const level = (value: Json, of: (item: Json) => Json | undefined): Json | undefined =>
  value instanceof Map ? kept(value, (_name, item) => (item === null ? undefined : of(item))) : value
const figure = (value: Json): number => Number(value)

/** The members that have a value; `undefined` where none has. */
const kept = (object: Members, of: (name: string, item: Json) => Json | undefined): Members | undefined => {
  const result = new Map<string, Json>()
  for (const [name, item] of object) {
    const value = of(name, item)
    if (value !== undefined) result.set(name, value)
  }
  return result.size > 0 ? result : undefined
}

const written = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`
  if (value instanceof Map) {
    const sorted = [...value].sort(([a], [b]) => (a < b ? -1 : 1))
    return `{${sorted.map(([name, item]) => `${JSON.stringify(name)}:${written(item)}`).join(',')}}`
  }
  // JSON.stringify writes -0 as 0, which is the same number, and BigInt not at all.
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}

/** Canonical texts in an order of their own, to compare what came with what came back. */
export const canonicalAll = (strings: Iterable<string>, content: Content): string[] =>
  [...strings].map((text) => canonical(text, content)).sort()

/** The InternalId of a record, in digits. */
export const idOf = (text: string, content: Content): string => {
  const record = parse(text)
  const owner = record instanceof Map && content === 'companies' ? record.get('BasicDetails') : record
  const id = owner instanceof Map ? owner.get('InternalId') : undefined
  return typeof id === 'object' || id === undefined ? '' : String(BigInt(id))
}
