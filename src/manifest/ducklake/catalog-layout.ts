/** The schemas and tables of the catalog with their ids and columns: the same for every lake, but for further columns of its own. */

import { type ColumnTypeTree, parseColumnType } from '../../lake/duckdb/sql.ts'
import type { Column } from '../../lake/tables/columns.ts'
import { fieldId } from '../../lake/tables/field-ids.ts'
import { historyTablesOf, withFirstVersion } from '../../lake/tables/past-tables.ts'
import { LISTINGS, mainTables, QUARANTINE, TABLES, type Table } from '../../lake/tables/tables.ts'
import { FACT_NAMES, FACTS } from '../../lake/views/fact-columns.ts'

/** `main`: what a reader asks; `history`: all versions; `firmlake`: what views read. */
export const SCHEMAS = { main: 0, history: 1, firmlake: 2 } as const
export type SchemaName = keyof typeof SCHEMAS

/** Schema of a table or view of the catalog, beside its name. */
export interface InSchema {
  readonly schema: SchemaName
  readonly name: string
}

export interface CatalogColumn {
  readonly id: number
  readonly name: string
  /** As DuckLake names it. */
  readonly type: string
  /** Id of the list or struct whose part it is. */
  readonly parent?: number
}

export interface CatalogTable extends InSchema {
  readonly id: number
  readonly columns: readonly CatalogColumn[]
}

/** A table of the lake's files: twice in the catalog, with the same files. */
export interface FileTable {
  readonly table: Table
  /** Whether nobody but views reads it. */
  readonly isHidden: boolean
  /** Id of the table whose superseded rows are deleted; `undefined` where only all rows are shown. */
  readonly current: number | undefined
  readonly all: number
}

const [FIRST_CURRENT, FIRST_ALL, FIRST_INLINED] = [10, 40, 70]

const HIDDEN_TABLES = [LISTINGS, ...mainTables().flatMap(({ content }) => historyTablesOf(content))]

export const FILE_TABLES: readonly FileTable[] = [...TABLES, ...HIDDEN_TABLES].map((table, at) => ({
  table,
  isHidden: at >= TABLES.length,
  current: at >= TABLES.length ? undefined : FIRST_CURRENT + at,
  all: FIRST_ALL + at,
}))

const TYPES: Readonly<Record<string, string>> = {
  BIGINT: 'int64',
  INTEGER: 'int32',
  SMALLINT: 'int16',
  DOUBLE: 'float64',
  BOOLEAN: 'boolean',
  VARCHAR: 'varchar',
  TIMESTAMPTZ: 'timestamptz',
}

const typeName = (type: ColumnTypeTree): string => {
  if (type.kind !== 'scalar') return type.kind
  const known = TYPES[type.name]
  // The extension refuses the whole catalog for a type that it does not know.
  if (known === undefined) throw new TypeError(`Cannot declare a column of type ${type.name}`)
  return known
}

const columnsOf = (table: string, columns: readonly Column[]): readonly CatalogColumn[] => {
  const found: CatalogColumn[] = []
  const add = (path: string, name: string, type: ColumnTypeTree, parent?: number): void => {
    const id = fieldId(table, path)
    if (id === undefined)
      throw new TypeError(`Cannot declare column "${path}" of "${table}": it has no field id`)
    found.push({ id, name, type: typeName(type), ...(parent !== undefined && { parent }) })
    const parts = type.kind === 'list' ? [{ name: 'element', type: type.element }] : fieldsOf(type)
    for (const part of parts) add(`${path}.${part.name}`, part.name, part.type, id)
  }
  for (const { name, type } of columns) add(name, name, parseColumnType(type))
  return found
}

const fieldsOf = (type: ColumnTypeTree) => (type.kind === 'struct' ? type.fields : [])

/** Names of tables that have further columns at some snapshot: these are views on tables that stand in `firmlake`. */
export type Viewed = ReadonlySet<string>

/** The places of a table's rows. */
export const placesOf = (
  { table, isHidden }: FileTable,
  viewed: Viewed,
): { readonly current: InSchema; readonly all: InSchema } => {
  const { name } = table
  const hidden = { schema: 'firmlake', name } as const
  if (isHidden) return { current: hidden, all: hidden }
  if (viewed.has(name)) return { current: hidden, all: { schema: 'firmlake', name: `${name}_history` } }
  return { current: { schema: 'main', name }, all: { schema: 'history', name } }
}

export const fileTables = (viewed: Viewed): readonly CatalogTable[] =>
  FILE_TABLES.flatMap((one) => {
    const { table } = one
    const columns = columnsOf(table.name, table.columns)
    const { current, all } = placesOf(one, viewed)
    const isOfRecords = !one.isHidden && table.content !== undefined
    return [
      ...(one.current === undefined ? [] : [{ ...current, id: one.current, columns }]),
      {
        ...{ ...all, id: one.all },
        columns: isOfRecords ? columnsOf(table.name, withFirstVersion(table).columns) : columns,
      },
    ]
  })

/** A table whose rows stand in the catalog itself. */
export interface InlinedTable extends InSchema {
  readonly id: number
  /** Types in SQL by column. */
  readonly types: Readonly<Record<string, string>>
  /** The table of the catalog that holds the rows: before these columns their id and the snapshots that show them. */
  readonly rows: string
}

/** Columns of the quarantine without the lines themselves, which are long and of anybody. */
const QUARANTINE_TYPES = Object.fromEntries([
  ['partition', 'VARCHAR'],
  ...QUARANTINE.columns
    .filter(({ name }) => name !== 'raw' && name !== 'raw_base64')
    .map(({ name, type }) => [name, type]),
])

const inlined = (
  id: number,
  schema: SchemaName,
  name: string,
  types: InlinedTable['types'],
): InlinedTable => ({
  ...{ id, schema, name, types },
  rows: `ducklake_inlined_data_${id}_1`,
})

/** The load of each version. */
export const LOADS = inlined(FIRST_INLINED, 'firmlake', 'loads', {
  ...{ version: 'BIGINT', snapshot: 'INTEGER', run: 'VARCHAR', loaded_at: 'VARCHAR', as_of: 'VARCHAR' },
})
export const QUARANTINED = inlined(FIRST_INLINED + 1, 'main', QUARANTINE.name, QUARANTINE_TYPES)
export const FACT_TABLES = Object.fromEntries(
  FACT_NAMES.map((name, at) => [name, inlined(FIRST_INLINED + 2 + at, 'firmlake', name, FACTS[name])]),
) as { readonly [Name in (typeof FACT_NAMES)[number]]: InlinedTable }
/** Instants of superseded records, where they are not that of their version. */
export const INSTANTS = inlined(FIRST_INLINED + 2 + FACT_NAMES.length, 'firmlake', 'instants', {
  ...{ content: 'VARCHAR', owner: 'BIGINT', version: 'BIGINT', as_of: 'VARCHAR' },
})
/** Listings that lacked a company again: the version of the one that marked it, as of the later one. */
export const CONFIRMED = inlined(INSTANTS.id + 1, 'firmlake', 'confirmed', {
  ...{ owner: 'BIGINT', version: 'BIGINT', as_of: 'VARCHAR' },
})

export const INLINED_TABLES: readonly InlinedTable[] = [
  ...[LOADS, QUARANTINED, ...Object.values(FACT_TABLES)],
  INSTANTS,
  CONFIRMED,
]

/** As a table of the catalog. */
export const declared = ({ id, schema, name, types }: InlinedTable): CatalogTable => ({
  ...{ id, schema, name },
  columns: Object.entries(types).map(([column, type], at) => ({
    ...{ id: at + 1, name: column, type: typeName(parseColumnType(type)) },
  })),
})

export const inlinedTableSql = ({ rows, types }: InlinedTable): string => {
  const columns = Object.entries(types).map(([name, type]) => `"${name}" ${type}`)
  return `CREATE TABLE ${rows} (row_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, ${columns.join(', ')})`
}

/** The table of the catalog with the positions of a table's superseded rows. */
export const inlinedDeletes = (tableId: number): string => `ducklake_inlined_delete_${tableId}`
export const inlinedDeletesSql = (tableId: number): string =>
  `CREATE TABLE ${inlinedDeletes(tableId)} (file_id BIGINT, row_id BIGINT, begin_snapshot BIGINT)`
