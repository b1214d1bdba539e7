import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ColumnTable, Names } from '../../../src/lake/duckdb/column-tables.ts'
import { Engine, type Session } from '../../../src/lake/duckdb/engine.ts'

let engine: Engine
let session: Session
beforeAll(async () => {
  engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  session = await engine.connect()
})
afterAll(() => {
  session.close()
  engine.close()
})

const namesOf = (values: readonly string[]): Names => ({ values, textOf: (code) => values[code] ?? '' })

/** A table of `rows` rows, of which each chunk has as many as DuckDB takes, or `atOnce`. */
const tableOf = (names: Names, rows: number, atOnce = 2048): ColumnTable => ({
  columns: [
    { name: 'id', type: 'BIGINT' },
    { name: 'name', type: names },
    { name: 'year', type: 'SMALLINT' },
    { name: 'value', type: 'DOUBLE' },
    { name: 'kept', type: 'DOUBLE' },
  ],
  rows,
  read: () => {
    let next = 0
    return (vectors) => {
      const from = next
      const count = Math.min(atOnce, rows - from)
      const each = Array.from({ length: count }, (_, at) => from + at)
      const kept = new Uint8Array(256)
      for (const [at, row] of each.entries())
        if (row % 5 === 0) kept[at >> 3] = (kept[at >> 3] ?? 0) | (1 << (at & 7))
      vectors.numbers(0, BigInt64Array.from(each, BigInt), count)
      vectors.codes(
        1,
        Int32Array.from(each, (row) => (row % 3 === 0 ? -1 : row % 2)),
        count,
      )
      vectors.numbers(
        2,
        Int16Array.from(each, (row) => 1000 + (row % 9000)),
        count,
      )
      vectors.numbers(
        3,
        Float64Array.from(each, (row) => row / 8),
        count,
      )
      vectors.numbersOrNull(
        4,
        Float64Array.from(each, (row) => row * 2),
        kept,
        count,
      )
      next += count
      return count
    }
  },
})

const rowsOf = async (table: ColumnTable, select: string): Promise<readonly unknown[]> => {
  const { from, remove } = await engine.addTable(table)
  try {
    return await session.rows(`SELECT ${select} FROM ${from}`)
  } finally {
    remove()
  }
}

const MANY = Array.from({ length: 300 }, (_, at) => `name ${at}`)

test.each([
  ['an ENUM of few names', namesOf(['a', 'b'])],
  ['an ENUM of more names than a byte tells apart', namesOf(['a', 'b', ...MANY])],
  ['texts where a name holds NUL', { values: ['a\0'], textOf: (code: number) => ['a', 'b'][code] ?? '' }],
])('addTable gives rows as they stand in the columns, with %s', async (_what, names) => {
  expect(await rowsOf(tableOf(names, 7), 'id::INT AS id, name::VARCHAR AS name, year, value, kept')).toEqual(
    [0, 1, 2, 3, 4, 5, 6].map((row) => ({
      id: row,
      name: row % 3 === 0 ? null : row % 2 === 1 ? 'b' : 'a',
      year: 1000 + row,
      value: row / 8,
      kept: row % 5 === 0 ? row * 2 : null,
    })),
  )
})

test('addTable gives NUL in texts', async () => {
  const names: Names = { values: ['a\0b'], textOf: () => 'a\0b' }
  expect(await rowsOf(tableOf(names, 2), 'name')).toEqual([{ name: null }, { name: 'a\0b' }])
})

test.each([0, 1, 2048, 2049, 100_000])('addTable gives %i rows, chunk by chunk', async (rows) => {
  const sums =
    'count(*)::INT AS rows, coalesce(sum(id), 0)::DOUBLE AS ids, count(name)::INT AS named, count(kept)::INT AS kept'
  const named = Array.from({ length: rows }).filter((_, row) => row % 3 !== 0).length
  for (const atOnce of [2048, 100])
    expect(await rowsOf(tableOf(namesOf(['a', 'b']), rows, atOnce), sums)).toEqual([
      { rows, ids: (rows * (rows - 1)) / 2 + 0, named, kept: Math.ceil(rows / 5) },
    ])
})

test('addTable lets a table be read by several statements at once, each from its first row', async () => {
  const { from, remove } = await engine.addTable(tableOf(namesOf(['a', 'b']), 50_000))
  const other = await engine.connect()
  const count = `SELECT count(*)::INT AS rows, sum(value) AS sum FROM ${from}`
  const answers = await Promise.all([session.rows(count), other.rows(count)])
  expect(answers[0]).toEqual(answers[1])
  expect(answers[0]).toMatchObject([{ rows: 50_000 }])
  other.close()
  remove()
})

test('addTable turns an error of the columns into one of the statement', async () => {
  const table: ColumnTable = {
    ...tableOf(namesOf(['a', 'b']), 5000),
    read: () => () => {
      throw new Error('the columns are gone')
    },
  }
  await expect(rowsOf(table, 'sum(value)')).rejects.toThrow('the columns are gone')
  expect(await rowsOf(tableOf(namesOf(['a', 'b']), 3), 'count(*)::INT AS rows')).toEqual([{ rows: 3 }])
})

test('a table that was removed can be read no more', async () => {
  const { from, remove } = await engine.addTable(tableOf(namesOf(['a', 'b']), 3))
  remove()
  await expect(session.rows(`FROM ${from}`)).rejects.toThrow('it was removed')
})
