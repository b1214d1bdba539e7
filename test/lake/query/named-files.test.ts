/** Which Parquet files a statement may read by their names. */

import { copyFile, mkdir, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LakeQuery } from '../../../src/lake/query/lake-query.ts'
import { type LoadedLake, Workbench } from '../../load/loaded-lake.ts'

let bench: Workbench
let lake: LoadedLake
/** A file of two rows that the lake lists, and its copies. */
let listed: string
let beside: string
let atTop: string
let folder: string
let named: string
let closed: LakeQuery
let open: LakeQuery
beforeAll(async () => {
  bench = await Workbench.open()
  const lines = [1, 2].map((InternalId) => ({ BasicDetails: { InternalId } }))
  lake = await bench.load({ content: 'companies', lines })
  const path = lake.snapshot.partitions[0]?.files.find(({ table }) => table === 'companies')?.path ?? ''
  listed = join(lake.lake, path)
  beside = join(dirname(listed), 'beside.parquet')
  atTop = join(lake.lake, 'top.parquet')
  folder = join(bench.folder, 'a [1] named')
  named = join(folder, 'of mine.parquet')
  await mkdir(folder)
  for (const copy of [beside, atTop, named]) await copyFile(listed, copy)
  await symlink(beside, join(folder, 'link.parquet'))
  const what = { lake: lake.lake, snapshot: lake.snapshot, memoryBytes: 256 * 1024 ** 2, threads: 1 }
  closed = await LakeQuery.open(what)
  open = await LakeQuery.open({ ...what, files: [folder] })
})
afterAll(async () => {
  closed.close()
  open.close()
  await bench.close()
})

const READERS = [
  ...['read_parquet', 'parquet_scan', 'parquet_metadata', 'parquet_schema'],
  ...['parquet_file_metadata', 'parquet_full_metadata', 'parquet_kv_metadata'],
]
const WAYS: readonly (readonly [string, (path: string) => string])[] = [
  ...READERS.map((name): readonly [string, (path: string) => string] => [
    name,
    (path) => `SELECT count(*) >= 0 FROM ${name}('${path}')`,
  ]),
  ['a table', (path) => `FROM '${path}'`],
  ['a table in quotes', (path) => `FROM "${path}"`],
  ['a table and its schema', (path) => `FROM "${path.replace(/\.parquet$/, '"."parquet')}"`],
  ['a text with escapes', (path) => `FROM E'${path.replace('.', '\\x2e')}'`],
  ['dollars', (path) => `FROM $$${path}$$`],
  ['a list', (path) => `FROM read_parquet(['${listed}', '${path}'])`],
  ['large letters', (path) => `FROM READ_PARQUET('${path}')`],
  ['query_table()', (path) => `FROM query_table('${path}')`],
  ['query()', (path) => `FROM query('FROM read_parquet(''${path}'')')`],
  ['query() in query()', (path) => `FROM query('FROM query(''FROM "${path}"'')')`],
  ['a subquery', (path) => `SELECT (SELECT count(*) FROM '${path}')`],
  ['WITH', (path) => `WITH a AS (FROM '${path}') FROM a`],
  ['SUMMARIZE', (path) => `SUMMARIZE '${path}'`],
  ['DESCRIBE', (path) => `DESCRIBE FROM '${path}'`],
  ['EXPLAIN', (path) => `EXPLAIN FROM '${path}'`],
  ['a PIVOT', (path) => `PIVOT '${path}' ON internal_id IN (1)`],
  ['a PIVOT whose columns come from the data', (path) => `PIVOT '${path}' ON internal_id`],
]

const outcome = async (query: LakeQuery, sql: string): Promise<string> => {
  try {
    await Array.fromAsync((await query.run(sql)).rows)
    return 'read'
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
}
const REFUSED = /^QUERY_(REFUSED|FAILED)$/

describe.each(WAYS)('%s reads', (way, sql) => {
  test('no file in a folder of the lake that the lake does not list', async () => {
    for (const query of [closed, open]) {
      expect(await outcome(query, sql(beside))).toMatch(REFUSED)
      expect(
        await outcome(query, sql(`${dirname(beside)}/../${relative(dirname(dirname(beside)), beside)}`)),
      ).toMatch(REFUSED)
    }
    expect(await outcome(closed, sql(atTop))).toMatch(REFUSED)
    expect(await outcome(closed, sql(named))).toMatch(REFUSED)
  })

  test.skipIf(way.endsWith('from the data'))('one that it lists', async () => {
    expect(await outcome(closed, sql(listed))).toBe('read')
    expect(await outcome(closed, sql(`file://${listed}`))).toBe('read')
  })
})

test.each([
  ['a pattern', () => `FROM read_parquet('${lake.lake}/companies/*/*.parquet')`],
  ['a pattern in a list', () => `FROM read_parquet(['${listed}', '${dirname(listed)}/b*.parquet'])`],
  ['a path that is computed', () => `FROM read_parquet('${listed.slice(0, -2)}' || 'et')`],
  ['a link', () => `FROM '${folder}/link.parquet'`],
  ['a path out of the folder', () => `FROM '${folder}/../${relative(bench.folder, beside)}'`],
])('%s reads none either', async (_way, sql) => {
  for (const query of [closed, open]) expect(await outcome(query, sql())).toMatch(REFUSED)
})

test('a statement reads Parquet and other files of a folder that was named', async () => {
  const pattern = named.replace('[1]', '[[]1]')
  for (const path of [pattern, `${dirname(pattern)}/of*.parquet`])
    for (const sql of [`FROM '${path}'`, `FROM read_parquet('${path}')`, `SUMMARIZE '${path}'`])
      expect([sql, await outcome(open, sql)]).toEqual([sql, 'read'])
  expect(await outcome(open, `SELECT size FROM read_blob('${pattern}')`)).toBe('read')
  expect(await outcome(closed, `SELECT size FROM read_blob('${pattern}')`)).toBe('QUERY_FAILED')
})

test('the reason says what may be read', async () => {
  await expect(closed.run(`FROM '${beside}'`)).rejects.toMatchObject({
    code: 'QUERY_FAILED',
    message: `Cannot read "${beside}": the lake does not list it, expected a view or a file that it lists; "query" and "mcp" read those of --files, too`,
  })
})
