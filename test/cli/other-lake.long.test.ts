/** Targets belong to one lake, and settings of a lake to that lake: a scratch lake overwrites nothing. */

import { readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readLakeId } from '../../src/manifest/snapshots/lake-id.ts'
import { companyLine, openBench } from '../run/batch-bench.ts'
import { type CliResult, runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { errorCode } from './run-cli.ts'

const named = (id: number, name: string): string =>
  companyLine(id, { BasicDetails: { InternalId: id, CompanyName: name, CountryCode: 'SE' } })

const project = async (toml = '') => {
  const { folder, write } = openBench(await temporaryFolder())
  await write('ours.jsonl', [named(1, 'Ours')])
  await write('theirs.jsonl', [named(1, 'Theirs'), named(2, 'Theirs too')])
  if (toml !== '') await writeFile(join(folder, 'firmlake.toml'), toml, { mode: 0o644 })
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<CliResult> =>
    runCommand(args, { cwd: folder, env: { FIRMLAKE_LAKE: '', FIRMLAKE_CONFIG: '', ...env } })
  const done = async (args: readonly string[], env = {}): Promise<CliResult> => {
    const result = await run(args, env)
    expect([result.code, result.stderr]).toEqual([0, expect.any(String)])
    return result
  }
  return { folder, run, done }
}

const namesIn = async (folder: string): Promise<readonly string[]> => {
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(join(folder, 'firms.duckdb'))
  const connection = await instance.connect()
  const rows = await connection.runAndReadAll('SELECT company_name FROM companies ORDER BY internal_id')
  connection.closeSync()
  instance.closeSync()
  return rows.getRows().map(([name]) => String(name))
}

const SINKS = ['firms.duckdb', 'csv:out']
const sinks = SINKS.flatMap((sink) => ['--sink', sink])

test('sinks refuse the rows of another lake, by every command that delivers, until they are handed over', async () => {
  const { folder, run, done } = await project()
  await done(['convert', 'ours.jsonl', '--lake', 'ours', ...sinks])
  await done(['convert', 'theirs.jsonl', '--lake', 'theirs'])
  const csvBefore = await readdir(join(folder, 'out'), { recursive: true })
  for (const command of [
    ['convert', 'theirs.jsonl', '--lake', 'theirs'],
    ['convert', 'theirs.jsonl', '--lake', 'theirs', '--again'],
    ['compact', '--lake', 'theirs'],
    ['resume', '--lake', 'theirs'],
  ])
    for (const sink of SINKS) {
      const result = await run([...command, '--sink', sink, '--json'])
      expect([command, sink, result.code, errorCode(result)]).toEqual([
        command,
        sink,
        1,
        'TARGET_OF_ANOTHER_LAKE',
      ])
      expect(result.stderr).toContain('--adopt')
    }
  const exported = await run(['export', '--lake', 'theirs', '--to', 'firms.duckdb', '--json'])
  expect([exported.code, errorCode(exported)]).toEqual([1, 'TARGET_OF_ANOTHER_LAKE'])
  const converted = await run(['convert', 'theirs.jsonl', '--to', 'firms.duckdb', '--json'])
  expect([converted.code, errorCode(converted)]).toEqual([1, 'TARGET_OF_ANOTHER_LAKE'])
  expect(await namesIn(folder)).toEqual(['Ours'])
  expect(await readdir(join(folder, 'out'), { recursive: true })).toEqual(csvBefore)
  const adopted = await done(['compact', '--lake', 'theirs', ...sinks, '--adopt'])
  expect(adopted.stderr.match(/it is from now on/g)).toHaveLength(2)
  expect(await namesIn(folder)).toEqual(['Theirs', 'Theirs too'])
  for (const sink of SINKS) {
    const result = await run(['resume', '--lake', 'ours', '--sink', sink, '--json'])
    expect(errorCode(result)).toBe('TARGET_OF_ANOTHER_LAKE')
  }
})

test('a lake that was made anew in the same place is another one; compaction, gc and forget keep the id', async () => {
  const { folder, run, done } = await project()
  await done(['convert', 'ours.jsonl', '--lake', 'lake', ...sinks])
  const id = await readLakeId(join(folder, 'lake'))
  expect(id).toMatch(/^[0-9a-f]{32}$/)
  await done(['convert', 'theirs.jsonl', '--lake', 'lake', ...sinks])
  await done(['compact', '--lake', 'lake', ...sinks])
  await done(['gc', '--lake', 'lake', '--keep', '1'])
  await done(['forget', '--lake', 'lake', '--company', '2'])
  expect(await readLakeId(join(folder, 'lake'))).toBe(id)
  expect(JSON.parse((await done(['status', '--lake', 'lake', '--json'])).stdout).id).toBe(id)
  await rm(join(folder, 'lake'), { recursive: true })
  const anew = await run(['convert', 'ours.jsonl', '--lake', 'lake', '--sink', 'csv:out', '--json'])
  expect([anew.code, errorCode(anew)]).toEqual([1, 'TARGET_OF_ANOTHER_LAKE'])
})

test('a copy is another lake but with --same-lake; a lake and a target without a mark are adopted, which is said', async () => {
  const { folder, run, done } = await project()
  await done(['convert', 'ours.jsonl', '--lake', 'lake', ...sinks])
  await done(['copy', 'lake', 'other'])
  await done(['copy', 'lake', 'same', '--same-lake'])
  const [lake, other, same] = await Promise.all(
    ['lake', 'other', 'same'].map((one) => readLakeId(join(folder, one))),
  )
  expect(same).toBe(lake)
  expect(other).toMatch(/^[0-9a-f]{32}$/)
  expect(other).not.toBe(lake)
  expect(errorCode(await run(['resume', '--lake', 'other', '--sink', 'csv:out', '--json']))).toBe(
    'TARGET_OF_ANOTHER_LAKE',
  )
  await done(['resume', '--lake', 'same', ...sinks])
  expect(errorCode(await run(['copy', 'lake', 'other', '--same-lake', '--json']))).toBe('USAGE')
  // As a lake is that has lost its id, and a target without a mark.
  await rm(join(folder, 'lake/_manifest/lake-id.json'))
  await rm(join(folder, 'out/_lake'))
  const adopted = await done(['resume', '--lake', 'lake', '--sink', 'csv:out'])
  expect(adopted.stderr).toContain('Sink "csv" showed rows without being this lake\'s: it is from now on')
  const now = await readLakeId(join(folder, 'lake'))
  expect((await readFile(join(folder, 'out/_lake'), 'utf8')).trim()).toBe(now)
  expect((await done(['resume', '--lake', 'lake', '--sink', 'csv:out'])).stderr).not.toContain('from now on')
})

const TOML = `lake = "lake"
[targets]
sinks = ["csv:out"]
[check]
min_companies = 5
[take]
leave_out = ["companies.email"]
`
const OTHER =
  /^"scratch" is not the lake of ".*firmlake\.toml", ".*lake": its \[targets\], \[check\] and \[report\] do not apply/m

test('with a lake that is not the one of firmlake.toml its targets and checks do not apply, and what it takes does', async () => {
  const { folder, run, done } = await project(TOML)
  await done(['convert', 'ours.jsonl'])
  const before = await readdir(join(folder, 'out'), { recursive: true })
  expect(before.length).toBeGreaterThan(2)
  const scratch = await done(['convert', 'theirs.jsonl', '--lake', 'scratch'])
  expect(scratch.stderr).toMatch(OTHER)
  const byVariable = await done(['convert', 'theirs.jsonl', '--again'], { FIRMLAKE_LAKE: 'scratch' })
  expect(byVariable.stderr).toMatch(OTHER)
  const compacted = await done(['compact', '--lake', 'scratch'])
  expect(compacted.stderr).toMatch(OTHER)
  expect(await readdir(join(folder, 'out'), { recursive: true })).toEqual(before)
  const own = await run(['check', '--json'])
  expect(own.code).toBe(5)
  const checked = await run(['check', '--lake', 'scratch'])
  expect(checked.stdout).not.toContain('min_companies')
  // What a lake takes holds for every lake.
  const status = await done(['status', '--lake', 'scratch'])
  expect(status.stdout).toContain('companies.email')
})

test('the lake of firmlake.toml is the same by another way to it, and in a copy that keeps its id', async () => {
  const { folder, done } = await project(TOML.replace(/\[check\][^[]*/, ''))
  await done(['convert', 'ours.jsonl'])
  await symlink(join(folder, 'lake'), join(folder, 'way'))
  for (const lake of ['lake', './lake/', join(folder, 'lake'), 'way', 'same']) {
    if (lake === 'same') await done(['copy', 'lake', 'same', '--same-lake'])
    const result = await done(['convert', 'theirs.jsonl', '--lake', lake, '--again', '--json'])
    expect([lake, result.stderr]).toEqual([lake, expect.not.stringContaining('is not the lake of')])
    expect([lake, JSON.parse(result.stdout)]).toEqual([lake, expect.objectContaining({ lake })])
  }
})

test('a file that names no lake owns whichever is given', async () => {
  const { folder, done } = await project('[targets]\nsinks = ["csv:out"]\n')
  const result = await done(['convert', 'ours.jsonl', '--lake', 'any'])
  expect(result.stderr).not.toContain('is not the lake of')
  expect((await readdir(join(folder, 'out'))).length).toBeGreaterThan(1)
})

test('a night with another lake in FIRMLAKE_LAKE delivers to no target of the file', async () => {
  const { folder, run, done } = await project(`${TOML}[[files]]\nname = "ours"\nfrom = ["theirs.jsonl"]\n`)
  await done(['convert', 'ours.jsonl'])
  const before = await readdir(join(folder, 'out'), { recursive: true })
  const night = await run(['nightly', '--json'], { FIRMLAKE_LAKE: join(folder, 'scratch') })
  expect([night.code, night.stderr]).toEqual([0, expect.stringContaining('is not the lake of')])
  expect(await readdir(join(folder, 'out'), { recursive: true })).toEqual(before)
  expect(JSON.parse(night.stdout).parts.map(({ kind }: { readonly kind: string }) => kind)).toEqual(['files'])
})

test('a compaction leaves out of a sink what the sink is not to receive', async () => {
  const { folder, done } = await project('[sink_take]\nleave_out = ["companies.company_name"]\n')
  await done(['convert', 'ours.jsonl', '--lake', 'lake'])
  await done(['convert', 'theirs.jsonl', '--lake', 'lake'])
  await done(['compact', '--lake', 'lake', '--sink', 'firms.duckdb'])
  expect(await namesIn(folder)).toEqual(['null', 'null'])
})
