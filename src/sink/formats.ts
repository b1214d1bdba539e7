/** The formats of files, by the end of their names. Another one is a line here. */

import { arrow, arrows } from './arrow/arrow-sink.ts'
import { csv } from './csv.ts'
import type { FileFormat } from './file-format.ts'
import { jsonl } from './json-lines.ts'
import { parquet } from './parquet.ts'

export const FILE_FORMATS = { csv, jsonl, parquet, arrow, arrows } as const satisfies Readonly<
  Record<string, FileFormat>
>
export type FileFormatName = keyof typeof FILE_FORMATS
/** Formats that need no seeking, for standard output. */
export type StreamFormatName = {
  [Name in FileFormatName]: (typeof FILE_FORMATS)[Name] extends Required<FileFormat> ? Name : never
}[FileFormatName]

const isName = (name: string): name is FileFormatName => Object.hasOwn(FILE_FORMATS, name)
export const FORMAT_NAMES: readonly FileFormatName[] = Object.keys(FILE_FORMATS).filter(isName)
export const isFileFormat = isName

const isStreamed = (name: FileFormatName): name is StreamFormatName => 'stream' in FILE_FORMATS[name]
export const STREAM_FORMATS: readonly StreamFormatName[] = FORMAT_NAMES.filter(isStreamed)
