import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CliResult, runCommand, runCommandJson } from '../support/run-command.ts'
import { errorCode } from './run-cli.ts'

let folder = ''
let lake = ''

const company = (InternalId: number, sales: number): object => ({
  BasicDetails: { InternalId, CountryCode: 'SE' },
  MetaData: { CurrentCurrencyCode: 'SEK' },
  Financials: { ProfitAndLoss: { NetSales: { 2022: sales } } },
})

const load = async (name: string, ...companies: readonly object[]): Promise<void> => {
  const path = join(folder, name)
  await writeFile(path, companies.map((one) => `${JSON.stringify(one)}\n`).join(''))
  await runCommandJson(['convert', path, '--lake', lake, '--content', 'companies'])
}

/** Snapshot 2 restates company 1, snapshot 3 brings company 3. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  lake = join(folder, 'lake')
  await load('first.jsonl', company(1, 10), company(2, 20))
  await load('second.jsonl', company(1, 11), company(2, 20))
  await load('third.jsonl', company(3, 30))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const diff = (...args: readonly string[]): Promise<CliResult> => runCommand(['diff', '--lake', lake, ...args])

describe('diff', () => {
  test('compares the newest snapshot with the one before it', async () => {
    const { code, stdout, stderr } = await diff()
    // On a busy machine it takes long enough to show how far it is.
    expect([code, stderr.replaceAll(/^Comparing .*\n/gm, '')]).toEqual([0, ''])
    const lines = stdout.split('\n')
    expect(lines[0]).toMatch(/^From snapshot 2 \(.* UTC\) to 3 \(.* UTC\)$/)
    expect(lines.slice(1)).toEqual([
      'companies:    1 new, 0 changed, 0 gone',
      'relations:    0 new, 0 changed, 0 gone',
      'restatements: 0 changed, 0 added, 0 withdrawn, of 0 companies',
      '',
      'kind     change  internal_id  country_code  differs  company_name',
      '───────  ──────  ───────────  ────────────  ───────  ────────────',
      'company  new               3  SE',
      '',
    ])
  })

  test('shows restated figures in a table of their own', async () => {
    const { stdout } = await diff('--from', '1', '--to', '2', '--only', 'restatements')
    expect(stdout.split('\n').slice(3)).toEqual([
      'restatements: 1 changed, 0 added, 0 withdrawn, of 1 companies',
      '',
      expect.stringMatching(/^change +internal_id +country_code +consolidation +category +line_item/),
      expect.stringMatching(/^─/),
      expect.stringMatching(/^changed +1 +SE +\S+ +ProfitAndLoss +NetSales +2022 +10 +SEK +11 +SEK +10$/),
      '',
    ])
  })

  test('--format json is one document with the counts and the rows', async () => {
    const { stdout } = await diff('--from', '1', '--format', 'json')
    expect(JSON.parse(stdout)).toMatchObject({
      summary: {
        from: { snapshot: 1 },
        to: { snapshot: 3 },
        companies: { new: 1, changed: 1, gone: 0, currencyChanged: 0 },
        restatements: { changed: 1, added: 0, withdrawn: 0, companies: 1 },
      },
      rows: [
        { kind: 'company', change: 'changed', internal_id: 1, differs: 'financials' },
        { kind: 'company', change: 'new', internal_id: 3, differs: null },
        { kind: 'restatement', change: 'changed', fiscal_year: 2022, old_value: 10, new_value: 11 },
      ],
    })
    expect((await diff('--from', '1', '--json')).stdout).toBe(stdout)
  })

  test('--format json of two equal snapshots has no rows', async () => {
    const { stdout } = await diff('--from', '3', '--to', '3', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ rows: [] })
  })

  test('--format csv has the rows only, as many as --limit says', async () => {
    const { stdout } = await diff('--from', '1', '--format', 'csv', '--limit', '1')
    expect(stdout).toBe(
      'kind,change,internal_id,country_code,differs,consolidation,category,line_item,fiscal_year,old_value,' +
        'old_currency,new_value,new_currency,company_name,percent,columns\r\ncompany,changed,1,SE,financials,,,,,,,,,,,\r\n',
    )
  })

  test('of the first snapshot needs --from', async () => {
    const result = await diff('--to', '1', '--json')
    expect([result.code, errorCode(result)]).toEqual([1, 'SNAPSHOT_NOT_FOUND'])
  })

  test.each([
    ['--from', '9'],
    ['--to', '9'],
  ])('with %s %s of no snapshot ends with SNAPSHOT_NOT_FOUND', async (...args) => {
    expect(errorCode(await diff(...args, '--json'))).toBe('SNAPSHOT_NOT_FOUND')
  })

  test('with an unknown part is wrong usage', async () => {
    expect((await diff('--only', 'figures')).code).toBe(2)
  })
})
