/** JSON Lines files in a folder: `<table>/load=<run>/<partition>.jsonl`, staged out of sight until commit. */

import type { DeliverySink, RowColumn, TableRows } from '../core/sink.ts'
import { ident } from '../lake/duckdb/sql.ts'
import { type FileFormat, writtenFile } from './file-format.ts'
import { folderSink, withRows } from './folder-sink.ts'
import { jsonValue } from './json-values.ts'
import { withLoaded } from './with-loaded.ts'
import { writeTexts } from './write-texts.ts'

const member = ({ name, type }: RowColumn): string => {
  const value = jsonValue(ident(name), type)
  return value === ident(name) ? value : `${value} AS ${ident(name)}`
}

/** Rows whose values are what JSON Lines hold: instants as ISO 8601, numbers that are not finite as null. */
export const jsonRelation = async (rows: TableRows): Promise<TableRows> => {
  // Names that occur twice in a statement are distinguished only by one around it.
  const relation = rows.select((from) => `SELECT * FROM ${from}`)
  const columns = await relation.columns()
  return relation.select((from) => `SELECT ${columns.map(member).join(', ')} FROM ${from}`)
}

/** One object a line, with the columns' names; numbers and lists as JSON, instants as ISO 8601 in UTC. */
export const jsonlFormat = {
  folder: (directory) =>
    withRows(
      folderSink({ name: 'json-lines', directory, formatOf: () => ({ kind: 'json-lines' }) }),
      jsonRelation,
    ),
  write: async (path, rows) => {
    const values = await jsonRelation(rows)
    return writtenFile(path, (await values.copyTo(path, { kind: 'json-lines' })).rows)
  },
  stream: async (target, rows, options) => {
    const values = await jsonRelation(rows)
    // A column of the row's name would be taken for it.
    const row = '"firmlake row"'
    const texts = values.select(
      (from) => `SELECT to_json(${row})::VARCHAR || chr(10) AS record FROM ${from} AS ${row}`,
    )
    return writeTexts(target, '', texts, options)
  },
} as const satisfies FileFormat

/**
 * JSON Lines files in a folder as a sink, `<table>/load=<run>/<partition>.jsonl`: all versions of each record, an object
 * a line with the columns' names; instants as ISO 8601 in UTC.
 *
 * @param directory made where it is missing, or `s3://bucket/prefix`
 * @throws {ToolkitError} `TARGET_REFUSED` for a lake or a folder of another format, `DISK_FULL`, `WRITE_FAILED`, of the
 *   work with it
 * @example
 * import { convert, jsonLines } from 'firmlake'
 *
 * const { delivered } = await convert({ from: ['batches/'], lake: './lake', sinks: [jsonLines('out/jsonl')] })
 * console.log(delivered[0]?.runs.length) // 1
 */
export const jsonLines = (directory: string): DeliverySink =>
  withLoaded(jsonlFormat.folder(directory), directory)
