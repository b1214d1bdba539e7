/** Values of a record's fields, as DuckDB reads them, as values of the lake's columns. */

import type { ObjectType } from '../contract/fields.ts'
import { PROTECTED_IDENTITY } from '../contract/objects.ts'
import { codeName, type FieldColumn, isNumericCode, snakeCase, structureOf } from '../lake/columns.ts'
import { instantOf } from '../lake/date-times.ts'
import { ident, literal } from '../lake/sql.ts'

/** Select items of one field: its column, and the name of a numeric code behind it. */
export const columnsOf = ({ name, field }: FieldColumn, value: string): string[] => {
  const as = (sql: string, column = name): string => `${sql} AS ${ident(column)}`
  if ('masked' in field && field.masked === true) return [as(unmasked(field, value))]
  switch (field.kind) {
    case 'date-time':
      return [as(instantOf(value))]
    case 'object':
      return [as(`CASE WHEN ${value} IS NOT NULL THEN ${renamed(value, field.of)} END`)]
    case 'objects':
      return [as(`list_transform(${value}, lambda item : ${renamed('item', field.of)})`)]
    default:
      return isNumericCode(field)
        ? [as(value), as(codeName(field.codes, value), `${name}_name`)]
        : [as(value)]
  }
}

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
