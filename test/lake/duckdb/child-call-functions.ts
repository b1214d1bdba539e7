/** Process: calls each function that a user's SQL may call with values of all kinds, and prints how many calls gave an answer. */

import { ALLOWED_FUNCTIONS } from '../../../src/lake/duckdb/allowed-functions.ts'
import { Engine } from '../../../src/lake/duckdb/engine.ts'

const VALUES = [
  'NULL',
  '-1',
  '3',
  '1.5',
  "'a'",
  "'2020-01-02'",
  "DATE '2020-01-02'",
  '[1, 2]',
  "{'a': 1}",
  "map {'a': 1}",
]
const LISTS = [
  [],
  ...VALUES.map((one) => [one]),
  ...VALUES.flatMap((one) => ['NULL', '2', "'b'", '[2]'].map((other) => [one, other])),
  ["'abc'", '1', '2'],
  ['[1]', '1', '1'],
  ['2020', '1', '2'],
]

const engine = await Engine.open({ memoryBytes: 128 * 1024 ** 2, threads: 1 })
const session = await engine.connect()
await session.run('SET enable_external_access = false')
await session.run('SET lock_configuration = true')
let calls = 0
let answers = 0
const run = async (sql: string): Promise<void> => {
  calls++
  try {
    await session.rows(sql)
    answers++
  } catch {
    // Wrong values for it: DuckDB says so, and goes on.
  }
}
for (const name of ALLOWED_FUNCTIONS) {
  if (!/^\w+$/.test(name)) continue
  for (const list of LISTS) await run(`SELECT ${name}(${list.join(', ')})`)
  for (const one of VALUES) await run(`SELECT ${name}(${one}) OVER ()`)
  for (const one of VALUES) await run(`FROM ${name}(${one}) LIMIT 1`)
}
session.close()
engine.close()
console.log(`${calls} calls, ${answers} answers`)
