/** Parquet files in a folder: copies of the lake's for other tools. */

import type { CopyFormat, DeliverySink } from '../core/sink.ts'
import { withDeliveredRuns } from './delivered-runs.ts'
import { type FileFormat, writtenFile } from './file-format.ts'
import { folderSink } from './folder-sink.ts'

/**
 * How DuckDB writes a table, in the lake too. Figures hardly repeat: their dictionaries are given up early, but not before the ids
 * of a row group of companies with fifteen figures each, for only a dictionary has a bloom filter. The level takes a tenth less of
 * the time than 3, files are 7 % larger.
 */
export const parquetForm = (table: string | undefined): Extract<CopyFormat, { readonly kind: 'parquet' }> =>
  table === 'financials'
    ? { kind: 'parquet', dictionaryLimit: 8192, compressionLevel: 2 }
    : { kind: 'parquet' }

export const parquetFormat = {
  folder: (directory) => folderSink({ name: 'parquet', directory, formatOf: parquetForm }),
  write: async (path, rows, { table }) =>
    writtenFile(path, (await rows.copyTo(path, parquetForm(table))).rows),
} as const satisfies FileFormat

/**
 * Parquet files in a folder as a sink, `<table>/load=<run>/<partition>.parquet`: all versions of each record. The lake
 * itself is such files already; this is a copy of them for other tools.
 *
 * @param directory made where it is missing, or `s3://bucket/prefix`
 * @throws {ToolkitError} `TARGET_REFUSED` for a lake or a folder of another format, `DISK_FULL`, `WRITE_FAILED`, of the
 *   work with it
 * @example
 * import { convert, parquet } from 'firmlake'
 *
 * const { delivered } = await convert({ from: ['batches/'], lake: './lake', sinks: [parquet('out/parquet')] })
 * console.log(delivered[0]?.runs.length) // 1
 */
export const parquet = (directory: string): DeliverySink =>
  withDeliveredRuns(parquetFormat.folder(directory), directory)
