import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listFolder, listTree, statPath } from '../../src/support/list-files.ts'
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
