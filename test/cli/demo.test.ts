import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compareLakes } from '../../src/cli/demo/compare-lakes.ts'
import { checkRoundTrip } from '../../src/cli/demo/round-trip.ts'
import { companyLine, openBench, relationsLine } from '../run/batch-bench.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { cli } from './run-cli.ts'

/** Two folders: what a command works in, and the system's for temporary files. */
const folders = async (): Promise<{ cwd: string; env: { TMPDIR: string } }> => {
  const folder = await temporaryFolder()
  const [cwd, TMPDIR] = [join(folder, 'work'), join(folder, 'tmp')]
  for (const one of [cwd, TMPDIR]) await mkdir(one)
  return { cwd, env: { TMPDIR } }
}

/** What is left in the system's folder; Node's cache of compiled modules is not ours. */
const leftIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name !== 'node-compile-cache')

const answersOf = ({ stdout }: { readonly stdout: string }): string =>
  stdout.slice(stdout.indexOf('== What the second'), stdout.indexOf('== Served'))

test('demo shows what the second delivery changed, answers three questions, and pulls back over HTTP what it served; once more it loads nothing, and stopped while it serves it leaves nothing but its lake', async () => {
  const { cwd, env } = await folders()
  const first = await runCommand(['demo'], { cwd, env })
  expect(first.code, first.stderr).toBe(0)
  expect(first.stdout).toContain('1,710 lines: 1,710 records, 0 quarantined')
  expect(first.stdout).toContain('78 lines: 78 records, 0 quarantined')
  expect(answersOf(first)).toMatch(/\nSE +160 +146 +91\.3\n/)
  expect(answersOf(first)).toContain('\ncompanies:    12 new, 47 changed, 0 gone\n')
  expect(answersOf(first)).toMatch(/\nSkasø Energy Inc\. +US +2024 +8056400000 /)
  expect(first.stdout).toContain('\n  npm run -s firmlake -- query --lake ./lake\n')
  expect(first.stdout).toContain('Pulled 875 companies by cursor')
  expect(first.stdout).toContain('Pulled 821 relations by cursor')
  expect(first.stdout).toContain('Pulled 37 companies by batch file companies-PL-0001.jsonl.br')
  const compared = first.stdout.slice(first.stdout.indexOf('row by row:'), first.stdout.indexOf('Left out:'))
  for (const [table, rows] of Object.entries({ companies: '912', financials: '48,336', relations: '821' }))
    expect(compared).toMatch(new RegExp(`\\n${table} +${rows} +0 +0\\n`))
  expect(await leftIn(env.TMPDIR)).toEqual([])

  const stopped = await cli(['demo'], {
    cwd,
    env,
    onStart: (child) => {
      child.stdout?.on('data', (text: Buffer) => {
        if (String(text).includes('== Served')) child.kill('SIGINT')
      })
    },
  })
  expect(stopped.code).toBe(130)
  expect(stopped.stderr).toContain('error INTERRUPTED')
  expect(stopped.stdout).toContain('Nothing new to load: the lake stays as it is.')
  expect(answersOf(stopped)).toBe(answersOf(first))
  expect(await leftIn(env.TMPDIR)).toEqual([])
  expect(await readdir(cwd)).toEqual(['lake'])
  expect(await runCommand(['status', '--lake', join(cwd, 'lake')])).toMatchObject({ code: 0 })
})

test('compareLakes finds rows of one lake only, a Score of one country only, and checkRoundTrip refuses them', async () => {
  const [one, other] = [openBench(await temporaryFolder()), openBench(await temporaryFolder())]
  const compare = async (scoreOf: string) => {
    const tables = await compareLakes(one.lake, other.lake, {
      ...{ scoreOf, memoryBytes: 256 * 1024 ** 2 },
      signal: new AbortController().signal,
    })
    return Object.fromEntries(tables.map(({ table, ...counts }) => [table, Object.values(counts)]))
  }
  await one.write('companies.jsonl', [companyLine(1), companyLine(2), companyLine(3, { Score: 0.5 })])
  await one.write('relations.jsonl', [7, 8].map(relationsLine))
  await other.write('companies.jsonl', [
    companyLine(1),
    companyLine(2, {}, 9),
    companyLine(3),
    companyLine(4),
  ])
  await other.write('relations.jsonl', [8].map(relationsLine))
  for (const bench of [one, other]) await bench.run(['companies.jsonl', 'relations.jsonl'])
  expect(await compare('PL')).toEqual({
    ...{ companies: [3, 1, 2], financials: [6, 0, 2], employees: [0, 0, 0] },
    ...{ relations: [2, 1, 0], relation_entities: [2, 1, 0], ownerships: [0, 0, 0], roles: [0, 0, 0] },
    line_items: [104, 0, 0],
  })
  expect(await compare('SE')).toMatchObject({ companies: [3, 2, 3] })
})

test('checkRoundTrip refuses lakes that differ in a table', () => {
  const same = { table: 'companies', rows: 3, onlyFirst: 0, onlySecond: 0 }
  expect(() => checkRoundTrip({ compared: [same] })).not.toThrow()
  expect(() =>
    checkRoundTrip({ compared: [same, { ...same, table: 'roles', onlyFirst: 2, onlySecond: 1 }] }),
  ).toThrow(expect.objectContaining({ code: 'RECORDS_DIFFER', context: { onlyFirst: 2, onlySecond: 1 } }))
})

test('demo refuses a lake that holds far more than the sample', async () => {
  const { cwd, env } = await folders()
  const bench = openBench(cwd)
  const lines = Array.from({ length: 20_001 }, (_, at) => `{"BasicDetails":{"InternalId":${at + 1}}}`)
  await bench.write('companies.jsonl', lines)
  await bench.run(['companies.jsonl'])
  const { code, stderr } = await runCommand(['demo'], { cwd, env })
  expect(code).toBe(2)
  expect(stderr).toContain('holds 20913 companies')
})
