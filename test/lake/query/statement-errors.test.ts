import { afterAll, beforeAll, expect, test } from 'vitest'
import { messageOf } from '../../../src/core/errors.ts'
import { LakeQuery } from '../../../src/lake/query/lake-query.ts'
import { markedLine } from '../../../src/lake/query/statement-errors.ts'
import { Workbench } from '../../load/loaded-lake.ts'

let bench: Workbench
let query: LakeQuery
beforeAll(async () => {
  bench = await Workbench.open()
  const lines = [{ BasicDetails: { InternalId: 1, CompanyName: 'Alfa' } }]
  const { lake, snapshot } = await bench.load({ content: 'companies', lines })
  query = await LakeQuery.open({ lake, snapshot, memoryBytes: 256 * 1024 ** 2 })
})
afterAll(async () => {
  query.close()
  await bench.close()
})

const failureOf = async (run: () => Promise<unknown>): Promise<string> => {
  try {
    await run()
  } catch (error) {
    return messageOf(error)
  }
  return 'no failure'
}
const runFails = (sql: string): Promise<string> =>
  failureOf(async () => {
    for await (const _ of (await query.run(sql)).rows);
  })

test.each([
  ['FROM growth', "growth is a macro: FROM growth('NetSales')"],
  ['DESCRIBE Growth', "growth is a macro: FROM growth('NetSales')"],
  ['FROM growt', `Did you mean "growth"? growth is a macro: FROM growth('NetSales')`],
  [
    "FROM convert_currency(1, 'SEK', 2020, 'EUR')",
    "convert_currency is a macro that gives a value: SELECT convert_currency(100, 'SEK', 2020, 'EUR')",
  ],
  ["FROM latest_figures('x')", 'latest_figures is a view: FROM latest_figures'],
  ["SELECT latest_figures('x')", 'latest_figures is a view: FROM latest_figures'],
  ['FROM companies(1)', 'companies is a view: FROM companies'],
  ['FROM latest_figure', 'Did you mean "latest_figures"?'],
  ['FROM compnies_history', 'Did you mean "companies_history"?'],
  ['FROM peer', 'Did you mean "peers"? peers is a macro: FROM peers(1001, 10)'],
])('of %s: %s', async (sql, hint) => {
  expect(await runFails(sql)).toContain(hint)
})

test('a name like none of a view or macro has no suggestion, such as a table of DuckDB', async () => {
  expect(await runFails('FROM frobnicate')).toBe(
    'Catalog Error: Table with name frobnicate does not exist!\n\nLINE 1: FROM frobnicate\n             ^',
  )
})

test.each([
  ['SELEC 1', 'LINE 1: SELEC 1\n        ^'],
  ['SELECT 1,\n FROM WHERE', 'LINE 2:  FROM WHERE\n              ^'],
  ['SELECT\tnme FROM companies', 'LINE 1: SELECT\tnme FROM companies\n              \t^'],
  ['SELECT 1 FROM companies WHERE\n\tnme = 1', 'LINE 2: \tnme = 1\n        \t^'],
  ["SELECT 'é',\n\tgrowht(1)", 'LINE 2: \tgrowht(1)\n        \t^'],
  [
    "-- why\nEXPLAIN SELECT write_log('x')",
    "LINE 2: EXPLAIN SELECT write_log('x')\n                       ^",
  ],
  [
    'EXPLAIN SELECT nme FROM companies',
    'LINE 1: EXPLAIN SELECT nme FROM companies\n                       ^',
  ],
  ['PIVOT compnies ON org_no', 'LINE 1: PIVOT compnies ON org_no\n              ^'],
  [
    'PIVOT (SELECT org_no,\n nme FROM companies) ON org_no',
    'LINE 2:  nme FROM companies) ON org_no\n         ^',
  ],
])('of %j shows the own line and a caret', async (sql, excerpt) => {
  expect((await runFails(sql)).split('\n\n').at(-1)).toBe(excerpt)
})

test('a relation fails with the statement as it was written', async () => {
  expect(await failureOf(() => query.relation('SELECT 1,\nnme FROM companies'))).toMatch(
    /\n\nLINE 2: nme FROM companies\n {8}\^$/,
  )
})

test('markedLine cuts a long line to what is around the place', () => {
  const sql = `SELECT ${'a'.repeat(100)}, b, ${'c'.repeat(100)}`
  const [line = '', caret = ''] = markedLine(sql, sql.indexOf('b')).split('\n')
  expect([line.length, line[caret.indexOf('^')]]).toEqual(['LINE 1: '.length + 3 + 120 + 3, 'b'])
  expect(markedLine('a', 1)).toBe('LINE 1: a\n         ^')
})
