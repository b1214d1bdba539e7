/** Brings the rows of a catalog from the snapshot that it shows to the newest one, over all that the lake keeps in between. */

import type { Row, Session } from '../../lake/duckdb/engine.ts'
import { ident, literal } from '../../lake/duckdb/sql.ts'
import { hasOwnVersions } from '../../lake/tables/past-tables.ts'
import { hasSeveralInstants } from '../../lake/views/version-chain.ts'
import { sha256Of } from '../../support/hash.ts'
import { rateFacts } from '../snapshots/read-facts.ts'
import type { SnapshotRoot } from '../snapshots/snapshot-root.ts'
import { readKnownRoot } from '../snapshots/snapshots.ts'
import { FACT_TABLES, FILE_TABLES, INLINED_TABLES, inlinedDeletes, LOADS } from './catalog-layout.ts'
import { insertRows, rowsFrom } from './catalog-tables.ts'
import { VERSION_BITS } from './catalog-views.ts'
import { insertDeletes, type WorkFolders } from './delete-rows.ts'
import { FactRows } from './fact-rows.ts'
import { FileRows, insertStatistics } from './file-rows.ts'
import { LAYOUT_KEY, MADE_OF_KEY, NEXT_CATALOG_ID, schemaVersionAt } from './fixed-part.ts'
import { insertInstants } from './instant-rows.ts'
import { StatementQueue } from './statement-queue.ts'
import { listDifference, type Step } from './step-entries.ts'

export interface Span {
  readonly lake: string
  /** The folder of the lake's files as other tools name it, with a slash at its end. */
  readonly dataPath: string
  /** The first snapshot that the lake keeps and may show, and its newest. */
  readonly first: number
  readonly newest: SnapshotRoot
  readonly folders: WorkFolders
  readonly mostInlined?: number | undefined
}

/** Keys of `ducklake_metadata`: the place below which the files of the lake are, and the hash of the rates that a catalog has. */
const [PATH_KEY, RATES_KEY] = ['data_path', 'firmlake_rates']

/** The facts that a catalog states about itself. */
export interface CatalogState {
  readonly layout?: string
  readonly madeOf?: string
  readonly dataPath?: string
  readonly rates?: string
  /** The snapshots that it shows. @default none */
  readonly shown?: { readonly first: number; readonly last: number; readonly run: string }
}

const shownBy = ({ first, last, info }: Row): CatalogState['shown'] => {
  if (last === null) return undefined
  const facts: unknown = JSON.parse(String(info))
  const run = typeof facts === 'object' && facts !== null && 'run' in facts ? String(facts.run) : ''
  return { first: Number(first), last: Number(last), run }
}

/** Fails where it is no catalog. */
export const readState = async (session: Session): Promise<CatalogState> => {
  const keys = { layout: LAYOUT_KEY, madeOf: MADE_OF_KEY, dataPath: PATH_KEY, rates: RATES_KEY }
  const [row = {}] = await session.rows(`SELECT m.*, s.* FROM (SELECT ${Object.entries(keys)
    .map(([name, key]) => `max(value) FILTER (key = ${literal(key)}) AS ${ident(name)}`)
    .join(', ')} FROM ducklake_metadata) AS m,
(SELECT min(snapshot_id) AS first, max(snapshot_id) AS last, arg_max(commit_extra_info, snapshot_id) AS info FROM ducklake_snapshot_changes) AS s`)
  const shown = shownBy(row)
  return {
    ...Object.fromEntries(
      Object.keys(keys).flatMap((name) => (row[name] === null ? [] : [[name, String(row[name])]])),
    ),
    ...(shown && { shown }),
  }
}

/** Whether what a catalog shows is the past of the lake, from its first snapshot on. */
export const canContinue = async (
  { shown }: CatalogState,
  { lake, first, newest }: Pick<Span, 'lake' | 'first' | 'newest'>,
): Promise<boolean> => {
  if (shown === undefined || shown.first > first || shown.last < first || shown.last > newest.snapshot)
    return false
  const last = shown.last === newest.snapshot ? newest : await readKnownRoot(lake, shown.last)
  return last.run === shown.run
}

/** Brings the catalog forward. It must be one that can be continued, or show nothing. */
export const bringForward = async (session: Session, span: Span, state: CatalogState): Promise<void> => {
  const { lake, dataPath, first, newest } = span
  const { shown } = state
  const statements = new StatementQueue(session)
  if (state.dataPath !== dataPath) await setMetadata(statements, PATH_KEY, dataPath)
  if (shown !== undefined && shown.first < first) await removeBefore(statements, first)
  let before = shown === undefined ? null : await readKnownRoot(lake, shown.last)
  for (let number = (before?.snapshot ?? first - 1) + 1; number <= newest.snapshot; number += 1) {
    const after = number === newest.snapshot ? newest : await readKnownRoot(lake, number)
    await addSnapshot(statements, { lake, before, after }, span)
    before = after
  }
  await replaceRates(statements, lake, state.rates)
  await replaceTableStatistics(statements, newest)
  await statements.flush()
}

/** Snapshots that gc has removed, and what only they show. */
const removeBefore = async (statements: StatementQueue, first: number): Promise<void> => {
  const withoutFile = 'NOT IN (SELECT data_file_id FROM ducklake_data_file)'
  const all = [
    ...['ducklake_snapshot', 'ducklake_snapshot_changes'].map(
      (table) => `DELETE FROM ${table} WHERE snapshot_id < ${first}`,
    ),
    `DELETE FROM ducklake_data_file WHERE end_snapshot <= ${first}`,
    ...['ducklake_file_column_stats', 'ducklake_delete_file'].map(
      (table) => `DELETE FROM ${table} WHERE data_file_id ${withoutFile}`,
    ),
    ...FILE_TABLES.flatMap(({ current }) =>
      current === undefined ? [] : [`DELETE FROM ${inlinedDeletes(current)} WHERE file_id ${withoutFile}`],
    ),
    ...INLINED_TABLES.map(({ rows }) => `DELETE FROM ${rows} WHERE end_snapshot <= ${first}`),
    `DELETE FROM ${FACT_TABLES.snapshots.rows} WHERE snapshot < ${first}`,
    `DELETE FROM ${LOADS.rows} WHERE version NOT IN (
  SELECT row_id_start >> ${VERSION_BITS} FROM ducklake_data_file UNION ALL SELECT version FROM ${FACT_TABLES.partitions.rows})`,
  ]
  for (const sql of all) await statements.run(sql)
}

const addSnapshot = async (
  statements: StatementQueue,
  step: Step,
  { folders, mostInlined }: Span,
): Promise<void> => {
  const { after } = step
  const files = await FileRows.open(statements)
  const facts = new FactRows(statements, step, folders.scratch)
  const [partitions, merged, ofRuns] = [
    await listDifference(step, 'partitions'),
    await listDifference(step, 'merged'),
    await listDifference(step, 'files'),
  ]
  /** Versions whose partitions a compaction has put together: the lake knows of them as before. */
  const moved = new Set<number>()
  /** Versions whose records have instants of their own. */
  const own = new Set<number>()
  for await (const one of partitions.added()) {
    // Records of a compaction have their instants in its list of versions.
    if (hasSeveralInstants(one) && !hasOwnVersions(one)) own.add(one.version)
    await files.add(one.files, one)
    await facts.addPartition(one, false, false)
    await facts.addLoad(one)
  }
  for await (const one of merged.added()) {
    const isMoved = partitions.gone.has(one.version)
    if (isMoved) moved.add(one.version)
    // Rows of its version may go on in those of a compaction.
    else await facts.addLoad(one)
    await facts.addPartition(one, true, isMoved)
  }
  for await (const one of ofRuns.added()) {
    await files.add([one], one)
    await facts.addLoad(one)
  }
  await facts.addEntries()
  await facts.addSnapshot()
  await facts.end(partitions.gone, difference(partitions.gone, moved), false)
  await facts.end(merged.gone, merged.gone, true)
  await files.end(new Set([...partitions.gone, ...ofRuns.gone]), after.snapshot)
  await files.insert()
  await insertStatistics(statements, step.lake, folders.folder)
  await insertInstants(statements, step, own, folders)
  const deleted = await insertDeletes(statements, step, folders, mostInlined)
  await insertSnapshot(statements, after, deleted)
}

const difference = <T>(all: ReadonlySet<T>, some: ReadonlySet<unknown>): ReadonlySet<T> =>
  new Set([...all].filter((one) => !some.has(one)))

/** @param deleted ids of the tables whose files have new deletes */
const insertSnapshot = async (
  statements: StatementQueue,
  { snapshot, time, run, pipeline }: SnapshotRoot,
  deleted: readonly number[],
): Promise<void> => {
  const changes = `SELECT DISTINCT 'inserted_into_table:' || table_id AS change FROM ducklake_data_file WHERE begin_snapshot = ${snapshot}
  UNION SELECT 'deleted_from_table:' || table_id FROM ducklake_data_file WHERE end_snapshot = ${snapshot}
  UNION SELECT 'deleted_from_table:' || unnest([${deleted.join(', ')}]::BIGINT[])`
  await statements.run(
    `INSERT INTO ducklake_snapshot SELECT ${snapshot}, ${literal(time)}::TIMESTAMPTZ, ${schemaVersionAt(String(snapshot))}, ${NEXT_CATALOG_ID}, max(data_file_id) + 1
FROM (SELECT data_file_id FROM ducklake_data_file UNION ALL SELECT 0)`,
  )
  await statements.run(
    `INSERT INTO ducklake_snapshot_changes
SELECT ${snapshot}, coalesce(string_agg(change, ',' ORDER BY change DESC), ''), 'firmlake', ${literal(pipeline)}, ${literal(JSON.stringify({ run }))} FROM (${changes})`,
  )
}

const setMetadata = async (statements: StatementQueue, key: string, value: string): Promise<void> => {
  await statements.run(`DELETE FROM ducklake_metadata WHERE key = ${literal(key)}`)
  await statements.run(insertRows('metadata', [{ key, value }]))
}

/** Rates are those of the lake and not of a snapshot. @param known hash of those that the catalog has */
const replaceRates = async (
  statements: StatementQueue,
  lake: string,
  known: string | undefined,
): Promise<void> => {
  const rates = JSON.stringify(await Array.fromAsync(rateFacts(lake)))
  const sha256 = sha256Of(rates)
  if (sha256 === known) return
  await setMetadata(statements, RATES_KEY, sha256)
  const { rows, types } = FACT_TABLES.rates
  await statements.run(`DELETE FROM ${rows}`)
  await statements.run(
    `INSERT INTO ${rows} BY NAME SELECT row_number() OVER () AS row_id, 1 AS begin_snapshot, * FROM (${rowsFrom(types, literal(rates))})`,
  )
}

/**
 * Statistics of a table as a whole, without bounds of its columns: too narrow ones would hide rows. A table without files has none of
 * it: the extension for 1.5.2 refuses the whole catalog where a table has statistics and its columns have none.
 */
const replaceTableStatistics = async (
  statements: StatementQueue,
  { nextVersion }: SnapshotRoot,
): Promise<void> => {
  for (const sql of [
    'DELETE FROM ducklake_table_stats',
    `INSERT INTO ducklake_table_stats
SELECT table_id, sum(record_count)::BIGINT, ${nextVersion}::BIGINT << ${VERSION_BITS}, sum(file_size_bytes)::BIGINT
FROM ducklake_data_file WHERE end_snapshot IS NULL GROUP BY table_id`,
    'DELETE FROM ducklake_table_column_stats WHERE table_id NOT IN (SELECT table_id FROM ducklake_table_stats)',
    `INSERT INTO ducklake_table_column_stats BY NAME
SELECT table_id, column_id, true AS contains_null, CASE WHEN column_type = 'float64' THEN false END AS contains_nan
FROM ducklake_column WHERE parent_column IS NULL AND table_id IN (
  SELECT table_id FROM ducklake_table_stats EXCEPT SELECT table_id FROM ducklake_table_column_stats)`,
  ])
    await statements.run(sql)
}
