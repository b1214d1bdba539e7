/** A table's columns as a Delta schema. */

import { type ColumnTypeTree, parseColumnType } from '../../lake/duckdb/sql.ts'
import type { Table } from '../../lake/tables/tables.ts'
import { isObject } from '../../support/json-form.ts'
import { PARTITION_COLUMNS } from '../table-files.ts'
import type { LogForm } from './log-form.ts'

/** A field as it stands in a schema; of one that someone else wrote no more is known than its name. */
type DeltaField = Readonly<Record<string, unknown>> & { readonly name: string }

const SCALARS: Readonly<Record<string, string>> = {
  VARCHAR: 'string',
  BIGINT: 'long',
  INTEGER: 'integer',
  SMALLINT: 'short',
  DOUBLE: 'double',
  BOOLEAN: 'boolean',
  TIMESTAMPTZ: 'timestamp',
}

const scalarType = (name: string): string => {
  const type = SCALARS[name]
  if (type === undefined)
    throw new TypeError(`Cannot publish a column of type "${name}": Delta has none for it`)
  return type
}

const deltaType = (type: ColumnTypeTree): unknown => {
  switch (type.kind) {
    case 'scalar':
      return scalarType(type.name)
    case 'list':
      return { type: 'array', elementType: deltaType(type.element), containsNull: true }
    case 'struct':
      return {
        type: 'struct',
        fields: type.fields.map((field) => deltaField(field.name, deltaType(field.type))),
      }
  }
}

const deltaField = (name: string, type: unknown, comment?: string): DeltaField => ({
  name,
  type,
  nullable: true,
  metadata: comment === undefined ? {} : { comment },
})

const fieldsOf = (table: Table, { partitionColumns }: LogForm): readonly DeltaField[] =>
  [...table.columns, ...PARTITION_COLUMNS.filter(({ name }) => partitionColumns.includes(name))].map(
    ({ name, type, about, unit }) =>
      deltaField(
        name,
        deltaType(parseColumnType(type)),
        unit === undefined ? about : `${about} Unit: ${unit}.`,
      ),
  )

const isField = (value: unknown): value is DeltaField => isObject(value) && typeof value.name === 'string'

const loggedFields = (schema: string): readonly DeltaField[] => {
  const parsed: unknown = JSON.parse(schema)
  return isObject(parsed) && Array.isArray(parsed.fields) ? parsed.fields.filter(isField) : []
}

/**
 * The schema text of a table. Columns that the log has and this tool does not know, because a newer one wrote them,
 * stay; new ones come behind.
 */
export const schemaText = (table: Table, form: LogForm, logged?: string): string => {
  const ours = new Map(fieldsOf(table, form).map((field) => [field.name, field]))
  const before = logged === undefined ? [] : loggedFields(logged)
  const known = new Set(before.map(({ name }) => name))
  const fields = [
    ...before.map((field) => ours.get(field.name) ?? field),
    ...[...ours.values()].filter(({ name }) => !known.has(name)),
  ]
  return JSON.stringify({ type: 'struct', fields })
}
