/** What a command loads before it works: a start is as fast as it is short. */

import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import own from '../../package.json' with { type: 'json' }
import { FIXED_NODE } from '../../src/core/brotli.ts'
import { pretendingModule } from '../support/pretend-node.ts'
import type { CliResult } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { cli, SAMPLE_COMPANIES } from './run-cli.ts'

const PRELOAD = new URL('preload-modules.ts', import.meta.url).href

interface Start {
  readonly result: CliResult
  /** Paths below `src/`. */
  readonly files: readonly string[]
  readonly packages: readonly string[]
  /** Modules of Node's own. */
  readonly own: readonly string[]
}

const start = async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Start> => {
  const file = join(await temporaryFolder(), 'modules')
  const result = await cli(args, { env: { NODE_OPTIONS: `--import ${PRELOAD}`, MODULES_FILE: file, ...env } })
  const urls = (await readFile(file, 'utf8').catch(() => '')).split('\n')
  const below = (folder: RegExp): string[] => urls.flatMap((url) => folder.exec(url)?.[1] ?? [])
  const packages = below(/.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//)
  return {
    result,
    files: below(/^.*\/src\/(.*)$/),
    packages: [...new Set(packages)].sort(),
    own: below(/^node:(.*)$/),
  }
}

const DUCKDB = ['@duckdb/node-api', '@duckdb/node-bindings']
/** DuckDB's own choice of its binding. */
const CHOICE = ['detect-libc', `@duckdb/node-bindings-${process.platform}-${process.arch}`]
const without = (packages: readonly string[], others: readonly string[]): string[] =>
  packages.filter((one) => !others.includes(one))

test('--version loads the version, and nothing else', async () => {
  for (const word of ['--version', '-v', '-V', 'version']) {
    const { result, files, packages } = await start([word])
    expect(result).toMatchObject({ code: 0, stdout: `${own.version}\n`, stderr: '' })
    expect(packages).toEqual([])
    expect(files).toEqual(['cli/main.ts', 'support/own-package.ts'])
  }
  expect((await cli(['--quiet', '--version'])).stdout).toBe(`${own.version}\n`)
})

test('the help of a command loads commander, and nothing that the command works with', async () => {
  const { result, files, packages } = await start(['query', '--help'])
  expect(result).toMatchObject({ code: 0, stderr: '' })
  expect(packages).toEqual(['commander'])
  expect(files.filter((file) => /^(lake\/(duckdb|query|files)|jobs|manifest|storage)\//.test(file))).toEqual(
    [],
  )
})

test('convert loads DuckDB, and no other way in or out than that of files', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const { result, files, packages } = await start(['convert', SAMPLE_COMPANIES, '--lake', lake])
  expect(result.code).toBe(0)
  expect(without(packages, CHOICE)).toEqual([...DUCKDB, 'commander', 'p-limit', 'yocto-queue'])
  expect(files.filter((file) => file.startsWith('cli/commands/'))).toEqual(['cli/commands/convert.ts'])
  expect(
    files.filter((file) => /^(server|publish|sink\/(arrow|postgres)|source\/service)\//.test(file)),
  ).toEqual([])

  const query = await start(['query', '--lake', lake, 'SELECT 1'])
  expect(query.result.code).toBe(0)
  expect(without(query.packages, CHOICE)).toEqual([...DUCKDB, 'commander', 'p-limit', 'yocto-queue'])
  expect(
    query.files.filter((file) => /^(server|publish|load|source|pipeline\/(?!run\/))/.test(file)),
  ).toEqual([])

  expect(query.own).not.toContain('zlib')

  const status = await start(['status', '--lake', lake])
  expect(status.result.code).toBe(0)
  expect(status.own).not.toContain('zlib')
  expect(status.packages).toEqual(['commander', 'p-limit', 'yocto-queue'])
})

test('an older Node is refused by name before anything is imported', async () => {
  const file = join(await temporaryFolder(), 'modules')
  for (const [version, isRefused] of [
    ['20.20.2', true],
    ['22.18.0', true],
    ['22.19.0', false],
    ['26.0.0', false],
  ] as const) {
    const env = {
      NODE_OPTIONS: `--import ${pretendingModule(version)} --import ${PRELOAD}`,
      MODULES_FILE: file,
    }
    const { code, stdout, stderr } = await cli(['--version'], { env })
    if (!isRefused) expect([code, stderr]).toEqual([0, ''])
    else {
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr).toContain(`firmlake needs ${FIXED_NODE}; this is `)
      const loaded = (await readFile(file, 'utf8')).split('\n').filter((url) => url.includes('/src/'))
      expect(loaded).toEqual([new URL('../../src/cli/main.ts', import.meta.url).href])
    }
  }
})

test('a vulnerable Node loads plain files, and Brotli only of one who says that the files are theirs', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const env = { NODE_OPTIONS: `--import ${pretendingModule('24.21.0')}` }
  const refused = await cli(['convert', SAMPLE_COMPANIES, '--lake', lake], { env })
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toContain(`(CVE-2026-111497), expected ${FIXED_NODE}; FIRMLAKE_UNSAFE_NODE=1 allows`)
  const doctor = await cli(['doctor'], { env })
  expect(doctor.code).toBe(1)
  expect(doctor.stdout).toMatch(/MISSING +node +Node 24\.21\.0: Brotli data can overwrite its memory/)
  const own = await cli(['convert', SAMPLE_COMPANIES, '--lake', lake], {
    env: { ...env, FIRMLAKE_UNSAFE_NODE: '1' },
  })
  expect(own.code).toBe(0)
})

/** A process that has no cache but the one it makes itself, as a user's. */
const ALONE = { NODE_COMPILE_CACHE: '' }

test('the second start takes every module but the entry out of the cache', async () => {
  const work = await temporaryFolder()
  const env = { ...ALONE, FIRMLAKE_WORK_DIR: work, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' }
  const first = await cli(['query', '--help'], { env })
  expect(first.stderr).toContain('no transpile cache for StrippedTypeScript')
  const second = await cli(['query', '--help'], { env })
  expect(second.stderr).not.toContain('no transpile cache')
  expect(second.stderr.match(/V8 code cache for \S+ \S+ was accepted/g)?.length).toBeGreaterThan(10)
  expect(await readdir(work)).toEqual(['compiled'])
})

test('a start without a folder for the cache is a start all the same', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'file')
  await writeFile(file, '')
  const { stdout } = await cli(['query', '--help'])
  for (const env of [
    { FIRMLAKE_WORK_DIR: file },
    { FIRMLAKE_WORK_DIR: '', XDG_CACHE_HOME: '/proc/none' },
    { FIRMLAKE_WORK_DIR: '', XDG_CACHE_HOME: '', HOME: join(folder, 'home') },
  ])
    expect(await cli(['query', '--help'], { env: { ...ALONE, ...env } })).toEqual({
      code: 0,
      stdout,
      stderr: '',
    })
  expect(await readdir(folder)).toEqual(['file'])
})

test('code is not taken from a folder that others can write', async () => {
  const work = await temporaryFolder()
  const compiled = join(work, 'compiled')
  await mkdir(compiled)
  await chmod(compiled, 0o777)
  expect(await cli(['query', '--help'], { env: { ...ALONE, FIRMLAKE_WORK_DIR: work } })).toMatchObject({
    code: 0,
  })
  expect(await readdir(compiled)).toEqual([])
})

test('Ctrl-C in the midst of a start ends it without a word', async () => {
  const { result } = await start(['status', '--lake', './none'], {
    INTERRUPT_AT: '/commander/lib/command.js',
  })
  expect(result).toEqual({ code: null, stdout: '', stderr: '' })
})
