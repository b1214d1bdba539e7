import { readdir, readFile, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inLake, SERVE_FOLDER, snapshotPath } from '../../../../src/lake/files/layout.ts'
import { readSnapshot } from '../../../../src/manifest/snapshots/snapshots.ts'
import { currentIndex } from '../../../../src/server/serving-index/build/current-index.ts'
import { hashFile } from '../../../../src/support/hash.ts'
import { type LoadedLake, Workbench } from '../../../load/loaded-lake.ts'
import { createSnapshot } from '../../../manifest/write-snapshot.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { fileOf, lengthEmbedder, loadServed, MEMORY_BYTES, sampleLines } from '../served-lake.ts'

let bench: Workbench
let loaded: LoadedLake
beforeAll(async () => {
  bench = await Workbench.open()
  loaded = await loadServed(bench, { content: 'companies', lines: await sampleLines('companies', 20) })
})
afterAll(() => bench.close())

const served = (
  snapshot?: number,
  embedder = lengthEmbedder,
  onUnusable: (reason: Error) => void = () => undefined,
) => currentIndex({ lake: loaded.lake, snapshot, memoryBytes: MEMORY_BYTES, embedder, onUnusable })

test('currentIndex makes the copy of the newest snapshot, and uses it the next time', async () => {
  const first = await served()
  const { sha256 } = await hashFile(inLake(loaded.lake, snapshotPath(1)))
  expect(first.description).toMatchObject({ snapshot: 1, snapshotSha256: sha256 })
  await first.close()
  const folder = join(inLake(loaded.lake, SERVE_FOLDER), '00000001')
  const file = join(folder, await fileOf(folder, 'search'))
  const before = await stat(file)
  const second = await served()
  expect((await stat(file)).ino).toBe(before.ino)
  await second.close()
})

test('currentIndex makes an index of each snapshot, and anew for another embedder', async () => {
  const snapshot = { ...(await readSnapshot(loaded.lake, 1)), snapshot: 2, parent: 1 }
  await createSnapshot(loaded.lake, snapshot)
  for (const number of [1, 2, undefined]) {
    const copy = await served(number)
    expect(copy.description.snapshot).toBe(number ?? 2)
    await copy.close()
  }
  expect(await readdir(inLake(loaded.lake, SERVE_FOLDER))).toEqual(['00000001', '00000002'])
  const other = await served(2, { ...lengthEmbedder, name: 'other' })
  expect(other.description.embedder.name).toBe('other')
  await other.close()
})

test('currentIndex makes a damaged copy in the lake anew and says why', async () => {
  await (await served(1)).close()
  const folder = join(inLake(loaded.lake, SERVE_FOLDER), '00000001')
  const companies = await fileOf(folder, 'companies')
  const whole = await readFile(join(folder, companies))
  for (const name of [companies, 'index.json', 'files.json', await fileOf(folder, 'search')]) {
    await truncate(join(folder, name), 10)
    const said: string[] = []
    const copy = await served(1, lengthEmbedder, ({ message }) => said.push(message))
    expect(said).toEqual([expect.stringMatching(new RegExp(`^Cannot use serving index .*"${name}"`))])
    expect(await readFile(join(folder, companies))).toEqual(whole)
    await copy.close()
  }
})

test('currentIndex refuses a damaged copy that it cannot make anew', async () => {
  const folder = join(await temporaryFolder(), 'copies', '1')
  const request = {
    lake: loaded.lake,
    snapshot: 1,
    memoryBytes: MEMORY_BYTES,
    embedder: lengthEmbedder,
    folder,
  }
  await (await currentIndex(request)).close()
  await truncate(join(folder, await fileOf(folder, 'companies')), 10)
  await expect(currentIndex(request)).rejects.toMatchObject({ code: 'INDEX_UNUSABLE' })
})

test('currentIndex refuses a lake that is none, and a snapshot that is not there', async () => {
  await expect(served(9)).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' })
  const none = currentIndex({
    lake: await temporaryFolder(),
    memoryBytes: MEMORY_BYTES,
    embedder: lengthEmbedder,
  })
  await expect(none).rejects.toMatchObject({ code: 'LAKE_NOT_FOUND' })
})
