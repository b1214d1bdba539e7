/** Who may read what commands write: by the modes on the disk, for the tests may run as root. */

import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyLake } from '../support/lakes.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { cli, errorCode, SAMPLE_COMPANIES } from './run-cli.ts'

/** Modes of everything below a folder: of folders and of files. */
const modesOf = async (path: string): Promise<{ readonly folders: string[]; readonly files: string[] }> => {
  const found = await readdir(path, { recursive: true, withFileTypes: true })
  const [folders, files] = [new Set<string>(), new Set<string>()]
  for (const entry of found) {
    const { mode } = await lstat(join(entry.parentPath, entry.name))
    ;(entry.isDirectory() ? folders : files).add((mode & 0o7777).toString(8))
  }
  return { folders: [...folders], files: [...files].sort() }
}
const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o7777).toString(8)

/** Runs commands one after the other with a umask, the first as a process: its entry has the umask too. */
const runWith = async (umask: number, ...commands: readonly (readonly string[])[]): Promise<void> => {
  const own = process.umask(umask)
  try {
    for (const [at, args] of commands.entries()) {
      const { code, stderr } = await (at === 0 ? cli : runCommand)(args)
      expect(code, `${args.join(' ')}: ${stderr}`).toBe(0)
    }
  } finally {
    process.umask(own)
  }
}

/** All that is written into a lake. */
const everything = (lake: string): string[][] => [
  ['convert', SAMPLE_COMPANIES, '--lake', lake],
  ['batches', 'make', '--lake', lake],
  ['publish', 'delta', '--lake', lake],
  ['publish', 'iceberg', '--lake', lake],
  ['compact', '--lake', lake],
]

// The lax one: a strict one keeps others out by itself.
test.each([0o022])('a new lake is its maker’s alone with umask %o, whatever is made in it', async (umask) => {
  const lake = join(await temporaryFolder(), 'lake')
  await runWith(umask, ...everything(lake))
  expect(await modeOf(lake)).toBe('700')
  // Nobody may write to lake.ducklake.
  expect(await modesOf(lake)).toEqual({ folders: ['700'], files: ['400', '600'] })
})

// The strict one would take the group's bits.
test.each([0o077])('a folder that is shared stays shared with umask %o', async (umask) => {
  const lake = join(await temporaryFolder(), 'lake')
  await mkdir(lake)
  await chmod(lake, 0o2770)
  await runWith(umask, ...everything(lake))
  expect(await modeOf(lake)).toBe('2770')
  expect(await modesOf(lake)).toEqual({ folders: ['2770'], files: ['440', '660'] })
})

test('--mode is the mode of a new lake, of one that is there it is said that it stays', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  expect((await runCommand(['convert', SAMPLE_COMPANIES, '--lake', lake, '--mode', '0750'])).code).toBe(0)
  expect(await modeOf(lake)).toBe('750')
  expect(await modesOf(lake)).toEqual({ folders: ['750'], files: ['440', '640'] })
  const again = await runCommand(['convert', SAMPLE_COMPANIES, '--lake', lake, '--mode', '0770'])
  expect(again.code).toBe(0)
  expect(again.stderr).toContain('exists with mode 0750, which --mode does not change')
  expect(await modeOf(lake)).toBe('750')
})

test.each(['0777', '600', 'rwx', '99'])('--mode %s is refused', async (mode) => {
  const result = await runCommand(['convert', SAMPLE_COMPANIES, '--lake', './none', '--mode', mode, '--json'])
  expect([result.code, errorCode(result)]).toEqual([2, 'USAGE'])
})

test.each([0o022])('exports are their maker’s alone with umask %o', async (umask) => {
  const folder = await temporaryFolder()
  const [lake, out, shared] = ['lake', 'out', 'shared'].map((name) => join(folder, name))
  for (const [path, mode] of [
    [String(out), 0o755],
    [String(shared), 0o770],
  ] as const) {
    await mkdir(path)
    await chmod(path, mode)
  }
  const exportTo = (to: string): string[] => [
    ...['export', '--lake', String(lake), '--table', 'line_items', '--to', to],
  ]
  await copyLake('companies', String(lake))
  await runWith(
    umask,
    ...['x.csv', 'x.jsonl', 'x.parquet', 'x.arrow', 'x.duckdb'].flatMap((name) => [
      exportTo(`${out}/${name}`),
      exportTo(`${shared}/${name}`),
    ]),
    ['export', '--lake', String(lake), '--to', `csv:${folder}/tables`],
  )
  expect(await modesOf(String(out))).toEqual({ folders: [], files: ['600'] })
  expect(await modesOf(String(shared))).toEqual({ folders: [], files: ['660'] })
  expect(await modeOf(join(folder, 'tables'))).toBe('700')
  expect(await modesOf(join(folder, 'tables'))).toEqual({ folders: [], files: ['600'] })
})

test.each(['companies', '_manifest', '_runs'])(
  'convert does not follow a symbolic link in the place of "%s"',
  async (name) => {
    const [lake, elsewhere] = [await temporaryFolder(), await temporaryFolder()]
    await symlink(elsewhere, join(lake, name))
    const result = await runCommand(['convert', SAMPLE_COMPANIES, '--lake', lake, '--json'])
    expect([result.code, errorCode(result)]).toEqual([1, 'WRITE_FAILED'])
    expect(result.stderr).toContain('is a symbolic link, expected a folder')
    expect(await readdir(elsewhere)).toEqual([])
  },
)

test('rates, batch files, publications and gc do not follow a link either, and a lake may be one', async () => {
  const [folder, elsewhere] = [await temporaryFolder(), await temporaryFolder()]
  const [real, lake, csv] = ['real', 'lake', 'rates.csv'].map((name) => join(folder, name))
  await symlink(String(real), String(lake))
  await writeFile(String(csv), 'currency,year,units_per_usd\nSEK,2024,10.5\n')
  await copyLake('companies', String(real))
  const refused = async (link: string, ...args: string[]): Promise<void> => {
    await symlink(elsewhere, join(String(real), link))
    const result = await runCommand([...args, '--lake', String(lake), '--json'])
    expect([result.code, errorCode(result)], `${args}`).toEqual([1, 'WRITE_FAILED'])
  }
  await mkdir(join(elsewhere, '00000001'))
  await writeFile(join(elsewhere, '00000001', 'file'), 'as it was')
  await refused('_rates', 'rates', 'load', String(csv))
  await refused('_serve', 'batches', 'make')
  await refused('_batches', 'gc')
  await refused('relations', 'publish', 'delta')
  expect(await readdir(elsewhere)).toEqual(['00000001'])
  expect(await readFile(join(elsewhere, '00000001', 'file'), 'utf8')).toBe('as it was')
})
