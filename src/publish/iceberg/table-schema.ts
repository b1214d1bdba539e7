/** A table of the lake as Iceberg declares it: schema with field ids, partitions, the names for files without ids. */

import { type ColumnTypeTree, parseColumnType } from '../../lake/duckdb/sql.ts'
import { fieldId, fieldPaths } from '../../lake/tables/field-ids.ts'
import { PARTITION_COLUMNS } from '../table-files.ts'
import { partitionFieldId } from './manifest-schemas.ts'
import type { TableLayout } from './table-layout.ts'

export type IcebergType =
  | string
  | {
      readonly type: 'list'
      readonly 'element-id': number
      readonly element: IcebergType
      readonly 'element-required': false
    }
  | { readonly type: 'struct'; readonly fields: readonly IcebergField[] }

export interface IcebergField {
  readonly id: number
  readonly name: string
  readonly required: boolean
  readonly type: IcebergType
  readonly doc?: string
}

export interface IcebergSchema {
  readonly type: 'struct'
  readonly 'schema-id': number
  readonly fields: readonly IcebergField[]
}

const SCALARS: Readonly<Record<string, string>> = {
  VARCHAR: 'string',
  BIGINT: 'long',
  INTEGER: 'int',
  SMALLINT: 'int',
  DOUBLE: 'double',
  BOOLEAN: 'boolean',
  TIMESTAMPTZ: 'timestamptz',
}

const idOf = (table: string, path: string): number => {
  const id = fieldId(table, path)
  if (id !== undefined) return id
  throw new TypeError(`Column "${path}" of table "${table}" has no field id`)
}

const typeOf = (table: string, path: string, type: ColumnTypeTree): IcebergType => {
  switch (type.kind) {
    case 'scalar': {
      const name = SCALARS[type.name]
      if (name === undefined) throw new TypeError(`Iceberg has no type for "${type.name}"`)
      return name
    }
    case 'list':
      return {
        type: 'list',
        'element-id': idOf(table, `${path}.element`),
        element: typeOf(table, `${path}.element`, type.element),
        'element-required': false,
      }
    case 'struct':
      return {
        type: 'struct',
        fields: type.fields.map((field) => ({
          id: idOf(table, `${path}.${field.name}`),
          name: field.name,
          required: false,
          type: typeOf(table, `${path}.${field.name}`, field.type),
        })),
      }
  }
}

const partitionColumns = ({ rows }: TableLayout) => (rows === 'all' ? PARTITION_COLUMNS : [])

/** The fields of a table: its columns, then those by which it is partitioned. */
export const schemaFields = (layout: TableLayout): readonly IcebergField[] => {
  const { table } = layout
  return [...table.columns, ...partitionColumns(layout)].map((column) => ({
    id: idOf(table.name, column.name),
    name: column.name,
    required: false,
    type: typeOf(table.name, column.name, parseColumnType(column.type)),
    doc: column.unit === undefined ? column.about : `${column.about} Unit: ${column.unit}.`,
  }))
}

/** The greatest id a table has ever given out. */
export const lastColumnId = ({ table }: TableLayout): number => fieldPaths(table.name).length

export interface PartitionSpec {
  readonly 'spec-id': number
  readonly fields: readonly {
    readonly name: string
    readonly transform: string
    readonly 'source-id': number
    readonly 'field-id': number
  }[]
}

/** The fields that a table is partitioned by: each partition column as it is. */
export const partitionFields = (layout: TableLayout): PartitionSpec['fields'] =>
  partitionColumns(layout).map(({ name }) => ({
    name,
    transform: 'identity',
    'source-id': idOf(layout.table.name, name),
    'field-id': partitionFieldId(name),
  }))

interface MappedField {
  readonly 'field-id': number
  readonly names: readonly string[]
  readonly fields?: readonly MappedField[]
}

const mappedField = (id: number, name: string, type: IcebergType): MappedField => {
  const inner = typeof type === 'string' ? [] : innerFields(type)
  return { 'field-id': id, names: [name], ...(inner.length > 0 && { fields: inner }) }
}

const innerFields = (type: Exclude<IcebergType, string>): readonly MappedField[] =>
  type.type === 'list'
    ? [mappedField(type['element-id'], 'element', type.element)]
    : type.fields.map((one) => mappedField(one.id, one.name, one.type))

/** How a reader finds the columns of files that were written without field ids. */
export const nameMapping = (fields: readonly IcebergField[]): string =>
  JSON.stringify(fields.map(({ id, name, type }) => mappedField(id, name, type)))
