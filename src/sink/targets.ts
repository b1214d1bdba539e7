/**
 * Every format of files and every database that an address may name. Another one is a file of its own and a line here.
 */

import { arrowFormat, arrowsFormat } from './arrow/arrow-sink.ts'
import { csvFormat, csvGzipFormat } from './csv.ts'
import type { DatabaseTarget } from './database-target.ts'
import { duckdbTarget } from './duckdb-file.ts'
import type { FileFormat } from './file-format.ts'
import { jsonlFormat } from './json-lines.ts'
import { parquetFormat } from './parquet.ts'
import { postgresTarget } from './postgres/postgres.ts'
import { xlsxFormat } from './xlsx/xlsx-file.ts'

/** By the end of the files' names. */
export const FILE_FORMATS = {
  csv: csvFormat,
  'csv.gz': csvGzipFormat,
  jsonl: jsonlFormat,
  parquet: parquetFormat,
  arrow: arrowFormat,
  arrows: arrowsFormat,
  xlsx: xlsxFormat,
} as const satisfies Readonly<Record<string, FileFormat>>
export type FileFormatName = keyof typeof FILE_FORMATS

export const DATABASES = {
  duckdb: duckdbTarget,
  postgres: postgresTarget,
} as const satisfies Readonly<Record<string, DatabaseTarget>>
export type DatabaseName = keyof typeof DATABASES

/** Formats that need no seeking, for standard output. */
export type StreamFormatName = {
  [Name in FileFormatName]: (typeof FILE_FORMATS)[Name] extends Required<FileFormat> ? Name : never
}[FileFormatName]

const isName = (name: string): name is FileFormatName => Object.hasOwn(FILE_FORMATS, name)
export const FILE_FORMAT_NAMES: readonly FileFormatName[] = Object.keys(FILE_FORMATS).filter(isName)
export const isFileFormat = isName

const isDatabase = (name: string): name is DatabaseName => Object.hasOwn(DATABASES, name)
export const DATABASE_NAMES: readonly DatabaseName[] = Object.keys(DATABASES).filter(isDatabase)

const isStreamed = (name: FileFormatName): name is StreamFormatName => 'stream' in FILE_FORMATS[name]
export const STREAM_FORMATS: readonly StreamFormatName[] = FILE_FORMAT_NAMES.filter(isStreamed)
