/** The part that is the same in the catalogs of all lakes, but for further columns: tables, columns, views, macros and the comments on them. */

import { isDeepStrictEqual } from 'node:util'
import { definitionsFor } from '../../analysis/definitions.ts'
import { baseComments, type Comments, commentsOf, wholeComment } from '../../lake/views/comments.ts'
import { BUILT_FACTS, type BuiltFacts } from '../../support/built-facts.ts'
import { sha256Of } from '../../support/hash.ts'
import { TOOL } from '../../support/own-package.ts'
import type { ColumnsSince } from '../form/projections.ts'
import {
  type CatalogTable,
  declared,
  FILE_TABLES,
  fileTables,
  INLINED_TABLES,
  inlinedDeletesSql,
  inlinedTableSql,
  SCHEMAS,
  type Viewed,
} from './catalog-layout.ts'
import { catalogTables, insertRows } from './catalog-tables.ts'
import { catalogMacros, catalogViews } from './catalog-views.ts'

/** Before every snapshot of a lake. */
const BEGIN = { begin_snapshot: 1 }
const [FIRST_VIEW, FIRST_MACRO] = [200, 400]
/** Ids from here on are free. */
export const NEXT_CATALOG_ID = 1_000
const SCHEMA_VERSION = 1
const NO_COLUMNS: readonly ColumnsSince[] = [{ since: SCHEMA_VERSION, computed: [] }]

/** SQL of the version of the schema that a snapshot has. */
export const schemaVersionAt = (snapshot: string): string =>
  `(SELECT max(schema_version) FROM ducklake_schema_versions WHERE begin_snapshot <= ${snapshot})`

/** A UUID that is the same wherever the catalog is made. */
const uuidOf = (kind: string, id: number): string =>
  sha256Of(`${kind} ${id}`).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')

/** Comments by what they are on: `financials`, and `history.financials` of all versions. */
type Known = ReadonlyMap<string, Comments>

const commentsOfAll = (): Known => {
  // The columns of a view have no comments there.
  const own = [
    ...baseComments(),
    ...definitionsFor().map((one) => ({ ...commentsOf(one), about: wholeComment(one) })),
  ]
  const known = new Map(own.map((one) => [one.name, one]))
  for (const { table } of FILE_TABLES) {
    const all = known.get(`${table.name}_history`)
    if (all) known.set(`history.${table.name}`, all)
  }
  return known
}

const commentKey = ({ schema, name }: Pick<CatalogTable, 'schema' | 'name'>): string =>
  schema === 'history' ? `history.${name}` : name

const tableRows = (tables: readonly CatalogTable[], comments: Known): readonly string[] => {
  const own = { ...BEGIN, path: '', path_is_relative: true }
  const ofTable = (one: CatalogTable): Comments | undefined => comments.get(commentKey(one))
  return [
    insertRows(
      'table',
      tables.map(({ id, schema, name }) => ({
        ...own,
        ...{ table_id: id, table_uuid: uuidOf('table', id), schema_id: SCHEMAS[schema], table_name: name },
      })),
    ),
    insertRows(
      'column',
      tables.flatMap((table) =>
        table.columns.map(({ id, name, type, parent }, at) => ({
          ...{ ...BEGIN, table_id: table.id, column_id: id, column_order: at + 1, column_name: name },
          ...{ column_type: type, parent_column: parent, default_value: 'NULL', nulls_allowed: true },
          default_value_type: type === 'list' || type === 'struct' ? '' : 'literal',
          default_value_dialect: 'duckdb',
        })),
      ),
    ),
    insertRows(
      'column_tag',
      tables.flatMap((table) =>
        (ofTable(table)?.columns ?? []).flatMap(([name, about]) => {
          const column = table.columns.find((one) => one.parent === undefined && one.name === name)
          return column
            ? [{ ...BEGIN, table_id: table.id, column_id: column.id, key: 'comment', value: about }]
            : []
        }),
      ),
    ),
    commentRows(tables.map((one) => ({ id: one.id, about: ofTable(one)?.about }))),
  ]
}

const commentRows = (about: readonly { readonly id: number; readonly about: string | undefined }[]): string =>
  insertRows(
    'tag',
    about.flatMap((one) =>
      one.about === undefined ? [] : [{ ...BEGIN, object_id: one.id, key: 'comment', value: one.about }],
    ),
  )

/** Snapshots from which on views differ, the first of all. A client keeps what it has read of a version of the schema. */
const versionRows = (tables: readonly CatalogTable[], history: readonly ColumnsSince[]): string =>
  insertRows(
    'schema_versions',
    history.flatMap(({ since }, at) =>
      tables.map(({ id }) => ({
        ...(at === 0 ? BEGIN : { begin_snapshot: since }),
        schema_version: since,
        table_id: id,
      })),
    ),
  )

const viewRows = (viewed: Viewed, history: readonly ColumnsSince[], comments: Known): readonly string[] => {
  const views = history.map(({ computed }) => catalogViews(viewed, computed))
  const all = (views[0] ?? []).map((view, at) => ({ ...view, id: FIRST_VIEW + at, at }))
  return [
    insertRows(
      'view',
      all.flatMap(({ id, schema, name, at }) =>
        history.map(({ since }, step) => ({
          ...{
            begin_snapshot: step === 0 ? BEGIN.begin_snapshot : since,
            end_snapshot: history[step + 1]?.since,
          },
          ...{ view_id: id, view_uuid: uuidOf('view', id), schema_id: SCHEMAS[schema] },
          ...{ view_name: name, dialect: 'duckdb', sql: views[step]?.[at]?.sql, column_aliases: '' },
        })),
      ),
    ),
    commentRows(all.map((one) => ({ id: one.id, about: comments.get(commentKey(one))?.about }))),
  ]
}

const macroRows = (): readonly string[] => {
  const macros = catalogMacros().map((macro, at) => ({ ...macro, macro_id: FIRST_MACRO + at }))
  return [
    insertRows(
      'macro',
      macros.map(({ macro_id, name }) => ({ ...BEGIN, schema_id: SCHEMAS.main, macro_id, macro_name: name })),
    ),
    insertRows(
      'macro_impl',
      macros.map(({ macro_id, sql, kind }) => ({ macro_id, impl_id: 0, dialect: 'duckdb', sql, type: kind })),
    ),
    insertRows(
      'macro_parameters',
      macros.flatMap(({ macro_id, parameters }) =>
        parameters.map((parameter_name, column_id) => ({
          ...{ macro_id, impl_id: 0, column_id, parameter_name, parameter_type: 'unknown' },
          ...{ default_value: 'NULL', default_value_type: 'unknown' },
        })),
      ),
    ),
  ]
}

/** Keys of `ducklake_metadata` that say of which tables and of which rows a catalog is made. */
export const [LAYOUT_KEY, MADE_OF_KEY] = ['firmlake_layout', 'firmlake_made_of']

export interface FixedPart {
  readonly statements: () => {
    /** Statements that make the tables, in which rows of a lake are. */
    readonly tables: readonly string[]
    /** Statements that put in the rows that say what the catalog holds, in place of those that are there. */
    readonly rows: readonly string[]
  }
  readonly names: Pick<BuiltFacts['names'], 'layout' | 'madeOf'>
}

const FIXED_TABLES = [
  ...['metadata', 'schema', 'table', 'column', 'column_tag', 'tag', 'schema_versions', 'view'],
  ...['macro', 'macro_impl', 'macro_parameters', 'inlined_data_tables'],
]

const madeBefore = new Map<string, FixedPart>()

const partOf = (history: readonly ColumnsSince[]): FixedPart => {
  if (BUILT_FACTS && isDeepStrictEqual(history, NO_COLUMNS))
    return { statements: () => makeFixedPart(history), names: BUILT_FACTS.names }
  const { tables, rows, ...names } = makeFixedPart(history)
  return { statements: () => ({ tables, rows }), names }
}

/** Made once for all lakes of a process with the same columns. @param history further columns of a lake's tables, by snapshot */
export const fixedPart = (history: readonly ColumnsSince[] = NO_COLUMNS): FixedPart => {
  const key = JSON.stringify(history)
  const part = madeBefore.get(key) ?? partOf(history)
  madeBefore.set(key, part)
  return part
}

const makeFixedPart = (history: readonly ColumnsSince[]) => {
  const comments = commentsOfAll()
  const viewed = new Set(history.flatMap(({ computed }) => computed.map(({ table }) => table)))
  const declaredTables = [...fileTables(viewed), ...INLINED_TABLES.map(declared)]
  const tables = [
    ...catalogTables(),
    ...INLINED_TABLES.map(inlinedTableSql),
    ...FILE_TABLES.flatMap(({ current }) => (current === undefined ? [] : [inlinedDeletesSql(current)])),
  ]
  const rows = [
    insertRows(
      'schema',
      Object.entries(SCHEMAS).map(([name, id]) => ({
        ...{ ...BEGIN, schema_id: id, schema_uuid: uuidOf('schema', id), schema_name: name },
        ...{ path: '', path_is_relative: true },
      })),
    ),
    ...tableRows(declaredTables, comments),
    versionRows(declaredTables, history),
    ...viewRows(viewed, history, comments),
    ...macroRows(),
    insertRows(
      'inlined_data_tables',
      INLINED_TABLES.map((one) => ({
        table_id: one.id,
        table_name: one.rows,
        schema_version: SCHEMA_VERSION,
      })),
    ),
    // A catalog that is continued shows snapshots already, by other columns.
    `UPDATE ducklake_snapshot SET schema_version = ${schemaVersionAt('snapshot_id')}`,
  ]
  const layout = sha256Of([...tables, JSON.stringify(declaredTables)].join(';'))
  const madeOf = sha256Of([layout, ...rows, TOOL].join(';'))
  const metadata = [
    ...[['version', '1.0'] as const, ['created_by', TOOL] as const, ['encrypted', 'false'] as const],
    ...[[LAYOUT_KEY, layout] as const, [MADE_OF_KEY, madeOf] as const],
  ].map(([key, value]) => ({ key, value }))
  return {
    ...{ tables, layout, madeOf },
    rows: [
      ...FIXED_TABLES.map((name) => `DELETE FROM ducklake_${name}`),
      insertRows('metadata', metadata),
      ...rows,
    ],
  }
}
