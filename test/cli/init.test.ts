/** `init`: a first firmlake.toml, tried at once; and the lake of a command that names none. */

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { firstSettings } from '../../src/config/first-settings.ts'
import { openPullBench } from '../service/pull-bench.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { SAMPLE_COMPANIES } from './run-cli.ts'

const NO_VARIABLES = { FIRMLAKE_LAKE: '', FIRMLAKE_URL: '', FIRMLAKE_TOKEN: '', FIRMLAKE_CONFIG: '' }

const codeIn = (stderr: string): string | undefined => /^error ([A-Z_]+):/m.exec(stderr)?.[1]

const runner =
  (cwd: string) =>
  (...args: readonly string[]) =>
    runCommand(args, { cwd, env: NO_VARIABLES })

test('init for files writes what a first night needs, and later commands find the lake by it', async () => {
  const folder = await temporaryFolder()
  const run = runner(folder)
  await mkdir(join(folder, 'in "box"'))
  await writeFile(join(folder, 'in "box"', 'companies.jsonl.br'), await readFile(SAMPLE_COMPANIES))
  const made = await run('init', '--files', 'in "box"', '--lake', 'firms')
  expect(made.stderr).toBe('')
  expect(made.code).toBe(0)
  expect(made.stdout).toContain('The core and what is configured have all they need.')
  expect(made.stdout).toMatch(/\n {2}firmlake nightly\n$/)
  const text = await readFile(join(folder, 'firmlake.toml'), 'utf8')
  const keys = text.split('\n').filter((line) => line !== '')
  expect(keys.filter((line) => !/#|^name = |^\[service\]$|^content = |^search = /.test(line))).toEqual([])

  const night = await run('nightly', '--quiet')
  expect([night.code, night.stderr]).toEqual([0, ''])
  const asked = await run('query', 'SELECT count(*) > 10 AS many FROM companies')
  expect(asked.stdout).toContain('true')
})

test('init replaces no file', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'firmlake.toml'), 'lake = "mine"\n', { mode: 0o644 })
  const { code, stderr } = await runner(folder)('init', '--files', '.')
  expect([code, codeIn(stderr)]).toEqual([2, 'USAGE'])
  expect(await readFile(join(folder, 'firmlake.toml'), 'utf8')).toBe('lake = "mine"\n')
})

test.each([
  ['nothing to load', [], 'USAGE'],
  ['a folder that is not there', ['--files', 'nowhere'], 'USAGE'],
  ['no address', ['--service', 'service'], 'ADDRESS_REFUSED'],
  ['an address with a password', ['--service', 'https://me:secret@service.example.com'], 'ADDRESS_REFUSED'],
  ['an option in place of the lake', ['--files', '.', '--lake', '--quiet'], 'USAGE'],
])('init writes nothing for %s', async (_, args, code) => {
  const folder = await temporaryFolder()
  const { stderr, stdout } = await runner(folder)('init', ...args)
  expect(codeIn(stderr)).toBe(code)
  expect(stderr + stdout).not.toContain('secret')
  expect(await readdir(folder)).toEqual([])
})

test('init for a service says where the token belongs; with it the trial is well, and a night loads', async () => {
  const { fake } = await openPullBench({
    companies: [1, 2, 3].map((id) => ({ id, country: 'SE' })),
    now: new Date().toISOString(),
  })
  const folder = await temporaryFolder()
  const run = runner(folder)
  const made = await run('init', '--service', fake.url)
  expect(made.code).toBe(1)
  expect(made.stdout).toContain('TOKEN_MISSING')
  // The service could not be asked how many companies it has.
  expect(made.stdout).toContain('whole = "sunday" #')
  expect(made.stdout).toMatch(/FIRMLAKE_TOKEN=….* >> \.env\)\n {2}firmlake doctor --online\n$/)

  await writeFile(join(folder, '.env'), `FIRMLAKE_TOKEN=${fake.token}\n`, { mode: 0o600 })
  const tried = await run('doctor', '--online')
  expect([tried.code, tried.stdout]).toEqual([
    0,
    expect.stringContaining('The core and what is configured have all they need.'),
  ])
  const night = await run('nightly', '--quiet')
  expect([night.code, night.stderr]).toEqual([0, ''])
  expect(JSON.parse(night.stdout)).toMatchObject({ outcome: 'done', parts: [{ records: 3 }, {}, {}] })
})

test('init asks how many companies there are: of few a sync asks for no more, and finds each night which left', async () => {
  const { fake } = await openPullBench({
    companies: [1, 2, 3].map((id) => ({ id, country: 'SE' })),
    now: new Date().toISOString(),
  })
  const cwd = await temporaryFolder()
  const env = { ...NO_VARIABLES, FIRMLAKE_TOKEN: fake.token }
  const made = await runCommand(['init', '--service', fake.url], { cwd, env })
  expect([made.code, made.stderr]).toEqual([0, ''])
  expect(made.stdout).toContain('# Of 3 companies it asks 14 requests a week, no more than a pull')
  const night = await runCommand(['nightly', '--quiet'], { cwd, env })
  expect(JSON.parse(night.stdout)).toMatchObject({
    outcome: 'done',
    parts: [{ name: 'relations' }, { kind: 'sync', records: 3 }, {}],
  })
})

test.each([
  [500, '[[sync]]', '# Of 500 companies it asks 14 requests a week,'],
  [501, '[[pull]]', '# Of 501 companies that asks 15 requests a week, a [[sync]] each night 21.'],
  [160_000, '[[pull]]', '# Of 160,000 companies that asks 333 requests a week, a [[sync]] each night 2,247.'],
] as const)('of %i companies a first file has %s, and says why', (companies, section, reason) => {
  const text = firstSettings({
    lake: 'lake',
    service: 'https://service.example.com',
    counted: { companies, pageSize: 500 },
  })
  expect(text).toContain(reason)
  expect(text.indexOf(section)).toBeLessThan(text.indexOf(reason))
  expect(text.includes('whole = "sunday"')).toBe(section === '[[pull]]')
})

test('a command that names no lake takes ./lake where that is one, and else says where it looked', async () => {
  const folder = await temporaryFolder()
  const run = runner(folder)
  await mkdir(join(folder, 'lake'))
  for (const args of [['status'], ['convert', SAMPLE_COMPANIES], ['publish', 'delta']]) {
    const { code, stderr } = await run(...args)
    expect([code, codeIn(stderr)]).toEqual([2, 'USAGE'])
    expect(stderr).toMatch(/--lake, FIRMLAKE_LAKE, .*firmlake\.toml, or a lake in \.\/lake/)
  }
  expect((await run('convert', SAMPLE_COMPANIES, '--lake', 'lake')).code).toBe(0)
  expect((await run('status')).stdout).toContain('snapshot 1')
  expect((await run('convert', SAMPLE_COMPANIES)).stdout).toContain('already')
  expect((await run('publish', 'delta')).code).toBe(0)
  for (const shown of [await run('config', 'show'), await run('config', 'show', 'status')])
    expect(shown.stdout).toMatch(/^(--)?lake +\.\/lake +default$/m)

  await writeFile(join(folder, 'firmlake.toml'), 'lake = "other"\n', { mode: 0o644 })
  expect(codeIn((await run('status')).stderr)).toBe('LAKE_NOT_FOUND')
})
