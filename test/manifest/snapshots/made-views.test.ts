import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { madeViews } from '../../../src/manifest/snapshots/lake-file.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

test('views are made once, and again where what was kept is damaged or may be of another user', async () => {
  const work = await temporaryFolder()
  const env = { FIRMLAKE_WORK_DIR: work }
  const folder = join(work, 'views')
  const made = await madeViews(env)
  const [name = ''] = await readdir(folder)
  const file = join(folder, name)
  const kept = await readFile(file)
  const writtenAt = async (): Promise<number> => (await stat(file)).mtimeMs
  const first = await writtenAt()
  expect(await madeViews(env)).toEqual(made)
  expect(await writtenAt()).toBe(first)
  const flipped = Buffer.from(kept)
  flipped[kept.length - 1] = (flipped[kept.length - 1] ?? 0) ^ 1
  for (const damaged of [flipped, kept.subarray(0, 70), Buffer.alloc(0)]) {
    await writeFile(file, damaged)
    expect((await madeViews(env)).length).toBe(made.length)
    expect((await readFile(file)).length).toBe(kept.length)
  }
  await chmod(file, 0o666)
  expect(await madeViews(env)).not.toEqual(Buffer.alloc(0))
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})

test('a folder that cannot be written costs time only', async () => {
  const file = join(await temporaryFolder(), 'a file')
  await writeFile(file, '')
  expect((await madeViews({ FIRMLAKE_WORK_DIR: file })).length).toBeGreaterThan(0)
})
