import { copyFile, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Engine, type Row, type Session } from '../../../src/lake/duckdb/engine.ts'
import { literal } from '../../../src/lake/duckdb/sql.ts'
import { CodedColumn, DoubleColumn, dictionaryLongs } from '../../../src/lake/parquet/column-reader.ts'
import { PageCompressors } from '../../../src/lake/parquet/compress-pages.ts'
import { ParquetFile } from '../../../src/lake/parquet/parquet-file.ts'
import { type FileColumn, ParquetWriter } from '../../../src/lake/parquet/parquet-writer.ts'
import { LongRuns, TextRuns } from '../../../src/lake/parquet/run-columns.ts'
import { numberField, ThriftReader } from '../../../src/lake/parquet/thrift.ts'
import { PackedSmalls, PlainDoubles } from '../../../src/lake/parquet/value-columns.ts'
import { NO_VALUE } from '../../../src/lake/parquet/written-columns.ts'
import { smallDisk } from '../../support/small-disk.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

let engine: Engine
let session: Session
beforeAll(async () => {
  engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2, threads: 1 })
  session = await engine.connect()
  await session.run('SET preserve_insertion_order = true')
})
afterAll(() => engine.close())

const COLUMNS = [
  { name: 'id', type: 'BIGINT', fieldId: 3 },
  { name: 'name', type: 'VARCHAR', fieldId: 4 },
  { name: 'year', type: 'SMALLINT', fieldId: 5 },
  { name: 'value', type: 'DOUBLE' },
] as const satisfies readonly FileColumn[]

interface Written {
  readonly id: bigint
  readonly name: string | null
  readonly year: number
  readonly value: number | null
}

const MOST_ROWS = 40_000

/** Writes rows, so many in each group, through columns whose memory is used again. */
const write = async (rows: readonly Written[], groupRows = MOST_ROWS): Promise<string> => {
  const path = join(await temporaryFolder(), 'a.parquet')
  await rewrite(path, rows, groupRows)
  return path
}

const rewrite = async (path: string, rows: readonly Written[], groupRows = MOST_ROWS): Promise<void> => {
  const compressors = new PageCompressors()
  const writer = await ParquetWriter.open(path, COLUMNS, compressors)
  const names = [...new Set(rows.flatMap(({ name }) => name ?? []))]
  const [id, name, year, value] = [
    new LongRuns(),
    new TextRuns(),
    new PackedSmalls(MOST_ROWS),
    new PlainDoubles(MOST_ROWS),
  ]
  name.start((code) => names[code] ?? '')
  for (let from = 0; from < rows.length; from += groupRows) {
    const group = rows.slice(from, from + groupRows)
    for (const column of [id, name, year, value]) column.clear()
    let equal = 0
    for (const [at, row] of group.entries()) {
      equal++
      if (group[at + 1]?.id !== row.id) {
        const word = BigInt.asUintN(64, row.id)
        id.add(Number(word & 0xffffffffn), Number(word >> 32n), equal)
        equal = 0
      }
      name.add(row.name === null ? NO_VALUE : names.indexOf(row.name), 1)
      year.add(Int16Array.of(row.year), 0, 1)
      if (row.value === null) value.addNulls(1)
      else value.add(Float64Array.of(row.value), 0, 1)
    }
    await writer.write(group.length, [id.pages(), name.pages(), year.pages(), value.pages()])
  }
  expect(await writer.finish()).toBe(rows.length)
  await writer.close()
  compressors.close()
}

const readBack = async (path: string): Promise<Row[]> =>
  session.rows(`SELECT id::VARCHAR AS id, name, year, value FROM read_parquet(${literal(path)})`)

const asRead = (rows: readonly Written[]): Row[] => rows.map((row) => ({ ...row, id: String(row.id) }))

const metadata = (path: string, columns: string): Promise<Row[]> =>
  session.rows(`SELECT ${columns} FROM parquet_metadata(${literal(path)}) ORDER BY row_group_id, column_id`)

const LARGEST = 2n ** 63n - 1n

test('writer gives a reader what stands at the ends of each type, with NULLs in between', async () => {
  const rows: Written[] = [
    { id: -(2n ** 63n), name: null, year: -32_768, value: Number.MAX_VALUE },
    { id: -(2n ** 63n), name: '', year: 32_767, value: null },
    { id: LARGEST, name: 'Å\u{1F600}\0', year: 0, value: 5e-324 },
    { id: 0n, name: null, year: -1, value: null },
    { id: -1n, name: 'a'.repeat(300), year: 2025, value: -Number.MAX_VALUE },
    { id: 2n ** 32n, name: 'A', year: 2025, value: 0.1 },
  ]
  const path = await write(rows)
  expect(await readBack(path)).toEqual(asRead(rows))
  expect(
    await metadata(
      path,
      'path_in_schema AS name, stats_min_value AS least, stats_max_value AS greatest, stats_null_count AS nulls',
    ),
  ).toEqual([
    { name: 'id', least: String(-(2n ** 63n)), greatest: String(LARGEST), nulls: '0' },
    // A text that is too long for a statistic is none; another one is exact.
    { name: 'name', least: '', greatest: 'Å\u{1F600}\0', nulls: '2' },
    { name: 'year', least: '-32768', greatest: '32767', nulls: '0' },
    { name: 'value', least: '-1.7976931348623157e+308', greatest: '1.7976931348623157e+308', nulls: '2' },
  ])
})

test('writer leaves out the end that would be a long text', async () => {
  const path = await write([
    { id: 1n, name: 'a', year: 1, value: 1 },
    { id: 2n, name: 'b'.repeat(257), year: 1, value: 1 },
  ])
  const [, name] = await metadata(path, 'stats_min_value AS least, stats_max_value AS greatest')
  expect(name).toEqual({ least: 'a', greatest: null })
})

test('writer writes a file without rows, and columns without a value', async () => {
  expect(await readBack(await write([]))).toEqual([])
  const rows = [1n, 2n].map((id): Written => ({ id, name: null, year: 2000, value: null }))
  const path = await write(rows)
  expect(await readBack(path)).toEqual(asRead(rows))
  const [, name, , value] = await metadata(path, 'stats_min_value AS least, stats_null_count AS nulls')
  expect([name, value]).toEqual([
    { least: null, nulls: '2' },
    { least: null, nulls: '2' },
  ])
})

test('writer says of zeros the smaller and the larger one', async () => {
  const values = async (value: number): Promise<unknown> => {
    const path = await write([{ id: 1n, name: 'a', year: 1, value }])
    const [, , , last] = await metadata(path, 'stats_min_value AS least, stats_max_value AS greatest')
    expect(Object.is((await readBack(path))[0]?.value, value)).toBe(true)
    return last
  }
  expect(await values(0)).toEqual({ least: '-0.0', greatest: '0.0' })
  expect(await values(-0)).toEqual({ least: '-0.0', greatest: '0.0' })
})

/** Rows of many companies: runs of all lengths, names by ever more bits, values that are compressed. */
const manyRows = (count: number, names: number): Written[] =>
  Array.from({ length: count }, (_, at) => ({
    id: BigInt(Math.floor(at / ((at % 7) + 3))) * 1_000_003n,
    name: at % 11 === 0 ? null : `name ${(at * at) % names}`,
    year: 1960 + ((at * 7) % 66),
    value: at % 13 === 0 ? null : Math.round(Math.sin(at) * 1e9) / 8,
  }))

test.each([
  [1, 1, 1],
  [7, 2, 3],
  [8, 3, 8],
  [9, 4, 4],
  [1000, 17, 64],
  [5000, 300, 777],
  [30_000, 20_000, 30_000],
  [30_001, 70_000, 10_000],
])('writer writes %i rows of %i names in groups of %i', async (count, names, groupRows) => {
  const rows = manyRows(count, names)
  const path = await write(rows, groupRows)
  expect(await readBack(path)).toEqual(asRead(rows))
  const groups = await metadata(path, 'DISTINCT row_group_id, row_group_num_rows::INTEGER AS rows, column_id')
  expect(groups.filter(({ column_id }) => column_id === '0').map(({ rows }) => rows)).toEqual(
    Array.from({ length: Math.ceil(count / groupRows) }, (_, at) =>
      Math.min(groupRows, count - at * groupRows),
    ),
  )
})

test('writer writes what the columns here read too, and their field ids', async () => {
  const rows = manyRows(20_000, 40)
  const path = await write(rows, 6000)
  const file = new ParquetFile(path)
  const [id, value] = [new CodedColumn('id'), new DoubleColumn('value')]
  const read: unknown[] = []
  for (const group of file.groups) {
    id.read(file, group)
    value.read(file, group)
    const ids = dictionaryLongs(id)
    for (let row = 0; row < group.rows; row++) {
      const isThere = typeof value.isThere === 'boolean' ? value.isThere : value.isThere[row] === 1
      read.push([ids[id.codes[row] ?? -1], isThere ? value.values[row] : null])
    }
  }
  file.close()
  expect(read).toEqual(rows.map((row) => [row.id, row.value]))
  expect(
    await session.rows(`SELECT name, field_id::INTEGER AS id FROM parquet_schema(${literal(path)}) OFFSET 1`),
  ).toEqual([
    { name: 'id', id: 3 },
    { name: 'name', id: 4 },
    { name: 'year', id: 5 },
    { name: 'value', id: null },
  ])
})

test('writer says in the footer how large columns and groups are', async () => {
  const path = await write(manyRows(20_000, 40), 9000)
  const chunks = await metadata(
    path,
    `row_group_id::INTEGER AS "group", coalesce(dictionary_page_offset, data_page_offset)::INTEGER AS begins,
     total_compressed_size::INTEGER AS bytes, total_uncompressed_size::INTEGER AS unpacked, compression`,
  )
  let at = 4
  for (const { begins, bytes, unpacked, compression } of chunks) {
    expect(begins).toBe(at)
    at += Number(bytes)
    if (compression === 'UNCOMPRESSED') expect(unpacked).toBe(bytes)
    else expect(Number(unpacked)).toBeGreaterThan(Number(bytes))
  }
  expect(new Set(chunks.map(({ compression }) => compression))).toEqual(new Set(['UNCOMPRESSED', 'ZSTD']))
  const [sizes] = await session.rows(
    `SELECT min(row_group_compressed_bytes)::INTEGER AS least, min(row_group_bytes)::INTEGER AS unpacked
     FROM parquet_metadata(${literal(path)}) WHERE row_group_id = 0`,
  )
  const first = chunks.filter(({ group }) => group === 0)
  const sum = (name: string): number => first.reduce((all, chunk) => all + Number(chunk[name]), 0)
  expect(sizes).toEqual({ least: sum('bytes'), unpacked: sum('unpacked') })
})

test('writer says in the footer where pages begin, that of the dictionary first', async () => {
  const path = await write(manyRows(20_000, 40), 9000)
  const bytes = await readFile(path)
  const kindAt = (at: unknown): number => numberField(new ThriftReader(bytes, Number(at)).struct(), 1)
  for (const { dictionary, data } of await metadata(
    path,
    'dictionary_page_offset::INTEGER AS dictionary, data_page_offset::INTEGER AS data',
  )) {
    if (dictionary !== null) expect(kindAt(dictionary)).toBe(2)
    expect(kindAt(data)).toBe(0)
  }
})

test('filter finds each id that is there, and hardly any other', async () => {
  for (const count of [1, 26, 27, 500, 5000]) {
    const ids = Array.from({ length: count }, (_, at) =>
      BigInt.asIntN(64, (BigInt(at) + 1n) * 0x9e3779b97f4a7c15n),
    )
    const path = await write(ids.map((id) => ({ id, name: 'a', year: 1, value: 1 })))
    const excluded = async (id: bigint): Promise<boolean> => {
      const [row] = await session.rows(
        `SELECT bool_and(bloom_filter_excludes) AS excludes FROM parquet_bloom_probe(${literal(path)}, 'id', ${id}::BIGINT)`,
      )
      return row?.excludes === true
    }
    const step = Math.ceil(count / 100)
    for (let at = 0; at < count; at += step) expect(await excluded(ids[at] ?? 0n)).toBe(false)
    let found = 0
    for (let other = 0; other < 200; other++)
      if (!(await excluded(BigInt(other) * 77_777_777_777n + 13n))) found++
    expect(found).toBeLessThan(12)
  }
})

test('writer replaces a file that is there, however long it was', async () => {
  const rows = manyRows(9, 2)
  const path = await write(rows)
  const longer = await write(manyRows(5000, 300))
  await copyFile(longer, path)
  await rewrite(path, rows)
  expect(await readBack(path)).toEqual(asRead(rows))
})

test('writer fails for good after a failed write, and says so at each call', async (context) => {
  const disk = await smallDisk(context, 256 * 1024)
  await mkdir(join(disk, 'a'))
  const writer = await ParquetWriter.open(join(disk, 'a', 'a.parquet'), COLUMNS, new PageCompressors())
  const value = new PlainDoubles(MOST_ROWS)
  value.add(
    Float64Array.from({ length: MOST_ROWS }, (_, at) => Math.sin(at)),
    0,
    MOST_ROWS,
  )
  await expect(writer.write(MOST_ROWS, [value.pages()])).rejects.toMatchObject({ code: 'ENOSPC' })
  await expect(writer.write(MOST_ROWS, [value.pages()])).rejects.toMatchObject({ code: 'ENOSPC' })
  await expect(writer.finish()).rejects.toMatchObject({ code: 'ENOSPC' })
  await writer.close()
})
