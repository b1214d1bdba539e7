/** From the contract's fields to the lake's columns: names, types, and where each value stands in a record. */

import type { Field, ObjectType } from '../../contract/fields.ts'
import { hasOwnTable } from '../duckdb/row-objects.ts'
import { ident } from '../duckdb/sql.ts'

/** A column of a table as a person sees it. */
export interface Column {
  readonly name: string
  readonly type: string
  readonly about: string
  readonly unit?: string
}

/** What a comment in a database says of a column. */
export const columnComment = ({ about, unit }: Column): string =>
  unit === undefined ? about : `${about} Unit: ${unit}.`

/** A field of the contract that is a column. */
export interface FieldColumn extends Column {
  readonly field: Field
  /** Names from the row's object down to the field. */
  readonly path: readonly string[]
}

/** `BusinessDescriptionENG` → `business_description_eng`. */
export const snakeCase = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()

/** Whether a field is a column of its object's row: time series and objects with own tables are not. */
const isColumn = (field: Field): boolean =>
  field.kind !== 'series' &&
  field.kind !== 'financials' &&
  field.kind !== 'self-list' &&
  !(field.kind === 'objects' && hasOwnTable(field.of))

/**
 * The columns of an object's row; nested objects are flattened under the prefix that `prefixes` gives by
 * field name (default: the field's name).
 */
export const fieldColumns = (
  object: ObjectType,
  prefixes: Readonly<Record<string, string>> = {},
  prefix = '',
  path: readonly string[] = [],
): FieldColumn[] =>
  Object.entries(object.fields)
    .filter(([, field]) => isColumn(field))
    .flatMap(([name, field]): FieldColumn[] => {
      const way = [...path, name]
      if (field.kind === 'object') {
        return fieldColumns(field.of, prefixes, prefix + (prefixes[name] ?? `${snakeCase(name)}_`), way)
      }
      const unit = unitOf(name, field)
      return [
        {
          name: prefix + snakeCase(name),
          type: columnType(field),
          about: field.about,
          ...(unit !== undefined && { unit }),
          field,
          path: way,
        },
      ]
    })

/** What a number measures, by its name; instants are in UTC. */
const unitOf = (name: string, field: Field): string | undefined => {
  if (field.kind === 'date-time') return 'instant, UTC'
  if (field.kind !== 'number' && field.kind !== 'integer') return undefined
  return UNITS.find(([pattern]) => pattern.test(name))?.[1]
}
const UNITS: readonly (readonly [RegExp, string])[] = [
  [/OwnershipStake$/, 'percent'],
  [/Shares$/, 'shares'],
  [/Votes$/, 'votes'],
  [/^FiscalYearLength$/, 'months'],
  [/Employees$/, 'persons'],
  [/^Followers$/, 'persons'],
]

/** The type of a field as a column of the lake. */
export const columnType = (field: Field): string => {
  switch (field.kind) {
    case 'text':
      return 'VARCHAR'
    case 'integer':
      return 'BIGINT'
    case 'number':
      return 'DOUBLE'
    case 'boolean':
      return 'BOOLEAN'
    case 'date-time':
      return 'TIMESTAMPTZ'
    case 'texts':
      return 'VARCHAR[]'
    case 'object':
      return structOf(field.of)
    case 'objects':
      return `${structOf(field.of)}[]`
    default:
      throw new TypeError(`A field of kind "${field.kind}" is rows, not a column`)
  }
}

/** A struct type of an object's fields. */
const structOf = (object: ObjectType): string =>
  `STRUCT(${Object.entries(object.fields)
    .map(([name, field]) => `${ident(snakeCase(name))} ${columnType(field)}`)
    .join(', ')})`

/** Columns with the names of numeric codes behind each code's column. */
export const withCodeNames = (columns: readonly FieldColumn[]): Column[] =>
  columns.flatMap((column): Column[] =>
    isNumericCode(column.field)
      ? [column, { name: `${column.name}_name`, type: 'VARCHAR', about: `Name of ${column.name}.` }]
      : [column],
  )

export const isNumericCode = (field: Field): field is Field & { readonly codes: string } =>
  field.kind === 'integer' && field.codes !== undefined
