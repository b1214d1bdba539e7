/**
 * JSON Lines: rows as JSON values in SQL, since DuckDB would write `NaN` and instants with a space, and a sink of JSON
 * Lines files.
 */

import type { DeliverySink, RowColumn, TableRows } from '../core/sink.ts'
import { type ColumnTypeTree, ident, literal, parseColumnType } from '../lake/duckdb/sql.ts'
import { withDeliveredRuns } from './delivered-runs.ts'
import { type FileFormat, writeStrings, writtenFile } from './file-format.ts'
import { folderSink, withRows } from './folder-sink.ts'

/** ISO 8601, with as many digits as an instant has: three, or six. */
export const instant = (value: string, zone: 'Z' | ''): string =>
  `CASE WHEN NOT isfinite(${value}) THEN ${value}::VARCHAR
  WHEN microsecond(${value}) % 1000 = 0 THEN strftime(${value}, '%Y-%m-%dT%H:%M:%S.%g${zone}')
  ELSE strftime(${value}, '%Y-%m-%dT%H:%M:%S.%f${zone}') END`

/** A value of DuckDB's type as JSON has it: instants as ISO 8601, numbers that are not finite as null. */
export const jsonValue = (value: string, type: string): string => asJson(value, parseColumnType(type), 0)

/** @param depth of lists around the value, to keep the names of their elements distinct */
const asJson = (value: string, type: ColumnTypeTree, depth: number): string => {
  switch (type.kind) {
    case 'list': {
      const element = `element_${depth}`
      const inner = asJson(element, type.element, depth + 1)
      // A value that stays as it is costs nothing.
      return inner === element ? value : `list_transform(${value}, lambda ${element} : ${inner})`
    }
    case 'struct': {
      const members = type.fields.map(({ name, type: of }) => {
        const from = `${value}.${ident(name)}`
        return { name, from, to: asJson(from, of, depth) }
      })
      if (members.every(({ from, to }) => from === to)) return value
      const pairs = members.map(({ name, to }) => `${literal(name)}: ${to}`)
      return `CASE WHEN ${value} IS NOT NULL THEN {${pairs.join(', ')}} END`
    }
    case 'scalar':
      return scalarAsJson(value, type.name)
  }
}

const scalarAsJson = (value: string, name: string): string => {
  switch (name) {
    case 'TIMESTAMP WITH TIME ZONE':
      return instant(value, 'Z')
    case 'TIMESTAMP':
      return instant(value, '')
    case 'DOUBLE':
    case 'FLOAT':
      return `CASE WHEN isfinite(${value}) THEN ${value} END`
    default:
      return value
  }
}

const member = ({ name, type }: RowColumn): string => {
  const value = jsonValue(ident(name), type)
  return value === ident(name) ? value : `${value} AS ${ident(name)}`
}

/** Rows whose values are what JSON Lines hold: instants as ISO 8601, numbers that are not finite as null. */
const jsonRelation = async (rows: TableRows): Promise<TableRows> => {
  // Names that occur twice in a statement are distinguished only by one around it.
  const relation = rows.select((from) => `SELECT * FROM ${from}`)
  const columns = await relation.columns()
  return relation.select((from) => `SELECT ${columns.map(member).join(', ')} FROM ${from}`)
}

/** An object a line, with the columns' names; numbers and lists as JSON, instants as ISO 8601 in UTC. */
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
    const strings = values.select(
      (from) => `SELECT to_json(${row})::VARCHAR || chr(10) AS record FROM ${from} AS ${row}`,
    )
    return writeStrings(target, '', strings, options)
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
  withDeliveredRuns(jsonlFormat.folder(directory), directory)
