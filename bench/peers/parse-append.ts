/**
 * JSON.parse with DuckDB's appender, as one writes it in Node first: a line, its objects, a row for each figure, and
 * a COPY of the tables whenever some thousand companies are in memory.
 *
 * Usage: `node bench/peers/parse-append.ts SHAPE.json OUT FILE.jsonl.br …`
 */

import { join } from 'node:path'
import { type DuckDBAppender, DuckDBInstance } from '@duckdb/node-api'
import { quoted } from '../contract-columns.ts'
import { entriesOf, linesOf, memberOf } from './lines.ts'
import { peerArguments, TABLES } from './peer-arguments.ts'
import { duckdbType, type ShapeType } from './shape.ts'

const RECORDS = 3_000

const { shape, out, files } = await peerArguments()
const connection = await (await DuckDBInstance.create()).connect()

const isNested = (type: ShapeType): boolean => typeof type === 'object'
await connection.run(`CREATE TABLE companies (${shape.companies
  .map(({ column, type }) => `${column} ${isNested(type) ? 'VARCHAR' : duckdbType(type)}`)
  .join(', ')});
  CREATE TABLE financials (internal_id BIGINT, country_code VARCHAR, consolidation VARCHAR, category VARCHAR,
    line_item VARCHAR, fiscal_year SMALLINT, value DOUBLE, currency VARCHAR);
  CREATE TABLE employees (internal_id BIGINT, country_code VARCHAR, consolidation VARCHAR, fiscal_year SMALLINT,
    employees DOUBLE)`)

/** A type as `json_transform` reads it. */
const structureOf = (type: ShapeType): unknown => {
  if (typeof type === 'string') return duckdbType(type)
  if ('list' in type) return [structureOf(type.list)]
  return Object.fromEntries(Object.entries(type.struct).map(([name, one]) => [name, structureOf(one)]))
}
// Structs and lists go in as JSON and come out with their types.
const selects = {
  companies: shape.companies
    .map(({ column, type }) =>
      isNested(type)
        ? `json_transform(${column}, ${quoted(JSON.stringify(structureOf(type)))}) AS ${column}`
        : column,
    )
    .join(', '),
  financials: '*',
  employees: '*',
}
const scaled = new Set(shape.items.filter((one) => one.scaled).map(({ lineItem }) => lineItem))
const money = new Set(shape.items.filter((one) => one.isMoney).map(({ lineItem }) => lineItem))

const scales = new Map<unknown, number>(Object.entries(shape.scales))

const append = (appender: DuckDBAppender, value: unknown, type: ShapeType = 'text'): void => {
  if (value === null || value === undefined) appender.appendNull()
  else if (typeof value === 'object') appender.appendVarchar(JSON.stringify(value))
  else if (typeof value === 'boolean') appender.appendBoolean(value)
  else if (typeof value === 'number' && type === 'integer') appender.appendBigInt(BigInt(value))
  else if (typeof value === 'number') appender.appendDouble(value)
  else appender.appendVarchar(String(value))
}

const open = async () => ({
  companies: await connection.createAppender('companies'),
  financials: await connection.createAppender('financials'),
  employees: await connection.createAppender('employees'),
})
let appenders = await open()

const appendCompany = (company: unknown): void => {
  const { companies, financials, employees } = appenders
  for (const { part, field, type } of shape.companies) {
    const whole = memberOf(company, part)
    append(companies, field === undefined ? whole : memberOf(whole, field), type)
  }
  companies.endRow()

  const [basic, meta] = [memberOf(company, 'BasicDetails'), memberOf(company, 'MetaData')]
  const [id, country] = [memberOf(basic, 'InternalId'), memberOf(basic, 'CountryCode')]
  const currency = memberOf(meta, 'CurrentCurrencyCode')
  const factor = scales.get(memberOf(meta, 'FinancialFigureScale') ?? 'None') ?? Number.NaN
  for (const one of shape.consolidations) {
    for (const [category, items] of entriesOf(memberOf(company, one.figures)))
      for (const [item, series] of entriesOf(items)) {
        const scale = scaled.has(item) ? factor : 1
        const own = money.has(item) ? currency : null
        for (const [year, value] of entriesOf(series)) {
          if (typeof value !== 'number') continue
          append(financials, id, 'integer')
          append(financials, country)
          financials.appendVarchar(one.name)
          financials.appendVarchar(category)
          financials.appendVarchar(item)
          financials.appendSmallInt(Number(year))
          financials.appendDouble(value * scale)
          append(financials, own)
          financials.endRow()
        }
      }
    for (const [year, value] of entriesOf(memberOf(memberOf(company, 'EnhancedDetails'), one.employees))) {
      if (typeof value !== 'number') continue
      append(employees, id, 'integer')
      append(employees, country)
      employees.appendVarchar(one.name)
      employees.appendSmallInt(Number(year))
      employees.appendDouble(value)
      employees.endRow()
    }
  }
}

let part = 0
const writeOut = async (): Promise<void> => {
  for (const table of TABLES) {
    appenders[table].closeSync()
    const target = join(out, table, `${part}.parquet`)
    await connection.run(
      `COPY (SELECT ${selects[table]} FROM ${table}) TO '${target}' (FORMAT parquet, COMPRESSION zstd);
       TRUNCATE ${table}`,
    )
  }
  part += 1
  appenders = await open()
}

let records = 0
for (const file of files)
  for await (const line of linesOf(file)) {
    if (line === '') continue
    appendCompany(JSON.parse(line))
    records += 1
    if (records % RECORDS === 0) await writeOut()
  }
if (records % RECORDS > 0) await writeOut()
