import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Engine, type Session } from '../../../src/lake/duckdb/engine.ts'
import { literal } from '../../../src/lake/duckdb/sql.ts'
import {
  CodedColumn,
  DoubleColumn,
  dictionaryIntegers,
  dictionaryLongs,
  dictionaryStrings,
} from '../../../src/restore/parquet/column-reader.ts'
import { ParquetFile } from '../../../src/restore/parquet/parquet-file.ts'

let folder: string
let engine: Engine
let session: Session
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-parquet-'))
  engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2, threads: 1 })
  session = await engine.connect()
  await session.run('SET preserve_insertion_order = true')
})
afterAll(async () => {
  engine.close()
  await rm(folder, { recursive: true, force: true })
})

interface Read {
  readonly id: bigint
  readonly name: string
  readonly year: number
  readonly value: number | null
}

/** All rows of a file, with one reader of each column for all its row groups. */
const read = (path: string): Read[] => {
  const file = new ParquetFile(path)
  const [id, name, year] = [new CodedColumn('id'), new CodedColumn('name'), new CodedColumn('year')]
  const value = new DoubleColumn('value')
  const rows: Read[] = []
  try {
    for (const group of file.groups) {
      for (const column of [id, name, year, value]) column.read(file, group)
      const [ids, names, years] = [dictionaryLongs(id), dictionaryStrings(name), dictionaryIntegers(year)]
      for (let row = 0; row < group.rows; row++) {
        const isThere = typeof value.isThere === 'boolean' ? value.isThere : value.isThere[row] === 1
        rows.push({
          id: ids[id.codes[row] ?? -1] ?? -1n,
          name: names[name.codes[row] ?? -1] ?? 'none',
          year: years[year.codes[row] ?? -1] ?? -1,
          value: isThere ? (value.values[row] ?? null) : null,
        })
      }
    }
    return rows
  } finally {
    file.close()
  }
}

const write = async (select: string, options = ''): Promise<string> => {
  const path = join(folder, `${Math.random()}.parquet`)
  await session.run(`COPY (${select}) TO ${literal(path)} (FORMAT parquet, COMPRESSION zstd${options})`)
  return path
}
const asDuckdbReads = async (path: string): Promise<Read[]> => {
  const rows = await session.rows(
    `SELECT id::VARCHAR AS id, name, year, value FROM read_parquet(${literal(path)})`,
  )
  return rows.map(({ id, name, year, value }) => ({
    id: BigInt(String(id)),
    name: String(name),
    year: Number(year),
    value: value === null ? null : Number(value),
  }))
}

const VALUES: Readonly<Record<string, string>> = {
  'plain, in several row groups': 'range * 1.25',
  none: 'NULL::DOUBLE',
  'few, by dictionary': '(range % 7)::DOUBLE',
  'some of few': 'CASE WHEN range % 3 = 0 THEN (range % 5)::DOUBLE END',
  'some of many': 'CASE WHEN hash(range) % 10 < 7 THEN range / 3 END',
  'a run without any between others': 'CASE WHEN range NOT BETWEEN 2000 AND 2500 THEN range * 0.1 END',
}
test.each(Object.keys(VALUES))('columns are read as DuckDB reads them: values %s', async (kind) => {
  const path = await write(
    `SELECT (range // 57)::BIGINT - 30 AS id, 'name ' || (hash(range // 9) % 300) AS name,
      (1990 + range % 35)::SMALLINT AS year, (${VALUES[kind]})::DOUBLE AS value FROM range(10000)`,
    ', ROW_GROUP_SIZE 4096',
  )
  const rows = read(path)
  expect(rows).toHaveLength(10_000)
  expect(rows).toEqual(await asDuckdbReads(path))
})

test('columns in which each value stands once, and are no dictionaries, are read', async () => {
  const path = await write(
    `SELECT range * 1_000_000_007 - 5e15::BIGINT AS id, 'é ' || range || repeat('x', range % 40) AS name,
      (range - 5000)::SMALLINT AS year, random() AS value FROM range(9000)`,
  )
  expect(read(path)).toEqual(await asDuckdbReads(path))
})

test('columns of a file that is not compressed are read', async () => {
  const path = join(folder, 'plain.parquet')
  await session.run(
    `COPY (SELECT range AS id, 'n' || range % 3 AS name, 2000::SMALLINT AS year, range::DOUBLE AS value FROM range(5000))
     TO ${literal(path)} (FORMAT parquet, COMPRESSION uncompressed)`,
  )
  expect(read(path)).toEqual(await asDuckdbReads(path))
})

test('a file without rows is read', async () => {
  expect(
    read(await write(`SELECT 1::BIGINT AS id, '' AS name, 1::SMALLINT AS year, 1::DOUBLE AS value LIMIT 0`)),
  ).toEqual([])
})

test('places of many bits are read', async () => {
  const path = await write(
    `SELECT (hash(range) % 30000)::BIGINT AS id, (hash(range + 1) % 20000)::VARCHAR AS name, 1::SMALLINT AS year, 1::DOUBLE AS value
     FROM range(120000)`,
    ', DICTIONARY_SIZE_LIMIT 100000',
  )
  expect(read(path)).toEqual(await asDuckdbReads(path))
})

test('a column in which a row is NULL, or that is not there, has no places', async () => {
  const path = await write(
    `SELECT CASE WHEN range <> 5 THEN range END AS id, '' AS name, 1::SMALLINT AS year, 1::DOUBLE AS value FROM range(10)`,
  )
  expect(() => read(path)).toThrow('Cannot read column "id": a row is NULL')
  const other = await write('SELECT 1::BIGINT AS id')
  expect(() => read(other)).toThrow('Cannot find column "name"')
})

test('another compression is refused', async () => {
  const path = join(folder, 'snappy.parquet')
  await session.run(
    `COPY (SELECT 1::BIGINT AS id FROM range(5000)) TO ${literal(path)} (FORMAT parquet, COMPRESSION snappy)`,
  )
  expect(() => read(path)).toThrow('Cannot read a page that is compressed by codec 1')
})
