/** `convert --to`: into files or a database in one step, without a lake that stays. */

import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { ConvertedTo } from '../../src/index.ts'
import { Engine, type Session } from '../../src/lake/duckdb/engine.ts'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { companyLine } from '../run/batch-bench.ts'
import { sharedLake } from '../support/lakes.ts'
import { type CommandOptions, runCommand, runCommandJson } from '../support/run-command.ts'
import { expectSameRows } from '../support/same-rows.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { errorCode, SAMPLE } from './run-cli.ts'

const SOURCES = [`${SAMPLE}/companies-0001.jsonl.br`, `${SAMPLE}/relations-0001.jsonl.br`]

const convertTo = (
  from: readonly string[],
  to: string,
  args: readonly string[] = [],
  options?: CommandOptions,
) => runCommand(['convert', ...from, '--to', to, ...args], options)

const withSession = async <T>(use: (session: Session) => Promise<T>): Promise<T> => {
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  try {
    return await use(await engine.connect())
  } finally {
    engine.close()
  }
}

/** A file of good companies, and of lines that are none. */
const mixedFile = async (folder: string, good: number, bad: number): Promise<string> => {
  const path = join(folder, 'mixed.jsonl')
  const lines = [
    ...Array.from({ length: good }, (_, at) => companyLine(at + 1)),
    ...Array.from({ length: bad }, () => '{"BasicDetails":'),
  ]
  await writeFile(path, lines.map((line) => `${line}\n`).join(''))
  return path
}

test('convert --to writes what convert and export write, and leaves nothing else', async () => {
  const folder = await temporaryFolder()
  const [one, two] = ['one', 'two'].map((name) => join(folder, name))
  const report = await runCommandJson<ConvertedTo>(['convert', ...SOURCES, '--to', `parquet:${one}`])
  // Of the same files.
  const lake = await sharedLake('relations')
  await runCommandJson(['export', '--lake', lake, '--to', `parquet:${two}`])
  expect(report).toMatchObject({ records: 570, quarantined: 0, warnings: [], quarantinedBy: {} })
  expect(report.tables.map(({ table }) => table)).toEqual(TABLES.map(({ name }) => name))
  expect((await readdir(`${one}`)).sort()).toEqual(TABLES.map(({ name }) => `${name}.parquet`).sort())
  await withSession(async (session) => {
    for (const { name } of TABLES) {
      const [a, b] = [one, two].map((out) => `SELECT * FROM read_parquet('${out}/${name}.parquet')`)
      await expectSameRows(session, `${a}`, `${b}`, name)
    }
  })
})

test('convert --to takes a database, one table of a file, and no notice of FIRMLAKE_LAKE', async () => {
  const folder = await temporaryFolder()
  const [database, file] = [join(folder, 'firms.duckdb'), join(folder, 'companies.xlsx')]
  const env = { FIRMLAKE_LAKE: join(folder, 'lake') }
  const from = [await mixedFile(folder, 3, 0)]
  expect((await convertTo(from, database, [], { env })).code).toBe(0)
  const { code, stdout } = await convertTo(from, file, ['--table', 'companies'], { env })
  expect([code, stdout]).toEqual([0, expect.stringContaining(`3  ${file}`)])
  expect((await readdir(folder)).sort()).toEqual(['companies.xlsx', 'firms.duckdb', 'mixed.jsonl'])
})

test.each([[['--lake', 'lake']], [['--sink', 'csv:out']], [['--engine', 'temporal']], [['--mode', '0750']]])(
  'convert --to with %j is wrong usage',
  async (args) => {
    const cwd = await temporaryFolder()
    expect((await convertTo(SOURCES, 'parquet:out', args, { cwd })).code).toBe(2)
    expect(await readdir(cwd)).toEqual([])
  },
)

test('convert takes --table, --names and --overwrite only with --to, and needs a lake without', async () => {
  const cwd = await temporaryFolder()
  expect(
    (await runCommand(['convert', ...SOURCES, '--lake', 'lake', '--table', 'roles'], { cwd })).code,
  ).toBe(2)
  const without = await runCommand(['convert', ...SOURCES], { cwd, env: { FIRMLAKE_LAKE: '' } })
  expect([without.code, without.stderr]).toEqual([
    2,
    expect.stringContaining('Cannot tell which lake is meant'),
  ])
})

test('convert --to refuses a target that cannot be used before it reads anything', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'companies.csv'), 'mine')
  for (const to of [join(folder, 'companies.csv'), join(folder, 'no', 'such', 'x.csv'), `csv:${folder}`]) {
    const refused = await convertTo(['nowhere/'], to, ['--table', 'companies', '--json'])
    expect([refused.code, errorCode(refused)]).toEqual([1, 'TARGET_REFUSED'])
  }
  expect(await readdir(folder)).toEqual(['companies.csv'])
})

test('convert --to ends with 3 where too many lines are bad, and writes nothing', async () => {
  const folder = await temporaryFolder()
  const from = await mixedFile(folder, 3, 2)
  const refused = await convertTo([from], `csv:${join(folder, 'out')}`, ['--json'])
  expect([refused.code, errorCode(refused)]).toEqual([3, 'QUARANTINE_LIMIT'])
  expect(refused.stderr).toContain('2 of 5 lines are bad')
  expect(refused.stderr).not.toContain('.tmp-')
  expect(await readdir(join(folder, 'out'))).toEqual([])
})

test('convert --to says how many lines were left out and why', async () => {
  const folder = await temporaryFolder()
  const from = await mixedFile(folder, 3, 2)
  const args = ['--table', 'companies', '--max-quarantined', '50%']
  const { code, stderr } = await convertTo([from], join(folder, 'c.csv'), args)
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining('warning: 2 of 5 lines were left out (2 NOT_JSON)'),
  ])
  const report = await runCommandJson<ConvertedTo>(['convert', from, '--to', join(folder, 'd.csv'), ...args])
  expect(report).toMatchObject({ lines: 5, records: 3, quarantinedBy: { NOT_JSON: 2 } })
})

test('convert --to with --skip-bad-files ends with 6, and where all are bad writes nothing', async () => {
  const folder = await temporaryFolder()
  const [good, bad] = [await mixedFile(folder, 3, 0), join(folder, 'bad.jsonl.gz')]
  await writeFile(bad, Buffer.from('1f8b0800000000000003', 'hex'))
  const some = await convertTo([good, bad], join(folder, 'c.csv'), [
    '--table',
    'companies',
    '--skip-bad-files',
  ])
  expect([some.code, some.stdout]).toEqual([6, expect.stringContaining('DECODE_TRUNCATED')])
  const none = await convertTo([bad], join(folder, 'd.csv'), ['--table', 'companies', '--skip-bad-files'])
  expect([none.code, none.stdout]).toEqual([6, expect.stringContaining('nothing is written')])
  expect((await readdir(folder)).sort()).toEqual(['bad.jsonl.gz', 'c.csv', 'mixed.jsonl'])
})
