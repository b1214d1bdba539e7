/** The files that a snapshot adds and removes, and how its manifests and its summary describe them. */

import type { SnapshotHead } from '../../core/partition.ts'
import type { Table } from '../../lake/tables/tables.ts'
import type { Storage } from '../../storage/storage.ts'
import type { FileStatistics, MeasuredFile } from '../file-statistics.ts'
import type { TableFile } from '../table-files.ts'
import { boundOf } from './bounds.ts'
import { absolutePath } from './lake-paths.ts'
import type { LiveFile, LiveFiles } from './live-files.ts'
import type { DataFileRecord, KeyValue } from './manifest-schemas.ts'
import { SUMMARY } from './table-metadata.ts'
import { schemaFields } from './table-schema.ts'

export interface DataFilesRequest {
  readonly storage: Storage
  readonly table: Table
  /** Files that the table has; those of them that are added again are among them. */
  readonly live: LiveFiles
  readonly measure: (files: readonly TableFile[]) => Promise<readonly MeasuredFile[]>
}

/** The lake's snapshot that a table is brought to. */
export type LakeSnapshot = Pick<SnapshotHead, 'snapshot' | 'run' | 'time'>

/** What a snapshot adds and removes; a file whose version changed is removed and added. */
export interface FileDifference {
  readonly added: readonly TableFile[]
  readonly removed: readonly LiveFile[]
}

/** By all files that the table has and all that it should have. */
export const differenceOf = (
  storage: Storage,
  live: LiveFiles,
  target: readonly TableFile[],
): FileDifference => {
  const versions = new Map(target.map((file) => [absolutePath(storage, file.path), file.version]))
  return {
    added: target.filter((file) => {
      const found = live.get(absolutePath(storage, file.path))
      return found?.entry.data_file.partition.version !== file.version
    }),
    removed: [...live].flatMap(([path, file]) =>
      versions.get(path) === file.entry.data_file.partition.version ? [] : [file],
    ),
  }
}

/** Counts and bounds of a file, by field id. */
const metricsOf = (table: Table, rows: number, statistics: FileStatistics) => {
  const values: KeyValue<number>[] = []
  const nulls: KeyValue<number>[] = []
  const lower: KeyValue<Buffer>[] = []
  const upper: KeyValue<Buffer>[] = []
  for (const { id, name, type } of schemaFields(table)) {
    const column = statistics.get(name)
    if (column === undefined || typeof type !== 'string') continue
    values.push({ key: id, value: rows })
    if (column.nulls !== undefined) nulls.push({ key: id, value: column.nulls })
    const least = column.least === undefined ? null : boundOf(type, column.least, 'lower')
    const greatest = column.greatest === undefined ? null : boundOf(type, column.greatest, 'upper')
    if (least !== null) lower.push({ key: id, value: least })
    if (greatest !== null) upper.push({ key: id, value: greatest })
  }
  return { value_counts: values, null_value_counts: nulls, lower_bounds: lower, upper_bounds: upper }
}

/** How a manifest describes added files. */
export const dataFiles = async (
  { storage, table, live, measure }: DataFilesRequest,
  added: readonly TableFile[],
): Promise<DataFileRecord[]> => {
  const known = (file: TableFile) => live.get(absolutePath(storage, file.path))?.entry.data_file
  const measured = await measure(added.filter((file) => known(file) === undefined))
  const statistics = new Map(measured.map((one) => [one.file.path, one.statistics]))
  return added.map((file): DataFileRecord => {
    const partition = { load: file.run, version: file.version }
    const described = known(file)
    // Only its version is another one: what it holds was found out when it was added first.
    if (described !== undefined) return { ...described, partition }
    return {
      content: 0,
      file_path: absolutePath(storage, file.path),
      file_format: 'PARQUET',
      partition,
      record_count: file.rows,
      file_size_in_bytes: file.bytes,
      ...metricsOf(table, file.rows, statistics.get(file.path) ?? new Map()),
      sort_order_id: null,
    }
  })
}

const operationOf = (added: number, removed: number): string => {
  if (removed === 0) return 'append'
  return added === 0 ? 'delete' : 'overwrite'
}

/** Files, their rows and their bytes. */
export interface FileCounts {
  readonly files: number
  readonly rows: number
  readonly bytes: number
}

export const NO_FILES: FileCounts = { files: 0, rows: 0, bytes: 0 }

export const countFiles = (files: readonly DataFileRecord[]): FileCounts => ({
  files: files.length,
  rows: files.reduce((sum, one) => sum + one.record_count, 0),
  bytes: files.reduce((sum, one) => sum + one.file_size_in_bytes, 0),
})

export const addCounts = (a: FileCounts, b: FileCounts): FileCounts => ({
  files: a.files + b.files,
  rows: a.rows + b.rows,
  bytes: a.bytes + b.bytes,
})

const totalsIn = (summary: Readonly<Record<string, string>> | undefined): FileCounts =>
  summary === undefined
    ? NO_FILES
    : {
        files: Number(summary['total-data-files']),
        rows: Number(summary['total-records']),
        bytes: Number(summary['total-files-size']),
      }

/**
 * The counts of a snapshot as Iceberg's own writers give them, and where in the lake it comes from.
 *
 * @param before what the snapshot before it says
 */
export const summaryOf = (
  of: LakeSnapshot,
  added: FileCounts,
  removed: FileCounts,
  before: Readonly<Record<string, string>> | undefined,
) => {
  const totals = totalsIn(before)
  const counts = {
    'added-data-files': added.files,
    'deleted-data-files': removed.files,
    'added-records': added.rows,
    'deleted-records': removed.rows,
    'added-files-size': added.bytes,
    'removed-files-size': removed.bytes,
    'total-data-files': totals.files + added.files - removed.files,
    'total-records': totals.rows + added.rows - removed.rows,
    'total-files-size': totals.bytes + added.bytes - removed.bytes,
    'total-delete-files': 0,
    'total-position-deletes': 0,
    'total-equality-deletes': 0,
  }
  return {
    operation: operationOf(added.files, removed.files),
    ...Object.fromEntries(Object.entries(counts).map(([key, count]) => [key, String(count)])),
    [SUMMARY.snapshot]: String(of.snapshot),
    [SUMMARY.run]: of.run,
    [SUMMARY.time]: of.time,
  }
}
