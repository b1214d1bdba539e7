/** JSON Lines files in a folder: `<table>/load=<run>/<partition>.jsonl`, staged out of sight until commit. */

import type { Sink } from '../core/sink.ts'
import type { RowColumn, TableRows } from '../core/table-rows.ts'
import { ident } from '../lake/duckdb/sql.ts'
import { type FileFormat, writtenFile } from './file-format.ts'
import { folderSink, withRows } from './folder-sink.ts'
import { jsonValue } from './json-values.ts'
import { writeTexts } from './write-texts.ts'

export interface JsonLinesOptions {
  /** Folder for the files; made where it is missing. */
  readonly directory: string
}

const member = ({ name, type }: RowColumn): string => {
  const value = jsonValue(ident(name), type)
  return value === ident(name) ? value : `${value} AS ${ident(name)}`
}

/** Rows whose values are what JSON Lines hold: instants as ISO 8601, numbers that are not finite as null. */
export const jsonRelation = async (rows: TableRows): Promise<TableRows> => {
  // Names that occur twice in a statement are told apart only by one around it.
  const relation = rows.select((from) => `SELECT * FROM ${from}`)
  const columns = await relation.columns()
  return relation.select((from) => `SELECT ${columns.map(member).join(', ')} FROM ${from}`)
}

/** One object a line, with the columns' names; numbers and lists as JSON, instants as ISO 8601 in UTC. */
export const jsonLines = ({ directory }: JsonLinesOptions): Sink => {
  const sink = folderSink({ name: 'json-lines', directory, formatOf: () => ({ kind: 'json-lines' }) })
  return withRows(sink, (rows) => jsonRelation(rows))
}

export const jsonl = {
  folder: (directory) => jsonLines({ directory }),
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
