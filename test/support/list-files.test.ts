import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listBusy, listFolder, listTree, removeLeftovers, statPath } from '../../src/support/list-files.ts'
import { temporaryName, thisProcess } from '../../src/support/process-identity.ts'
import { temporaryFolder } from './temporary-folder.ts'

test('listFolder gives names in order, and none for a folder that is not there', async () => {
  const folder = await temporaryFolder()
  for (const name of ['b', 'a', 'c']) await writeFile(join(folder, name), '')
  expect((await listFolder(folder)).map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  expect(await listFolder(join(folder, 'no'))).toEqual([])
  expect(await listFolder(join(folder, 'a'))).toEqual([])
})

test('listTree gives a folder before what is in it', async () => {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'a'))
  await writeFile(join(folder, 'a', 'b'), 'xyz')
  expect((await listTree(folder)).map(({ path, kind, bytes }) => [path, kind, bytes])).toEqual([
    [folder, 'folder', 0],
    [join(folder, 'a'), 'folder', 0],
    [join(folder, 'a', 'b'), 'file', 3],
  ])
  expect(await listTree(join(folder, 'no'))).toEqual([])
})

test('look does not follow a symbolic link', async () => {
  const folder = await temporaryFolder()
  await symlink(folder, join(folder, 'link'))
  expect((await statPath(join(folder, 'link')))?.kind).toBe('file')
})

test('removeLeftovers and listBusy go by the newest change in a folder of another boot', async () => {
  const folder = await temporaryFolder()
  const other = { ...thisProcess(), boot: 'another one' }
  const [working, left, dead] = [
    temporaryName(other),
    temporaryName(other),
    temporaryName({ ...thisProcess(), pid: 2 ** 30 }),
  ]
  for (const name of [working, left, dead, 'kept']) {
    await mkdir(join(folder, name))
    await writeFile(join(folder, name, 'part'), 'x')
  }
  for (const path of [join(left, 'part'), left, working, 'kept']) await utimes(join(folder, path), 0, 0)
  expect(await listBusy(folder)).toEqual([working])
  await removeLeftovers(folder)
  expect((await readdir(folder)).sort()).toEqual([working, 'kept'].sort())
})
