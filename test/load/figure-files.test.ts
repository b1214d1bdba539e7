/** Files of figures hold what DuckDB would write of the same columns, whatever the records are like. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Engine, type Session } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { type CheckedPart, checkBlock } from '../../src/load/check-block.ts'
import { RecordChecker } from '../../src/load/check-record.ts'
import {
  employeesSource,
  FigureFiles,
  type FigureSource,
  financialsSource,
} from '../../src/load/figure-files.ts'
import { newSeenSets } from '../../src/load/seen-sets.ts'
import { seededRandom } from '../manifest/damage.ts'
import { someRows } from '../support/same-rows.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { blockOf, linesText } from './loaded-lake.ts'

let engine: Engine
let session: Session
const files = new FigureFiles()
beforeAll(async () => {
  engine = await Engine.open({ memoryBytes: 512 * 1024 ** 2, threads: 1 })
  session = await engine.connect()
})
afterAll(() => {
  files.close()
  engine.close()
})

interface Made {
  readonly companies: number
  readonly seed: number
  /** Texts that categories of their own begin with. @default none */
  readonly longNames?: string
}

/** Records with all that figures may be like: kept ones, zeros, names that nobody knows, no country, ids that come again. */
const recordsOf = ({ companies, seed, longNames }: Made): object[] => {
  const next = seededRandom(seed)
  const pick = <T>(items: readonly T[]): T => items[Math.floor(next() * items.length)] as T
  const figure = (): number =>
    pick([0, -0, 0.1 + next(), Math.floor(next() * 1e7), -next() * 1e-7, 123456789.123457, 9007199254740991])
  const series = (most: number): object =>
    Object.fromEntries(Array.from({ length: Math.floor(next() * most) }, (_, at) => [1985 + at, figure()]))
  const statement = (at: number): object => ({
    ProfitAndLoss: { NetSales: series(30), 'Odd "item" \u00e5': series(3), EBIT: series(2) },
    BalanceSheet: { TotalAssets: series(9), ShareCapital: series(1) },
    KeyFinancialRatio: { EquityRatio: series(5) },
    ...(longNames !== undefined && { [`${longNames}${at}`]: { NetSales: series(3), [`I${at}`]: series(3) } }),
  })
  return Array.from({ length: companies }, (_, at) => {
    const id = next() < 0.1 ? pick([1, 2, 3]) : Math.floor(next() * 2 ** 40)
    return {
      BasicDetails: { InternalId: id, ...(next() < 0.9 && { CountryCode: pick(['SE', 'NO', 'X"Y']) }) },
      MetaData: {
        CurrentCurrencyCode: pick(['SEK', 'EUR']),
        FinancialFigureScale: pick(['None', 'Thousands', 'Millions']),
      },
      ...(next() < 0.9 && { Financials: statement(at) }),
      ...(next() < 0.5 && { UnconsolidatedFinancials: statement(at) }),
      ...(next() < 0.7 && { EnhancedDetails: { Employees: series(20), EmployeesUnconsolidated: series(4) } }),
    }
  })
}

const partsOf = (records: readonly object[]): { readonly parts: CheckedPart[]; readonly bytes: Buffer } => {
  const bytes = Buffer.from(linesText(records))
  const checked = checkBlock(
    blockOf(bytes),
    new RecordChecker('companies', newSeenSets(), { maxUnknownPerRecord: 1000 }),
  )
  expect(checked.rejected.map(({ reason }) => reason)).toEqual([])
  return { parts: checked.parts, bytes }
}

/** What the footer says of nulls, and of how many values a group of one has. */
const checkFacts = async (path: string): Promise<void> => {
  const file = literal(path)
  const facts = await session.rows(
    `SELECT path_in_schema AS name, sum(stats_null_count)::INTEGER AS nulls, count(*)::INTEGER AS groups,
       sum(stats_distinct_count)::INTEGER AS "values" FROM parquet_metadata(${file}) GROUP BY ALL`,
  )
  for (const { name, nulls, groups, values } of facts) {
    const [found] = await session.rows(
      `SELECT count(*) FILTER (${name} IS NULL)::INTEGER AS nulls, count(DISTINCT ${name})::INTEGER AS "values" FROM read_parquet(${file})`,
    )
    expect([name, found?.nulls]).toEqual([name, nulls])
    if (groups === 1 && values !== null) expect([name, found?.values]).toEqual([name, values])
  }
}

/** Rows that only one of the two files has; and how many there are. */
const difference = async (source: FigureSource, groupRows?: number): Promise<object> => {
  const folder = await temporaryFolder()
  const [own, engines] = [join(folder, 'own.parquet'), join(folder, 'engines.parquet')]
  const { from, remove } = await engine.addTable(source.table)
  const rows = await files.write(source, own, { fieldIdOf: () => undefined, groupRows })
  const written = await session.relation(`FROM ${from}`).copyTo(engines, { kind: 'parquet' })
  remove()
  const [a, b] = [own, engines].map((path) => `(FROM read_parquet(${literal(path)}))`)
  // DuckDB calls 0 and -0 equal, so their texts are compared.
  const texts = (file: string | undefined): string => `(SELECT COLUMNS(*)::VARCHAR FROM ${file})`
  const [only] = await session.rows(
    `SELECT (SELECT count(*) FROM (${texts(a)} EXCEPT ALL ${texts(b)}))::INTEGER AS own,
            (SELECT count(*) FROM (${texts(b)} EXCEPT ALL ${texts(a)}))::INTEGER AS engines`,
  )
  const types = async (path: string) => session.describe(`FROM read_parquet(${literal(path)})`)
  expect(await types(own)).toEqual(await types(engines))
  expect(rows).toBe(written.rows)
  await checkFacts(own)
  return { rows, ...only }
}

/** Rows of one consolidation in the tables of parts. */
const consolidationsOf = async (
  parts: readonly CheckedPart[],
  bytes: Buffer,
  tableOf: typeof financialsSource,
  consolidation: string,
): Promise<readonly object[]> => {
  const found: object[] = []
  for (const part of parts) {
    const { from, remove } = await engine.addTable(tableOf(part, bytes).table)
    found.push(...(await session.rows(`FROM ${from} WHERE consolidation = ${literal(consolidation)}`)))
    remove()
  }
  return found
}

test.each([1, 2, 3])(
  'write gives the rows that DuckDB would write of the same columns (seed %i)',
  async (seed) => {
    const { parts, bytes } = partsOf(recordsOf({ companies: 40, seed }))
    expect(parts.length).toBeGreaterThan(1)
    for (const tableOf of [financialsSource, employeesSource])
      for (const consolidation of ['Consolidated', 'Unconsolidated'])
        someRows(await consolidationsOf(parts, bytes, tableOf, consolidation), consolidation)
    for (const part of parts)
      for (const source of [financialsSource(part, bytes), employeesSource(part, bytes)])
        for (const groupRows of [undefined, 7, 64, 1000])
          expect(await difference(source, groupRows)).toEqual({ rows: source.table.rows, own: 0, engines: 0 })
  },
)

test('write makes the same bytes of the same rows, whatever was written before', async () => {
  const folder = await temporaryFolder()
  const write = async ({ parts, bytes }: ReturnType<typeof partsOf>, name: string): Promise<Buffer> => {
    const [part] = parts
    if (part === undefined) throw new Error('No part')
    const path = join(folder, name)
    await files.write(financialsSource(part, bytes), path, { fieldIdOf: () => 7, groupRows: 1001 })
    return readFile(path)
  }
  const small = partsOf(recordsOf({ companies: 30, seed: 10 }))
  const first = await write(small, 'a')
  await write(partsOf(recordsOf({ companies: 300, seed: 11 })), 'b')
  expect((await write(small, 'c')).equals(first)).toBe(true)
})

test('write leaves out the records that are no members of the part', async () => {
  const { parts, bytes } = partsOf(recordsOf({ companies: 200, seed: 6 }))
  const [part] = parts
  if (part === undefined) throw new Error('No part')
  for (const keep of [
    (at: number) => at % 3 === 0,
    (at: number) => at > 150,
    (at: number) => at < 2,
    () => false,
  ]) {
    const kept = { ...part, members: part.members.filter((_, at) => keep(at)) }
    for (const source of [financialsSource(kept, bytes), employeesSource(kept, bytes)])
      expect(await difference(source, 50)).toEqual({ rows: source.table.rows, own: 0, engines: 0 })
  }
})

test('write takes names that no set had room for', async () => {
  const { parts, bytes } = partsOf(recordsOf({ companies: 500, seed: 7, longNames: 'N\\"'.repeat(900) }))
  expect(parts[0]?.rows.names.categories.full).toBe(true)
  for (const part of parts)
    expect(await difference(financialsSource(part, bytes), 5000)).toMatchObject({ own: 0, engines: 0 })
})

test('write fills groups as large as those of DuckDB', async () => {
  const { parts, bytes } = partsOf(recordsOf({ companies: 8000, seed: 8 }))
  const [part] = parts
  if (part === undefined) throw new Error('No part')
  const path = join(await temporaryFolder(), 'a.parquet')
  const source = financialsSource(part, bytes)
  await files.write(source, path, { fieldIdOf: () => undefined, groupRows: 2_000_000 })
  const groups = await session.rows(
    `SELECT DISTINCT row_group_id, row_group_num_rows::INTEGER AS rows FROM parquet_metadata(${literal(path)}) ORDER BY 1`,
  )
  expect(groups.map(({ rows }) => rows)).toEqual([122_880, source.table.rows - 122_880])
})

test('write says of a file that it cannot write why, and the next one is written', async () => {
  const { parts, bytes } = partsOf(recordsOf({ companies: 20, seed: 9 }))
  const [part] = parts
  if (part === undefined) throw new Error('No part')
  const source = financialsSource(part, bytes)
  const path = join(await temporaryFolder(), 'missing', 'a.parquet')
  await expect(files.write(source, path, { fieldIdOf: () => undefined })).rejects.toMatchObject({
    code: 'WRITE_FAILED',
    message: expect.stringContaining(`Cannot write "${path}"`),
  })
  expect(await difference(source)).toMatchObject({ own: 0, engines: 0 })
})
