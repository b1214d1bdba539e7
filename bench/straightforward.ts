/**
 * Contender (a): the conversion as a DuckDB user would write it first: decompress, read the lines as JSON,
 * and take the three levels apart with `json_each`.
 *
 * Usage: `node bench/straightforward.ts --out DIR FILE.jsonl.br …`
 */

import { spawnSync } from 'node:child_process'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { createBrotliDecompress } from 'node:zlib'
import { DuckDBInstance } from '@duckdb/node-api'
import { CONSOLIDATIONS, FIGURE_SCALE } from '../src/contract/dictionaries.ts'
import type { ObjectType } from '../src/contract/fields.ts'
import { LINE_ITEMS } from '../src/contract/line-items.ts'
import { BASIC_DETAILS, ENHANCED_DETAILS, META_DATA } from '../src/contract/objects.ts'
import { quoted, quotedList, snakeCase } from './contract-columns.ts'

/** `brotli -d` where the program is installed, otherwise Node's decoder. */
const decompress = async (file: string, path: string): Promise<void> => {
  const { error } = spawnSync('brotli', ['-d', '-f', '-o', path, file])
  if (error === undefined) return
  await pipeline(createReadStream(file), createBrotliDecompress(), createWriteStream(path))
}

const { values, positionals } = parseArgs({ options: { out: { type: 'string' } }, allowPositionals: true })
const out = values.out ?? 'lake-straightforward'
const spool = join(out, 'spool')
for (const directory of [spool, ...['companies', 'financials', 'employees'].map((name) => join(out, name))]) {
  await mkdir(directory, { recursive: true })
}
const lines: string[] = []
for (const file of positionals) {
  const path = join(spool, basename(file, '.br'))
  await decompress(file, path)
  lines.push(path)
}

const connection = await (await DuckDBInstance.create()).connect()
await connection.run(`CREATE VIEW lines AS SELECT * FROM read_ndjson([${quotedList(lines)}], columns = {
  BasicDetails: 'JSON', EnhancedDetails: 'JSON', Financials: 'JSON', UnconsolidatedFinancials: 'JSON',
  MetaData: 'JSON', LinkedIn: 'JSON'})`)

const SERIES = ['Employees', 'EmployeesUnconsolidated']
const columnsOf = (part: string, type: ObjectType, prefix = ''): string[] =>
  Object.entries(type.fields)
    .filter(([name]) => !SERIES.includes(name))
    .map(([name, { kind }]) => {
      const column = `${prefix}${snakeCase(name)}`
      if (kind === 'integer') return `CAST(${part} ->> '${name}' AS BIGINT) AS ${column}`
      if (kind === 'boolean') return `CAST(${part} ->> '${name}' AS BOOLEAN) AS ${column}`
      return `${part} ${kind === 'text' || kind === 'date-time' ? '->>' : '->'} '${name}' AS ${column}`
    })

const companies = `SELECT ${[
  ...columnsOf('BasicDetails', BASIC_DETAILS),
  ...columnsOf('EnhancedDetails', ENHANCED_DETAILS, 'enhanced_'),
  ...columnsOf('MetaData', META_DATA),
].join(', ')}, LinkedIn AS linkedin FROM lines`

const SCALED = LINE_ITEMS.filter(({ scaled }) => scaled).map(({ lineItem }) => lineItem)
const MONEY = LINE_ITEMS.filter(({ isMoney }) => isMoney).map(({ lineItem }) => lineItem)
const FACTOR = `CASE MetaData ->> 'FinancialFigureScale' ${Object.entries(FIGURE_SCALE)
  .map(([scale, factor]) => `WHEN '${scale}' THEN ${factor}`)
  .join(' ')} END`

/** What each figure needs of its company, taken out once a line. */
const COMPANY = `SELECT CAST(BasicDetails ->> 'InternalId' AS BIGINT) AS internal_id,
  BasicDetails ->> 'CountryCode' AS country_code, MetaData ->> 'CurrentCurrencyCode' AS currency,
  ${FACTOR} AS factor, * FROM lines`

const financials = CONSOLIDATIONS.map(
  ({ name, field }) => `
  SELECT internal_id, country_code, ${quoted(name)} AS consolidation, category.key AS category,
    item.key AS line_item, CAST(year.key AS SMALLINT) AS fiscal_year,
    CAST(year.value AS DOUBLE) * CASE WHEN item.key IN (${quotedList(SCALED)}) THEN factor ELSE 1 END AS value,
    CASE WHEN item.key IN (${quotedList(MONEY)}) THEN currency END AS currency
  FROM (${COMPANY}), json_each(${field}) AS category, json_each(category.value) AS item,
    json_each(item.value) AS year
  WHERE year.type <> 'NULL'`,
).join(' UNION ALL ')

const employees = CONSOLIDATIONS.map(
  ({ name, employees: field }) => `
  SELECT internal_id, country_code, ${quoted(name)} AS consolidation,
    CAST(year.key AS SMALLINT) AS fiscal_year, CAST(year.value AS DOUBLE) AS employees
  FROM (${COMPANY}), json_each(EnhancedDetails, '$.${field}') AS year
  WHERE year.type <> 'NULL'`,
).join(' UNION ALL ')

for (const [table, select] of Object.entries({ companies, financials, employees })) {
  await connection.run(
    `COPY (${select}) TO '${join(out, table, '0.parquet')}' (FORMAT parquet, COMPRESSION zstd)`,
  )
}
await rm(spool, { recursive: true })
