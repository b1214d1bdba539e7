/** The peers of the benchmark are right, and one that is not is named. Those in Python run in the benchmark only. */

import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect, test } from 'vitest'
import { cachedDataset } from '../../bench/dataset.ts'
import { problemsOf } from '../../bench/peers/check-tables.ts'
import { expectedOf } from '../../bench/peers/expected.ts'
import { PEERS, type Peer } from '../../bench/peers/peers.ts'
import { SHAPE } from '../../bench/peers/shape.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const OF_NODE = ['hand-tuned', 'duckdb-map', 'parse-append', 'json-each']

/** 46 companies in two files, converted by a peer. */
const converted = async ({ command }: Peer) => {
  const home = await temporaryFolder()
  const { files } = await cachedDataset(home, { megabytes: 0.5, files: 2, quality: 1 })
  const shape = join(home, 'shape.json')
  await writeFile(shape, JSON.stringify(SHAPE))
  const tables = join(home, 'tables')
  const [program = '', ...args] = command(shape, tables, files)
  await promisify(execFile)(program, args)
  return { home, tables, expected: await expectedOf(files) }
}

test.each(PEERS.filter(({ name }) => OF_NODE.includes(name)))(
  'peer $name writes what the lines hold',
  async (peer) => {
    const { tables, expected } = await converted(peer)
    expect(expected.financials.rows).toBeGreaterThan(10_000)
    expect(await problemsOf(tables, expected, true)).toEqual([])
  },
)

test('problemsOf names a lost row, a wrong figure, year and company, and an empty column', async () => {
  const [peer] = PEERS.filter(({ name }) => name === 'duckdb-map')
  if (peer === undefined) throw new Error('Cannot find peer "duckdb-map"')
  const { home, tables, expected } = await converted(peer)
  const connection = await (await DuckDBInstance.create()).connect()
  const spoil = async (table: string, select: string, offset = 0): Promise<readonly string[]> => {
    const spoilt = join(home, 'spoilt')
    for (const one of ['companies', 'financials', 'employees']) {
      await mkdir(join(spoilt, one), { recursive: true })
      await connection.run(
        `COPY (SELECT ${one === table ? select : '*'} FROM '${join(tables, one, '0.parquet')}'
          OFFSET ${one === table ? offset : 0}) TO '${join(spoilt, one, '0.parquet')}'`,
      )
    }
    return problemsOf(spoilt, expected, true)
  }
  const first = (column: string, other: string): string =>
    `* REPLACE (CASE WHEN row_number() OVER () = 1 THEN ${other} ELSE ${column} END AS ${column})`
  expect(await spoil('companies', '*')).toEqual([])
  expect(await spoil('companies', '* REPLACE (NULL::VARCHAR AS email)')).toEqual([
    expect.stringMatching(/^companies: present of email 0, expected \d+$/),
    expect.stringMatching(/^companies: characters of email 0, expected \d+$/),
  ])
  expect(await spoil('companies', first('country_code', "'XX'"))).toContainEqual(
    expect.stringMatching(/^companies: \d+ of "[A-Z]*", expected \d+$/),
  )
  expect(await spoil('financials', first('value', '1e15'))).toEqual([
    expect.stringMatching(/^financials: sum of \S+ \S+ \S+ in "[A-Z]*" is \S+, expected \S+$/),
  ])
  expect(await spoil('financials', first('fiscal_year', '0'))).toEqual([
    expect.stringMatching(/^financials: years \d+, expected \d+$/),
  ])
  expect(await spoil('employees', first('internal_id', 'internal_id + 1'))).toEqual([
    expect.stringMatching(/^employees: ids \d+, expected \d+$/),
  ])
  expect(await spoil('employees', '*', 1)).toContainEqual(
    expect.stringMatching(/^employees: rows \d+, expected \d+$/),
  )
})
