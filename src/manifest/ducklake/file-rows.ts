/** The data files of a snapshot in the catalog: those that came, those that went, and what stands in the columns of the new ones. */

import type { CommitFacts, FileEntry } from '../../core/partition.ts'
import { literal, pathsSql } from '../../lake/duckdb/sql.ts'
import type { PlaceOf } from '../../lake/files/fetch-tables.ts'
import { FIRST_VERSION } from '../../lake/tables/past-tables.ts'
import type { FileFacts } from '../../storage/storage.ts'
import { type BoundedColumn, boundedColumns } from './bounded-columns.ts'
import { FILE_TABLES } from './catalog-layout.ts'
import { rowsFrom } from './catalog-tables.ts'
import { VERSION_BITS } from './catalog-views.ts'
import { withFooters } from './read-footers.ts'
import type { RowTarget, StatementQueue } from './statement-queue.ts'

/** Files that a step has added, with the ids that they got. */
export const NEW_FILES = 'temp.new_files'

const NEW_FILE_TYPES = {
  ...{ id: 'BIGINT', all_table: 'BIGINT', current_table: 'BIGINT', path: 'VARCHAR', rows: 'BIGINT' },
  ...{ bytes: 'BIGINT', sha256: 'VARCHAR', version: 'BIGINT', first_row: 'BIGINT', snapshot: 'BIGINT' },
}

const NEW_FILE: RowTarget = {
  types: NEW_FILE_TYPES,
  insert: (rows) => `INSERT INTO ${NEW_FILES} BY NAME SELECT * FROM ${rows}`,
}

const TABLES_BY_NAME = new Map(FILE_TABLES.map((one) => [one.table.name, one]))

/** Puts the files of one step into the catalog. */
export class FileRows {
  readonly #statements: StatementQueue
  #nextId = 0

  private constructor(statements: StatementQueue) {
    this.#statements = statements
  }

  static async open(statements: StatementQueue): Promise<FileRows> {
    const rows = new FileRows(statements)
    const columns = Object.entries(NEW_FILE_TYPES).map(([name, type]) => `${name} ${type}`)
    await statements.run(`CREATE OR REPLACE TEMP TABLE new_files (${columns.join(', ')})`)
    const [last] = await statements.rows(
      'SELECT coalesce(max(data_file_id), 0) AS id FROM ducklake_data_file',
    )
    rows.#nextId = Number(last?.id) + 1
    return rows
  }

  /** Takes note of the files of an entry. */
  async add(files: readonly FileEntry[], { committed, version }: CommitFacts): Promise<void> {
    const rowsBefore = new Map<string, number>()
    for (const { table, path, rows, bytes, sha256 } of files) {
      const known = TABLES_BY_NAME.get(table)
      if (known === undefined) continue
      const first_row = rowsBefore.get(table) ?? 0
      rowsBefore.set(table, first_row + rows)
      const ids = { id: this.#nextId, all_table: known.all, current_table: known.current ?? null }
      await this.#statements.add(NEW_FILE, [
        { ...ids, path, rows, bytes, sha256, version, first_row, snapshot: committed.snapshot },
      ])
      this.#nextId += 2
    }
  }

  /** Files of entries that went end with this snapshot. */
  async end(versions: ReadonlySet<string | number>, snapshot: number): Promise<void> {
    if (versions.size === 0) return
    const list = literal(JSON.stringify([...versions]))
    await this.#statements.run(
      `UPDATE ducklake_data_file SET end_snapshot = ${snapshot}
WHERE end_snapshot IS NULL AND row_id_start >> ${VERSION_BITS} IN (SELECT unnest(from_json(${list}, '["BIGINT"]')))`,
    )
  }

  /** Puts the files that it took note of into the catalog. */
  async insert(): Promise<void> {
    await this.#statements.insertPending()
    for (const [id, table] of [
      ['id', 'all_table'],
      ['id + 1', 'current_table'],
    ])
      await this.#statements.run(`INSERT INTO ducklake_data_file BY NAME
SELECT ${id} AS data_file_id, ${table} AS table_id, snapshot AS begin_snapshot, id AS file_order, path, true AS path_is_relative,
  'parquet' AS file_format, rows AS record_count, bytes AS file_size_bytes, (version << ${VERSION_BITS}) + first_row AS row_id_start
FROM ${NEW_FILES} WHERE ${table} IS NOT NULL`)
  }
}

/** Files whose footers are held at once. */
const FILES_AT_ONCE = 256

interface NewFile extends FileFacts {
  readonly id: number
}

/** The new files, some at a time. */
async function* newFiles(statements: StatementQueue): AsyncGenerator<readonly NewFile[]> {
  for (let last = 0; ; ) {
    const rows = await statements.rows(
      `SELECT id, path, bytes, sha256 FROM ${NEW_FILES} WHERE id > ${last} ORDER BY id LIMIT ${FILES_AT_ONCE}`,
    )
    if (rows.length === 0) return
    const files = rows.map(({ id, path, bytes, sha256 }) => ({
      ...{ id: Number(id), path: String(path), bytes: Number(bytes), sha256: String(sha256) },
    }))
    last = files.at(-1)?.id ?? last
    yield files
    if (files.length < FILES_AT_ONCE) return
  }
}

/** A footer cuts texts at 256 bytes, and a greatest one then is less than what it stands for. */
const LONGEST_BOUND_BYTES = 200

const isCut = (end: 'min' | 'max'): string =>
  `(NOT ${end}_is_exact AND octet_length(encode(stats_${end}_value)) > ${LONGEST_BOUND_BYTES})`

/** Row groups say what they hold, or hold nothing. */
const IS_KNOWN = `coalesce(stats_null_count = num_values, false)
  OR (stats_min_value IS NOT NULL AND stats_max_value IS NOT NULL AND NOT coalesce(${isCut('min')}, false) AND NOT coalesce(${isCut('max')}, false))`

/** The bound of all row groups of a column, as DuckLake writes a value of its type. */
const boundOf = (end: 'min' | 'max'): string => {
  const [value, typed] = [
    `stats_${end}_value`,
    (type: string) => `${end}(TRY_CAST(stats_${end}_value AS ${type}))::VARCHAR`,
  ]
  return `CASE type
    WHEN 'varchar' THEN ${end}(${value})
    WHEN 'boolean' THEN ${end}(CASE ${value} WHEN 'true' THEN '1' WHEN 'false' THEN '0' END)
    WHEN 'float64' THEN ${typed('DOUBLE')}
    WHEN 'timestamptz' THEN ${typed('TIMESTAMPTZ')}
    ELSE ${typed('BIGINT')} END`
}

const PLACE_TYPES = { id: 'BIGINT', place: 'VARCHAR' }
const BOUNDED_TYPES = {
  table: 'BIGINT',
  column: 'BIGINT',
  name: 'VARCHAR',
  type: 'VARCHAR',
} satisfies Record<keyof BoundedColumn, string>

/** Reads the footers of the new files, and puts what they say of columns into the catalog. @param folder as `withFooters` has it */
export const insertStatistics = async (
  statements: StatementQueue,
  lake: string,
  folder: string,
): Promise<void> => {
  await statements.run(
    `CREATE TEMP TABLE IF NOT EXISTS bounded AS ${rowsFrom(BOUNDED_TYPES, literal(JSON.stringify(boundedColumns())))}`,
  )
  for await (const files of newFiles(statements))
    await withFooters(lake, files, folder, async (placeOf) => {
      await statements.run(footersSql(files, placeOf))
      await statements.flush()
    })
}

const whereKnown = (end: 'min' | 'max'): string =>
  `CASE WHEN bool_and(is_known) THEN ${boundOf(end)} END AS ${end}_value`

const footersSql = (files: readonly NewFile[], placeOf: PlaceOf): string => {
  const places = files.map(({ id, path }) => ({ id, place: placeOf(path) }))
  // Both tables at once: DuckDB crashes where a table of very many new rows is given more out of itself.
  return `INSERT INTO ducklake_file_column_stats BY NAME
SELECT data_file_id + twin AS data_file_id, CASE twin WHEN 0 THEN all_table ELSE current_table END AS table_id,
  * EXCLUDE (data_file_id, all_table, current_table, twin, name)
FROM (
  SELECT data_file_id, all_table, current_table, column_id, name, sum(total_compressed_size)::BIGINT AS column_size_bytes,
    sum(num_values)::BIGINT AS value_count, CASE WHEN bool_and(stats_null_count IS NOT NULL) THEN sum(stats_null_count)::BIGINT END AS null_count,
    ${whereKnown('min')}, ${whereKnown('max')}, CASE WHEN type = 'float64' THEN false END AS contains_nan
  FROM (
    SELECT n.id AS data_file_id, n.all_table, n.current_table, b.column AS column_id, b.name, b.type, m.*, ${IS_KNOWN} AS is_known
    FROM parquet_metadata(${pathsSql(places.map(({ place }) => place))}) AS m
    JOIN (${rowsFrom(PLACE_TYPES, literal(JSON.stringify(places)))}) AS p ON p.place = m.file_name
    JOIN ${NEW_FILES} AS n ON n.id = p.id JOIN temp.bounded AS b ON b.table = n.all_table AND b.name = m.path_in_schema
  ) GROUP BY data_file_id, all_table, current_table, column_id, name, type
) CROSS JOIN (SELECT unnest([0, 1]) AS twin) WHERE twin = 0 OR (current_table IS NOT NULL AND name <> '${FIRST_VERSION.name}')`
}
