/** What must hold before files are rewritten: this release knows all that stands in them, and one dictionary fits all. */

import { ToolkitError } from '../../core/errors.ts'
import type { Session } from '../../lake/duckdb/engine.ts'
import { type ColumnTypeTree, literal, parseColumnType } from '../../lake/duckdb/sql.ts'
import { fieldId } from '../../lake/tables/field-ids.ts'
import { TABLES, type Table } from '../../lake/tables/tables.ts'

export const dictionaryTable = (): Table => {
  const table = TABLES.find(({ name }) => name === 'line_items')
  if (table === undefined) throw new TypeError('Cannot find the declaration of table "line_items"')
  return table
}

/**
 * The figures of a run are scaled as its own dictionary says; after the compaction there is one for all.
 *
 * @param rows SQL of the rows of all dictionaries
 * @throws {ToolkitError} `COMPACT_IMPOSSIBLE`
 */
export const checkDictionaries = async (session: Session, lake: string, rows: string): Promise<void> => {
  const [differing] = await session.rows(
    `SELECT category, line_item FROM (${rows})
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
 * @param files of one table
 * @returns the names of their columns
 * @throws {ToolkitError} `COMPACT_IMPOSSIBLE`
 */
export const checkColumns = async (
  session: Session,
  lake: string,
  { name: table }: Pick<Table, 'name'>,
  files: readonly { readonly path: string }[],
): Promise<ReadonlySet<string>> => {
  if (files.length === 0) return new Set()
  const paths = files.map(({ path }) => literal(path)).join(', ')
  const columns = await session.describe(
    `SELECT * FROM read_parquet([${paths}], union_by_name = true, hive_partitioning = false)`,
  )
  const unknown = columns
    .flatMap(({ name, type }) => pathsOf(name, parseColumnType(type)))
    .find((path) => fieldId(table, path) === undefined)
  if (unknown === undefined) return new Set(columns.map(({ name }) => name))
  throw new ToolkitError(
    'COMPACT_IMPOSSIBLE',
    `Cannot compact lake "${lake}": this release does not know column "${unknown}" of table "${table}", ` +
      'expected the release that loaded it, or a later one',
    { lake, table },
  )
}
