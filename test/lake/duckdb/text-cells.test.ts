import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ColumnTable } from '../../../src/lake/duckdb/column-tables.ts'
import { Engine, type Session } from '../../../src/lake/duckdb/engine.ts'
import { TextCells } from '../../../src/lake/duckdb/text-cells.ts'
import type { Vectors } from '../../../src/lake/duckdb/vectors.ts'

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

/** The text of a row: of every length around those that DuckDB keeps apart, NULL in every seventh row. */
const textOf = (row: number): string | null => {
  if (row % 7 === 3) return null
  if (row === 1000) return 'long'.repeat(100_000)
  return `${row}${'é\0"'.repeat(row % 23)}`
}

const CHUNK = 2048
const bitsOf = (values: readonly unknown[]): Uint8Array => {
  const bits = new Uint8Array(Math.ceil(values.length / 64) * 8)
  for (const [at, value] of values.entries())
    if (value !== null) bits[at >> 3] = (bits[at >> 3] ?? 0) | (1 << (at & 7))
  return bits
}
const cellsOf = (strings: readonly (string | null)[]): TextCells => {
  const cells = new TextCells(16)
  for (const [at, text] of strings.entries()) {
    const bytes = Buffer.from(`<${text}>`)
    if (text !== null) cells.set(at, bytes, 1, bytes.length - 1)
  }
  return cells
}

const chunks = (
  columns: ColumnTable['columns'],
  rows: number,
  give: (vectors: Vectors, from: number, count: number) => void,
): ColumnTable => ({
  columns,
  rows,
  read: () => {
    let from = 0
    return (vectors) => {
      const count = Math.min(CHUNK, rows - from)
      give(vectors, from, count)
      from += count
      return count
    }
  },
})

const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, at) => from + at)
const rowsOf = async (table: ColumnTable, select: string): Promise<unknown[]> => {
  const { from, remove } = await engine.addTable(table)
  const rows = await session.rows(`SELECT ${select} FROM ${from} ORDER BY id`)
  remove()
  return rows
}
const setIds = (vectors: Vectors, from: number, count: number): void =>
  vectors.numbers(0, BigInt64Array.from(range(from, count), BigInt), count)

test('texts cross as they are, short, long and NULL, over several chunks', async () => {
  const table = chunks(
    [
      { name: 'id', type: 'BIGINT' },
      { name: 'text', type: 'VARCHAR' },
    ],
    5000,
    (vectors, from, count) => {
      setIds(vectors, from, count)
      const strings = range(from, count).map(textOf)
      vectors.strings(1, { strings: cellsOf(strings), valid: bitsOf(strings) }, count)
    },
  )
  const rows = await rowsOf(table, 'text')
  expect(rows).toEqual(range(0, 5000).map((row) => ({ text: textOf(row) })))
})

test('texts that are cleared and set again leave nothing behind', async () => {
  const cells = cellsOf(range(0, 100).map((row) => `${row}`.repeat(20)))
  cells.clear()
  cells.set(1, Buffer.from('twelve bytes'), 0, 12)
  const table = chunks(
    [
      { name: 'id', type: 'BIGINT' },
      { name: 'text', type: 'VARCHAR' },
    ],
    3,
    (vectors, from, count) => {
      setIds(vectors, from, count)
      if (count > 0) vectors.strings(1, { strings: cells, valid: bitsOf(['', '', '']) }, count)
    },
  )
  expect(await rowsOf(table, 'text')).toEqual([{ text: '' }, { text: 'twelve bytes' }, { text: '' }])
})

test('lists of texts and of structs cross with more items than a chunk has rows', async () => {
  const itemsOf = (row: number): (string | null)[] | null =>
    row % 5 === 1 ? null : range(row, row % 4).map(textOf)
  const table = chunks(
    [
      { name: 'id', type: 'BIGINT' },
      { name: 'list', type: 'VARCHAR[]' },
      { name: 'structs', type: { fields: ['a', 'b'] } },
    ],
    3000,
    (vectors, from, count) => {
      setIds(vectors, from, count)
      const lists = range(from, count).map(itemsOf)
      const items = lists.flatMap((list) => list ?? [])
      const places = new BigUint64Array(2 * Math.max(count, 1))
      let next = 0
      for (const [at, list] of lists.entries()) {
        places[at * 2] = BigInt(next)
        places[at * 2 + 1] = BigInt(list?.length ?? 0)
        next += list?.length ?? 0
      }
      const valid = bitsOf(lists)
      const some = () => ({ strings: cellsOf(items), valid: bitsOf(items) })
      vectors.textLists(1, places, valid, count, some(), items.length)
      const none = { strings: new TextCells(1), valid: bitsOf(items.map(() => null)) }
      vectors.structLists(2, places, valid, count, [some(), none], items.length)
    },
  )
  const rows = await rowsOf(table, 'list, structs')
  expect(rows).toEqual(
    range(0, 3000).map((row) => {
      const list = itemsOf(row)
      return { list, structs: list?.map((a) => ({ a, b: null })) ?? null }
    }),
  )
})
