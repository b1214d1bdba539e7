/**
 * Values of a result as JavaScript has them. What a value becomes follows from its column's type, never from the value;
 * the zone is UTC, whatever the machine's is.
 */

import {
  arrayFromArrayValue,
  arrayFromListValue,
  DuckDBArrayType,
  DuckDBDateValue,
  DuckDBListType,
  DuckDBMapType,
  DuckDBStructType,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  type DuckDBType,
  DuckDBTypeId,
  DuckDBUnionType,
  type DuckDBValueConverter,
  fromVariantValue,
  objectArrayFromMapValue,
  objectFromIntervalValue,
  objectFromStructValue,
  objectFromUnionValue,
} from '@duckdb/node-api'

// The binding writes instants in the zone of the machine.
DuckDBTimestampTZValue.timezoneOffsetInMinutes = 0

/** The JSON form of a type: digits as they stand, a text, a boolean, or a list or object of these. */
export type ValueShape =
  | { readonly kind: 'number' | 'text' | 'boolean' }
  /** Known from each value alone: a VARIANT. */
  | { readonly kind: 'any' }
  | { readonly kind: 'list'; readonly of: ValueShape }
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, ValueShape> }
  | { readonly kind: 'union'; readonly members: ReadonlyMap<string, ValueShape> }

const NUMBER: ValueShape = { kind: 'number' }
const TEXT: ValueShape = { kind: 'text' }
const INTERVAL: ValueShape = {
  kind: 'object',
  members: new Map(['months', 'days', 'micros'].map((name) => [name, NUMBER])),
}

const NUMBERS: ReadonlySet<DuckDBTypeId> = new Set([
  ...[DuckDBTypeId.TINYINT, DuckDBTypeId.SMALLINT, DuckDBTypeId.INTEGER, DuckDBTypeId.BIGINT],
  ...[DuckDBTypeId.UTINYINT, DuckDBTypeId.USMALLINT, DuckDBTypeId.UINTEGER, DuckDBTypeId.UBIGINT],
  ...[DuckDBTypeId.HUGEINT, DuckDBTypeId.UHUGEINT, DuckDBTypeId.BIGNUM],
  ...[DuckDBTypeId.FLOAT, DuckDBTypeId.DOUBLE, DuckDBTypeId.DECIMAL],
])

export const valueShapeOf = (type: DuckDBType): ValueShape => {
  if (type instanceof DuckDBListType || type instanceof DuckDBArrayType)
    return { kind: 'list', of: valueShapeOf(type.valueType) }
  if (type instanceof DuckDBStructType) {
    const { entryNames, entryTypes } = type
    return { kind: 'object', members: membersOf(entryNames, entryTypes) }
  }
  if (type instanceof DuckDBMapType) {
    const { keyType, valueType } = type
    return {
      kind: 'list',
      of: { kind: 'object', members: membersOf(['key', 'value'], [keyType, valueType]) },
    }
  }
  if (type instanceof DuckDBUnionType)
    return { kind: 'union', members: membersOf(type.memberTags, type.memberTypes) }
  if (NUMBERS.has(type.typeId)) return NUMBER
  if (type.typeId === DuckDBTypeId.BOOLEAN) return { kind: 'boolean' }
  if (type.typeId === DuckDBTypeId.INTERVAL) return INTERVAL
  return type.typeId === DuckDBTypeId.VARIANT ? { kind: 'any' } : TEXT
}

const membersOf = (names: readonly string[], types: readonly DuckDBType[]): ReadonlyMap<string, ValueShape> =>
  new Map(types.map((type, at) => [names[at] ?? '', valueShapeOf(type)]))

/** An integer as a number, beyond 2^53 as a bigint: JavaScript has no type that is both exact and at home in JSON. */
const integer = (value: bigint): number | bigint => {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : value
}

/** The last moment that JavaScript's Date has, in milliseconds; the first is as far from 1970. */
const LAST_MS = 8_640_000_000_000_000n

/**
 * An instant as ISO 8601 with as many digits as it has: three, six or nine. `undefined` beyond the years of Date and for
 * infinity.
 */
const isoText = (ticks: bigint, ticksPerMs: bigint): string | undefined => {
  const rest = ((ticks % ticksPerMs) + ticksPerMs) % ticksPerMs
  const ms = (ticks - rest) / ticksPerMs
  if (ms > LAST_MS || ms < -LAST_MS) return undefined
  const text = new Date(Number(ms)).toISOString().slice(0, -1)
  if (rest === 0n) return text
  const digits = String(rest).padStart(String(ticksPerMs).length - 1, '0')
  return text + (digits.endsWith('000') ? digits.slice(0, 3) : digits)
}

const MS_OF_DAY = 86_400_000n

const dateTimeText = (value: unknown): string | undefined => {
  if (value instanceof DuckDBTimestampTZValue) {
    const text = isoText(value.micros, 1000n)
    return text && `${text}Z`
  }
  if (value instanceof DuckDBTimestampValue) return isoText(value.micros, 1000n)
  if (value instanceof DuckDBTimestampNanosecondsValue) return isoText(value.nanos, 1_000_000n)
  if (value instanceof DuckDBTimestampMillisecondsValue) return isoText(value.millis, 1n)
  if (value instanceof DuckDBTimestampSecondsValue) return isoText(value.seconds * 1000n, 1n)
  if (value instanceof DuckDBDateValue) {
    if (!value.isFinite) return value.days > 0 ? 'infinity' : '-infinity'
    return isoText(BigInt(value.days) * MS_OF_DAY, 1n)?.split('T')[0]
  }
  return undefined
}

/**
 * A value by its type: integers as numbers (beyond 2^53 as bigint), DOUBLE and FLOAT as numbers, DECIMAL as the text of
 * its digits, date-times as ISO 8601, lists as arrays, a STRUCT as an object, a MAP as a list of `{key, value}`, a UNION
 * as `{tag, value}`.
 */
export const toValue: DuckDBValueConverter<unknown> = (value, type, converter) => {
  if (value === null || value === undefined) return null
  if (typeof value === 'bigint') return integer(value)
  if (typeof value !== 'object') return value
  switch (type.typeId) {
    case DuckDBTypeId.LIST:
      return arrayFromListValue(value, type, converter)
    case DuckDBTypeId.ARRAY:
      return arrayFromArrayValue(value, type, converter)
    case DuckDBTypeId.STRUCT:
      return objectFromStructValue(value, type, converter)
    case DuckDBTypeId.MAP:
      return objectArrayFromMapValue(value, type, converter)
    case DuckDBTypeId.UNION:
      return objectFromUnionValue(value, type, converter)
    case DuckDBTypeId.VARIANT:
      return fromVariantValue(value, type, converter)
    case DuckDBTypeId.INTERVAL: {
      const { months, days, micros } = objectFromIntervalValue(value)
      return { months, days, micros: integer(micros) }
    }
    default:
      return dateTimeText(value) ?? String(value)
  }
}
