/** The logs of both kinds of Delta tables: their common form, where they differ, and how their JSON is read. */

import { currentFolder } from '../../lake/files/layout.ts'
import { isObject, type JsonObject } from '../../support/json-form.ts'
import { type FilePlace, PARTITION_COLUMNS } from '../table-files.ts'

export const objectAt = (value: JsonObject, name: string): JsonObject | undefined => {
  const found = value[name]
  return isObject(found) ? found : undefined
}

export const textAt = (value: JsonObject, name: string): string | undefined => {
  const found = value[name]
  return typeof found === 'string' ? found : undefined
}

export const numberAt = (value: JsonObject, name: string): number | undefined => {
  const found = value[name]
  return typeof found === 'number' ? found : undefined
}

/** A file as the log knows it. Of a table of current rows `version` is 0: it has no versions. */
export interface LoggedFile extends FilePlace {
  readonly bytes: number
}

export interface LogForm {
  /** Folder of the table below the lake. */
  readonly root: string
  /** Columns whose values stand in the log, not in the files. */
  readonly partitionColumns: readonly string[]
  /** Names of its files below its folder, for JavaScript and DuckDB alike. */
  readonly fileName: string
  readonly configuration: Readonly<Record<string, string>>
}

// Readers use the statistics of the first 32 columns alone, unless configured otherwise.
const STATISTICS = { 'delta.dataSkippingNumIndexedCols': '-1' }

/** The form of all versions, in the lake's own files. */
export const historyForm = (table: string): LogForm => ({
  root: table,
  partitionColumns: PARTITION_COLUMNS.map(({ name }) => name),
  fileName: 'load=[^/]+/[^/]+',
  // Files that this table lets go belong to older snapshots of the lake: nobody else may delete them.
  configuration: { 'delta.deletedFileRetentionDuration': 'interval 10000 days', ...STATISTICS },
})

/** The current rows, in files of their own: see `current-changes.ts`. */
export const currentForm = (table: string): LogForm => ({
  root: `${currentFolder('delta')}/${table}`,
  partitionColumns: [],
  fileName: '[^/]+/[^/]+-[0-9a-f]{16}[.]parquet',
  configuration: STATISTICS,
})

/** Run and version of a file's rows, by the log; `undefined` where firmlake does not write such a file. */
export const loggedPlace = (
  { partitionColumns, fileName }: LogForm,
  add: JsonObject,
): FilePlace | undefined => {
  const name = decodeURIComponent(textAt(add, 'path') ?? '')
  if (!new RegExp(`^${fileName}$`).test(name)) return undefined
  if (partitionColumns.length === 0) return { run: name.slice(0, name.indexOf('/')), version: 0 }
  const values = objectAt(add, 'partitionValues') ?? {}
  const [run, version] = [textAt(values, 'load'), Number(textAt(values, 'version') ?? Number.NaN)]
  const [snapshot, time] = [Number(textAt(values, 'snapshot') ?? Number.NaN), textAt(values, 'loaded_at')]
  if (run === undefined || time === undefined) return undefined
  if (!Number.isSafeInteger(version) || !Number.isSafeInteger(snapshot)) return undefined
  return { run, version, committed: { snapshot, time }, asOf: textAt(values, 'as_of') }
}

/** The values of a file's partition, as the log has them. */
export const partitionValues = (
  { partitionColumns }: LogForm,
  { run, version, committed, asOf }: FilePlace,
): JsonObject => {
  const values: JsonObject = {
    load: run,
    version: String(version),
    snapshot: committed ? String(committed.snapshot) : null,
    run,
    // With the zone: an instant without one is of the reader's own zone in some engines.
    loaded_at: committed ? new Date(committed.time).toISOString() : null,
    as_of: asOf ?? null,
  }
  return Object.fromEntries(partitionColumns.map((name) => [name, values[name]]))
}
