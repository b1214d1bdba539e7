import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkBlock } from '../../src/check/check-block.ts'
import { RecordChecker } from '../../src/check/record/check-record.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { companiesTable } from '../../src/load/record-tables.ts'
import { SpareFields } from '../../src/load/row-table.ts'
import { newSeenSets } from '../../src/rows/seen-sets.ts'
import { blockOf, linesText } from '../load/loaded-lake.ts'

let engine: Engine
beforeAll(async () => {
  engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
})
afterAll(() => engine.close())

const NO_ODD = { instants: new Map(), jsons: new Map() }

/** Companies of these ids as a table. */
const tableOf = (ids: readonly number[], spare: SpareFields) => {
  const bytes = Buffer.from(linesText(ids.map((InternalId) => ({ BasicDetails: { InternalId } }))))
  const [part] = checkBlock(blockOf(bytes), new RecordChecker('companies', newSeenSets())).parts
  if (part === undefined) throw new TypeError('no part')
  return companiesTable({ part, bytes, odd: NO_ODD, spare })
}

const read = async (ids: readonly number[], spare: SpareFields, rest = ''): Promise<unknown[]> => {
  const { from, remove } = await engine.addTable(tableOf(ids, spare))
  const session = await engine.connect()
  const rows = await session.rows(`SELECT internal_id FROM ${from} ${rest}`)
  session.close()
  remove()
  return rows.map(({ internal_id }) => Number(internal_id))
}

test('fields of a table that was read to its end read the next part', async () => {
  const spare = new SpareFields()
  expect(await read([1, 2], spare)).toEqual([1, 2])
  const fields = spare.take('companies')
  expect(fields).toBeDefined()
  expect(spare.take('companies')).toBeUndefined()
  if (fields !== undefined) spare.give('companies', fields)
  expect(await read([3], spare)).toEqual([3])
  expect(spare.take('companies')).toBe(fields)
  expect(spare.take('relations')).toBeUndefined()
})

test('two tables that are read side by side have fields of their own', async () => {
  const spare = new SpareFields()
  await read([1], spare)
  const ids = Array.from({ length: 5000 }, (_, at) => at + 1)
  const [first, second] = await Promise.all([read(ids, spare), read([7], spare)])
  expect(first).toEqual(ids)
  expect(second).toEqual([7])
  const kept = [spare.take('companies'), spare.take('companies')]
  expect(new Set(kept).size).toBe(2)
  expect(kept).not.toContain(undefined)
})

test('fields of a table that was not read to its end are not used again', async () => {
  const spare = new SpareFields()
  const ids = Array.from({ length: 50_000 }, (_, at) => at + 1)
  expect(await read(ids, spare, 'LIMIT 1')).toEqual([1])
  expect(spare.take('companies')).toBeUndefined()
})
