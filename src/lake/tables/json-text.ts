/**
 * JSON text made in SQL. A member that has no value is left out, an object without members is NULL: that is
 * what the contract calls omitted.
 */

import type { Field, ObjectType } from '../../contract/fields.ts'
import { ident, literal } from '../duckdb/sql.ts'
import { type FieldColumn, snakeCase } from './columns.ts'
import { textOfInstant } from './date-times.ts'

/** `"Name":value` of a column, NULL where the column is. */
export const jsonMember = (name: string, valueText: string): string =>
  `${literal(`"${name}":`)} || ${valueText}`

/** An object of members that may be NULL; NULL where all are. */
export const objectText = (members: readonly string[]): string =>
  `'{' || nullif(concat_ws(',', ${members.join(', ')}), '') || '}'`

/** JSON text of a value of the lake in a column of the field's type. */
export const valueText = (field: Field, value: string): string => {
  switch (field.kind) {
    case 'date-time':
      return `to_json(${textOfInstant(value)})::VARCHAR`
    case 'number':
      return numberText(value)
    case 'object':
      return objectText(structMembers(field.of, value))
    case 'objects': {
      const item = `coalesce(${objectText(structMembers(field.of, 'item'))}, '{}')`
      return `'[' || array_to_string(list_transform(${value}, lambda item : ${item}), ',') || ']'`
    }
    default:
      return `to_json(${value})::VARCHAR`
  }
}

/** A double as JSON: whole numbers without a fraction up to 2^53. */
export const numberText = (value: string): string =>
  `CASE WHEN ${value} = trunc(${value}) AND abs(${value}) < 9007199254740992 AND NOT (${value} = 0 AND signbit(${value})) ` +
  `THEN CAST(CAST(${value} AS BIGINT) AS VARCHAR) ELSE to_json(${value})::VARCHAR END`

const structMembers = (object: ObjectType, struct: string): string[] =>
  Object.entries(object.fields).map(([name, field]) =>
    jsonMember(name, valueText(field, `${struct}.${ident(snakeCase(name))}`)),
  )

/** The text of a record with the members of `patch` (JSON or NULL) set in it, object by object. */
export const merged = (text: string, patch: string): string =>
  `CASE WHEN ${patch} IS NULL THEN ${text} ELSE json_merge_patch(coalesce(${text}, '{}'), ${patch})::VARCHAR END`

/** Members of an object from flattened columns; nested objects are put together again. */
export const nested = (columns: readonly FieldColumn[], level: number): string[] => {
  const names = [...new Set(columns.map(({ path }) => path[level] ?? ''))]
  return names.map((name) => {
    const below = columns.filter(({ path }) => path[level] === name)
    const [leaf] = below
    return leaf !== undefined && leaf.path.length === level + 1
      ? jsonMember(name, valueText(leaf.field, ident(leaf.name)))
      : jsonMember(name, objectText(nested(below, level + 1)))
  })
}
