/**
 * Values of dictionary columns, read before the rows: Arrow's file format has one dictionary a column, which cannot be
 * exchanged between record batches. Costs one pass over those columns alone.
 */

import type { RawColumn, TableRows } from '../../core/sink.ts'
import { ident, literal } from '../../lake/duckdb/sql.ts'
import {
  COMPANY_COLUMNS,
  ENTITY_COLUMNS,
  isNumericCode,
  OWNERSHIP_COLUMNS,
  RELATIONS_COLUMNS,
  ROLE_COLUMNS,
} from '../../lake/tables/columns.ts'

/** Columns that are no field of the contract by themselves, and codes that it has no dictionary for. */
const OTHERS = [
  'country_code',
  'consolidation',
  'category',
  'line_item',
  'currency',
  'direction',
  'kind',
  'unit',
] as const

const FIELD_COLUMNS = [
  ...COMPANY_COLUMNS,
  ...RELATIONS_COLUMNS,
  ...ENTITY_COLUMNS,
  ...OWNERSHIP_COLUMNS,
  ...ROLE_COLUMNS,
]

/**
 * Names of the columns whose texts repeat: codes, names of codes, line items. By name alone, so that a query's
 * columns are written like those of the tables they come from.
 */
const DICTIONARY_COLUMNS: ReadonlySet<string> = new Set([
  ...OTHERS,
  ...FIELD_COLUMNS.flatMap(({ name, field }) => {
    if (isNumericCode(field)) return [`${name}_name`]
    return field.kind === 'text' && (field.codes !== undefined || /_currency(_code)?$/.test(name))
      ? [name]
      : []
  }),
])

/** The values of a column in their order, and how many rows are NULL. */
export interface Collected {
  readonly values: readonly string[]
  readonly nulls: number
}

/** With more values a dictionary is no longer what makes a column small, and looking them up takes longer. */
const MOST_VALUES = 2_000

/** @returns the values of each text column that is to be a dictionary, by name */
export const collectValues = async (rows: TableRows): Promise<ReadonlyMap<string, Collected>> => {
  const names = (await rows.columns()).filter(isCandidate).map(({ name }) => name)
  const collected = new Map<string, Collected>()
  if (names.length === 0) return collected
  const aggregates = names.flatMap((name, at) => [
    // NULL goes out of the short list: out of the rows, by FILTER, it takes twice as long.
    `list_sort(list_filter(list(DISTINCT ${ident(name)}), lambda v: v IS NOT NULL)) AS values_${at}`,
    `(count(*) - count(${ident(name)}))::DOUBLE AS nulls_${at}`,
  ])
  const { chunks } = await rows.select((from) => `SELECT ${aggregates.join(', ')} FROM ${from}`).chunks()
  for await (const { columns } of chunks) {
    names.forEach((name, at) => {
      const values = stringsOf(columns[2 * at])
      if (values.length <= MOST_VALUES) collected.set(name, { values, nulls: numberOf(columns[2 * at + 1]) })
    })
  }
  return collected
}

/** Puts in place of a column's texts their numbers in the dictionary, from 0, as SMALLINT. */
export const withNumbers = (rows: TableRows, collected: ReadonlyMap<string, Collected>): TableRows => {
  if (collected.size === 0) return rows
  // DuckDB looks up the values of a Parquet dictionary once and not row by row, which a cast to an ENUM does:
  // 0.1 instead of 3 CPU seconds for five columns of 20 million rows.
  const columns = [...collected].map(([name, { values }]) => {
    const numbers = `[${[...values.keys()].join(', ')}]::SMALLINT[]`
    return `MAP([${values.map(literal).join(', ')}]::VARCHAR[], ${numbers})[${ident(name)}] AS ${ident(name)}`
  })
  return rows.select((from) => `SELECT * REPLACE (${columns.join(', ')}) FROM ${from}`)
}

const isCandidate = ({ name, type }: { readonly name: string; readonly type: string }): boolean =>
  type === 'VARCHAR' && DICTIONARY_COLUMNS.has(name)

/** A byte order mark at the start of a text is part of it. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The texts of a column of lists in its first row. */
const stringsOf = (column: RawColumn | undefined): readonly string[] => {
  const [child] = column?.children ?? []
  const view = viewOf(column)
  const strings: string[] = []
  if (child === undefined || view === undefined) return strings
  child.strings(
    Number(view.getBigUint64(0, true)),
    Number(view.getBigUint64(8, true)),
    (bytes, start, end) => {
      strings.push(decoder.decode(bytes.subarray(start, end)))
    },
  )
  return strings
}

const numberOf = (column: RawColumn | undefined): number => viewOf(column)?.getFloat64(0, true) ?? 0

/** The first row of a column, where it is not NULL. */
const viewOf = (column: RawColumn | undefined): DataView | undefined =>
  column === undefined || (column.validity !== undefined && ((column.validity[0] ?? 0) & 1) === 0)
    ? undefined
    : new DataView(column.data.buffer, column.data.byteOffset, column.data.byteLength)
