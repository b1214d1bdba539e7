import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { convert } from '../../../src/jobs/convert.ts'
import { report, reportTarget } from '../../../src/jobs/report.ts'
import { companyLine, openBench } from '../../run/batch-bench.ts'
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

test.each([
  ['a folder that is a file', 'file/report.html', 'WRITE_FAILED'],
  ['a folder in the way', 'folder.html', 'TARGET_REFUSED'],
  ['a folder that is missing', 'missing/report.html', 'WRITE_FAILED'],
])('a report fails before anything is asked where its place is %s', async (_, to, code) => {
  const { lake, folder, write } = openBench(await temporaryFolder())
  await write('a.jsonl', [companyLine(1)])
  await convert({ from: join(folder, 'a.jsonl'), lake })
  await writeFile(join(folder, 'file'), '')
  await mkdir(join(folder, 'folder.html'))
  const asked: string[] = []
  const done = report({ lake, to: join(folder, to), onProgress: ({ part }) => asked.push(part) })
  await expect(done).rejects.toMatchObject({ code })
  expect(asked).toEqual([])
})

test('looking at the place of a report leaves nothing there, and an earlier page as it is', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'report.html'), 'before')
  await reportTarget(join(folder, 'report.html')).check()
  expect(await readdir(folder)).toEqual(['report.html'])
  expect(await readFile(join(folder, 'report.html'), 'utf8')).toBe('before')
})
