import { link, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readFileList, writeFileList } from '../../../src/manifest/form/file-list.ts'
import { verifyLake } from '../../../src/manifest/verify/verify-lake.ts'
import { sha256Of } from '../../../src/support/hash.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { countLines, loadSources } from '../small-lake.ts'

/** A lake with a folder for serving that was made from its snapshot 1. */
const lakeWith = async (parent: string): Promise<{ lake: string; folder: string }> => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const folder = join(lake, parent, '00000001')
  await mkdir(folder, { recursive: true })
  const strings = { 'a.jsonl': '{"a":1}\n', 'index.json': '{}' }
  for (const [name, text] of Object.entries(strings)) await writeFile(join(folder, name), text)
  await writeFileList(
    folder,
    Object.entries(strings).map(([name, text]) => ({ name, bytes: text.length, sha256: sha256Of(text) })),
  )
  return { lake, folder }
}
const verify = (lake: string, snapshot?: number) => verifyLake({ lake, snapshot, countRows: countLines })

test.each(['_serve', '_batches'])(
  'verifyLake names each changed byte, cut and missing file in %s',
  async (parent) => {
    const { lake, folder } = await lakeWith(parent)
    expect(await verify(lake)).toMatchObject({ madeFiles: 2, problems: [], notes: [] })
    for (const name of ['a.jsonl', 'index.json', 'files.json']) {
      const path = join(folder, name)
      const good = await readFile(path)
      const problemsAre = async (problem: unknown): Promise<void> =>
        expect((await verify(lake)).problems).toEqual([
          { path: `${parent}/00000001/${name}`, problem, detail: expect.any(String) },
        ])
      // Of the list here only some: each byte of it is tried below.
      const step = Math.ceil(good.length / 20)
      for (let at = 0; at < good.length; at += step) {
        const bad = Buffer.from(good)
        bad[at] = (bad[at] ?? 0) ^ 1
        await writeFile(path, bad)
        await problemsAre('changed')
      }
      await writeFile(path, good.subarray(0, -1))
      await problemsAre(name === 'files.json' ? 'changed' : 'cut')
      if (name !== 'files.json') {
        await rm(path)
        await problemsAre('missing')
      }
      await writeFile(path, good)
    }
    await writeFile(join(folder, 'a.jsonl'), 'other')
    expect((await verify(lake, 1)).problems).toHaveLength(1)
  },
)

test('verifyLake reads a file that serving indexes share once, and names it in each of them', async () => {
  const { lake, folder } = await lakeWith('_serve')
  await loadSources(lake, ['b'])
  const second = join(lake, '_serve', '00000002')
  await mkdir(second)
  for (const name of await readdir(folder)) await link(join(folder, name), join(second, name))
  const read: number[] = []
  const verified = await verifyLake({
    lake,
    countRows: countLines,
    onProgress: ({ bytesTotal }) => read.push(bytesTotal),
  })
  const { bytes } = await verify(lake)
  expect(verified).toMatchObject({ madeFiles: 4, problems: [] })
  expect(read.at(-1)).toBe(bytes + '{"a":1}\n{}'.length)
  await writeFile(join(folder, 'a.jsonl'), 'other')
  expect((await verify(lake)).problems.map(({ path }) => path)).toEqual([
    '_serve/00000001/a.jsonl',
    '_serve/00000002/a.jsonl',
  ])
})

test('readFileList takes no list with a changed byte', async () => {
  const { folder } = await lakeWith('_serve')
  const path = join(folder, 'files.json')
  const good = await readFile(path)
  expect(await readFileList(folder)).toMatchObject({ kind: 'list' })
  for (let at = 0; at < good.length; at += 1) {
    const bad = Buffer.from(good)
    bad[at] = (bad[at] ?? 0) ^ 1
    await writeFile(path, bad)
    expect(await readFileList(folder), `byte ${at}`).toMatchObject({ kind: 'changed' })
  }
})

test('verifyLake finds a folder without its list', async () => {
  const { lake, folder } = await lakeWith('_serve')
  await rm(join(folder, 'files.json'))
  expect((await verify(lake)).problems).toMatchObject([
    { path: '_serve/00000001/files.json', problem: 'missing' },
  ])
})
