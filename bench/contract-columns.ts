/** DuckDB column types for the service's objects, so that no contender has to spell 90 fields by hand. */

import type { Field, ObjectType } from '../src/contract/fields.ts'

const SIMPLE = {
  text: 'VARCHAR',
  'date-time': 'VARCHAR',
  integer: 'BIGINT',
  number: 'DOUBLE',
  boolean: 'BOOLEAN',
  strings: 'VARCHAR[]',
  series: 'MAP(SMALLINT, DOUBLE)',
} as const

const typeOf = (field: Field, closed: Readonly<Record<string, string>>, name: string): string => {
  const known = closed[name]
  if (known !== undefined) return known
  if (field.kind === 'object') return structOf(field.of, Object.keys(field.of.fields), closed)
  if (field.kind === 'objects') return `${structOf(field.of, Object.keys(field.of.fields), closed)}[]`
  if (field.kind === 'self-list' || field.kind === 'financials') return 'JSON'
  return SIMPLE[field.kind]
}

/**
 * A STRUCT type with some fields of an object.
 *
 * @param closed types of fields that hold a closed set of values, by field name
 */
export const structOf = (
  type: ObjectType,
  names: readonly string[],
  closed: Readonly<Record<string, string>> = {},
): string => {
  const fields = names.map((name) => {
    const field = type.fields[name]
    if (field === undefined) throw new RangeError(`Cannot declare "${name}": ${type.name} has no such field`)
    return `"${name}" ${typeOf(field, closed, name)}`
  })
  return `STRUCT(${fields.join(', ')})`
}

export const snakeCase = (name: string): string =>
  name
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()

export const quoted = (value: string): string => `'${value.replaceAll("'", "''")}'`
export const quotedList = (values: Iterable<string>): string => [...values].map(quoted).join(', ')
