/** Readers of a catalog: filters that leave files out, processes that stay attached while it is replaced, the oldest DuckDB that reads it. */

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import fc from 'fast-check'
import { expect, type TestContext, test } from 'vitest'
import { ALL_CONTENT, writeSample } from '../../../data/sample.ts'
import { convert } from '../../../src/jobs/convert.ts'
import type { Row } from '../../../src/lake/duckdb/engine.ts'
import { literal } from '../../../src/lake/duckdb/sql.ts'
import { TABLES } from '../../../src/lake/tables/tables.ts'
import { fromRecords } from '../../../src/source/from-records.ts'
import { duckLakeFile, missingDuckLake, PYTHON_OF_OLDEST } from '../../support/ducklake.ts'
import { needs } from '../../support/needs.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { inCatalog } from './in-catalog.ts'

const needsDuckLake = (context: TestContext): void =>
  needs(context, "DuckDB's extension ducklake", missingDuckLake())

/** Several loads of awkward records, of which later ones supersede some of those before. */
const awkwardLake = async (): Promise<string> => {
  const folder = await temporaryFolder()
  const lake = join(folder, 'lake')
  for (const [seed, companies] of [
    [1, 60],
    [2, 25],
    [3, 40],
  ] as const) {
    const batches = join(folder, `batches-${seed}`)
    await writeSample(
      batches,
      { companies, seed, files: 2, small: true, awkward: 0.3, content: ALL_CONTENT },
      1,
    )
    await convert({ from: [batches], lake, maxQuarantined: '90%', changeCurrency: true })
  }
  return lake
}

/** Columns that a filter may compare, by type. */
const columnsOf = (type: string): readonly (readonly [table: string, column: string])[] =>
  TABLES.flatMap(({ name, columns }) =>
    columns.filter((one) => one.type === type).map((one): readonly [string, string] => [name, one.name]),
  )

/** A value near one of the column's own: itself, or beside it. */
const valueNear = (type: string, row: Row, at: number): string => {
  const text = String(row.value)
  const step = (at % 3) - 1
  switch (type) {
    case 'VARCHAR':
      return literal(step < 0 ? text.slice(0, -1) : step > 0 ? `${text}!` : text)
    case 'BOOLEAN':
      return text
    case 'TIMESTAMPTZ':
      return `${literal(text)}::TIMESTAMPTZ + INTERVAL (${step}) DAY`
    default:
      return `${literal(text)}::DOUBLE + ${step}`
  }
}

const FILTERS = 200

type Ask = (sql: string) => Promise<Row[]>

/** Asks each filter twice: where it leaves files out, and where it is looked at in all rows. @returns rows that were found */
const compareFilters = async (ask: Ask, type: string): Promise<number> => {
  const columns = columnsOf(type)
  expect(columns.length).toBeGreaterThan(0)
  const values = new Map<string, readonly Row[]>()
  // The extension cuts its own statement at a NUL in a compared text: DuckDB says "unterminated quoted string".
  for (const [table, column] of columns)
    values.set(
      `${table} ${column}`,
      await ask(
        `SELECT DISTINCT "${column}"::VARCHAR AS value FROM history.${table} WHERE "${column}" IS NOT NULL AND NOT contains("${column}"::VARCHAR, chr(0)) ORDER BY ALL LIMIT 200`,
      ),
    )
  const filled = columns.filter(([table, column]) => (values.get(`${table} ${column}`)?.length ?? 0) > 0)
  expect(filled.length).toBeGreaterThan(0)
  const conditions = fc.sample(
    fc.record({
      column: fc.constantFrom(...filled),
      at: fc.nat(1_000_000),
      operator: fc.constantFrom('=', '<', '>', '<=', '>=', '<>', 'IS NULL', 'IN'),
      schema: fc.constantFrom('main', 'history'),
    }),
    FILTERS,
  )
  // All of one type in one answer: each statement reads the catalog again.
  const parts = conditions.map(({ column: [table, column], at, operator, schema }, number) => {
    const rows = values.get(`${table} ${column}`) ?? []
    const near = (offset: number): string =>
      valueNear(type, rows[(at + offset) % rows.length] ?? { value: '' }, at + offset)
    const condition =
      operator === 'IS NULL'
        ? `"${column}" IS NULL`
        : operator === 'IN'
          ? `"${column}" IN (${near(0)}, ${near(7)})`
          : `"${column}" ${operator} ${near(0)}`
    return `SELECT ${number} AS n, (SELECT count(*) FROM ${schema}.${table} WHERE ${condition}) AS pruned,
  (SELECT count(*) FILTER (${condition}) FROM ${schema}.${table}) AS unpruned, ${literal(`${schema}.${table}: ${condition}`)} AS condition`
  })
  let found = 0
  for (let at = 0; at < parts.length; at += 20)
    for (const { pruned, unpruned, condition } of await ask(parts.slice(at, at + 20).join('\nUNION ALL '))) {
      expect([condition, Number(pruned)]).toEqual([condition, Number(unpruned)])
      found += Number(pruned)
    }
  return found
}

const TYPES = ['BIGINT', 'INTEGER', 'SMALLINT', 'DOUBLE', 'BOOLEAN', 'VARCHAR', 'TIMESTAMPTZ']

test('filters on columns of each type find as many rows where files are left out as where none is', async (context) => {
  needsDuckLake(context)
  const lake = await awkwardLake()
  for (const type of TYPES)
    expect([type, await inCatalog(lake, (ask) => compareFilters(ask, type))]).not.toEqual([type, 0])
})

const COUNTING = `
import duckdb, sys
lake, extension = sys.argv[1:3]
c = duckdb.connect(config={'threads': 1, 'allow_unsigned_extensions': 'true'})
c.execute(f"LOAD '{extension}'")
c.execute(f"ATTACH 'ducklake:{lake}/lake.ducklake' AS lake (READ_ONLY)")
c.execute('USE lake')
for line in sys.stdin:
    if line.strip() == 'again':
        c.execute('USE memory')
        c.execute('DETACH lake')
        c.execute(f"ATTACH 'ducklake:{lake}/lake.ducklake' AS lake (READ_ONLY)")
        c.execute('USE lake')
    print(c.execute('SELECT (SELECT count(*) FROM companies), (SELECT count(*) FROM companies_history), (SELECT max(snapshot) FROM snapshots)').fetchone(), flush=True)
`

/** A process of DuckDB 1.5.2 that is attached, and answers with counts of what it sees. */
const attachedReader = (lake: string) => {
  const child = spawn(PYTHON_OF_OLDEST.python, ['-c', COUNTING, lake, duckLakeFile('1.5.2')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, ...PYTHON_OF_OLDEST.env },
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    ask: async (what: 'count' | 'again'): Promise<string> => {
      child.stdin.write(`${what}\n`)
      const { value } = await lines.next()
      return String(value)
    },
    end: () => child.kill(),
  }
}

const company = (InternalId: number, sales: number): object => ({
  BasicDetails: { InternalId, CountryCode: 'SE', CompanyName: `Company ${InternalId}` },
  Financials: { ProfitAndLoss: { NetSales: { 2022: sales } } },
  MetaData: { CurrentCurrencyCode: 'USD', FinancialFigureScale: 'None' },
})

const COMMITS = 20

test('two processes of DuckDB 1.5.2 stay attached while commits replace the catalog, and see all of it again when they attach again', async (context) => {
  needsDuckLake(context)
  needs(context, 'DuckDB 1.5.2 with ducklake', missingDuckLake('1.5.2'))
  const lake = join(await temporaryFolder(), 'lake')
  const load = (at: number) =>
    convert({
      from: fromRecords('crm', [company(1, at), company(at + 1, at)]),
      ...{ lake, again: true, changeCurrency: true },
    })
  await load(1)
  const readers = [attachedReader(lake), attachedReader(lake)]
  try {
    for (const { ask } of readers) expect(await ask('count')).toBe('(2, 2, 1)')
    for (let at = 2; at <= COMMITS; at += 1) {
      await load(at)
      // The snapshot that it was attached to.
      for (const { ask } of readers) expect(await ask('count')).toBe('(2, 2, 1)')
    }
    for (const { ask } of readers)
      expect(await ask('again')).toBe(`(${COMMITS + 1}, ${2 * COMMITS}, ${COMMITS})`)
  } finally {
    for (const { end } of readers) end()
  }
})
