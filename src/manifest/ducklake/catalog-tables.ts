/** The tables of a DuckLake catalog of format 1.0, as the extension makes them itself. */

import { literal } from '../../lake/duckdb/sql.ts'

/** Columns by table. */
const TABLES_OF_CATALOG = {
  metadata: 'key VARCHAR NOT NULL, value VARCHAR NOT NULL, scope VARCHAR, scope_id BIGINT',
  snapshot:
    'snapshot_id BIGINT, snapshot_time TIMESTAMPTZ, schema_version BIGINT, next_catalog_id BIGINT, next_file_id BIGINT',
  snapshot_changes:
    'snapshot_id BIGINT, changes_made VARCHAR, author VARCHAR, commit_message VARCHAR, commit_extra_info VARCHAR',
  schema:
    'schema_id BIGINT, schema_uuid UUID, begin_snapshot BIGINT, end_snapshot BIGINT, schema_name VARCHAR, path VARCHAR, path_is_relative BOOLEAN',
  table:
    'table_id BIGINT, table_uuid UUID, begin_snapshot BIGINT, end_snapshot BIGINT, schema_id BIGINT, table_name VARCHAR, path VARCHAR, path_is_relative BOOLEAN',
  view: 'view_id BIGINT, view_uuid UUID, begin_snapshot BIGINT, end_snapshot BIGINT, schema_id BIGINT, view_name VARCHAR, dialect VARCHAR, sql VARCHAR, column_aliases VARCHAR',
  tag: 'object_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, key VARCHAR, value VARCHAR',
  column_tag:
    'table_id BIGINT, column_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, key VARCHAR, value VARCHAR',
  data_file:
    'data_file_id BIGINT, table_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, file_order BIGINT, path VARCHAR, path_is_relative BOOLEAN, file_format VARCHAR, record_count BIGINT, file_size_bytes BIGINT, footer_size BIGINT, row_id_start BIGINT, partition_id BIGINT, encryption_key VARCHAR, mapping_id BIGINT, partial_max BIGINT',
  file_column_stats:
    'data_file_id BIGINT, table_id BIGINT, column_id BIGINT, column_size_bytes BIGINT, value_count BIGINT, null_count BIGINT, min_value VARCHAR, max_value VARCHAR, contains_nan BOOLEAN, extra_stats VARCHAR',
  file_variant_stats:
    'data_file_id BIGINT, table_id BIGINT, column_id BIGINT, variant_path VARCHAR, shredded_type VARCHAR, column_size_bytes BIGINT, value_count BIGINT, null_count BIGINT, min_value VARCHAR, max_value VARCHAR, contains_nan BOOLEAN, extra_stats VARCHAR',
  delete_file:
    'delete_file_id BIGINT, table_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, data_file_id BIGINT, path VARCHAR, path_is_relative BOOLEAN, format VARCHAR, delete_count BIGINT, file_size_bytes BIGINT, footer_size BIGINT, encryption_key VARCHAR, partial_max BIGINT',
  column:
    'column_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT, table_id BIGINT, column_order BIGINT, column_name VARCHAR, column_type VARCHAR, initial_default VARCHAR, default_value VARCHAR, nulls_allowed BOOLEAN, parent_column BIGINT, default_value_type VARCHAR, default_value_dialect VARCHAR',
  table_stats: 'table_id BIGINT, record_count BIGINT, next_row_id BIGINT, file_size_bytes BIGINT',
  table_column_stats:
    'table_id BIGINT, column_id BIGINT, contains_null BOOLEAN, contains_nan BOOLEAN, min_value VARCHAR, max_value VARCHAR, extra_stats VARCHAR',
  partition_info: 'partition_id BIGINT, table_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT',
  partition_column:
    'partition_id BIGINT, table_id BIGINT, partition_key_index BIGINT, column_id BIGINT, transform VARCHAR',
  file_partition_value:
    'data_file_id BIGINT, table_id BIGINT, partition_key_index BIGINT, partition_value VARCHAR',
  files_scheduled_for_deletion:
    'data_file_id BIGINT, path VARCHAR, path_is_relative BOOLEAN, schedule_start TIMESTAMPTZ',
  inlined_data_tables: 'table_id BIGINT, table_name VARCHAR, schema_version BIGINT',
  column_mapping: 'mapping_id BIGINT, table_id BIGINT, type VARCHAR',
  name_mapping:
    'mapping_id BIGINT, column_id BIGINT, source_name VARCHAR, target_field_id BIGINT, parent_column BIGINT, is_partition BOOLEAN',
  schema_versions: 'begin_snapshot BIGINT, schema_version BIGINT, table_id BIGINT',
  macro: 'schema_id BIGINT, macro_id BIGINT, macro_name VARCHAR, begin_snapshot BIGINT, end_snapshot BIGINT',
  macro_impl: 'macro_id BIGINT, impl_id BIGINT, dialect VARCHAR, sql VARCHAR, type VARCHAR',
  macro_parameters:
    'macro_id BIGINT, impl_id BIGINT, column_id BIGINT, parameter_name VARCHAR, parameter_type VARCHAR, default_value VARCHAR, default_value_type VARCHAR',
  sort_info: 'sort_id BIGINT, table_id BIGINT, begin_snapshot BIGINT, end_snapshot BIGINT',
  sort_expression:
    'sort_id BIGINT, table_id BIGINT, sort_key_index BIGINT, expression VARCHAR, dialect VARCHAR, sort_direction VARCHAR, null_order VARCHAR',
} as const

type CatalogTableName = keyof typeof TABLES_OF_CATALOG

/** Statements that make the tables. */
export const catalogTables = (): readonly string[] =>
  Object.entries(TABLES_OF_CATALOG).map(([name, columns]) => `CREATE TABLE ducklake_${name} (${columns})`)

const typesOf = (name: CatalogTableName): Readonly<Record<string, string>> =>
  Object.fromEntries(
    TABLES_OF_CATALOG[name].split(', ').map((column) => column.split(' ').slice(0, 2) as [string, string]),
  )

/** A statement that puts rows into a table of the catalog; columns that they leave out are NULL. */
export const insertRows = (name: CatalogTableName, rows: readonly object[]): string =>
  `INSERT INTO ducklake_${name} ${rowsFrom(typesOf(name), literal(JSON.stringify(rows)))}`

/** Rows from a text of JSON, which keeps every digit of a number. @param json SQL of the text */
export const rowsFrom = (types: Readonly<Record<string, string>>, json: string): string =>
  `SELECT unnest(from_json(${json}, ${literal(JSON.stringify([types]))}), recursive := true)`
