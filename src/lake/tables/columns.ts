/**
 * From the contract's fields to the lake's columns: names, types, and where each value stands in a record; and the columns of the
 * tables whose rows are objects of the contract.
 */

import type { Field, ObjectType } from '../../contract/fields.ts'
import {
  alwaysPresentAt,
  BASIC_DETAILS,
  BENEFICIAL_OWNERSHIP,
  COMPANY,
  ENHANCED_DETAILS,
  LINKED_IN,
  META_DATA,
  OWNERSHIP,
  RELATION,
  RELATIONS_COMPANY,
  ROLE,
} from '../../contract/objects.ts'
import { ident } from '../duckdb/sql.ts'

/** Objects whose lists become rows of a table of their own; all other lists stay columns. */
const ROW_OBJECTS: ReadonlySet<ObjectType> = new Set([RELATION, OWNERSHIP, BENEFICIAL_OWNERSHIP, ROLE])

/**
 * Key in the `extra` column of relations below which the record's own members stand whose names begin with `/`:
 * all other keys that begin so point to rows.
 */
export const POINTER_LIKE = '/'

export const hasOwnTable = (object: ObjectType): boolean => ROW_OBJECTS.has(object)

/** A column of a table as a person sees it. */
export interface Column {
  readonly name: string
  readonly type: string
  readonly about: string
  readonly unit?: string
}

/** The comment on a column in a database. */
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

/** The unit of a number by its name; instants are in UTC, and so is the beginning of a day. */
const unitOf = (name: string, field: Field): string | undefined => {
  if (field.kind === 'date-time') return field.isDay ? 'day as reported' : 'instant, UTC'
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
    case 'strings':
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

const BASIC = fieldColumns(BASIC_DETAILS, { Description: '', IndustryCode: '' }, '', ['BasicDetails'])
const META = fieldColumns(META_DATA, {}, '', ['MetaData'])
const taken = new Set([...BASIC, ...META].map(({ name }) => name))
const ENHANCED = fieldColumns(ENHANCED_DETAILS, {}, '', ['EnhancedDetails']).map((column) =>
  taken.has(column.name) ? { ...column, name: `enhanced_${column.name}` } : column,
)
const LINKEDIN: FieldColumn = {
  name: 'linkedin',
  type: `STRUCT(${fieldColumns(LINKED_IN)
    .map(({ name, type }) => `"${name}" ${type}`)
    .join(', ')})`,
  about: LINKED_IN.about,
  field: COMPANY.fields.LinkedIn,
  path: ['LinkedIn'],
}
const SCORE: FieldColumn = {
  name: 'score',
  type: 'DOUBLE',
  about: COMPANY.fields.Score.about,
  field: COMPANY.fields.Score,
  path: ['Score'],
}

/** Columns of `companies` that are fields of the contract, with their place in the record. */
export const COMPANY_COLUMNS: readonly FieldColumn[] = [...BASIC, ...ENHANCED, ...META, LINKEDIN, SCORE]

/**
 * Columns of `companies` for fields that are always present in pages of the service, by name, with the SQL of the value that a page
 * has in place of nothing; the currency is the requested one where there are no figures.
 */
export const ALWAYS_PRESENT: ReadonlyMap<string, string> = new Map(
  COMPANY_COLUMNS.flatMap(({ name, path }) => {
    const value = alwaysPresentAt(path)
    return value === undefined ? [] : [[name, JSON.stringify(value).replaceAll('"', "'")] as const]
  }),
)

/** Columns of `relations` that are fields of the contract. */
export const RELATIONS_COLUMNS: readonly FieldColumn[] = fieldColumns(RELATIONS_COMPANY, {
  UBODetails: 'ubo_',
})

/** Columns of `relation_entities` that are fields of the contract, but for its InternalId (`entity_id`). */
export const ENTITY_COLUMNS: readonly FieldColumn[] = fieldColumns(RELATION).filter(
  ({ name }) => name !== 'internal_id',
)

/** Columns of `ownerships`: a beneficial ownership has all fields that the other kinds have. */
export const OWNERSHIP_COLUMNS: readonly FieldColumn[] = fieldColumns(BENEFICIAL_OWNERSHIP)

export const ROLE_COLUMNS: readonly FieldColumn[] = fieldColumns(ROLE)

/** The lists of ownerships in a relation, and the `kind` of their rows. */
export const OWNERSHIP_LISTS = {
  BeneficialOwnerships: 'Beneficial',
  Ownerships: 'Direct',
  UltimateOwnerships: 'Ultimate',
  CompanyStructureOwners: 'Structure',
} as const
