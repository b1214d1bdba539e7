/** Tables of figures give the rows that the records spell, whatever these are like, and files of them what readers look for. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CheckedPart, checkBlock } from '../../src/check/check-block.ts'
import { RecordChecker } from '../../src/check/record/check-record.ts'
import { CONSOLIDATIONS } from '../../src/contract/dictionaries.ts'
import { LINE_ITEMS } from '../../src/contract/line-items.ts'
import { Engine, type Row, type Session } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { employeesTable, type FigurePart, financialsTable } from '../../src/load/figure-tables.ts'
import { oddValuesOf } from '../../src/load/row-table.ts'
import { newSeenSets } from '../../src/rows/seen-sets.ts'
import { seededRandom } from '../manifest/damage.ts'
import { exactProduct } from '../support/exact-product.ts'
import { someRows } from '../support/same-rows.ts'
import { blockOf, Workbench } from './loaded-lake.ts'

let engine: Engine
let session: Session
let bench: Workbench
beforeAll(async () => {
  engine = await Engine.open({ memoryBytes: 512 * 1024 ** 2, threads: 1 })
  session = await engine.connect()
  bench = await Workbench.open()
})
afterAll(async () => {
  engine.close()
  await bench.close()
})

const SCALES = { None: 0, Thousands: 3, Millions: 6 } as const

/** Figures as they are written by year. */
type Series = Readonly<Record<string, string>>
type Statement = Readonly<Record<string, Readonly<Record<string, Series>>>>

interface Company {
  readonly id: number
  readonly country: string | null
  readonly currency: string
  readonly scale: keyof typeof SCALES
  /** What MetaData says of the last fiscal year. */
  readonly last: { readonly months?: number; readonly end?: string }
  readonly statements: Readonly<Record<string, Statement>>
  readonly headcounts: Readonly<Record<string, Series>>
}

interface Made {
  readonly companies: number
  readonly seed: number
  /** Texts that categories of their own begin with. @default none */
  readonly longNames?: string
}

/** Companies with all that figures may be like: kept ones, nulls, quotes, exponents, names that nobody knows, ids that come again. */
const companiesOf = ({ companies, seed, longNames }: Made): Company[] => {
  const next = seededRandom(seed)
  const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T
  const figure = (): string =>
    pick([
      ...['0', '-0.0', '1e3', '-2.5E-7', '"12.50"', '"3e2"', 'null', '9007199254740991', '90071992547409.77'],
      ...['123456789.123457', String(0.1 + next()), String(-Math.floor(next() * 1e7)), '2130.7'],
    ])
  const series = (most: number): Series =>
    Object.fromEntries(Array.from({ length: Math.floor(next() * most) }, (_, at) => [1985 + at, figure()]))
  const lengths = (most: number): Series =>
    Object.fromEntries(
      Array.from({ length: Math.floor(next() * most) }, (_, at) => [
        1985 + 2 * at,
        pick(['12', '12', '18', '6', '12.0', '12.5', '0', 'null', '-3']),
      ]),
    )
  const sparse = (): Statement => ({
    KeyFinancialRatio: { EquityRatio: series(5) },
    OtherFinancialItems: { FiscalYearLength: lengths(4) },
  })
  const statement = (at: number): Statement => ({
    ProfitAndLoss: { NetSales: series(30), 'Odd "item" \u00e5': series(3), EBIT: series(2) },
    BalanceSheet: { TotalAssets: series(9), ShareCapital: series(1) },
    KeyFinancialRatio: { EquityRatio: series(5) },
    OtherFinancialItems: { FiscalYearLength: lengths(8) },
    ...(longNames !== undefined && { [`${longNames}${at}`]: { NetSales: series(3), [`I${at}`]: series(3) } }),
  })
  return Array.from({ length: companies }, (_, at) => ({
    id: next() < 0.1 ? pick([1, 2, 3]) : Math.floor(next() * 2 ** 40),
    country: next() < 0.9 ? pick(['SE', 'NO', 'X"Y']) : null,
    currency: pick(['SEK', 'EUR']),
    scale: pick(['None', 'Thousands', 'Millions'] as const),
    last: {
      ...(next() < 0.8 && { months: pick([12, 18, 6, 0]) }),
      ...(next() < 0.8 && {
        end: pick(['1990-12-31T00:00:00', '1987-06-30T00:00:00+02:00', '1988-01-31', '0001-01-01T00:00:00']),
      }),
    },
    statements: {
      ...(next() < 0.9 && { Consolidated: next() < 0.8 ? statement(at) : sparse() }),
      ...(next() < 0.5 && { Unconsolidated: statement(at) }),
    },
    headcounts: {
      ...(next() < 0.7 && { Consolidated: series(20) }),
      ...(next() < 0.7 && { Unconsolidated: series(4) }),
    },
  }))
}

/** Members whose values are JSON already. */
const objectText = (members: readonly (readonly [name: string, json: string])[]): string =>
  `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join()}}`
const mapText = <T>(map: Readonly<Record<string, T>>, textOf: (value: T) => string): string =>
  objectText(Object.entries(map).map(([name, value]) => [name, textOf(value)]))
const seriesText = (series: Series): string => mapText(series, (text) => text)

const lineOf = ({ id, country, currency, scale, last, statements, headcounts }: Company): string =>
  objectText([
    ['BasicDetails', JSON.stringify({ InternalId: id, ...(country !== null && { CountryCode: country }) })],
    [
      'MetaData',
      JSON.stringify({
        ...{ CurrentCurrencyCode: currency, FinancialFigureScale: scale },
        ...{ FiscalYearLength: last.months, LastFiscalYearEnd: last.end },
      }),
    ],
    ...CONSOLIDATIONS.flatMap(({ name, field }): [string, string][] => {
      const statement = statements[name]
      return statement ? [[field, mapText(statement, (items) => mapText(items, seriesText))]] : []
    }),
    [
      'EnhancedDetails',
      objectText(
        CONSOLIDATIONS.flatMap(({ name, employees }): [string, string][] => {
          const series = headcounts[name]
          return series ? [[employees, seriesText(series)]] : []
        }),
      ),
    ],
  ])

/** The figures of a series with their years; null is none. */
const figuresOf = (series: Series): { readonly year: number; readonly text: string }[] =>
  Object.entries(series).flatMap(([year, json]) =>
    json === 'null' ? [] : [{ year: Number(year), text: json.replaceAll('"', '') }],
  )

/** What a company's record says of its statements, by consolidation. */
interface Stated {
  readonly years: ReadonlySet<number>
  /** Of an income statement or a balance sheet. */
  readonly primary: ReadonlySet<number>
  readonly months: ReadonlyMap<number, number>
  readonly headcounts: ReadonlySet<number>
}

const yearsOf = (series: readonly Series[]): ReadonlySet<number> =>
  new Set(series.flatMap(figuresOf).map(({ year }) => year))

const statedOf = ({ statements, headcounts }: Company, name: string): Stated => {
  const statement = statements[name] ?? {}
  const seriesOf = (categories: readonly string[]): readonly Series[] =>
    categories.flatMap((category) => Object.values(statement[category] ?? {}))
  const lengths = figuresOf(statement.OtherFinancialItems?.FiscalYearLength ?? {})
  return {
    years: yearsOf(seriesOf(Object.keys(statement))),
    primary: yearsOf(seriesOf(['ProfitAndLoss', 'BalanceSheet'])),
    months: new Map(
      lengths
        .map(({ year, text }) => [year, Number(text)] as const)
        .filter(([, months]) => Number.isInteger(months) && months > 0),
    ),
    headcounts: yearsOf([headcounts[name] ?? {}]),
  }
}

/** The rules of statements, as functions of a year. */
const rulesOf = (company: Company) => {
  const [group, own] = CONSOLIDATIONS.map(({ name }) => statedOf(company, name)) as [Stated, Stated]
  const { months, end } = company.last
  const hasEnd = end !== undefined && !end.startsWith('0001')
  const all = [...group.years, ...own.years]
  const lastYear = hasEnd
    ? Number(end.slice(0, 4))
    : all.reduce((most, year) => Math.max(most, year), Number.NEGATIVE_INFINITY)
  const preferred = (year: number): string => {
    if (group.primary.has(year)) return 'Consolidated'
    if (own.years.has(year)) return 'Unconsolidated'
    return 'Consolidated'
  }
  return {
    preferred,
    months: (consolidation: string, year: number): number | null => {
      const [first, other] = consolidation === 'Consolidated' ? [group, own] : [own, group]
      const ofLast = months !== undefined && months > 0 && year === lastYear ? months : null
      return first.months.get(year) ?? other.months.get(year) ?? ofLast
    },
    preferredHeadcount: (year: number): string => {
      const name = preferred(year)
      const [of, other] = name === 'Consolidated' ? [group, own] : [own, group]
      if (of.headcounts.has(year) || !other.headcounts.has(year)) return name
      return name === 'Consolidated' ? 'Unconsolidated' : 'Consolidated'
    },
  }
}

const financialsOf = (company: Company): Row[] => {
  const { id, country, currency, scale, statements } = company
  const rules = rulesOf(company)
  return Object.entries(statements).flatMap(([consolidation, statement]) =>
    Object.entries(statement).flatMap(([category, items]) =>
      Object.entries(items).flatMap(([item, series]) => {
        const unit = LINE_ITEMS.find((one) => one.category === category && one.lineItem === item)?.unit
        const power = unit === 'amount' ? SCALES[scale] : 0
        const isMoney = unit === 'amount' || unit === 'per share'
        return figuresOf(series).map(({ year, text }) => {
          const value = exactProduct(text, power)
          return {
            ...{ internal_id: String(id), country_code: country, consolidation, category, line_item: item },
            ...{ fiscal_year: year, value, currency: isMoney ? currency : null },
            reported: value / 10 ** power === Number(text) ? null : Number(text),
            months: rules.months(consolidation, year),
            is_preferred: rules.preferred(year) === consolidation,
          }
        })
      }),
    ),
  )
}

const employeesOf = (company: Company): Row[] => {
  const { id, country, headcounts } = company
  const rules = rulesOf(company)
  return Object.entries(headcounts).flatMap(([consolidation, series]) =>
    figuresOf(series).map(({ year, text }) => ({
      ...{ internal_id: String(id), country_code: country, consolidation, fiscal_year: year },
      employees: Number(text),
      is_preferred: rules.preferredHeadcount(year) === consolidation,
    })),
  )
}

const partsOf = (
  companies: readonly Company[],
): { readonly parts: CheckedPart[]; readonly bytes: Buffer } => {
  const bytes = Buffer.from(companies.map((company) => `${lineOf(company)}\n`).join(''))
  const checked = checkBlock(
    blockOf(bytes),
    new RecordChecker('companies', newSeenSets(), { maxUnknownPerRecord: 1000 }),
  )
  expect(checked.rejected.map(({ reason }) => reason)).toEqual([])
  return { parts: checked.parts, bytes }
}

const TABLES = {
  financials: [financialsTable, financialsOf],
  employees: [employeesTable, employeesOf],
} as const

const figurePart = async (part: CheckedPart, bytes: Buffer): Promise<FigurePart> => ({
  ...{ part, bytes },
  odd: await oddValuesOf(engine, part.rows, bytes),
})

/** Rows of a table of a part. */
const rowsOf = async (
  table: keyof typeof TABLES,
  part: CheckedPart,
  bytes: Buffer,
): Promise<readonly Row[]> => {
  const { from, remove } = await engine.addTable(TABLES[table][0](await figurePart(part, bytes)))
  const rows = await session.rows(`FROM ${from}`)
  remove()
  return rows.map((row) => ({ ...row, internal_id: String(row.internal_id) }))
}

/** In an order of their own: DuckDB promises none. */
const sorted = (rows: readonly Row[]): Row[] =>
  rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))

test.each([1, 2, 3])('tables give the rows that the records spell (seed %i)', async (seed) => {
  const companies = companiesOf({ companies: 400, seed })
  const strings = new Set(
    companies.flatMap(({ statements }) => JSON.stringify(statements).match(/(?<=:").*?(?="[,}])/g) ?? []),
  )
  for (const text of ['0', '-0.0', '1e3', '-2.5E-7', '\\"12.50\\"', 'null', '9007199254740991'])
    expect(strings, `figures written as ${text}`).toContain(text)
  const { parts, bytes } = partsOf(companies)
  expect(parts.length).toBeGreaterThan(1)
  for (const [table, [, expectedOf]] of Object.entries(TABLES)) {
    const expected = companies.flatMap<Row>(expectedOf)
    for (const { name } of CONSOLIDATIONS)
      someRows(
        expected.filter(({ consolidation }) => consolidation === name),
        `${table}, ${name}`,
      )
    const found: Row[] = []
    for (const part of parts) found.push(...(await rowsOf(table as keyof typeof TABLES, part, bytes)))
    expect(sorted(found)).toEqual(sorted(expected))
    if (table === 'financials')
      someRows(
        found.filter(({ reported }) => reported !== null),
        'kept figures',
      )
  }
})

test('tables leave out the records that are no members of the part', async () => {
  const companies = companiesOf({ companies: 200, seed: 6 }).map((company, at) => ({ ...company, id: at }))
  const { parts, bytes } = partsOf(companies)
  const [part] = parts
  if (part === undefined) throw new Error('No part')
  const choices: ((at: number) => boolean)[] = [
    (at) => at % 3 === 0,
    (at) => at > 150,
    (at) => at < 2,
    () => false,
  ]
  for (const isKept of choices) {
    const kept = { ...part, members: part.members.filter((_, at) => isKept(at)) }
    for (const [table, [, expectedOf]] of Object.entries(TABLES))
      expect(sorted(await rowsOf(table as keyof typeof TABLES, kept, bytes))).toEqual(
        sorted(companies.filter((_, at) => isKept(at)).flatMap<Row>(expectedOf)),
      )
  }
})

test('tables give names that no set had room for', async () => {
  const companies = companiesOf({ companies: 500, seed: 7, longNames: 'N\\"'.repeat(900) })
  const { parts, bytes } = partsOf(companies)
  expect(parts[0]?.rows.names.categories.full).toBe(true)
  const found: Row[] = []
  for (const part of parts) found.push(...(await rowsOf('financials', part, bytes)))
  expect(sorted(found)).toEqual(sorted(someRows(companies.flatMap(financialsOf), 'long names') as Row[]))
})

test('tables give series of any length, in as many chunks as these need', async () => {
  const years = (most: number, base: number): Series =>
    Object.fromEntries(Array.from({ length: most }, (_, at) => [1000 + at, String(base + at)]))
  const company: Omit<Company, 'id'> = {
    ...{
      country: 'SE',
      currency: 'SEK',
      scale: 'None',
      last: {},
      headcounts: { Consolidated: years(3000, 1) },
    },
    statements: {
      Consolidated: { BalanceSheet: { TotalAssets: years(9000, 5), CashAndBankBalances: years(1, 7) } },
    },
  }
  const short = {
    ...company,
    headcounts: {},
    statements: { Consolidated: { ProfitAndLoss: { NetSales: years(1, 3) } } },
  }
  const companies = Array.from({ length: 5000 }, (_, id) => ({ id, ...(id % 500 === 0 ? company : short) }))
  const { parts, bytes } = partsOf(companies)
  const [part] = parts
  if (part === undefined) throw new Error('No part')
  for (const [table, [tableOf, expectedOf]] of Object.entries(TABLES)) {
    const { from, remove } = await engine.addTable(tableOf(await figurePart(part, bytes)))
    const value = table === 'financials' ? 'value' : table
    const [sums] = await session.rows(
      `SELECT count(*)::DOUBLE AS n, sum(${value}) AS s, sum(${value} * internal_id) AS i, sum(${value} * fiscal_year) AS y FROM ${from}`,
    )
    remove()
    const expected = companies.flatMap<Row>(expectedOf)
    const sum = (of: (row: Row) => number): number => expected.reduce((all, row) => all + of(row), 0)
    expect(sums).toEqual({
      n: expected.length,
      s: sum((row) => Number(row[value])),
      i: sum((row) => Number(row[value]) * Number(row.internal_id)),
      y: sum((row) => Number(row[value]) * Number(row.fiscal_year)),
    })
  }
})

test('files of figures have their types, field ids, and filters of ids', async () => {
  const companies = companiesOf({ companies: 3000, seed: 8 }).map((company, at) => ({
    ...company,
    id: 7 * at,
  }))
  const lake = await bench.load({ content: 'companies', lines: companies.map(lineOf) })
  const pathOf = (table: string): string =>
    literal(`${lake.lake}/${lake.snapshot.partitions[0]?.files.find((file) => file.table === table)?.path}`)
  const schemaOf = (table: string): Promise<Row[]> =>
    session.rows(
      `SELECT name, type, converted_type AS logical, field_id::INTEGER AS id FROM parquet_schema(${pathOf(table)}) OFFSET 1`,
    )
  const [long, text] = [
    { type: 'INT64', logical: 'INT_64' },
    { type: 'BYTE_ARRAY', logical: 'UTF8' },
  ]
  const yes = { type: 'BOOLEAN', logical: null }
  const [year, double] = [
    { type: 'INT32', logical: 'INT_16' },
    { type: 'DOUBLE', logical: null },
  ]
  expect(await schemaOf('financials')).toEqual([
    { name: 'internal_id', ...long, id: 3 },
    { name: 'country_code', ...text, id: 4 },
    { name: 'consolidation', ...text, id: 5 },
    { name: 'category', ...text, id: 6 },
    { name: 'line_item', ...text, id: 7 },
    { name: 'fiscal_year', ...year, id: 8 },
    { name: 'value', ...double, id: 9 },
    { name: 'currency', ...text, id: 10 },
    { name: 'reported', ...double, id: 11 },
    { name: 'months', ...year, id: 16 },
    { name: 'is_preferred', ...yes, id: 17 },
  ])
  expect(await schemaOf('employees')).toEqual([
    { name: 'internal_id', ...long, id: 3 },
    { name: 'country_code', ...text, id: 4 },
    { name: 'consolidation', ...text, id: 5 },
    { name: 'fiscal_year', ...year, id: 6 },
    { name: 'employees', ...double, id: 7 },
    { name: 'is_preferred', ...yes, id: 12 },
  ])
  for (const table of ['financials', 'employees']) {
    const excludes = async (id: number): Promise<boolean> => {
      const [row] = await session.rows(
        `SELECT bool_and(bloom_filter_excludes) AS excludes FROM parquet_bloom_probe(${pathOf(table)}, 'internal_id', ${id}::BIGINT)`,
      )
      return row?.excludes === true
    }
    const [some] = await session.rows(
      `SELECT max(internal_id)::DOUBLE AS id FROM read_parquet(${pathOf(table)})`,
    )
    expect(await excludes(Number(some?.id))).toBe(false)
    let found = 0
    for (let other = 1; other <= 200; other++) if (!(await excludes(7 * other + 3))) found++
    expect(found).toBeLessThan(12)
  }
})
