/** Notes of `query` go to standard error, as JSON where the answer is JSON, and nowhere with --no-notes; the answer is the same. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { convert } from '../../src/jobs/convert.ts'
import { query as ask } from '../../src/jobs/query.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { type CliResult, runCommand } from '../support/run-command.ts'

const company = (InternalId: number, CurrentCurrencyCode: string, sales: object): object => ({
  BasicDetails: { InternalId, CompanyName: `Company ${InternalId}`, CountryCode: 'SE' },
  MetaData: { CurrentCurrencyCode, FinancialFigureScale: 'None' },
  Financials: { ProfitAndLoss: { NetSales: sales } },
})
const COMPANIES = [company(1, 'SEK', { 1900: 100, 2020: 100 }), company(2, 'EUR', { 1900: 3, 2020: 3 })]

let folder = ''
let lake = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  lake = join(folder, 'lake')
  await convert({ from: fromRecords('crm', COMPANIES), lake })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const query = (...args: string[]): Promise<CliResult> => runCommand(['query', '--lake', lake, ...args])
const SUM = "SELECT sum(value)::INT AS n FROM financials WHERE line_item = 'NetSales' AND fiscal_year = 2020"

/** On a machine that is too slow to count the currencies in time the general sentence. */
const NOTE = /^note: (?:adds 2 currencies|may add several currencies).+\n$/

test('a sum over two currencies is answered, and noted on standard error', async () => {
  const { code, stdout, stderr } = await query(SUM)
  expect([code, stdout.trim().split('\n').at(-1)?.trim()]).toEqual([0, '103'])
  expect(stderr).toMatch(NOTE)
})

test.each(['csv', 'markdown', 'parquet'])(
  '--format %s leaves the notes on standard error',
  async (format) => {
    const { code, stdout, stderr } = await query(SUM, '--format', format)
    expect([code, stdout.includes('note: ')]).toEqual([0, false])
    expect(stderr).toMatch(NOTE)
  },
)

test('query() of the library calls onNote with each, and has the rows', async () => {
  const notes: string[] = []
  const rows = await ask({ lake, sql: SUM, onNote: (one) => notes.push(one) })
  expect(rows).toEqual([{ n: 103 }])
  expect(notes.map((one) => `note: ${one}\n`)).toEqual([expect.stringMatching(NOTE)])
})

test('--json has the notes as JSON', async () => {
  const { code, stdout, stderr } = await query(SUM, '--json')
  expect([code, stdout]).toEqual([0, '[\n{"n":103}\n]\n'])
  expect(JSON.parse(stderr)).toEqual({ notes: [expect.stringMatching(/^(?:adds|may add) /)] })
})

test('--no-notes prints none', async () => {
  expect(await query(SUM, '--json', '--no-notes')).toEqual({
    code: 0,
    stdout: '[\n{"n":103}\n]\n',
    stderr: '',
  })
})
