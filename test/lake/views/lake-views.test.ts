import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Snapshot } from '../../../src/core/partition.ts'
import { Engine, type Session } from '../../../src/lake/duckdb/engine.ts'
import { copiesOfLake } from '../../../src/lake/files/file-access.ts'
import { LakeQuery } from '../../../src/lake/query/lake-query.ts'
import { LISTINGS, QUARANTINE, TABLES } from '../../../src/lake/tables/tables.ts'
import { filesOf } from '../../../src/lake/views/current-versions.ts'
import { LakeViews } from '../../../src/lake/views/lake-views.ts'
import { type LoadedLake, Workbench } from '../../load/loaded-lake.ts'

const MEMORY_BYTES = 256 * 1024 * 1024
const NAMES = [...TABLES.flatMap(({ name }) => [name, `${name}_history`]), QUARANTINE.name]

let bench: Workbench
let lake: LoadedLake
beforeAll(async () => {
  bench = await Workbench.open()
  const company = (CompanyName: string): object => ({
    BasicDetails: { InternalId: 1, CompanyName },
    Financials: { ProfitAndLoss: { NetSales: { 2023: 5 } } },
  })
  lake = await bench.load(
    { content: 'companies', lines: [company('old'), '{"bad'] },
    { content: 'companies', lines: [company('new')] },
    { content: 'relations', lines: [{ InternalId: 1 }] },
  )
})
afterAll(() => bench.close())

const withViews = async (use: (views: LakeViews, session: Session) => Promise<void>): Promise<void> => {
  const engine = await Engine.open({ memoryBytes: MEMORY_BYTES })
  try {
    const session = await engine.connect()
    await use(await LakeViews.open(session, copiesOfLake(lake.lake, {}), lake.snapshot), session)
  } finally {
    engine.close()
  }
}

/** Runs with the first file of a table out of the way. */
const without = async (table: string, use: () => Promise<void>): Promise<void> => {
  const path = filesOf(lake.snapshot, lake.lake, table)[0]?.path ?? join(lake.lake, table)
  await rename(path, `${path}.away`)
  try {
    await use()
  } finally {
    await rename(`${path}.away`, path)
  }
}

const count = async (snapshot: Snapshot, sql: string): Promise<unknown> => {
  const query = await LakeQuery.open({ lake: lake.lake, snapshot, memoryBytes: MEMORY_BYTES })
  try {
    for await (const [row] of (await query.run(sql)).rows) return row?.[0]
  } finally {
    query.close()
  }
}

test('a view has its columns from the first, and cannot be taken for an empty one', async () => {
  await withViews(async (views, session) => {
    await views.define(null)
    const described = async (): Promise<unknown[]> =>
      Promise.all(NAMES.map((name) => session.rows(`DESCRIBE ${name}`)))
    const before = await described()
    for (const name of NAMES)
      for (const sql of [
        `FROM ${name}`,
        `SELECT count(*) FROM ${name}`,
        `SELECT 1 WHERE NOT EXISTS (FROM ${name})`,
      ])
        await expect(session.rows(sql)).rejects.toThrow(
          // Current rows of a table are told by the versions of its companies or relations, which may be read first.
          new RegExp(`Cannot read "(${name.replace('_history', '')}|companies|relations)" in this way`),
        )
    await views.makeReadable(null)
    for (const name of NAMES) await session.rows(`SELECT count(*) FROM ${name}`)
    expect(await described()).toEqual(before)
  })
})

test('a view streams its rows: no plan keeps all of a table to tell which are current', async () => {
  await withViews(async (views, session) => {
    await views.makeReadable(null)
    const names = TABLES.filter(({ owner }) => owner !== undefined).flatMap(({ name }) => [
      name,
      `${name}_history`,
    ])
    for (const view of [...names, 'companies_all']) {
      const plan = JSON.stringify(await session.rows(`EXPLAIN FROM ${view}`))
      expect([view, plan.includes('READ_PARQUET'), plan.includes('DELIM')]).toEqual([view, true, false])
    }
  })
})

test('makeReadable makes the named views readable and no others, also twice at once', async () => {
  await withViews(async (views, session) => {
    await Promise.all([
      views.makeReadable(new Set(['financials', 'nonsense'])),
      views.makeReadable(new Set(['companies', 'financials'])),
    ])
    await views.makeReadable(new Set(['financials']))
    expect(await session.rows('SELECT company_name FROM companies')).toEqual([{ company_name: 'new' }])
    expect(await session.rows('SELECT count(*)::INTEGER AS n FROM financials')).toEqual([{ n: 1 }])
    for (const name of ['relations', 'employees', 'employees_history'])
      await expect(session.rows(`FROM ${name}`)).rejects.toThrow('does not exist')
    await views.define(new Set(['employees']))
    for (const name of ['employees', 'employees_history'])
      await expect(session.rows(`FROM ${name}`)).rejects.toThrow('Cannot read')
  })
})

test('views are made when they are named, with what they read, and are not made again', async () => {
  await withViews(async (views, session) => {
    const made = async (): Promise<unknown[]> => {
      const rows = await session.rows('SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY ALL')
      return rows.map((row) => row.view_name)
    }
    expect(await made()).toEqual([])
    await views.makeReadable(new Set(['nonsense']))
    expect(await made()).toEqual([])
    await views.makeReadable(new Set(['companies_all']))
    const all = ['companies', 'companies_all', 'companies_history', LISTINGS.name].sort()
    expect(await made()).toEqual(all)
    expect(await session.rows('SELECT company_name, gone_since FROM companies_all')).toEqual([
      { company_name: 'new', gone_since: null },
    ])
    await views.narrow([
      { name: 'financials', select: (rowsOf) => `FROM ${rowsOf('financials')} WHERE value IS NULL` },
    ])
    await views.makeReadable(null)
    await views.describe()
    expect(await session.rows('FROM financials')).toEqual([])
    expect(await session.rows('SELECT value FROM financials_history')).not.toEqual([])
    expect(await made()).toEqual(expect.arrayContaining([...all, ...NAMES]))
  })
})

test('a query reads the files of the tables that it names, and of their versions', async () => {
  await without('financials', async () => {
    expect(await count(lake.snapshot, 'SELECT count(*) FROM companies')).toBe(1)
    expect(
      await count(
        lake.snapshot,
        "SELECT count(*) AS financials FROM companies_history WHERE 'financials' <> ''",
      ),
    ).toBe(2)
    for (const sql of ['FROM financials', 'FROM financials_history', "FROM query_table('financials')"])
      await expect(count(lake.snapshot, sql)).rejects.toMatchObject({ code: 'LAKE_DAMAGED' })
  })
  // Which versions are current stands in lists of their own.
  await without('companies', async () => {
    expect(await count(lake.snapshot, 'SELECT count(*) FROM financials')).toBe(1)
  })
  await without('_manifest/parts', async () => {
    for (const sql of ['FROM financials', 'FROM financials_history'])
      await expect(count(lake.snapshot, sql)).rejects.toMatchObject({ code: 'LAKE_DAMAGED' })
    expect(await count(lake.snapshot, 'SELECT count(*) FROM relations')).toBe(1)
  })
})
