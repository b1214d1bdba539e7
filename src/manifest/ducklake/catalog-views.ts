/** The views and macros of the catalog: those of the tables, and the analysis layer. */

import { type Definition, definitionsFor } from '../../analysis/definitions.ts'
import { ident, literal } from '../../lake/duckdb/sql.ts'
import { type ComputedColumn, withComputed } from '../../lake/projection/computed-columns.ts'
import { FIRST_VERSION, pastOf, versionsTable } from '../../lake/tables/past-tables.ts'
import {
  LISTINGS,
  mainTables,
  QUARANTINE,
  type RecordTable,
  TABLES,
  type Table,
} from '../../lake/tables/tables.ts'
import { ALL_COMPANIES } from '../../lake/views/base-views.ts'
import { MERGED_IN } from '../../lake/views/current-versions.ts'
import { compactedRows, heldRows } from '../../lake/views/intervals.ts'
import { chainOf } from '../../lake/views/version-chain.ts'
import { dictionaryOrder, versionOrder } from '../../lake/views/version-order.ts'
import {
  CONFIRMED,
  FILE_TABLES,
  type FileTable,
  type InSchema,
  placesOf,
  type Viewed,
} from './catalog-layout.ts'
import { type CatalogNames, macroSql, PLACEHOLDER, viewSql } from './qualify-sql.ts'

export interface CatalogView extends InSchema {
  readonly sql: string
}

/** The number of a row's version stands in the upper half of its id. */
export const VERSION_BITS = 32

const versionOf = (alias: string): string => `${alias}.rowid >> ${VERSION_BITS}`

const placed = ({ schema, name }: InSchema): string => `${PLACEHOLDER}.${schema}.${ident(name)}`

const columnsOf = ({ columns }: Table, alias?: string): string =>
  columns.map(({ name }) => (alias === undefined ? ident(name) : `${alias}.${ident(name)}`)).join(', ')

const fileTable = (name: string): FileTable => {
  const found = FILE_TABLES.find(({ table }) => table.name === name)
  if (found === undefined) throw new TypeError(`No table "${name}"`)
  return found
}

/** Joins the load `l` of rows, and their instant `i` where it is not that of their version. */
const withLoads = (alias: string, { content, owner }: Table): string => {
  const loads = `LEFT JOIN ${PLACEHOLDER}.firmlake.loads AS l ON l.version = ${versionOf(alias)}`
  return content === undefined || owner === undefined
    ? loads
    : `${loads}
LEFT JOIN (SELECT * FROM ${PLACEHOLDER}.firmlake.instants WHERE content = ${literal(content)}) AS i
  ON i.owner = ${alias}.${ident(owner)} AND i.version = l.version`
}

const asOf = ({ content, owner }: Table): string =>
  `${content === undefined || owner === undefined ? 'l.as_of' : 'coalesce(i.as_of, l.as_of)'}::TIMESTAMPTZ`

/** Rows of all versions, of each key the last one in the order. */
const lastOfKey = (
  table: Table,
  rows: InSchema,
  key: string,
  condition: string,
): string => `SELECT ${columnsOf(table)} FROM (
  SELECT r.*, row_number() OVER (PARTITION BY r.${key} ORDER BY ${versionOrder(undefined, 'DESC')}) AS firmlake_place
  FROM (
    SELECT r.*, l.version, ${asOf(table)} AS as_of FROM ${placed(rows)} AS r ${withLoads('r', table)} WHERE ${condition}
  ) AS r
) WHERE firmlake_place = 1`

/** The name of the view that has the chain of the versions of a content. */
const chainName = (table: Table): InSchema => ({ schema: 'firmlake', name: `versions_${table.content}` })

/** The rows of a table in files of all versions. */
const rowsIn = (table: Table, viewed: Viewed): string => placed(placesOf(fileTable(table.name), viewed).all)

/** The chain of the versions of a content: those of its records, the listings without a company, and what compactions keep of both. */
const chainView = (main: RecordTable, viewed: Viewed): string => {
  const merged = rowsIn(versionsTable(main.content), viewed)
  // Listings that a compaction has written stand for those whose versions it keeps.
  const standIns = `SELECT s.run FROM ${PLACEHOLDER}.firmlake.loads AS s WHERE s.version IN (SELECT ${versionOf('m')} FROM ${merged} AS m)`
  const loads = 'l.as_of::TIMESTAMPTZ AS load_as_of, l.loaded_at::TIMESTAMPTZ AS loaded_at'
  const versionsIn = (
    table: Table,
    isListing: boolean,
    condition: string,
  ): string => `SELECT r.internal_id AS owner, l.version,
    ${asOf(table)} AS as_of, ${isListing} AS is_listing, NULL::BIGINT AS merged_in, ${loads}
  FROM ${rowsIn(table, viewed)} AS r ${withLoads('r', table)} WHERE ${condition}`
  return chainOf(
    [
      versionsIn(main, false, `r.${ident(FIRST_VERSION.name)} IS NULL`),
      ...(main.content === LISTINGS.content
        ? [
            versionsIn(LISTINGS, true, `l.run NOT IN (${standIns})`),
            `SELECT c.owner, c.version, c.as_of::TIMESTAMPTZ, true, NULL, NULL, l.loaded_at::TIMESTAMPTZ
  FROM ${placed(CONFIRMED)} AS c LEFT JOIN ${PLACEHOLDER}.firmlake.loads AS l ON l.version = c.version`,
          ]
        : []),
      `SELECT m.internal_id AS owner, m.version, m.as_of, m.is_listing, ${versionOf('m')} AS merged_in, ${loads}
  FROM ${merged} AS m LEFT JOIN ${PLACEHOLDER}.firmlake.loads AS l ON l.version = m.version`,
    ].join('\n  UNION ALL '),
  )
}

const LOAD_COLUMNS = 'l.snapshot, l.run, l.loaded_at::TIMESTAMPTZ AS loaded_at'

/** A dictionary in every version, with the columns that say when each was loaded and what follows. */
const dictionaryHistory = (
  table: Table,
  from: string,
): string => `SELECT *, until IS NULL AS is_current FROM (
  SELECT ${columnsOf(table, 'h')}, ${LOAD_COLUMNS}, NULL::TIMESTAMPTZ AS as_of, l.version,
    lag(l.version) OVER along AS until, NULL::TIMESTAMPTZ AS until_as_of,
    l.loaded_at::TIMESTAMPTZ AS shown_from, lag(l.loaded_at::TIMESTAMPTZ) OVER along AS shown_until,
    greatest(l.loaded_at::TIMESTAMPTZ, lead(l.loaded_at::TIMESTAMPTZ) OVER along) AS known_since
  FROM ${from} AS h ${withLoads('h', table)}
  WINDOW along AS (PARTITION BY ${table.key.map((name) => `h.${ident(name)}`).join(', ')} ORDER BY ${dictionaryOrder('l')}))`

/** The same of records: rows of loads, and those of compactions over their intervals. */
const historyOf = (one: FileTable, viewed: Viewed): string => {
  const { table } = one
  const from = placed(placesOf(one, viewed).all)
  if (table.content === undefined || table.owner === undefined) return dictionaryHistory(table, from)
  const current = `SELECT r.*, ${versionOf('r')} AS version FROM ${from} AS r WHERE r.${ident(FIRST_VERSION.name)} IS NOT NULL`
  const rows = compactedRows(
    table,
    heldRows(
      table,
      current,
      true,
      `SELECT p.*, ${versionOf('p')} AS ${MERGED_IN} FROM ${rowsIn(pastOf(table), viewed)} AS p`,
    ),
    'chain',
  )
  const loads = (version: string): string =>
    `LEFT JOIN ${PLACEHOLDER}.firmlake.loads AS l ON l.version = ${version}`
  const of = (alias: string, place: string): string =>
    `JOIN chain AS ${alias} ON ${alias}.owner = r.${ident(table.owner ?? '')} AND ${alias}.place = ${place}`
  return `WITH chain AS MATERIALIZED (FROM ${placed(chainName(table))})
SELECT ${columnsOf(table, 'h')}, ${LOAD_COLUMNS}, v.as_of, ${versionOf('h')} AS version,
  v.until, v.until_as_of, v.shown_from, v.shown_until, v.known_since, v.until IS NULL AS is_current
FROM ${from} AS h ${loads(versionOf('h'))}
LEFT JOIN chain AS v ON v.owner = h.${ident(table.owner)} AND v.version = ${versionOf('h')} WHERE h.${ident(FIRST_VERSION.name)} IS NULL
UNION ALL
SELECT ${columnsOf(table, 'r')}, ${LOAD_COLUMNS}, f.as_of, f.version,
  e.until, e.until_as_of, f.shown_from, e.shown_until, f.known_since, e.until IS NULL
FROM (${rows}) AS r ${of('f', 'r.version')} ${of('e', 'r.until - 1')} ${loads('f.version')}`
}

/** The last listing that lacked each company, as long as nothing later has it. */
const listingsRows = (viewed: Viewed): string => {
  const { current, all } = placesOf(fileTable(LISTINGS.content), viewed)
  return lastOfKey(
    LISTINGS,
    placesOf(fileTable(LISTINGS.name), viewed).all,
    'internal_id',
    `r.internal_id IN (SELECT internal_id FROM ${placed(all)})
    AND r.internal_id NOT IN (SELECT internal_id FROM ${placed(current)})`,
  )
}

const companiesWithGone = (table: Table, viewed: Viewed): string => {
  const { current, all } = placesOf(fileTable(table.name), viewed)
  const gone = `r.internal_id IN (SELECT internal_id FROM ${PLACEHOLDER}.main.listings)`
  return `SELECT ${columnsOf(table, 'c')}, NULL::TIMESTAMPTZ AS gone_since FROM ${placed(current)} AS c
UNION ALL
SELECT ${columnsOf(table, 'h')}, g.gone_since FROM (${lastOfKey(table, all, 'internal_id', gone)}) AS h
JOIN ${PLACEHOLDER}.main.listings AS g ON g.internal_id = h.internal_id`
}

/** Views on the tables, each before those that read it. */
const tableViews = (viewed: Viewed, computed: readonly ComputedColumn[]): readonly CatalogView[] => {
  const view = (schema: CatalogView['schema'], table: Table, name: string, sql: string): CatalogView => ({
    ...{ schema, name, sql: withComputed(computed, table.name, sql) },
  })
  const lake = TABLES.map(({ name }) => fileTable(name))
  return [
    ...lake.flatMap((one) => {
      const { current, all } = placesOf(one, viewed)
      if (current.schema === 'main') return []
      const rows = (place: InSchema): string => `SELECT * FROM ${placed(place)}`
      return [
        view('main', one.table, one.table.name, rows(current)),
        view('history', one.table, one.table.name, rows(all)),
      ]
    }),
    ...mainTables().map((table) => ({ ...chainName(table), sql: chainView(table, viewed) })),
    ...lake.map((one) => view('main', one.table, `${one.table.name}_history`, historyOf(one, viewed))),
    { schema: 'main', name: LISTINGS.name, sql: listingsRows(viewed) },
    ...mainTables()
      .filter(({ content }) => content === LISTINGS.content)
      .map((table) => view('main', table, ALL_COMPANIES, companiesWithGone(table, viewed))),
  ]
}

/** The query of a definition, without `CREATE OR REPLACE … AS`. */
const queryOf = ({ sql }: Definition): string => sql.replace(/^CREATE OR REPLACE [\s\S]*? AS( TABLE)?\s/, '')

export const catalogNames = (viewed: Viewed = new Set()): CatalogNames => {
  const definitions = definitionsFor()
  const isView = ({ kind }: Definition): boolean => kind === 'view'
  return {
    relations: new Set([
      ...TABLES.map(({ name }) => name),
      QUARANTINE.name,
      ...tableViews(viewed, []).flatMap(({ schema, name }) => (schema === 'main' ? [name] : [])),
      ...definitions.filter(isView).map(({ name }) => name),
    ]),
    macros: new Set(definitions.filter((one) => !isView(one)).map(({ name }) => name)),
  }
}

/**
 * The views of a snapshot: those of other snapshots have the same names in the same order.
 * @param viewed tables that have further columns at any snapshot @param computed those of this one
 */
export const catalogViews = (
  viewed: Viewed = new Set(),
  computed: readonly ComputedColumn[] = [],
): readonly CatalogView[] => {
  const names = catalogNames(viewed)
  return [
    ...tableViews(viewed, computed),
    ...definitionsFor()
      .filter(({ kind }) => kind === 'view')
      .map((one): CatalogView => ({ schema: 'main', name: one.name, sql: viewSql(queryOf(one), names) })),
  ]
}

export interface CatalogMacro {
  readonly name: string
  readonly kind: 'table' | 'scalar'
  readonly parameters: readonly string[]
  readonly sql: string
}

export const catalogMacros = (): readonly CatalogMacro[] =>
  definitionsFor()
    .filter(({ kind }) => kind !== 'view')
    .map((one) => ({
      name: one.name,
      kind: one.kind === 'macro' ? 'scalar' : 'table',
      parameters: one.signature.slice(one.name.length + 1, -1).split(/,\s*/),
      sql: macroSql(queryOf(one)),
    }))
