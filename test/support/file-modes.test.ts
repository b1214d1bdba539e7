import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createIfAbsent, makeFolder, replaceDurably } from '../../src/support/durable-files.ts'
import { adoptFile, adoptOutput, FILE_FLAGS, openFile, refuseLinks } from '../../src/support/file-modes.ts'
import { temporaryFolder } from './temporary-folder.ts'

const SOURCE = join(import.meta.dirname, '../../src')

const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o7777).toString(8)

/** A folder of given mode bits and group, whatever the umask. */
const folderOf = async (mode: number, group = process.getgid?.() ?? 0): Promise<string> => {
  const folder = join(await temporaryFolder(), 'there')
  await mkdir(folder)
  const { chown } = await import('node:fs/promises')
  await chown(folder, process.getuid?.() ?? 0, group)
  await chmod(folder, mode)
  return folder
}

test('makeFolder makes a new folder, and those above it, its maker’s alone', async () => {
  const above = join(await folderOf(0o777), 'a')
  await makeFolder(join(above, 'b'))
  expect(await Promise.all([above, join(above, 'b')].map(modeOf))).toEqual(['700', '700'])
})

test.each([0o700, 0o750, 0o770, 0o775, 0o2770])(
  'makeFolder hands the mode bits %o of a folder on',
  async (mode) => {
    const within = await folderOf(mode)
    await makeFolder(join(within, 'a', 'b'), { within })
    const text = mode.toString(8)
    expect(await Promise.all([join(within, 'a'), join(within, 'a', 'b')].map(modeOf))).toEqual([text, text])
  },
)

test('makeFolder never hands on that everybody may write, and nothing of a folder such as /tmp', async () => {
  const [open, sticky] = [await folderOf(0o777), await folderOf(0o1777)]
  for (const within of [open, sticky]) await makeFolder(join(within, 'a'), { within })
  expect(await modeOf(join(open, 'a'))).toBe('775')
  expect(await modeOf(join(sticky, 'a'))).toBe('700')
})

test('makeFolder gives a new holder the mode that is asked for, and leaves one that is there as it is', async () => {
  const [there, fresh] = [await folderOf(0o750), join(await folderOf(0o700), 'lake')]
  for (const within of [there, fresh]) await makeFolder(join(within, 'a'), { within, mode: 0o2770 })
  expect(await Promise.all([there, join(there, 'a'), fresh, join(fresh, 'a')].map(modeOf))).toEqual([
    '750',
    '750',
    '2770',
    '2770',
  ])
})

test('makeFolder takes the group of the folder, and so do files', async (context) => {
  if (process.getuid?.() !== 0) return context.skip('only root may give away groups')
  const within = await folderOf(0o770, 4321)
  const file = join(within, 'a', 'file')
  await makeFolder(join(within, 'a'), { within })
  await createIfAbsent(file, 'text')
  const made = await Promise.all([join(within, 'a'), file].map((path) => stat(path)))
  expect(made.map(({ gid }) => gid)).toEqual([4321, 4321])
})

test.each([
  [0o700, '600'],
  [0o750, '640'],
  [0o2770, '660'],
  [0o755, '644'],
])(
  'files that are created, replaced or adopted take the bits of a folder of mode %o',
  async (mode, expected) => {
    const folder = await folderOf(mode)
    const [created, replaced, adopted, opened] = ['a', 'b', 'c', 'd'].map((name) => join(folder, name))
    await createIfAbsent(String(created), '')
    await replaceDurably(String(replaced), '')
    await writeFile(String(adopted), '', { mode: 0o666 })
    await adoptFile(String(adopted))
    await (await openFile(String(opened), FILE_FLAGS.emptied)).close()
    const paths = [created, replaced, adopted, opened].map(String)
    expect(await Promise.all(paths.map(modeOf))).toEqual(paths.map(() => expected))
  },
)

test.each([
  [0o700, '600'],
  [0o755, '600'],
  [0o1777, '600'],
  [0o770, '660'],
  [0o775, '660'],
  [0o2750, '640'],
])(
  'adoptOutput in a folder of mode %o grants the group what it shares, and others nothing',
  async (mode, expected) => {
    const path = join(await folderOf(mode), 'export.csv')
    await writeFile(path, '', { mode: 0o666 })
    await adoptOutput(path)
    expect(await modeOf(path)).toBe(expected)
  },
)

test('makeFolder and refuseLinks refuse a link below a folder, which itself may be one', async () => {
  const [real, elsewhere] = [await temporaryFolder(), await temporaryFolder()]
  const within = join(elsewhere, 'lake')
  await symlink(real, within)
  await makeFolder(join(within, 'good'), { within })
  await refuseLinks(within, join(within, 'good'))
  await symlink(elsewhere, join(real, 'companies'))
  const path = join(within, 'companies', 'load')
  await expect(makeFolder(path, { within })).rejects.toMatchObject({ code: 'ELOOP' })
  await expect(refuseLinks(within, path)).rejects.toMatchObject({ code: 'ELOOP' })
  expect(await lstat(join(elsewhere, 'load')).catch(() => null)).toBeNull()
})

test('openFile follows no link', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'victim'), 'as it was')
  await symlink('victim', join(folder, 'journal'))
  for (const flags of Object.values(FILE_FLAGS))
    await expect(openFile(join(folder, 'journal'), flags)).rejects.toMatchObject({ code: /ELOOP|EEXIST/ })
  expect(await readFile(join(folder, 'victim'), 'utf8')).toBe('as it was')
})

test('makeFolder ends where a folder takes none', async (context) => {
  if (process.platform !== 'linux') context.skip('only Linux has /proc')
  await expect(makeFolder('/proc/firmlake/a/b')).rejects.toMatchObject({ code: 'ENOENT' })
})

test('no code makes folders as Node does with "recursive", which never ends there', async () => {
  const recursive = /\bmkdir(Sync)?\([^()]*(\([^()]*\)[^()]*)*\brecursive\b/
  for (const name of await readdir(SOURCE, { recursive: true }))
    if (name.endsWith('.ts'))
      expect([name, recursive.exec(await readFile(join(SOURCE, name), 'utf8'))]).toEqual([name, null])
})
