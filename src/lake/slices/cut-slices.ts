/**
 * Cuts a partition into slices: by ids, or, where a compaction has put it in order, by runs of its rows. Gives
 * conditions and files; knows no views.
 */

import type { Session } from '../duckdb/engine.ts'
import { ident, literal, pathsSql, readParquet } from '../duckdb/sql.ts'
import { compactOrder } from '../tables/sort-rows.ts'
import type { Table, TableName } from '../tables/tables.ts'
import type { VersionedFile } from '../views/current-versions.ts'

/** Most rows of each table that a slice holds on average. */
export type SliceRows = Readonly<Partial<Record<TableName, number>>>

export interface Slice {
  /** Conditions on the rows of a table; a row of the slice meets exactly one of them. */
  readonly conditions: (table: Table) => readonly string[]
  /** Places, by table, of the files that may hold such rows. @default all files */
  readonly files?: ReadonlyMap<string, ReadonlySet<number>>
}

/** A table of the partition that is cut, with its files in the order of the manifest. */
export interface CutTable {
  readonly table: Table
  readonly files: readonly VersionedFile[]
  readonly rows: number
}

const COUNTRY = 'country_code'

const ownerOf = ({ owner = '' }: Table): string => ident(owner)

const inCountryOrder = (table: Table): boolean => compactOrder(table)[0] === COUNTRY

/** Whether all tables that were made of the same records stand in the order of countries after a compaction. */
const allInCountryOrder = (tables: readonly CutTable[]): boolean =>
  tables.every(({ table }) => inCountryOrder(table))

const IDS_AT_ONCE = 2_000

/**
 * Slices of the records of some ids. In a compacted partition the ids' countries are looked up first: so few row groups
 * of the large tables are read.
 *
 * @param main the view of the records' main table
 */
export const slicesOfIds = async (
  session: Session,
  ids: readonly bigint[],
  tables: readonly CutTable[],
  { main, compacted }: { readonly main: string; readonly compacted: boolean },
): Promise<Slice[]> => {
  const sorted = [...new Set(ids)].sort((a, b) => (a < b ? -1 : 1))
  const slices: Slice[] = []
  for (let at = 0; at < sorted.length; at += IDS_AT_ONCE) {
    const list = sorted.slice(at, at + IDS_AT_ONCE).join(', ')
    const countries =
      compacted && allInCountryOrder(tables)
        ? await session.rows(
            `SELECT DISTINCT ${COUNTRY} AS country FROM ${main} WHERE internal_id IN (${list})`,
          )
        : [{ country: null }]
    if (countries.length === 0) continue
    const strings = countries.flatMap(({ country }) =>
      typeof country === 'string' ? [literal(country)] : [],
    )
    // A record without a country is found by its id alone.
    const among = strings.length === countries.length ? ` AND ${COUNTRY} IN (${strings.join(', ')})` : ''
    slices.push({ conditions: (table) => [`${ownerOf(table)} IN (${list})${among}`] })
  }
  return slices
}

const idLiteral = (id: string): string => `'${id}'::BIGINT`

const idRange = (owner: string, from: string | undefined, until: string | undefined): string =>
  [
    ...(from === undefined ? [] : [`${owner} > ${idLiteral(from)}`]),
    ...(until === undefined ? [] : [`${owner} <= ${idLiteral(until)}`]),
  ].join(' AND ') || 'true'

const slicesNeeded = (tables: readonly CutTable[], mostRows: SliceRows): number =>
  Math.max(1, ...tables.map(({ table, rows }) => Math.ceil(rows / mostRowsOf(table, mostRows))))

const mostRowsOf = ({ name }: Table, mostRows: SliceRows): number =>
  Object.entries(mostRows).find(([table]) => table === name)?.[1] ?? Number.POSITIVE_INFINITY

/**
 * Slices of a partition that is a block or a window: ranges of ids with equally many records each. All its ids are
 * held meanwhile. Rows mostly stand in the order of ids: most are not even read.
 *
 * @param main the view of the records' main table
 */
export const slicesByQuantiles = async (
  session: Session,
  main: string,
  tables: readonly CutTable[],
  mostRows: SliceRows,
): Promise<Slice[]> => {
  const slices = slicesNeeded(tables, mostRows)
  if (slices === 1) return [{ conditions: () => ['true'] }]
  const shares = Array.from({ length: slices - 1 }, (_, at) => (at + 1) / slices)
  const rows = await session.rows(
    `SELECT DISTINCT unnest(quantile_disc(internal_id, [${shares.join(', ')}])) AS bound FROM ${main} ORDER BY bound`,
  )
  const bounds = rows.map(({ bound }) => String(bound))
  return [...bounds, undefined].map((until, at) => ({
    conditions: (table) => [idRange(ownerOf(table), bounds[at - 1], until)],
  }))
}

/** The key that the tables of a compacted partition are cut by: a country (`null` stands last) and an id. */
interface Key {
  readonly country: string | null
  readonly id: string
}

/** Rows that two marks of a table lie apart, as a share of the most rows of a slice. */
const MARKS_OF_SLICE = 32

/** Every so-many-th row of a table, its file and whether it opens the file. */
const marksOf = ({ table, files }: CutTable, byCountry: boolean, step: number): string => `
SELECT ${literal(table.name)} AS name, ${byCountry ? ident(COUNTRY) : 'NULL::VARCHAR'} AS country,
  ${ownerOf(table)} AS id, file_index::INTEGER AS file, file_row_number = 0 AS opens
FROM ${readParquet(pathsSql(files.map(({ path }) => path)), 'union_by_name = true', 'file_row_number = true')}
WHERE file_row_number % ${step} = 0`

const isCountry = (country: string | null): string =>
  country === null ? `${COUNTRY} IS NULL` : `${COUNTRY} = ${literal(country)}`

/** Countries behind one and before another; none where there is no room between them. */
const countriesBetween = (from: Key | undefined, until: Key | undefined): readonly string[] => {
  if (from?.country === null) return []
  const min = from && `${COUNTRY} > ${literal(from.country)}`
  if (until === undefined) return [min ? `(${min} OR ${COUNTRY} IS NULL)` : 'true']
  const most = until.country === null ? `${COUNTRY} IS NOT NULL` : `${COUNTRY} < ${literal(until.country)}`
  return [[...(min ? [min] : []), most].join(' AND ')]
}

/**
 * Conditions on the rows behind one key up to another. Each bounds single columns, so that whole row groups are left
 * out: of an OR of both columns DuckDB would read every row.
 */
const countryRange = (owner: string, from: Key | undefined, until: Key | undefined): readonly string[] => {
  if (from && until && from.country === until.country)
    return [`${isCountry(from.country)} AND ${idRange(owner, from.id, until.id)}`]
  return [
    ...(from ? [`${isCountry(from.country)} AND ${idRange(owner, from.id, undefined)}`] : []),
    ...countriesBetween(from, until),
    ...(until ? [`${isCountry(until.country)} AND ${idRange(owner, undefined, until.id)}`] : []),
  ]
}

/**
 * Slices of a compacted partition, which may be a whole lake: runs of rows in the order in which its tables stand, by
 * country and company; relations, of which most tables know no country, by company alone. Memory: a small share of the
 * keys. A slice names the files that it needs, because opening all of them for each would take longer than reading.
 */
export const slicesOfCompacted = async (
  session: Session,
  tables: readonly CutTable[],
  mostRows: SliceRows,
): Promise<Slice[]> => {
  const cut = tables.filter(({ files }) => files.length > 0)
  const byCountry = allInCountryOrder(tables)
  const steps = new Map(
    cut.map(({ table, rows }) => [
      table.name,
      Math.max(1, Math.floor(Math.min(rows, mostRowsOf(table, mostRows)) / MARKS_OF_SLICE)),
    ]),
  )
  // Any file of a table in another order may hold any id.
  const inOrder = new Set(
    cut.filter(({ table }) => inCountryOrder(table) === byCountry).map(({ table }) => table.name),
  )
  const marks = cut.map((one) => marksOf(one, byCountry, steps.get(one.table.name) ?? 1)).join('\nUNION ALL')
  const slices: Slice[] = []
  let from: Key | undefined
  let before: Key | undefined
  let rows = new Map<string, number>()
  let files = new Map<string, Set<number>>()
  const endAt = (until: Key | undefined): void => {
    const start = from
    slices.push({
      conditions: (table) =>
        byCountry
          ? countryRange(ownerOf(table), start, until)
          : [idRange(ownerOf(table), start?.id, until?.id)],
      files,
    })
    from = until
    rows = new Map()
    // The file that was opened last continues; those before it hold no later rows.
    files = new Map([...files].map(([name, places]) => [name, new Set([...places].slice(-1))]))
  }
  const isFull = (): boolean =>
    cut.some(({ table }) => (rows.get(table.name) ?? 0) >= mostRowsOf(table, mostRows))
  for await (const chunk of session.stream(
    `SELECT name, country, id::VARCHAR AS key, file, opens FROM (${marks}) ORDER BY country NULLS LAST, id, file`,
  )) {
    for (const { name: named, country, key: id, file, opens } of chunk) {
      const [key, name] = [
        { country: typeof country === 'string' ? country : null, id: String(id) },
        String(named),
      ]
      const moved = before && (before.country !== key.country || before.id !== key.id)
      if (moved && isFull()) endAt(before)
      before = key
      rows.set(name, (rows.get(name) ?? 0) + (steps.get(name) ?? 1))
      if (!opens || !inOrder.has(name)) continue
      const opened = files.get(name)
      if (opened) opened.add(Number(file))
      else files.set(name, new Set([Number(file)]))
    }
  }
  endAt(undefined)
  return slices
}
