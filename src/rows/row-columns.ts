/**
 * Declares which fields of a record are columns of which rows, which lists are rows of a table of their own, and what cells hold.
 */

import type { Field } from '../contract/fields.ts'
import { RELATION } from '../contract/objects.ts'
import {
  COMPANY_COLUMNS,
  ENTITY_COLUMNS,
  type FieldColumn,
  fieldColumns,
  OWNERSHIP_COLUMNS,
  OWNERSHIP_LISTS,
  RELATIONS_COLUMNS,
  ROLE_COLUMNS,
} from '../lake/tables/columns.ts'

/** Place of an entity's own id behind its other columns: it is a column of its ownerships and roles too. */
export const ENTITY_ID = ENTITY_COLUMNS.length

/** The fields that have places in a row: in place of an object's column those of its members. */
export const rowPlacesOf = (columns: readonly FieldColumn[]): readonly FieldColumn[] =>
  columns.flatMap((column) =>
    column.field.kind === 'object' ? fieldColumns(column.field.of, {}, '', column.path) : [column],
  )

const COLUMN_OF: ReadonlyMap<Field, number> = new Map<Field, number>([
  ...[
    rowPlacesOf(COMPANY_COLUMNS),
    RELATIONS_COLUMNS,
    ENTITY_COLUMNS,
    OWNERSHIP_COLUMNS,
    ROLE_COLUMNS,
  ].flatMap((columns) => columns.map(({ field }, at) => [field, at] as const)),
  [RELATION.fields.InternalId, ENTITY_ID],
])

/** The place of a field in the row that it belongs to; -1 where no row holds it. */
export const rowColumnOf = (field: Field): number => COLUMN_OF.get(field) ?? -1

/** The kind of rows that the items of a list are. */
export type RowList =
  | { readonly rows: 'entities'; readonly bit: number; readonly direction: 0 | 1 | undefined }
  | { readonly rows: 'ownerships'; readonly bit: number; readonly kind: number }
  | { readonly rows: 'roles'; readonly bit: number; readonly kind: 0 }

export const DIRECTIONS = ['parent', 'child'] as const
export const OWNERSHIP_KINDS: readonly string[] = Object.values(OWNERSHIP_LISTS)

/** Lists of a record and of an entity whose items are rows: in document order, a bit each where they come empty. */
export const RECORD_LISTS = ['Parents', 'Children'] as const
export const ENTITY_LISTS = [...Object.keys(OWNERSHIP_LISTS), 'KeyPersonRoles', 'History'] as const

const ROW_LISTS: ReadonlyMap<string, RowList> = new Map<string, RowList>([
  [RECORD_LISTS[0], { rows: 'entities', bit: 1, direction: 0 }],
  [RECORD_LISTS[1], { rows: 'entities', bit: 2, direction: 1 }],
  ...ENTITY_LISTS.map((name, at): [string, RowList] => {
    const bit = 1 << at
    if (name === 'History') return [name, { rows: 'entities', bit, direction: undefined }]
    if (name === 'KeyPersonRoles') return [name, { rows: 'roles', bit, kind: 0 }]
    return [name, { rows: 'ownerships', bit, kind: at }]
  }),
])

export const rowListOf = (name: string): RowList => {
  const list = ROW_LISTS.get(name)
  if (list === undefined) throw new TypeError(`Cannot take the list "${name}" into rows: no table has them`)
  return list
}

// A cell of a row holds two numbers of 32 bits, and beside its column's place one of these forms, which says what they are.

/** The value itself where it has 64 bits or less; where a text stands, without its quotes; where a list stands. */
export const VALUE = 0
/** The JSON of a text that may be written with escapes. */
export const ESCAPED = 0x100
/** The JSON of a date-time whose instant does not restore it, beside its value. */
export const REPORTED = 0x200
/** The JSON of a date-time that is left to DuckDB. */
export const ODD = 0x400
/** The JSON of personal data that came masked. */
export const MASKED = 0x600

export const FORM_BITS = 0x700
export const PLACE_BITS = 0xff
