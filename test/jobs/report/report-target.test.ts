import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { reportTarget } from '../../../src/jobs/report/report.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777

test('a new page is its maker’s alone, and one that was opened to others stays open', async () => {
  const folder = join(await temporaryFolder(), 'web')
  await mkdir(folder)
  await chmod(folder, 0o755)
  const path = join(folder, 'report.html')
  await reportTarget(path).write(Buffer.from('one'))
  expect(await modeOf(path)).toBe(0o600)
  await chmod(path, 0o644)
  await reportTarget(path).write(Buffer.from('two'))
  expect([await modeOf(path), await readFile(path, 'utf8')]).toEqual([0o644, 'two'])
})

test('a link in the place of a page is replaced, and its file stays as it is', async () => {
  const folder = await temporaryFolder()
  const [path, other] = [join(folder, 'report.html'), join(folder, 'other')]
  await writeFile(other, 'kept')
  await symlink(other, path)
  await reportTarget(path).write(Buffer.from('page'))
  expect([await readFile(other, 'utf8'), await readFile(path, 'utf8')]).toEqual(['kept', 'page'])
})
