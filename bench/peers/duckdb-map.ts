/**
 * DuckDB with maps, as a DuckDB user writes it who knows that `json_each` is slow: decoded files, columns with types,
 * map_entries and unnest, one COPY a table over all files.
 *
 * Usage: `node bench/peers/duckdb-map.ts SHAPE.json OUT FILE.jsonl.br …`
 */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { quoted, quotedList } from '../contract-columns.ts'
import { decompress, peerArguments } from './peer-arguments.ts'
import { duckdbType, type ShapeType } from './shape.ts'

const { shape, out, files } = await peerArguments()
const spool = join(out, 'spool')
const lines = await decompress(files, spool)

const scan = (columns: Readonly<Record<string, string>>): string =>
  `read_ndjson([${quotedList(lines)}], columns = {${Object.entries(columns)
    .map(([name, type]) => `"${name}": '${type}'`)
    .join(', ')}})`

const parts: Record<string, ShapeType> = {}
for (const { part, field, type } of shape.companies) {
  const known = parts[part]
  const inner = typeof known === 'object' && 'struct' in known ? known.struct : {}
  parts[part] = field === undefined ? type : { struct: { ...inner, [field]: type } }
}
const companies = `SELECT ${shape.companies
  .map(({ column, part, field }) =>
    field === undefined ? `${part} AS ${column}` : `${part}."${field}" AS ${column}`,
  )
  .join(
    ', ',
  )} FROM ${scan(Object.fromEntries(Object.entries(parts).map(([name, type]) => [name, duckdbType(type)])))}`

const WHO = 'STRUCT(InternalId BIGINT, CountryCode VARCHAR)'
const FIGURES = 'MAP(VARCHAR, MAP(VARCHAR, MAP(SMALLINT, DOUBLE)))'
const SERIES = 'MAP(SMALLINT, DOUBLE)'
const scaled = shape.items.filter((one) => one.scaled).map(({ lineItem }) => lineItem)
const money = shape.items.filter((one) => one.isMoney).map(({ lineItem }) => lineItem)
const factor = `CASE coalesce(MetaData.FinancialFigureScale, 'None') ${Object.entries(shape.scales)
  .map(([scale, value]) => `WHEN ${quoted(scale)} THEN ${value}::DOUBLE`)
  .join(' ')} END`

const statements = shape.consolidations.map(
  ({ name, figures }) => `{name: ${quoted(name)}, categories: ${figures}}`,
)
const financials = `
  WITH company AS (
    SELECT BasicDetails.InternalId AS internal_id, BasicDetails.CountryCode AS country_code,
      MetaData.CurrentCurrencyCode AS currency, ${factor} AS factor, unnest([${statements.join(', ')}]) AS statement
    FROM ${scan({
      BasicDetails: WHO,
      MetaData: 'STRUCT(CurrentCurrencyCode VARCHAR, FinancialFigureScale VARCHAR)',
      ...Object.fromEntries(shape.consolidations.map(({ figures }) => [figures, FIGURES])),
    })}),
  category AS (
    SELECT * EXCLUDE statement, statement.name AS consolidation, unnest(map_entries(statement.categories)) AS c
    FROM company),
  item AS (SELECT * EXCLUDE c, c.key AS category, unnest(map_entries(c.value)) AS i FROM category),
  year AS (SELECT * EXCLUDE i, i.key AS line_item, unnest(map_entries(i.value)) AS y FROM item)
  SELECT internal_id, country_code, consolidation, category, line_item, y.key AS fiscal_year,
    y.value * CASE WHEN line_item IN (${quotedList(scaled)}) THEN factor ELSE 1 END AS value,
    CASE WHEN line_item IN (${quotedList(money)}) THEN currency END AS currency
  FROM year WHERE y.value IS NOT NULL`

const counts = shape.consolidations.map(
  ({ name, employees }) => `{name: ${quoted(name)}, years: EnhancedDetails.${employees}}`,
)
const employees = `
  WITH company AS (
    SELECT BasicDetails.InternalId AS internal_id, BasicDetails.CountryCode AS country_code,
      unnest([${counts.join(', ')}]) AS s
    FROM ${scan({
      BasicDetails: WHO,
      EnhancedDetails: `STRUCT(${shape.consolidations.map((one) => `${one.employees} ${SERIES}`).join(', ')})`,
    })}),
  year AS (SELECT * EXCLUDE s, s.name AS consolidation, unnest(map_entries(s.years)) AS y FROM company)
  SELECT internal_id, country_code, consolidation, y.key AS fiscal_year, y.value AS employees
  FROM year WHERE y.value IS NOT NULL`

const connection = await (
  await DuckDBInstance.create(':memory:', { preserve_insertion_order: 'false' })
).connect()
for (const [table, select] of Object.entries({ companies, financials, employees }))
  await connection.run(
    `COPY (${select}) TO '${join(out, table, '0.parquet')}' (FORMAT parquet, COMPRESSION zstd)`,
  )
await rm(spool, { recursive: true })
