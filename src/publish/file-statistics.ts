/**
 * Statistics of the columns of Parquet files: nulls, least and greatest value. Mostly from their footers; of columns
 * that were written from ENUMs the footers only know the ENUM's own ends, so those few columns are read.
 */

import { join } from 'node:path'
import { openFilesError, ToolkitError } from '../core/errors.ts'
import type { Row, Session } from '../lake/duckdb/engine.ts'
import { ident, parseColumnType, pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import { cutByBytes, withFiles } from '../lake/files/fetch-tables.ts'
import type { Column } from '../lake/tables/columns.ts'
import type { Table } from '../lake/tables/tables.ts'
import type { PublishContext } from './publication.ts'
import type { TableFile } from './table-files.ts'

/** BIGINT is bigint; SMALLINT, INTEGER and DOUBLE are numbers; an instant is `2025-01-31T12:00:00.000000Z`. */
export type StatisticsValue = bigint | number | string | boolean

export interface ColumnStatistics {
  /** Absent where the file does not say. */
  readonly nulls?: number
  /** Both exact; absent where no value is known or there is none. */
  readonly min?: StatisticsValue
  readonly max?: StatisticsValue
}

/** Keyed by column name; no lists and structs. */
export type FileStatistics = ReadonlyMap<string, ColumnStatistics>

/** Files of one query: their footers are held at once. */
const FILES_AT_ONCE = 128

/** Types of columns by name; lists and structs have no order. */
type Types = ReadonlyMap<string, string>

const scalarTypes = (columns: readonly Column[]): Types =>
  new Map(
    columns.flatMap(({ name, type }) => {
      const parsed = parseColumnType(type)
      return parsed.kind === 'scalar' ? [[name, parsed.name] as const] : []
    }),
  )

const INSTANT = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00$/

/** A value as DuckDB prints it; `undefined` for what no order can be built on (NaN, Infinity, years before 1). */
const parseValue = (text: unknown, type: string): StatisticsValue | undefined => {
  if (text === null || text === undefined) return undefined
  const printed = String(text)
  switch (type) {
    case 'BIGINT':
      return BigInt(printed)
    case 'INTEGER':
    case 'SMALLINT':
    case 'DOUBLE':
      return Number.isFinite(Number(printed)) ? Number(printed) : undefined
    case 'BOOLEAN':
      return printed === 'true'
    case 'VARCHAR':
      return printed
    case 'TIMESTAMPTZ': {
      const [, day, time, fraction = ''] = INSTANT.exec(printed) ?? []
      return day && `${day}T${time}.${fraction.padEnd(6, '0')}Z`
    }
    default:
      return undefined
  }
}

/** Texts in the order of their UTF-8 bytes, as Parquet and every reader order them; JavaScript does not. */
const isBefore = (a: StatisticsValue, b: StatisticsValue): boolean =>
  typeof a === 'string' && typeof b === 'string' ? Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0 : a < b

/** A column of one file while its row groups are put together. `null`: an end is not known. */
interface Gathered {
  nulls: number | null
  min: StatisticsValue | null | undefined
  max: StatisticsValue | null | undefined
  inexact: boolean
}

/** A footer cuts texts at 256 bytes; an inexact end that is shorter comes from an ENUM. */
const LONGEST_ENUM_BYTES = 200

/** An end that a footer gives; `undefined` where it says none, or only the beginning of a long text. */
const endOf = (text: unknown, exact: unknown, type: string): StatisticsValue | undefined =>
  exact === false && Buffer.byteLength(String(text)) > LONGEST_ENUM_BYTES ? undefined : parseValue(text, type)

const gather = (known: Gathered | undefined, row: Row, type: string): Gathered => {
  const all = known ?? { nulls: 0, min: undefined, max: undefined, inexact: false }
  const [values, nulls] = [Number(row.num_values), row.stats_null_count]
  all.nulls = nulls === null || all.nulls === null ? null : all.nulls + Number(nulls)
  // A row group without a value has no ends and takes no part.
  if (nulls !== null && Number(nulls) === values) return all
  const [min, max] = [
    endOf(row.stats_min_value, row.min_is_exact, type),
    endOf(row.stats_max_value, row.max_is_exact, type),
  ]
  all.inexact ||=
    (row.min_is_exact === false && min !== undefined) || (row.max_is_exact === false && max !== undefined)
  if (min === undefined) all.min = null
  else if (all.min === undefined || (all.min !== null && isBefore(min, all.min))) all.min = min
  if (max === undefined) all.max = null
  else if (all.max === undefined || (all.max !== null && isBefore(all.max, max))) all.max = max
  return all
}

const settled = ({ nulls, min, max }: Gathered): ColumnStatistics => ({
  ...(nulls !== null && { nulls }),
  ...(min !== null && min !== undefined && { min }),
  ...(max !== null && max !== undefined && { max }),
})

type ByColumn = Map<string, Gathered>

const readFooters = async (
  session: Session,
  types: Types,
  paths: readonly string[],
): Promise<Map<string, ByColumn>> => {
  const found = new Map(paths.map((path): [string, ByColumn] => [path, new Map()]))
  const rows = session.stream(`SELECT file_name, path_in_schema, num_values, stats_null_count,
  stats_min_value, stats_max_value, min_is_exact, max_is_exact
FROM parquet_metadata(${pathsSql(paths)})`)
  for await (const chunk of rows)
    for (const row of chunk) {
      const [column, type] = [String(row.path_in_schema), types.get(String(row.path_in_schema))]
      const columns = found.get(String(row.file_name))
      if (type && columns) columns.set(column, gather(columns.get(column), row, type))
    }
  return found
}

/** Replaces the ends of columns whose footers only bound them. */
const readInexact = async (
  session: Session,
  types: Types,
  found: ReadonlyMap<string, ByColumn>,
): Promise<void> => {
  const inexact = [...types].filter(([name]) => [...found.values()].some((file) => file.get(name)?.inexact))
  if (inexact.length === 0) return
  const paths = [...found].filter(([, file]) => inexact.some(([name]) => file.get(name)?.inexact))
  const ends = inexact.map(
    ([name], at) => `min(${ident(name)}) AS least_${at}, max(${ident(name)}) AS greatest_${at}`,
  )
  const rows = session.stream(`SELECT filename, ${ends.join(', ')}
FROM ${readParquet(pathsSql(paths.map(([path]) => path)), 'union_by_name = true', 'filename = true')}
GROUP BY filename`)
  for await (const chunk of rows)
    for (const row of chunk)
      for (const [at, [name, type]] of inexact.entries()) {
        const column = found.get(String(row.filename))?.get(name)
        if (!column?.inexact) continue
        column.min = parseValue(row[`least_${at}`], type)
        column.max = parseValue(row[`greatest_${at}`], type)
      }
}

const measure = async (
  session: Session,
  types: Types,
  paths: readonly string[],
): Promise<ReadonlyMap<string, ByColumn>> => {
  const found = await readFooters(session, types, paths)
  await readInexact(session, types, found)
  return found
}

const unreadable = ({ name }: Table, error: unknown): ToolkitError => {
  const action = `Cannot read files of table "${name}"`
  const reason = error instanceof Error ? error.message : String(error)
  return (
    openFilesError(action, error) ??
    new ToolkitError('LAKE_DAMAGED', `${action}: ${reason}`, { table: name }, error)
  )
}

/** The part of a publication that measuring files needs. */
export type MeasureContext = Pick<PublishContext, 'session' | 'lake' | 'scratch' | 'localBytes' | 'signal'>

/** A file of a table and what stands in its columns. */
export interface MeasuredFile {
  readonly file: TableFile
  readonly statistics: FileStatistics
}

/** Statistics of one file on this machine. @param rows that it has @throws {ToolkitError} `LAKE_DAMAGED` */
export const measureLocal = async (
  session: Session,
  table: Table,
  path: string,
  rows: number,
): Promise<FileStatistics> => {
  const types = scalarTypes(table.columns)
  const found = await measure(session, types, [path]).catch((error: unknown) => {
    throw unreadable(table, error)
  })
  return statisticsOf(types, found.get(path), rows)
}

/** A column that a file does not have is NULL in all of its rows. */
const statisticsOf = (types: Types, columns: ByColumn | undefined, rows: number): FileStatistics =>
  new Map(
    [...types.keys()].map((name) => {
      const column = columns?.get(name)
      return [name, column ? settled(column) : { nulls: rows }]
    }),
  )

/**
 * Statistics of a table's files, in their order, with a few files at once in memory and on this machine.
 *
 * @throws {ToolkitError} `LAKE_DAMAGED` and those of the storage, where a file cannot be had
 */
export async function* measureFiles(
  { session, lake, scratch, localBytes, signal }: MeasureContext,
  table: Table,
  files: readonly TableFile[],
): AsyncGenerator<MeasuredFile> {
  const types = scalarTypes(table.columns)
  for (const some of cutByBytes(files, localBytes, FILES_AT_ONCE)) {
    signal?.throwIfAborted()
    const columnsOf = await withFiles(lake, some, join(scratch, 'files'), { signal }, async (placeOf) => {
      const found = await measure(
        session,
        types,
        some.map(({ path }) => placeOf(path)),
      ).catch((error: unknown) => {
        signal?.throwIfAborted()
        throw unreadable(table, error)
      })
      return ({ path }: TableFile): ByColumn | undefined => found.get(placeOf(path))
    })
    for (const file of some) yield { file, statistics: statisticsOf(types, columnsOf(file), file.rows) }
  }
}

/** The same of a few files, all at once. */
export const measureAll = async (
  context: MeasureContext,
  table: Table,
  files: readonly TableFile[],
): Promise<readonly MeasuredFile[]> => {
  const measured: MeasuredFile[] = []
  for await (const one of measureFiles(context, table, files)) measured.push(one)
  return measured
}
