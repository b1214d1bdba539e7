import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Engine, type Session } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import type { Table } from '../../src/lake/tables/tables.ts'
import { type FileStatistics, measureFiles } from '../../src/publish/file-statistics.ts'
import type { TableFile } from '../../src/publish/table-files.ts'
import { hashFile } from '../../src/support/hash.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

let engine: Engine
let session: Session
beforeAll(async () => {
  engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  session = await engine.connect()
})
afterAll(() => engine.close())

/** Statistics of one column in files, each written from a query that gives it as `c`. */
const measured = async (type: string, ...queries: readonly string[]) => {
  const lake = await temporaryFolder()
  const table: Table = { name: 't', row: 'a row', key: ['c'], columns: [{ name: 'c', type, about: '' }] }
  const files: TableFile[] = []
  for (const [version, sql] of queries.entries()) {
    const name = `load=run/${version}.parquet`
    await mkdir(dirname(join(lake, 't', name)), { recursive: true })
    await session.run(
      `COPY (${sql}) TO ${literal(join(lake, 't', name))} (FORMAT parquet, ROW_GROUP_SIZE 2048)`,
    )
    const [row] = await session.rows(`SELECT count(*) AS n FROM (${sql})`)
    const rows = Number(row?.n)
    const { bytes, sha256 } = await hashFile(join(lake, 't', name))
    const file = { table: 't', path: `t/${name}`, name, rows, bytes, sha256, run: 'run', version }
    files.push({ ...file, committed: { snapshot: 1, time: '' } })
  }
  const all: FileStatistics[] = []
  const context = { session, lake, scratch: lake, localBytes: 1e9 }
  for await (const { statistics } of measureFiles(context, table, files)) all.push(statistics)
  return all.map((statistics) => statistics.get('c'))
}

test('measureFiles gives 64-bit integers whole', async () => {
  expect(await measured('BIGINT', 'SELECT unnest([9007199254740993, -5, NULL])::BIGINT AS c')).toEqual([
    { nulls: 1, min: -5n, max: 9007199254740993n },
  ])
})

test('measureFiles puts row groups together', async () => {
  expect(
    await measured('SMALLINT', 'SELECT (i % 3000)::SMALLINT AS c FROM range(20000) AS r(i) ORDER BY i'),
  ).toEqual([{ nulls: 0, min: 0, max: 2999 }])
})

test('measureFiles orders texts by their bytes, across row groups', async () => {
  // As UTF-16 the emoji would come before U+FFFD.
  const strings = `SELECT CASE WHEN i < 3000 THEN chr(65533) ELSE chr(128512) END AS c FROM range(6000) AS r(i) ORDER BY i`
  expect(await measured('VARCHAR', strings)).toEqual([{ nulls: 0, min: '\ufffd', max: '😀' }])
})

test('measureFiles reads the ends of ENUM columns from the rows, file by file', async () => {
  const of = (values: string): string => `SELECT unnest([${values}])::ENUM ('a', 'b', 'c', 'd') AS c`
  expect(await measured('VARCHAR', of(`'b', NULL, 'c'`), of(`'d'`), of('NULL'))).toEqual([
    { nulls: 1, min: 'b', max: 'c' },
    { nulls: 0, min: 'd', max: 'd' },
    { nulls: 1 },
  ])
})

test('measureFiles gives instants with microseconds in UTC', async () => {
  expect(
    await measured(
      'TIMESTAMPTZ',
      `SELECT unnest(['2025-01-02 03:04:05.1234567+05:30', '0001-01-01'])::TIMESTAMPTZ AS c`,
    ),
  ).toEqual([{ nulls: 0, min: '0001-01-01T00:00:00.000000Z', max: '2025-01-01T21:34:05.123456Z' }])
})

test('measureFiles leaves out ends that have no order', async () => {
  const values = (list: string): string => `SELECT unnest([${list}])::DOUBLE AS c`
  const [infinite, nan] = await measured(
    'DOUBLE',
    values(`1.0::DOUBLE, 'Infinity'::DOUBLE`),
    values(`1.0::DOUBLE, 'NaN'::DOUBLE`),
  )
  expect(infinite).toEqual({ nulls: 0, min: 1 })
  expect(nan?.max).toBeUndefined()
})

test('measureFiles counts the rows of a file without the column as nulls', async () => {
  expect(await measured('VARCHAR', 'SELECT 1 AS other FROM range(7)')).toEqual([{ nulls: 7 }])
})

test('measureFiles knows nothing of a text too long for the footer', async () => {
  expect(await measured('VARCHAR', `SELECT repeat('x', 100000) AS c`)).toEqual([{ nulls: 0 }])
})

test('measureFiles takes a file without rows', async () => {
  expect(await measured('BIGINT', 'SELECT 1::BIGINT AS c WHERE false')).toEqual([{ nulls: 0 }])
})
