/**
 * Checkpoints: the whole state of a log in one Parquet file, put together by DuckDB from the one before and the commits
 * since, so that memory does not grow with the number of files.
 */

import { readFile } from 'node:fs/promises'
import { writeError } from '../../core/errors.ts'
import type { Session } from '../../lake/duckdb/engine.ts'
import { literal, NO_FOLDER_COLUMNS, pathSql, pathsSql, readParquet } from '../../lake/duckdb/sql.ts'
import { fsyncFile } from '../../support/durable-files.ts'
import type { LogForm } from './log-form.ts'

/** How long a checkpoint names a removed file, as the format has it by default. */
const TOMBSTONE_MS = 7 * 24 * 3600 * 1000

/** Longest line of a commit: a schema with its comments, or one file with its statistics. */
const LONGEST_LINE_BYTES = 1024 * 1024

type Fields = readonly (readonly [name: string, type: string])[]

/** Columns of a checkpoint and their fields. */
const COLUMNS: Readonly<Record<string, Fields>> = {
  txn: [
    ['appId', 'VARCHAR'],
    ['version', 'BIGINT'],
    ['lastUpdated', 'BIGINT'],
  ],
  add: [
    ['path', 'VARCHAR'],
    ['partitionValues', 'MAP(VARCHAR, VARCHAR)'],
    ['size', 'BIGINT'],
    ['modificationTime', 'BIGINT'],
    ['dataChange', 'BOOLEAN'],
    ['stats', 'VARCHAR'],
  ],
  remove: [
    ['path', 'VARCHAR'],
    ['deletionTimestamp', 'BIGINT'],
    ['dataChange', 'BOOLEAN'],
    ['extendedFileMetadata', 'BOOLEAN'],
    ['partitionValues', 'MAP(VARCHAR, VARCHAR)'],
    ['size', 'BIGINT'],
  ],
  metaData: [
    ['id', 'VARCHAR'],
    ['name', 'VARCHAR'],
    ['description', 'VARCHAR'],
    ['format', 'STRUCT(provider VARCHAR, options MAP(VARCHAR, VARCHAR))'],
    ['schemaString', 'VARCHAR'],
    ['partitionColumns', 'VARCHAR[]'],
    ['configuration', 'MAP(VARCHAR, VARCHAR)'],
    ['createdTime', 'BIGINT'],
  ],
  protocol: [
    ['minReaderVersion', 'INTEGER'],
    ['minWriterVersion', 'INTEGER'],
  ],
}
const NAMES = Object.keys(COLUMNS)

const structType = (fields: Fields): string =>
  `STRUCT(${fields.map(([name, type]) => `"${name}" ${type}`).join(', ')})`

/** Copies of commits are named by their versions, as in the log. */
const readCommits = (commits: readonly string[]): string =>
  `SELECT regexp_extract(filename, '(\\d{20})\\.json$', 1)::BIGINT AS written, ${NAMES.map((name) => `"${name}"`).join(', ')}
FROM read_json(${pathsSql(commits)}, ${NO_FOLDER_COLUMNS}, format = 'newline_delimited', records = true,
  auto_detect = false, filename = true, maximum_object_size = ${LONGEST_LINE_BYTES},
  columns = {${NAMES.map((name) => `'${name}': '${structType(COLUMNS[name] ?? [])}'`).join(', ')}})`

/** Rows of the checkpoint before, in our columns, whatever program made it. */
const readOlder = (path: string): string =>
  `SELECT -1 AS written, ${NAMES.map((name) => `CAST("${name}" AS ${structType(COLUMNS[name] ?? [])}) AS "${name}"`).join(', ')}
FROM ${readParquet(pathSql(path))}`

/** A column's rows with all others NULL. */
const only = (column: string, value: string): string =>
  NAMES.map(
    (name) => `${name === column ? value : `NULL::${structType(COLUMNS[name] ?? [])}`} AS "${name}"`,
  ).join(', ')

const newest = (from: string, key: string, where: string): string =>
  `SELECT * FROM ${from} WHERE ${where} QUALIFY row_number() OVER (PARTITION BY ${key} ORDER BY written DESC) = 1`

const state = (actions: string, sinceMs: number): string => `
WITH action AS (${actions}),
file AS (${newest('action', 'coalesce("add".path, remove.path)', '"add" IS NOT NULL OR remove IS NOT NULL')})
SELECT ${only('protocol', 'protocol')} FROM (${newest('action', '1', 'protocol IS NOT NULL')})
UNION ALL SELECT ${only('metaData', '"metaData"')} FROM (${newest('action', '1', '"metaData" IS NOT NULL')})
UNION ALL SELECT ${only('txn', 'txn')} FROM (${newest('action', 'txn."appId"', 'txn IS NOT NULL')})
UNION ALL SELECT ${only('add', unchanged('add'))} FROM file WHERE "add" IS NOT NULL
UNION ALL SELECT ${only('remove', unchanged('remove'))} FROM file
WHERE remove IS NOT NULL AND remove."deletionTimestamp" >= ${sinceMs}`

/** A file of a state is no change of it. */
const unchanged = (column: 'add' | 'remove'): string =>
  `{${(COLUMNS[column] ?? []).map(([name]) => `'${name}': ${name === 'dataChange' ? 'false' : `"${column}"."${name}"`}`).join(', ')}}`

export interface CheckpointReceipt {
  readonly actions: number
  readonly bytes: Buffer
}

/**
 * Writes the state after the last of the commits to a local file.
 *
 * @param commits local copies, named like those of the log
 * @param older the checkpoint before the first of them, absent where they begin with version 0
 * @throws {ToolkitError} DISK_FULL, WRITE_FAILED
 */
export const copyCheckpoint = async (
  session: Session,
  older: string | undefined,
  commits: readonly string[],
  path: string,
  nowMs: number,
): Promise<CheckpointReceipt> => {
  const actions = [...(older === undefined ? [] : [readOlder(older)]), readCommits(commits)]
  const { rows } = await session.copy(state(actions.join('\nUNION ALL '), nowMs - TOMBSTONE_MS), path, {
    kind: 'parquet',
  })
  try {
    await fsyncFile(path)
    return { actions: rows, bytes: await readFile(path) }
  } catch (error) {
    throw writeError(`Cannot write "${path}"`, error)
  }
}

const FILE_ACTION = `to_json({'add': {'path': "add".path, 'partitionValues': "add"."partitionValues", 'size': "add".size}})::VARCHAR`

/** The files of a checkpoint as lines of JSON, without their statistics, which are most of it. */
export const streamFiles = (session: Session, path: string): AsyncGenerator<string> =>
  session.streamStrings(`SELECT ${FILE_ACTION} FROM ${readParquet(pathSql(path))} WHERE "add" IS NOT NULL`)

/** Files of a checkpoint that firmlake does not write. */
export const streamUnknownFiles = (
  session: Session,
  path: string,
  { fileName, partitionColumns }: LogForm,
): AsyncGenerator<string> => {
  const partition =
    partitionColumns.length === 0
      ? ''
      : `OR try_cast("add"."partitionValues"['version'] AS BIGINT) IS NULL OR try_cast("add"."partitionValues"['snapshot'] AS BIGINT) IS NULL
  OR "add"."partitionValues"['load'] IS NULL OR "add"."partitionValues"['loaded_at'] IS NULL`
  return session.streamStrings(`SELECT ${FILE_ACTION} FROM ${readParquet(pathSql(path))} WHERE "add" IS NOT NULL
AND coalesce(NOT regexp_full_match("add".path, ${literal(fileName)}) ${partition}, true)`)
}

/** The actions of a checkpoint as lines of JSON, but for its files. */
export const streamCheckpoint = (session: Session, path: string): AsyncGenerator<string> =>
  session.streamStrings(`SELECT CASE
  WHEN "metaData" IS NOT NULL THEN to_json({'metaData': {'id': "metaData".id,
    'schemaString': "metaData"."schemaString", 'partitionColumns': "metaData"."partitionColumns",
    'createdTime': "metaData"."createdTime"}})
  WHEN protocol IS NOT NULL THEN to_json({'protocol': {'minReaderVersion': protocol."minReaderVersion",
    'minWriterVersion': protocol."minWriterVersion"}})
  ELSE to_json({'txn': {'appId': txn."appId", 'version': txn.version}})
END::VARCHAR
FROM ${readParquet(pathSql(path))} WHERE "add" IS NULL AND remove IS NULL`)
