/** The data files that a snapshot adds and removes, and how its manifests describe them. */

import type { Storage } from '../../storage/storage.ts'
import type { FileStatistics, MeasuredFile } from '../file-statistics.ts'
import type { TableFile } from '../table-files.ts'
import { boundOf } from './bounds.ts'
import type { LiveFile, LiveFiles } from './live-files.ts'
import {
  type DataFileRecord,
  FILE_CONTENT,
  type KeyValue,
  NO_PARTITION,
  type PartitionRecord,
} from './manifest-schemas.ts'
import { absolutePath, type TableLayout } from './table-layout.ts'
import { schemaFields } from './table-schema.ts'

export interface DataFilesRequest {
  readonly storage: Storage
  readonly layout: TableLayout
  readonly measure: (files: readonly TableFile[]) => Promise<readonly MeasuredFile[]>
}

/** Files that a snapshot adds and removes. */
export interface FileDifference {
  readonly added: readonly TableFile[]
  readonly removed: readonly LiveFile[]
}

/** Compares all files that the table has and all that it should have. */
export const differenceOf = (
  storage: Storage,
  live: LiveFiles,
  target: readonly TableFile[],
): FileDifference => {
  const listed = new Set(target.map((file) => absolutePath(storage, file.path)))
  return {
    added: target.filter((file) => !live.has(absolutePath(storage, file.path))),
    removed: [...live].flatMap(([path, file]) => (listed.has(path) ? [] : [file])),
  }
}

/** Counts and bounds of a file, by field id. */
const metricsOf = (layout: TableLayout, rows: number, statistics: FileStatistics) => {
  const values: KeyValue<number>[] = []
  const nulls: KeyValue<number>[] = []
  const lower: KeyValue<Buffer>[] = []
  const upper: KeyValue<Buffer>[] = []
  for (const { id, name, type } of schemaFields(layout)) {
    const column = statistics.get(name)
    if (column === undefined || typeof type !== 'string') continue
    values.push({ key: id, value: rows })
    if (column.nulls !== undefined) nulls.push({ key: id, value: column.nulls })
    const min = column.min === undefined ? null : boundOf(type, column.min, 'lower')
    const max = column.max === undefined ? null : boundOf(type, column.max, 'upper')
    if (min !== null) lower.push({ key: id, value: min })
    if (max !== null) upper.push({ key: id, value: max })
  }
  return { value_counts: values, null_value_counts: nulls, lower_bounds: lower, upper_bounds: upper }
}

const partitionOf = ({ run, version, committed, asOf }: TableFile): PartitionRecord => ({
  ...{ load: run, run, version },
  snapshot: committed.snapshot,
  loaded_at: Date.parse(committed.time) * 1000,
  as_of: asOf === undefined ? null : Date.parse(asOf) * 1000,
})

/** How a manifest describes added files. */
const describeFiles = async (
  { storage, layout, measure }: DataFilesRequest,
  added: readonly TableFile[],
): Promise<DataFileRecord[]> => {
  const measured = await measure(added)
  const statistics = new Map(measured.map((one) => [one.file.path, one.statistics]))
  return added.map(
    (file): DataFileRecord => ({
      content: FILE_CONTENT.data,
      file_path: absolutePath(storage, file.path),
      file_format: 'PARQUET',
      partition: layout.rows === 'all' ? partitionOf(file) : NO_PARTITION,
      record_count: file.rows,
      file_size_in_bytes: file.bytes,
      ...metricsOf(layout, file.rows, statistics.get(file.path) ?? new Map()),
      sort_order_id: null,
    }),
  )
}

/** Files that are described at once, and by one manifest; one with fewer is small. */
export const FILES_OF_MANIFEST = 4096

/** How manifests describe added files, each manifest's at once. */
export async function* dataFiles(
  request: DataFilesRequest,
  added: readonly TableFile[],
): AsyncGenerator<readonly DataFileRecord[]> {
  for (let from = 0; from < added.length; from += FILES_OF_MANIFEST)
    yield await describeFiles(request, added.slice(from, from + FILES_OF_MANIFEST))
}
