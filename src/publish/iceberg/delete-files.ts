/**
 * Files of deleted positions: which rows of one data file a table does not have.
 *
 * Source: Apache Iceberg, table specification, version 2, "Position Delete Files".
 */

import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { literal } from '../../lake/duckdb/sql.ts'
import type { Storage } from '../../storage/storage.ts'
import type { CountedFile } from '../current/superseded-rows.ts'
import { absolutePath, pathInLake } from './lake-paths.ts'
import { type LiveFile, type LiveFiles, readLiveFiles, readManifestList } from './live-files.ts'
import {
  type DataFileRecord,
  DELETE_FIELD_IDS,
  FILE_CONTENT,
  type ManifestFileRecord,
  NO_PARTITION,
} from './manifest-schemas.ts'
import type { TableState } from './table-changes.ts'
import type { TableMetadata } from './table-metadata.ts'

const FIELD_IDS = `{file_path: ${DELETE_FIELD_IDS.file_path}, pos: ${DELETE_FIELD_IDS.pos}}`

export interface WrittenDeletes {
  readonly path: string
  readonly record: DataFileRecord
}

/** Writes a file of deleted positions. Nobody reads it before a snapshot names it. */
export const writeDeletes = async (
  { context, storage, layout }: TableState,
  { file, positions }: CountedFile,
  of: 'all' | 'fresh',
): Promise<WrittenDeletes> => {
  const { session, scratch } = context
  const dataPath = absolutePath(storage, file.path)
  const name = `${randomUUID()}.parquet`
  const local = join(scratch, name)
  const { rows } = await session.copy(
    `SELECT ${literal(dataPath)} AS file_path, pos::BIGINT AS pos FROM (${positions(of)})`,
    local,
    { kind: 'parquet', fieldIds: FIELD_IDS },
  )
  const bytes = await readFile(local)
  const path = `${layout.deletes}/${name}`
  await storage.create(path, bytes)
  const bound = [{ key: DELETE_FIELD_IDS.file_path, value: Buffer.from(dataPath) }]
  return {
    path,
    record: {
      content: FILE_CONTENT.deletes,
      file_path: absolutePath(storage, path),
      file_format: 'PARQUET',
      partition: NO_PARTITION,
      record_count: rows,
      file_size_in_bytes: bytes.length,
      value_counts: [
        { key: DELETE_FIELD_IDS.file_path, value: rows },
        { key: DELETE_FIELD_IDS.pos, value: rows },
      ],
      null_value_counts: [
        { key: DELETE_FIELD_IDS.file_path, value: 0 },
        { key: DELETE_FIELD_IDS.pos, value: 0 },
      ],
      // Equal and uncut: by them a reader knows the data file without opening this one.
      lower_bounds: bound,
      upper_bounds: bound,
      sort_order_id: null,
    },
  }
}

/** The data file that a file of deletes is for. */
export const dataFileOf = ({ entry }: LiveFile): string =>
  entry.data_file.lower_bounds?.find(({ key }) => key === DELETE_FIELD_IDS.file_path)?.value.toString() ?? ''

/** Files of deletes by the data file that they are for. */
export const deletesByFile = (deletes: LiveFiles): ReadonlyMap<string, readonly LiveFile[]> =>
  Map.groupBy(deletes.values(), dataFileOf)

/** Paths in the lake of the files of deletes that any snapshot of a table names. */
export const deletesOf = async (
  storage: Storage,
  root: string,
  { snapshots = [] }: TableMetadata,
): Promise<ReadonlySet<string>> => {
  const manifests = new Map<string, ManifestFileRecord>()
  for (const snapshot of snapshots)
    for (const manifest of await readManifestList(storage, root, snapshot))
      if (manifest.content === FILE_CONTENT.deletes) manifests.set(manifest.manifest_path, manifest)
  const files = await readLiveFiles(storage, root, [...manifests.values()])
  return new Set([...files.keys()].flatMap((path) => pathInLake(storage, path) ?? []))
}
