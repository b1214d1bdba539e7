/** Files of keys that a commit adds, and their rows as a list of versions has them: each with its version and its instant. */

import type { CommittedPartition, FileOfRun } from '../core/partition.ts'
import { literal, pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import type { PlaceOf } from '../lake/files/fetch-tables.ts'

/** Entries that a commit adds, with the versions that it gives. */
export interface Added {
  readonly partitions: readonly CommittedPartition[]
  readonly files: readonly FileOfRun[]
}

/** So many rows, one after the other, as of one instant. */
interface DatedRows {
  readonly rows: number
  readonly asOf: string
}

/** A file of keys, all of one version. */
export interface KeyFile {
  readonly path: string
  readonly rows: number
  readonly bytes: number
  readonly sha256: string
  readonly version: number
  readonly dated: readonly DatedRows[]
}

/** A dictionary goes by its versions alone. */
const NO_INSTANT = new Date(0).toISOString()

/** The instants of a partition's records: where small sources share it, their records stand one source after the other. */
const datedRows = ({ asOf, sources = [], counts }: CommittedPartition): readonly DatedRows[] => {
  const own = sources.map((one) => ({ rows: one.counts.records, asOf: one.asOf ?? asOf }))
  const [first = { rows: counts.records, asOf }] = own
  return own.every((one) => one.asOf === first.asOf) ? [first] : own
}

/** Files of a table; those of a sink that writes no Parquet are of a lake that is not queried. */
export const keyFilesOf = ({ partitions, files }: Added, name: string): readonly KeyFile[] =>
  [
    ...partitions.flatMap((one) =>
      one.files.map((file) => ({ ...file, version: one.version, dated: datedRows(one) })),
    ),
    ...files.map((file) => ({ ...file, dated: [{ rows: file.rows, asOf: NO_INSTANT }] })),
  ].filter(({ table, path }) => table === name && path.endsWith('.parquet'))

export const rowsInFiles = (files: readonly { readonly rows: number }[]): number =>
  files.reduce((sum, { rows }) => sum + rows, 0)

const instantSql = (asOf: string): string => `TIMESTAMPTZ ${literal(asOf)}`

const isOfOneInstant = ({ dated }: KeyFile): boolean => dated.length === 1

/** The instant of a row by its place in the file. */
const asOfRow = ({ dated }: KeyFile): string => {
  let behind = 0
  const cases = dated.map(({ rows, asOf }) => {
    behind += rows
    return `WHEN file_row_number < ${behind} THEN ${instantSql(asOf)}`
  })
  return `CASE ${cases.join(' ')} END`
}

/** @param keys the columns of the key @param isListing whether they are keys of companies that a listing lacked */
export const keyRows = (
  keys: string,
  files: readonly KeyFile[],
  placeOf: PlaceOf,
  isListing: boolean,
): string => {
  const [alike, mixed] = [files.filter(isOfOneInstant), files.filter((file) => !isOfOneInstant(file))]
  const ofFile = (values: readonly (number | string)[]): string =>
    `[${values.join(',')}][file_index::BIGINT + 1]`
  const rows = (some: readonly KeyFile[], asOf: string, ...options: readonly string[]): string =>
    `SELECT ${keys}, ${ofFile(some.map(({ version }) => version))}::BIGINT AS version, ${asOf} AS as_of, ${isListing} AS is_listing
FROM ${readParquet(pathsSql(some.map(({ path }) => placeOf(path))), 'union_by_name = true', ...options)}`
  const asOfAlike = ofFile(alike.map(({ dated }) => instantSql(dated[0]?.asOf ?? NO_INSTANT)))
  return [
    ...(alike.length > 0 ? [rows(alike, asOfAlike)] : []),
    ...mixed.map((file) => rows([file], asOfRow(file), 'file_row_number = true')),
  ].join('\nUNION ALL ')
}
