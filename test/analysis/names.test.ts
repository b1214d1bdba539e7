/** Names, types and comments of the layer, the same in `lake.duckdb`, in a query and in an exported file. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { definitionsFor } from '../../src/analysis/definitions.ts'
import { documentationOf } from '../../src/analysis/documentation.ts'
import { convert } from '../../src/jobs/convert.ts'
import { openQuery } from '../../src/jobs/query.ts'
import { Engine, type Row, type Session } from '../../src/lake/duckdb/engine.ts'
import { readRows } from '../../src/lake/query/read-rows.ts'
import { baseViews } from '../../src/lake/views/base-views.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { exportTables } from '../../src/targets/export/export-tables.ts'

interface ViewColumn {
  readonly view: string
  readonly column: string
  readonly type: string
  readonly comment: string | null
}

const VIEWS = definitionsFor().flatMap(({ name, kind }) => (kind === 'view' ? [name] : []))
const MACROS = definitionsFor().filter(({ kind }) => kind !== 'view')
/** What a macro is called with. */
const CALLS: Readonly<Record<string, string>> = {
  cagr: "'x', 2020, 2021",
  companies_as_known: "'2026-01-31'",
  companies_as_of: "'2026-01-31'",
  figures_as_known: "'2026-01-31'",
  figures_as_of: "'2026-01-31'",
  figures_in: "'EUR'",
  financials_in: "'EUR'",
  find_company: "'x'",
  group_of: '1',
  growth: "'x'",
  growth_all: "'x'",
  holdings_of: '[1]',
  ownership_chain: '1, 2',
  peers: '1, 2',
  relations_as_known: "'2026-01-31'",
  relations_as_of: "'2026-01-31'",
  ultimate_owners: '1',
}

const company = {
  BasicDetails: {
    ...{ InternalId: 1, CompanyName: 'One', CountryCode: 'SE', OrgNo: '55' },
    ...{ RegistrationDate: 'spring of 1999', PreviousNames: ['Old One'] },
  },
  Financials: { ProfitAndLoss: { NetSales: { 2023: 1 } } },
  EnhancedDetails: { Employees: { 2022: 7, 2023: 2.5 } },
  MetaData: {
    CurrentCurrencyCode: 'SEK',
    FinancialFigureScale: 'None',
    LastFiscalYearEnd: '2023-12-31T23:59:59',
  },
}

let folder: string
let engine: Engine
let session: Session
let lake: string
const columnsOf = async (): Promise<readonly ViewColumn[]> =>
  (
    await session.rows(
      `SELECT c.table_name AS view, c.column_name AS "column", c.data_type AS type, c.comment
FROM duckdb_columns() AS c JOIN duckdb_views() AS v ON v.view_oid = c.table_oid AND v.database_name = c.database_name
WHERE c.database_name = 'lake' AND c.schema_name = 'main' AND NOT c.internal`,
    )
  ).map(
    ({ view, column, type, comment }): ViewColumn => ({
      ...{ view: String(view), column: String(column), type: String(type) },
      comment: comment === null ? null : String(comment),
    }),
  )

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  lake = join(folder, 'lake')
  await convert({
    from: fromRecords('crm', [company, { ...company, BasicDetails: { InternalId: 2 } }]),
    lake,
  })
  engine = await Engine.open({ memoryBytes: 512 * 1024 ** 2 })
  session = await engine.connect()
  await session.run(`ATTACH '${join(lake, 'lake.duckdb')}' AS lake (READ_ONLY); USE lake`)
})
afterAll(async () => {
  engine.close()
  await rm(folder, { recursive: true, force: true })
})

describe('the columns of the views', () => {
  test('begin with name and country where a row is about a company; no view calls it company_id', async () => {
    const byView = Map.groupBy(
      (await columnsOf()).filter(({ view }) => VIEWS.includes(view)),
      ({ view }) => view,
    )
    expect([...byView.keys()].sort()).toEqual(VIEWS.toSorted())
    const ofMacros = await Promise.all(
      Object.entries(CALLS).map(async ([name, values]) => ({
        name,
        columns: (await session.describe(`FROM ${name}(${values})`)).map((one) => one.name),
      })),
    )
    expect(ofMacros.map(({ name }) => name)).toEqual(
      MACROS.flatMap(({ name, kind }) => (kind === 'table macro' ? [name] : [])).sort(),
    )
    const all = [
      ...[...byView].map(([name, own]) => ({ name, columns: own.map(({ column }) => column) })),
      ...ofMacros,
    ]
    // Those of a table by date have its columns.
    const about = all.filter(
      ({ name, columns }) => columns.includes('internal_id') && !/^(companies|relations)_as_/.test(name),
    )
    expect(about.length).toBeGreaterThan(20)
    for (const { name, columns } of about) {
      const at = columns.indexOf('internal_id')
      expect([name, columns.slice(at + 1, at + 3)]).toEqual([name, ['company_name', 'country_code']])
    }
    for (const { name, columns } of all) {
      expect([name, columns.filter((one) => one === 'company_id' || one === 'id')]).toEqual([name, []])
      expect([name, columns.includes('owner_id') && columns.includes('internal_id')]).toEqual([name, false])
    }
  })

  test('have dates as DATE, with a text at most beside it, and headcounts as BIGINT', async () => {
    const own = (await columnsOf()).filter(({ view }) => VIEWS.includes(view))
    const key = ({ view, column }: Pick<ViewColumn, 'view' | 'column'>): string => `${view}.${column}`
    const types = new Map(own.map((one) => [key(one), one.type]))
    const dates = own.filter(({ column }) =>
      /(^|_)(date|day|(?<!known_)since|year_end)(_text)?$/.test(column),
    )
    expect(dates.map(key)).toContain('company_profiles.registration_date_text')
    for (const { view, column } of dates) {
      const date = column.replace(/_text$/, '')
      expect([view, date, types.get(key({ view, column: date }))]).toEqual([view, date, 'DATE'])
      if (date !== column) expect(types.get(key({ view, column }))).toBe('VARCHAR')
    }
    const heads = own.filter(({ column }) => /^(employees|headcount)/.test(column))
    expect(heads.map(key)).toEqual([
      ...['headcounts.employees', 'headcounts.employees_exact'],
      ...['latest_headcounts.employees', 'latest_headcounts.employees_exact'],
    ])
    expect(heads.map(({ type }) => type)).toEqual(['BIGINT', 'DOUBLE', 'BIGINT', 'DOUBLE'])
  })
})

test('a date that is none is a text beside it, a headcount with a fraction stands beside the whole one, in every time zone', async () => {
  await session.run("SET TimeZone = 'Pacific/Auckland'")
  const DATES =
    'SELECT registration_date AS day, registration_date_text AS text, last_fiscal_year_end::VARCHAR AS year_end'
  expect(await session.rows(`${DATES} FROM company_profiles WHERE internal_id = 1`)).toEqual([
    { day: null, text: 'spring of 1999', year_end: '2023-12-31' },
  ])
  expect(
    await session.rows(
      'SELECT fiscal_year, employees, employees_exact FROM headcounts WHERE internal_id = 1 ORDER BY 1',
    ),
  ).toEqual([
    { fiscal_year: 2022, employees: '7', employees_exact: null },
    { fiscal_year: 2023, employees: '3', employees_exact: 2.5 },
  ])
})

/** What a database says of its views and macros, by name. */
const commentsIn = async (
  ask: (sql: string) => Promise<readonly Row[]>,
): Promise<ReadonlyMap<string, string>> => {
  const said =
    await ask(`SELECT view_name AS name, comment FROM duckdb_views() WHERE schema_name = 'main' AND NOT internal
UNION ALL SELECT function_name, comment FROM duckdb_functions() WHERE schema_name = 'main' AND function_type LIKE '%macro' AND NOT internal`)
  return new Map(said.map(({ name, comment }) => [String(name), comment === null ? '' : String(comment)]))
}

describe('a comment says what is meant', () => {
  test('in lake.duckdb by every view, macro and column, parameters and columns of macros too', async () => {
    const said = await commentsIn((sql) => session.rows(sql))
    expect([...said.keys()].sort()).toEqual(
      [...baseViews().keys(), ...definitionsFor().map(({ name }) => name)].sort(),
    )
    expect([...said].filter(([, comment]) => comment === '')).toEqual([])
    for (const macro of MACROS) {
      const { parameters, columns } = documentationOf(macro)
      for (const [name, about] of [...parameters, ...columns])
        expect(said.get(macro.name)).toContain(`${name}: ${about}`)
    }
    const columns = await columnsOf()
    expect(columns.length).toBeGreaterThan(800)
    expect(columns.filter(({ comment }) => comment === null || comment === '')).toEqual([])
    expect(
      columns.find(({ view, column }) => view === 'financials_wide' && column === 'EBITDA')?.comment,
    ).toBe('EBITDA of ProfitAndLoss; unit: amount. NULL where there is no figure.')
  })

  test('in a query the same, and in an exported file of what it has', async () => {
    const expected = await commentsIn((sql) => session.rows(sql))
    const query = await openQuery({ lake })
    const asked = await commentsIn(async (sql) => readRows(await query.run(sql)))
    query.close()
    for (const [name, comment] of expected) expect([name, asked.get(name)]).toEqual([name, comment])
    const file = join(folder, 'firms.duckdb')
    await exportTables({ lake, to: file })
    // Twice: views of ours are known again by the end of their comments.
    await exportTables({ lake, to: file })
    const other = await Engine.open({ memoryBytes: 512 * 1024 ** 2 })
    const opened = await other.connect()
    await opened.run(`ATTACH '${file}' AS firms (READ_ONLY); USE firms`)
    const exported = await commentsIn((sql) => opened.rows(sql))
    opened.close()
    other.close()
    expect(exported.get('latest_figures')).toBe(`${expected.get('latest_figures')} (View of firmlake.)`)
    expect(exported.get('growth')).toBe(expected.get('growth'))
  })
})
