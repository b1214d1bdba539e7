/** Values of a record's fields, as DuckDB reads them, as values of the lake's columns. */

import type { ObjectType } from '../contract/fields.ts'
import { PROTECTED_IDENTITY } from '../contract/objects.ts'
import { ident, literal } from '../lake/duckdb/sql.ts'
import { codeName, type FieldColumn, isNumericCode, snakeCase, structureOf } from '../lake/tables/columns.ts'
import { instantsOf, unlikeInstants } from '../lake/tables/date-times.ts'

/** Select items of one field that is no date-time: its column, and the name of a numeric code behind it. */
export const columnsOf = ({ name, field }: FieldColumn, given: string): string[] => {
  // The service omits a 0 there: one that is sent means the same as none.
  const value = field.omitted === 'zero' ? `nullif(${given}, 0)` : given
  const as = (sql: string, column = name): string => `${sql} AS ${ident(column)}`
  if ('masked' in field && field.masked === true) return [as(unmasked(field, value))]
  switch (field.kind) {
    case 'object':
      return [as(`CASE WHEN ${hasMembers(value, field.of)} THEN ${renamed(value, field.of)} END`)]
    case 'objects':
      return [as(`list_transform(${value}, lambda item : ${renamed('item', field.of)})`)]
    default:
      return isNumericCode(field)
        ? [as(value), as(codeName(field.codes, value), `${name}_name`)]
        : [as(value)]
  }
}

/** An object without members counts as absent, so that a lake and the one pulled from it have equal rows. */
const hasMembers = (struct: string, object: ObjectType): string =>
  Object.keys(object.fields)
    .map((name) => `${struct}.${ident(name)} IS NOT NULL`)
    .join(' OR ')

/** A struct with the columns' names in place of the service's. */
const renamed = (struct: string, object: ObjectType): string =>
  `{${Object.keys(object.fields)
    .map((name) => `${literal(snakeCase(name))}: ${struct}.${ident(name)}`)
    .join(', ')}}`

/** Whether a value read as JSON holds the text that stands for personal data, alone or in a list. */
export const isMasked = (json: string): string =>
  `coalesce(contains(${json}::VARCHAR, ${literal(JSON.stringify(PROTECTED_IDENTITY))}), false)`

/** The value of a field that may be masked, read as JSON; NULL where it is. */
const unmasked = (field: FieldColumn['field'], json: string): string => {
  const typed =
    field.kind === 'texts'
      ? `from_json(${json}, '["VARCHAR"]')`
      : field.kind === 'objects'
        ? `list_transform(from_json(${json}, ${literal(`[${structureOf(field.of)}]`)}), lambda item : ${renamed('item', field.of)})`
        : `${json} ->> '$'`
  return `CASE WHEN NOT ${isMasked(json)} THEN ${typed} END`
}

/**
 * Rows of an object's columns, in their order, and `as_reported`: the date-times whose text the instant does
 * not restore, as JSON.
 *
 * @param struct how a field is reached, from its path
 * @param others further select items, taken as they are
 */
export const objectRows = (
  columns: readonly FieldColumn[],
  struct: (path: readonly string[]) => string,
  from: string,
  others: readonly string[] = [],
): string => {
  const dateTimes = columns.filter(({ field }) => field.kind === 'date-time')
  const plain = columns.filter(({ field }) => field.kind !== 'date-time')
  const names = dateTimes.map(({ path }) => path.at(-1) ?? '')
  const items = [...others, ...plain.flatMap((column) => columnsOf(column, struct(column.path)))]
  if (dateTimes.length === 0) return `SELECT ${items.join(', ')} FROM ${from}`
  const instants = dateTimes.map(({ name }, index) => `instants[${index + 1}] AS ${ident(name)}`)
  return `SELECT * EXCLUDE (texts, instants), ${instants.join(', ')},
  ${unlikeInstants(names, 'texts', 'instants')} AS as_reported
FROM (SELECT *, ${instantsOf('texts')} AS instants
  FROM (SELECT ${items.join(', ')}, [${dateTimes.map(({ path }) => struct(path)).join(', ')}] AS texts FROM ${from}))`
}
