/**
 * What must hold before files are rewritten: they are what the manifest says, and this release
 * knows all that stands in them, and one dictionary fits all of them.
 */

import { ToolkitError } from '../../core/errors.ts'
import type { FileEntry, Snapshot } from '../../core/partition.ts'
import type { Session } from '../../lake/duckdb/engine.ts'
import { type ColumnTypeTree, parseColumnType } from '../../lake/duckdb/parse-column-type.ts'
import { literal } from '../../lake/duckdb/sql.ts'
import { filesOf, readTable } from '../../lake/lake/current-versions.ts'
import { fetchFiles } from '../../lake/lake/fetch-tables.ts'
import { fieldId } from '../../lake/tables/field-ids.ts'
import { TABLES, type Table } from '../../lake/tables/tables.ts'

export const dictionaryTable = (): Table => {
  const table = TABLES.find(({ name }) => name === 'line_items')
  if (table === undefined) throw new TypeError('Cannot find the declaration of table "line_items"')
  return table
}

/**
 * Brings files to this machine and reads each to its end. DuckDB reads damaged Parquet without a word, and a
 * compaction would give what it read a hash of its own.
 *
 * @throws {ToolkitError} `LAKE_DAMAGED`
 */
export const checkInputs = async (
  lake: string,
  files: readonly FileEntry[],
  onBytes: (bytes: number) => void,
  signal: AbortSignal | undefined,
): Promise<void> => {
  await fetchFiles(lake, files, {
    signal,
    onProgress: ({ phase, bytes }) => phase === 'checking' && onBytes(bytes),
  })
}

/**
 * The figures of a run are scaled as its own dictionary says; after the compaction there is one for all.
 *
 * @throws {ToolkitError} `COMPACT_IMPOSSIBLE`
 */
export const checkDictionaries = async (
  session: Session,
  lake: string,
  snapshot: Snapshot,
): Promise<void> => {
  const table = dictionaryTable()
  const [differing] = await session.rows(
    `SELECT category, line_item FROM (${readTable(table, filesOf(snapshot, lake, table.name))})
GROUP BY category, line_item HAVING count(DISTINCT scaled) > 1 LIMIT 1`,
  )
  if (differing === undefined) return
  throw new ToolkitError(
    'COMPACT_IMPOSSIBLE',
    `Cannot compact lake "${lake}": its runs disagree on whether figures of ` +
      `"${String(differing.category)}.${String(differing.line_item)}" are scaled, expected one answer`,
    { lake },
  )
}

/** A column and all that is within it, as field ids have them. */
const pathsOf = (path: string, type: ColumnTypeTree): readonly string[] => {
  const inner = type.kind === 'list' ? [{ name: 'element', type: type.element }] : []
  const parts = type.kind === 'struct' ? type.fields : inner
  return [path, ...parts.flatMap((part) => pathsOf(`${path}.${part.name}`, part.type))]
}

/**
 * The files that are written have the columns of this release: what a later one has loaded in others would be lost.
 *
 * @throws {ToolkitError} `COMPACT_IMPOSSIBLE`
 */
export const checkColumns = async (session: Session, lake: string, snapshot: Snapshot): Promise<void> => {
  for (const { name: table } of TABLES) {
    const files = filesOf(snapshot, lake, table).map(({ path }) => literal(path))
    if (files.length === 0) continue
    const columns = await session.describe(
      `SELECT * FROM read_parquet([${files.join(', ')}], union_by_name = true, hive_partitioning = false)`,
    )
    const unknown = columns
      .flatMap(({ name, type }) => pathsOf(name, parseColumnType(type)))
      .find((path) => fieldId(table, path) === undefined)
    if (unknown === undefined) continue
    throw new ToolkitError(
      'COMPACT_IMPOSSIBLE',
      `Cannot compact lake "${lake}": this release does not know column "${unknown}" of table "${table}", ` +
        'expected the release that loaded it, or a later one',
      { lake, table },
    )
  }
}
