/** Values of a record's fields, as DuckDB reads them, as values of the lake's columns. */

import type { ObjectType } from '../contract/fields.ts'
import { ident, literal } from '../lake/duckdb/sql.ts'
import { codeName, type FieldColumn, isNumericCode, snakeCase } from '../lake/tables/columns.ts'
import { instantsOf, unlikeInstants } from '../lake/tables/date-times.ts'

/** Select items of one field that is no date-time: its column, and the name of a numeric code behind it. */
const columnsOf = ({ name, field }: FieldColumn, given: string): string[] => {
  // The service omits a 0 there: one that is sent means the same as none.
  const value = field.omitted === 'zero' ? `nullif(${given}, 0)` : given
  const as = (sql: string, column = name): string => `${sql} AS ${ident(column)}`
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

/**
 * Rows of an object's columns, in their order, and `as_reported`: the date-times whose text the instant does
 * not restore, as JSON.
 *
 * @param struct how a field is reached, from its path
 */
export const objectRows = (
  columns: readonly FieldColumn[],
  struct: (path: readonly string[]) => string,
  from: string,
): string => {
  const dateTimes = columns.filter(({ field }) => field.kind === 'date-time')
  const plain = columns.filter(({ field }) => field.kind !== 'date-time')
  const names = dateTimes.map(({ path }) => path.at(-1) ?? '')
  const items = plain.flatMap((column) => columnsOf(column, struct(column.path)))
  if (dateTimes.length === 0) return `SELECT ${items.join(', ')} FROM ${from}`
  const instants = dateTimes.map(({ name }, index) => `instants[${index + 1}] AS ${ident(name)}`)
  return `SELECT * EXCLUDE (texts, instants), ${instants.join(', ')},
  ${unlikeInstants(names, 'texts', 'instants')} AS as_reported
FROM (SELECT *, ${instantsOf('texts')} AS instants
  FROM (SELECT ${items.join(', ')}, [${dateTimes.map(({ path }) => struct(path)).join(', ')}] AS texts FROM ${from}))`
}
