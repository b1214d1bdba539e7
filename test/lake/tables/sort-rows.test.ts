import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Engine, type Session } from '../../../src/lake/duckdb/engine.ts'
import { keepOrder, sortRows } from '../../../src/lake/tables/sort-rows.ts'
import { LISTINGS, type Table } from '../../../src/lake/tables/tables.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const MEBIBYTE = 1024 ** 2

/** Companies by their ids and countries alone. */
const TABLE: Table = {
  ...LISTINGS,
  name: 'some',
  key: ['internal_id'],
  columns: [
    { name: 'internal_id', type: 'BIGINT', about: 'id' },
    { name: 'text', type: 'VARCHAR', about: 'text' },
  ],
}

const withSession = async (
  mebibytes: number,
  use: (session: Session, path: string) => Promise<void>,
): Promise<void> => {
  const folder = await temporaryFolder()
  const engine = await Engine.open({ memoryBytes: mebibytes * MEBIBYTE, spillFolder: join(folder, 'spill') })
  try {
    const session = await engine.connect()
    await keepOrder(session)
    await use(session, join(folder, 'sorted.duckdb'))
  } finally {
    engine.close()
  }
}

const rowsOf = (ids: string): string => `SELECT id AS internal_id, 'company ' || id AS text FROM ${ids}`

test('sortRows puts rows that stand in their order before those that it sorts', async () => {
  await withSession(256, async (session, path) => {
    const sorted = await sortRows({
      ...{ session, table: TABLE, path, enums: new Set() },
      rows: rowsOf('(SELECT 400_000 - range AS id FROM range(200_000))'),
      before: rowsOf('(SELECT range + 1 AS id FROM range(200_000))'),
    })
    expect(sorted.rows).toBe(400_000)
    const file = `${path}.parquet`
    await sorted.slice(0, sorted.rows).copyTo(file, { kind: 'parquet' })
    const [found] = await session.rows(
      `SELECT count(*)::INTEGER AS rows, count(*) FILTER (internal_id <> file_row_number + 1)::INTEGER AS misplaced,
min(text) AS min FROM read_parquet('${file}', file_row_number = true)`,
    )
    expect(found).toEqual({ rows: 400_000, misplaced: 0, min: 'company 1' })
    expect(await sorted.find('internal_id > 250000', 0)).toBe(250_000)
    await sorted.close()
  })
})

test('sortRows keeps few rows of a table with many columns together, which a thread that writes holds', async () => {
  const more = Array.from({ length: 20 }, (_, at) => ({ name: `c${at}`, type: 'INTEGER', about: 'number' }))
  const wide = { ...TABLE, columns: [...TABLE.columns, ...more] }
  await withSession(256, async (session, path) => {
    for (const [table, groups] of [
      [wide, 3],
      [TABLE, 1],
    ] as const) {
      const rows = `SELECT *${more.map(({ name }) => `, 1 AS ${name}`).join('')} FROM (${rowsOf('(SELECT range AS id FROM range(20_000))')})`
      const sorted = await sortRows({ session, table, path: `${path}${groups}`, rows, enums: new Set() })
      const [found] = await session.rows(
        "SELECT count(DISTINCT row_group_id)::INTEGER AS groups FROM pragma_storage_info('compact_sorted.sorted')",
      )
      expect(found).toEqual({ groups })
      await sorted.close()
    }
  })
})

test('sortRows says which table DuckDB has too little memory for', async () => {
  await withSession(6, async (session, path) => {
    const rows = rowsOf('(SELECT (hash(range) % 1_000_000)::BIGINT AS id FROM range(1_000_000))')
    await expect(sortRows({ session, table: TABLE, path, rows, enums: new Set() })).rejects.toMatchObject({
      code: 'MEMORY_FULL',
      message: /^Cannot sort table "some": DuckDB ran out of memory \(\d.* MiB\/6\.0 MiB used\)$/,
    })
    // The session works on: it has only this table's rows too many.
    expect(await session.rows('SELECT 1 AS one')).toEqual([{ one: 1 }])
  })
})

test('sortRows puts ranges of ids that were sorted one by one in the order of country and id', async () => {
  const table: Table = {
    ...TABLE,
    key: ['internal_id', 'no'],
    columns: [
      { name: 'internal_id', type: 'BIGINT', about: 'id' },
      { name: 'country_code', type: 'VARCHAR', about: 'country' },
      { name: 'no', type: 'BIGINT', about: 'number' },
    ],
  }
  await withSession(256, async (session, path) => {
    // Each id has two rows; every third id has no country.
    const rows = `SELECT id AS internal_id, ['NO', 'SE', NULL][id % 3 + 1] AS country_code, no
FROM (SELECT unnest([30_000 - range, 30_000 - range]) AS id, unnest([2, 1]) AS no FROM range(30_000))`
    const ranges = ['internal_id <= 9000', 'internal_id > 9000 AND internal_id <= 9001', 'internal_id > 9001']
    const sorted = await sortRows({ session, table, path, rows, enums: new Set(), ranges })
    expect(sorted.rows).toBe(60_000)
    // The borders of the files lie within ranges and within records.
    const files = [0, 1, 13_777, 40_001, 60_000].flatMap((from, at, all) => {
      const until = all[at + 1]
      return until === undefined ? [] : [{ from, until, path: `${path}-${at}.parquet` }]
    })
    for (const { from, until, path: file } of files)
      expect(await sorted.slice(from, until).copyTo(file, { kind: 'parquet' })).toMatchObject({
        rows: until - from,
      })
    const listed = files.map(({ path: file }) => `'${file}'`).join(', ')
    const [found] =
      await session.rows(`SELECT count(*)::INTEGER AS rows, count(*) FILTER (place <> wanted)::INTEGER AS misplaced
FROM (SELECT place, row_number() OVER (ORDER BY country_code, internal_id, no) AS wanted
  FROM (SELECT *, row_number() OVER () AS place FROM read_parquet([${listed}])))`)
    expect(found).toEqual({ rows: 60_000, misplaced: 0 })
    expect(await sorted.find("coalesce(country_code > 'NO', true)", 0)).toBe(20_000)
    expect(await session.rows("SELECT current_setting('threads')::INTEGER AS threads")).toEqual([
      { threads: 2 },
    ])
    await sorted.close()
  })
})
