/** What the logs of both kinds of Delta tables have in common, and where they differ. */

import { CURRENT_FOLDERS } from '../../lake/lake/published-hash.ts'
import type { JsonObject } from '../../support/json-form.ts'
import { objectAt, textAt } from './json.ts'

/** A file as the log knows it. */
export interface LoggedFile {
  readonly run: string
  /** Of a table of current rows 0: it has no versions. */
  readonly version: number
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

/** All versions, in the lake's own files. */
export const historyForm = (table: string): LogForm => ({
  root: table,
  partitionColumns: ['load', 'version'],
  fileName: 'load=[^/]+/[^/]+',
  // Files that this table lets go belong to older snapshots of the lake: nobody else may delete them.
  configuration: { 'delta.deletedFileRetentionDuration': 'interval 10000 days', ...STATISTICS },
})

/** The current rows, in files of their own: `<run>/<file of the lake>-<64 random bits>.parquet`. */
export const currentForm = (table: string): LogForm => ({
  root: `${CURRENT_FOLDERS.delta}/${table}`,
  partitionColumns: [],
  fileName: '[^/]+/[^/]+-[0-9a-f]{16}[.]parquet',
  configuration: STATISTICS,
})

/** The run and the version of a logged file; `undefined` where firmlake does not write such a file. */
export const loggedPlace = (
  { partitionColumns, fileName }: LogForm,
  add: JsonObject,
): Pick<LoggedFile, 'run' | 'version'> | undefined => {
  const name = decodeURIComponent(textAt(add, 'path') ?? '')
  if (!new RegExp(`^${fileName}$`).test(name)) return undefined
  if (partitionColumns.length === 0) return { run: name.slice(0, name.indexOf('/')), version: 0 }
  const values = objectAt(add, 'partitionValues') ?? {}
  const [run, version] = [textAt(values, 'load'), Number(textAt(values, 'version') ?? Number.NaN)]
  return run === undefined || !Number.isSafeInteger(version) ? undefined : { run, version }
}

/** The values of a file's partition, as the log has them. */
export const partitionValues = (
  { partitionColumns }: LogForm,
  { run, version }: Pick<LoggedFile, 'run' | 'version'>,
): JsonObject => (partitionColumns.length === 0 ? {} : { load: run, version: String(version) })
