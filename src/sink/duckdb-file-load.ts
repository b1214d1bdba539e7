/**
 * Loads the staged Parquet files of a run into a database file, all in one transaction: of each record brought the
 * rows of its last partition take the place of what the file has. Views and macros over the tables are dropped before
 * and made again after, in the same transaction.
 */

import { ToolkitError } from '../core/errors.ts'
import type { FileEntry } from '../core/partition.ts'
import type { LakeClaim, SinkContext } from '../core/sink.ts'
import type { ResultColumn, Session } from '../lake/duckdb/engine.ts'
import { ident, literal, pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import { stoppable } from '../lake/duckdb/stoppable.ts'
import { SINK_TABLES, type Table } from '../lake/tables/tables.ts'
import {
  ABOUT_TAKEN,
  commentStatements,
  countPartitions,
  deleteKeys,
  deleteSuperseded,
  type IncomingContent,
  incomingContents,
  keyedTable,
  LOADS_TABLE,
  lastPlaces,
  PLACE,
  type StagedTable,
  selectKeys,
  selectNewest,
  stagedTables,
} from './current-rows.ts'
import { judgeTarget, LAKE_TABLE } from './delivered-runs.ts'
import { TARGET } from './with-database.ts'

export interface RunToLoad {
  readonly run: string
  readonly files: readonly FileEntry[]
  /** Path of the staged file of a receipt. */
  readonly stagedPath: (file: FileEntry) => string
  readonly signal?: AbortSignal | undefined
  readonly layer?: SinkContext['layer']
  readonly taken?: SinkContext['taken']
  readonly anew?: SinkContext['anew']
}

/** A table of the file and the staged rows that go into it. */
interface Loading {
  readonly name: string
  readonly target: string
  /** As declared, where the staged rows have its key. */
  readonly declared: Table | undefined
  readonly columns: readonly string[]
  /** The staged rows with their place, as an item of FROM. */
  readonly rows: string
  /** Whether this run makes the table. */
  readonly fresh: boolean
}

const isLakeTable = (name: string): boolean => SINK_TABLES.some((table) => table.name === name)

const targetOf = (table: string): string => `${TARGET}.main.${ident(table)}`
const LOADS = targetOf(LOADS_TABLE)

/** Names and types. */
const columnsOfTarget = async (session: Session, table: string): Promise<ReadonlyMap<string, string>> => {
  const rows = await session.rows(
    `SELECT column_name AS name, data_type AS type FROM duckdb_columns()
WHERE database_name = ${literal(TARGET)} AND schema_name = 'main' AND table_name = ?`,
    [table],
  )
  return new Map(rows.map(({ name, type }) => [String(name), String(type)]))
}

/** The runs that the file shows. */
export const deliveredRuns = async (session: Session): Promise<ReadonlySet<string>> => {
  if ((await columnsOfTarget(session, LOADS_TABLE)).size === 0) return new Set()
  const rows = await session.rows(`SELECT run FROM ${LOADS}`)
  return new Set(rows.map(({ run }) => String(run)))
}

const LAKE = `${TARGET}.main.${LAKE_TABLE}`

const lakeOf = async (session: Session): Promise<string | undefined> => {
  const isThere = (await columnsOfTarget(session, LAKE_TABLE)).size > 0
  const [row] = isThere ? await session.rows(`SELECT id FROM ${LAKE}`) : []
  return row === undefined ? undefined : String(row.id)
}

const markFile = async (session: Session, id: string): Promise<void> => {
  await session.run(`CREATE TABLE IF NOT EXISTS ${LAKE} (id VARCHAR NOT NULL)`)
  await session.run(`COMMENT ON TABLE ${LAKE} IS 'Id of the lake whose rows the tables hold.'`)
  await session.run(`DELETE FROM ${LAKE}`)
  await session.run(`INSERT INTO ${LAKE} VALUES (?)`, [id])
}

/** The runs that the file shows, as `deliveredRuns`, once it holds the rows of the lake that comes or of none. */
export const claimedRuns = async (
  session: Session,
  file: string,
  claim: LakeClaim | undefined,
): Promise<ReadonlySet<string>> => {
  const runs = await deliveredRuns(session)
  if (claim === undefined) return runs
  const found = { lake: await lakeOf(session), runs }
  const { mark, released, lost } = await judgeTarget(claim, found, `DuckDB file "${file}"`)
  if (mark !== undefined) {
    await session.run('BEGIN')
    await markFile(session, mark)
    for (const run of released) await session.run(`DELETE FROM ${LOADS} WHERE run = ?`, [run])
    await session.run('COMMIT')
    if (runs.size > 0) claim.onAdopted?.()
  }
  return lost.length > 0 ? new Set() : new Set([...runs].filter((run) => !released.includes(run)))
}

/**
 * Does nothing where the file shows the run already.
 *
 * @throws {ToolkitError} TARGET_FAILED; INTERRUPTED by the signal; DuckDB's own errors
 */
export const loadRun = async (session: Session, run: RunToLoad): Promise<void> => {
  if (!run.anew && (await deliveredRuns(session)).has(run.run)) return
  await session.run('BEGIN')
  await stoppable(session, run.signal, () => loadTables(session, run))
  // Stopped halfway through, it would be unknown whether the run is loaded.
  await session.run('COMMIT')
}

const loadTables = async (session: Session, run: RunToLoad): Promise<void> => {
  await session.run(`CREATE TABLE IF NOT EXISTS ${LOADS} (run VARCHAR PRIMARY KEY, loaded_at TIMESTAMPTZ NOT NULL,
  partitions BIGINT NOT NULL, taken VARCHAR)`)
  await session.run(`COMMENT ON COLUMN ${LOADS}.taken IS ${literal(ABOUT_TAKEN)}`)
  await session.run(`COMMENT ON TABLE ${LOADS} IS 'Runs of firmlake whose rows the tables show.'`)
  await dropOurViews(session)
  if (run.anew) await dropOurTables(session)
  const tables: Loading[] = []
  for (const table of stagedTables(run.files)) tables.push(await prepare(session, run, table))
  for (const table of tables) {
    if (table.declared === undefined) await insert(session, table, selectAll(table))
    else if (table.declared.content === undefined) await mergeKeys(session, table, table.declared)
  }
  const declared = tables.flatMap((table) => table.declared ?? [])
  for (const content of incomingContents(declared)) await mergeRecords(session, content, tables)
  for (const table of tables) if (table.fresh) await addKey(session, table)
  await session.run(`INSERT INTO ${LOADS} VALUES (?, now(), ?, ?)`, [
    ...[run.run, countPartitions(run.files), run.taken ?? null],
  ])
  if (run.layer) await makeLayer(session, run.layer)
}

/**
 * Rows of files that have one order of columns each; DuckDB numbers the files in the order of the list. Those of a table
 * that is not one of the lake's have none.
 */
const stagedRows = (run: RunToLoad, { name, parts }: StagedTable): string => {
  const rows = readParquet(pathsSql(parts.map(({ file }) => run.stagedPath(file))), 'union_by_name = true')
  if (!isLakeTable(name)) return rows
  const places = parts.map(({ place }) => place).join(',')
  return `(SELECT *, [${places}][file_index::BIGINT + 1] AS ${PLACE}
FROM ${rows})`
}

const prepare = async (session: Session, run: RunToLoad, table: StagedTable): Promise<Loading> => {
  const rows = stagedRows(run, table)
  const staged = await session.describe(
    `SELECT *${isLakeTable(table.name) ? ` EXCLUDE (${PLACE})` : ''} FROM ${rows}`,
  )
  const columns = staged.map(({ name }) => name)
  const declared = keyedTable(table.name, columns)
  const present = await columnsOfTarget(session, table.name)
  const loading = { name: table.name, target: targetOf(table.name), declared, columns, rows }
  // The answer of a query may have other columns each time: its table is made again.
  const fresh = declared === undefined || present.size === 0
  if (fresh) await createTable(session, loading, staged)
  else await addColumns(session, loading, staged, present)
  return { ...loading, fresh }
}

/** Only once a new table has its rows: DuckDB then makes the index of the key in one go. */
const addKey = async (session: Session, { target, declared }: Loading): Promise<void> => {
  if (declared && hasIndex(declared))
    await session.run(`ALTER TABLE ${target} ADD PRIMARY KEY (${declared.key.map(ident).join(', ')})`)
}

/** Columns as declared, then others as staged. */
const columnList = (
  declared: Table | undefined,
  staged: readonly ResultColumn[],
): readonly ResultColumn[] => {
  const known = declared?.columns ?? []
  return [...known, ...staged.filter(({ name }) => !known.some((column) => column.name === name))]
}

/**
 * A key of its own only for tables with a row a record: DuckDB holds the index of a key in memory (of `financials`
 * with five columns about 50 bytes a row). Of others the comment states the key, and each load checks it.
 */
const hasIndex = ({ key }: Table): boolean => key.length === 1

const createTable = async (
  session: Session,
  { target, declared }: Omit<Loading, 'fresh'>,
  staged: readonly ResultColumn[],
): Promise<void> => {
  const list = columnList(declared, staged)
  const parts = list.map(({ name, type }) => `${ident(name)} ${type}`)
  await session.run(`CREATE OR REPLACE TABLE ${target} (${parts.join(', ')})`)
  if (declared === undefined) return
  const names = list.map(({ name }) => name)
  for (const statement of commentStatements(declared, target, names)) await session.run(statement)
}

/** DuckDB quotes names of fields in one place and not in another. */
const unquoted = (type: string): string => type.replaceAll('"', '')

/** A later version of the tool may know more columns than the one that made the table. */
const addColumns = async (
  session: Session,
  { name: table, target, declared }: Omit<Loading, 'fresh'>,
  staged: readonly ResultColumn[],
  present: ReadonlyMap<string, string>,
): Promise<void> => {
  for (const { name, type } of staged) {
    const other = present.get(name)
    const isDeclared = declared?.columns.some((column) => column.name === name) === true
    if (!isDeclared && other !== undefined && unquoted(other) !== unquoted(type))
      throw new ToolkitError(
        'TARGET_REFUSED',
        `Cannot load column "${name}" into table "${table}": it is of type ${other}, expected ${type}; give it another name`,
        { column: name, type: other, expected: type },
      )
  }
  for (const { name, type } of columnList(declared, staged))
    if (!present.has(name)) await session.run(`ALTER TABLE ${target} ADD COLUMN ${ident(name)} ${type}`)
}

const insert = (session: Session, { target }: Loading, select: string): Promise<void> =>
  session.run(`INSERT INTO ${target} BY NAME ${select}`)

const selectAll = ({ columns, rows }: Loading): string =>
  `SELECT ${columns.map(ident).join(', ')} FROM ${rows}`

/** A dictionary: rows with the same key are replaced. */
const mergeKeys = async (session: Session, table: Loading, declared: Table): Promise<void> => {
  if (!table.fresh) await session.run(deleteKeys(declared, table.target, table.rows))
  await insert(session, table, selectKeys(declared, table.columns, table.rows))
}

/** The rows of records: those of the records brought go, those of each record's last partition come. */
const mergeRecords = async (
  session: Session,
  content: IncomingContent,
  tables: readonly Loading[],
): Promise<void> => {
  const loading = new Map(tables.map((table) => [table.name, table]))
  const newest = ident(`newest_${content.content}`)
  await session.run(
    `CREATE TEMP TABLE ${newest} AS ${lastPlaces(content, ({ name }) => loading.get(name)?.rows ?? '')}`,
  )
  for (const table of content.affectedTables) {
    const fresh = loading.get(table.name)?.fresh ?? (await columnsOfTarget(session, table.name)).size === 0
    if (!fresh) await session.run(deleteSuperseded(table, targetOf(table.name), newest))
  }
  for (const table of tables) {
    const { declared } = table
    if (declared?.content !== content.content) continue
    const current = selectNewest(declared, table.columns, table.rows, newest)
    await insert(session, table, current)
    if (!hasIndex(declared)) await refuseDoubles(session, table, declared, current)
  }
  await session.run(`DROP TABLE ${newest}`)
}

/** Rows of other records cannot have the key of these: it begins with the record. @throws {ToolkitError} TARGET_FAILED */
const refuseDoubles = async (
  session: Session,
  { name }: Loading,
  { key }: Table,
  current: string,
): Promise<void> => {
  const names = key.map(ident)
  const [keys, number, others] = [names.join(', '), names.at(-1), names.slice(0, -1).join(', ')]
  // A key ends in a number. Where as many bits are set as there are rows, none comes twice: one group for 64 keys.
  const [same] = await session.rows(
    `SELECT 1 FROM (
  SELECT hash(${others}, ${number} // 64) AS h, 1::UBIGINT << (${number} & 63) AS bit FROM (${current}) AS c
) GROUP BY h HAVING count(*) > bit_count(bit_or(bit)) LIMIT 1`,
  )
  if (same === undefined) return
  const [row] = await session.rows(
    `SELECT count(*) AS doubles FROM (SELECT 1 FROM (${current}) AS c GROUP BY ${keys} HAVING count(*) > 1)`,
  )
  if (Number(row?.doubles) === 0) return
  throw new ToolkitError(
    'TARGET_FAILED',
    `Cannot load table "${name}": ${String(row?.doubles)} keys (${key.join(', ')}) come more than once`,
    { table: name },
  )
}

/** End of the comments of our views, so that views of others are left alone. */
const MARK = ' (View of firmlake.)'

const names = async (session: Session, sql: string): Promise<readonly string[]> =>
  (await session.rows(sql)).map(({ name }) => String(name))

const IN_TARGET = `database_name = ${literal(TARGET)} AND schema_name = 'main'`

/** Removes the views that an earlier run has made. */
const dropOurViews = async (session: Session): Promise<void> => {
  const ours = await names(
    session,
    `SELECT view_name AS name FROM duckdb_views() WHERE ${IN_TARGET} AND ends_with(comment, ${literal(MARK)})`,
  )
  for (const name of ours) await session.run(`DROP VIEW ${TARGET}.main.${ident(name)}`)
}

/** Removes all rows that runs and exports have brought; answers of queries stay until the next export of their names. */
const dropOurTables = async (session: Session): Promise<void> => {
  for (const { name } of SINK_TABLES)
    for (const own of [name, `${name}_history`]) await session.run(`DROP TABLE IF EXISTS ${targetOf(own)}`)
  await session.run(`DELETE FROM ${LOADS}`)
}

/** Makes them for the tables that are there. What has the name of something else is left out, and what reads it. */
const makeLayer = async (session: Session, layer: NonNullable<SinkContext['layer']>): Promise<void> => {
  const tables = await names(session, `SELECT table_name AS name FROM duckdb_tables() WHERE ${IN_TARGET}`)
  const others = await names(
    session,
    `SELECT view_name AS name FROM duckdb_views() WHERE ${IN_TARGET} AND NOT internal`,
  )
  const statements = await layer({
    tables: new Set(tables),
    taken: new Set([...tables, ...others]),
    mark: MARK,
  })
  await session.run(`USE ${TARGET}`)
  for (const sql of statements) await session.run(sql)
  await session.run('USE memory')
}
