import { chmod, chown, mkdir, readdir, stat, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { homeFolder, isPrivateFolder, workBase } from '../../src/support/work-base.ts'
import { temporaryFolder } from './temporary-folder.ts'

/** `above/cache/own`, whose `cache` has these mode bits. */
const ownBelow = async (mode: number): Promise<string> => {
  const cache = join(await temporaryFolder(), 'cache')
  await mkdir(join(cache, 'own'), { recursive: true, mode: 0o700 })
  await chmod(cache, mode)
  return join(cache, 'own')
}

test.each([
  [0o700, true],
  [0o755, true],
  [0o777, false],
  [0o1777, true],
])('a folder of its own below one with mode %o is private: %s', async (mode, isPrivate) => {
  expect(isPrivateFolder(await ownBelow(mode))).toBe(isPrivate)
})

test('a folder that others can write is not private, nor is a link to one', async () => {
  const folder = await ownBelow(0o700)
  await chmod(folder, 0o777)
  await symlink(folder, `${folder}-link`)
  expect([isPrivateFolder(folder), isPrivateFolder(`${folder}-link`)]).toEqual([false, false])
})

test('a folder below one of another user is not private', async (context) => {
  if (process.getuid?.() !== 0) context.skip('only root gives a folder to another user')
  const folder = await ownBelow(0o755)
  await chown(join(folder, '..'), 12345, 12345)
  expect(isPrivateFolder(folder)).toBe(false)
})

test('a user without a home works in a folder among the temporary files that is theirs alone', async () => {
  const temporary = await temporaryFolder()
  const home = (): string => homeFolder('', temporary)
  expect(workBase({}, home)).toBe(join(home(), '.cache', 'firmlake'))
  expect((await stat(home())).mode & 0o777).toBe(0o700)
  expect(await readdir(temporary)).toEqual([basename(home())])
  await chmod(home(), 0o777)
  expect(() => workBase({}, home)).toThrow('others can write there')
  expect(workBase({ XDG_CACHE_HOME: '/cache' }, home)).toBe('/cache/firmlake')
  expect(workBase({ FIRMLAKE_WORK_DIR: '/work' }, home)).toBe('/work')
  expect(homeFolder('/home/anna', temporary)).toBe('/home/anna')
})
