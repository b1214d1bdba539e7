/** What each peer knows of the records beforehand, as data: the contract's fields and items under the names of columns. */

import { CONSOLIDATIONS, type Consolidation, FIGURE_SCALE } from '../../src/contract/dictionaries.ts'
import type { Field, ObjectType } from '../../src/contract/fields.ts'
import { LINE_ITEMS } from '../../src/contract/line-items.ts'
import { BASIC_DETAILS, ENHANCED_DETAILS, LINKED_IN, META_DATA } from '../../src/contract/objects.ts'
import { snakeCase } from '../contract-columns.ts'

/** A type as every language reads it. */
export type ShapeType =
  | 'text'
  | 'integer'
  | 'number'
  | 'boolean'
  | { readonly list: ShapeType }
  | { readonly struct: Readonly<Record<string, ShapeType>> }

/** A column of `companies`, and where its value stands in a record. */
export interface ShapeColumn {
  readonly column: string
  /** Member of the record; the column is the whole of it where `field` is absent. */
  readonly part: string
  readonly field?: string
  readonly type: ShapeType
}

const typeOf = (field: Field): ShapeType => {
  if (field.kind === 'object') return structOf(field.of)
  if (field.kind === 'objects') return { list: structOf(field.of) }
  if (field.kind === 'strings') return { list: 'text' }
  if (field.kind === 'integer' || field.kind === 'number' || field.kind === 'boolean') return field.kind
  if (field.kind === 'text' || field.kind === 'date-time') return 'text'
  throw new TypeError(`Cannot make a column of a field of kind "${field.kind}": expected no map and no tree`)
}

const structOf = (type: ObjectType): ShapeType => ({
  struct: Object.fromEntries(Object.entries(type.fields).map(([name, field]) => [name, typeOf(field)])),
})

const columnsOf = (part: string, { fields }: ObjectType, prefix = ''): ShapeColumn[] =>
  Object.entries(fields)
    .filter(([, { kind }]) => kind !== 'series')
    .map(([name, field]) => ({
      column: `${prefix}${snakeCase(name)}`,
      part,
      field: name,
      type: typeOf(field),
    }))

export interface Shape {
  readonly companies: readonly ShapeColumn[]
  readonly consolidations: readonly {
    readonly name: Consolidation
    readonly figures: string
    readonly employees: string
  }[]
  readonly scales: Readonly<Record<string, number>>
  readonly items: readonly {
    readonly category: string
    readonly lineItem: string
    readonly scaled: boolean
    readonly isMoney: boolean
  }[]
}

export const SHAPE: Shape = {
  companies: [
    ...columnsOf('BasicDetails', BASIC_DETAILS),
    ...columnsOf('EnhancedDetails', ENHANCED_DETAILS, 'enhanced_'),
    ...columnsOf('MetaData', META_DATA),
    { column: 'linkedin', part: 'LinkedIn', type: structOf(LINKED_IN) },
  ],
  consolidations: CONSOLIDATIONS.map(({ name, field, employees }) => ({ name, figures: field, employees })),
  scales: FIGURE_SCALE,
  items: LINE_ITEMS.map(({ category, lineItem, scaled, isMoney }) => ({
    category,
    lineItem,
    scaled,
    isMoney,
  })),
}

const DUCKDB = { text: 'VARCHAR', integer: 'BIGINT', number: 'DOUBLE', boolean: 'BOOLEAN' } as const

export const duckdbType = (type: ShapeType): string => {
  if (typeof type === 'string') return DUCKDB[type]
  if ('list' in type) return `${duckdbType(type.list)}[]`
  const members = Object.entries(type.struct).map(([name, one]) => `"${name}" ${duckdbType(one)}`)
  return `STRUCT(${members.join(', ')})`
}
