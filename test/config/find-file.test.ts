import { chmod, chown, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findConfig } from '../../src/config/find-file.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** A folder with a file, and a folder below it to work in. */
const project = async (text = 'lake = "lake"') => {
  const folder = await temporaryFolder()
  const cwd = join(folder, 'a', 'b')
  await mkdir(cwd, { recursive: true, mode: 0o755 })
  const path = join(folder, 'firmlake.toml')
  await writeFile(path, text, { mode: 0o644 })
  return { folder, cwd, path }
}

test('findConfig finds the nearest file upwards, and .env beside it without what the environment has', async () => {
  const { folder, cwd, path } = await project()
  await writeFile(join(folder, '.env'), 'ONE=1\nTWO="2 # two"\n# no\n', { mode: 0o600 })
  await writeFile(join(cwd, '.env'), 'THREE=3\n', { mode: 0o600 })
  const found = await findConfig({ cwd, env: { ONE: 'mine' } })
  expect(found.file?.path).toBe(path)
  expect(found.file?.settings.lake).toBe(join(folder, 'lake'))
  expect(found.env).toEqual({ TWO: '2 # two' })
  expect(found.notices).toEqual([])
})

test('findConfig takes no file that somebody else could have written, says why, and looks further up', async () => {
  const { folder, cwd, path } = await project()
  const near = join(cwd, 'firmlake.toml')
  await writeFile(near, 'lake = "theirs"', { mode: 0o644 })
  const search = () => findConfig({ cwd, env: {} })
  expect((await search()).file?.path).toBe(near)
  await chmod(near, 0o666)
  expect(await search()).toMatchObject({
    file: { path },
    notices: [expect.stringContaining(`others can write to "${near}"`)],
  })
  await chmod(near, 0o644)
  await chmod(cwd, 0o777)
  expect(await search()).toMatchObject({
    file: { path },
    notices: [expect.stringContaining(`its folder "${cwd}"`)],
  })
  await chmod(cwd, 0o755)
  // Whoever is not root cannot give a file away, but can ask as somebody else.
  const isRoot = process.getuid?.() === 0
  if (isRoot) await chown(near, 54_321, 54_321)
  const asked = await findConfig({ cwd, env: {}, ...(!isRoot && { uid: 54_321 }) })
  expect(asked.notices[0]).toContain(`"${near}" belongs to another user`)
  expect(asked.file?.path).toBe(isRoot ? path : undefined)
  expect((await findConfig({ cwd, env: {}, named: 'firmlake.toml', uid: 54_321 })).file?.path).toBe(near)
  await chmod(folder, 0o777)
  expect((await findConfig({ cwd: folder, env: {} })).file).toBeUndefined()
})

test('findConfig follows a link only to a place where nobody else can write', async () => {
  const { cwd, path } = await project()
  const open = await temporaryFolder()
  await writeFile(join(open, 'x.toml'), 'lake = "theirs"', { mode: 0o644 })
  await symlink(join(open, 'x.toml'), join(cwd, 'firmlake.toml'))
  await chmod(open, 0o777)
  const { file, notices } = await findConfig({ cwd, env: {} })
  expect(file?.path).toBe(path)
  expect(notices).toEqual([expect.stringContaining(`its folder "${open}"`)])
})

test('findConfig takes no .env that others can write to', async () => {
  const { folder, cwd } = await project()
  await writeFile(join(folder, '.env'), 'ONE=1\n')
  await chmod(join(folder, '.env'), 0o666)
  const { env, notices } = await findConfig({ cwd, env: {} })
  expect(env).toEqual({})
  expect(notices).toEqual([expect.stringContaining('.env" is not used')])
})

test('findConfig refuses a named file that is not there or no file', async () => {
  const cwd = await temporaryFolder()
  await expect(findConfig({ cwd, env: {}, named: 'x.toml' })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('"x.toml" does not exist'),
  })
  await expect(findConfig({ cwd, env: {}, named: '.' })).rejects.toThrow('is no file')
})
