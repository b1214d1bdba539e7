/** An index whose maker was killed. */

import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildIndex } from '../../../../src/server/serving-index/build/build-index.ts'
import { openIndex } from '../../../../src/server/serving-index/open-index.ts'
import { type LoadedLake, Workbench } from '../../../load/loaded-lake.ts'
import { startChild } from '../../../support/children.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { loadServed, MEMORY_BYTES, requestOf, sampleLines } from '../served-lake.ts'

const CHILD = new URL('child-builds-index.ts', import.meta.url)

let bench: Workbench
let loaded: LoadedLake

beforeAll(async () => {
  bench = await Workbench.open()
  loaded = await loadServed(
    bench,
    { content: 'companies', lines: await sampleLines('companies', 10) },
    { content: 'relations', lines: await sampleLines('relations', 10) },
  )
})
afterAll(() => bench.close())

/** Where an index may be made in a folder of its own. */
const newFolder = async (): Promise<string> => join(await temporaryFolder(), 'copies', '1')
const opens = async (folder: string): Promise<void> =>
  (await openIndex({ folder, memoryBytes: MEMORY_BYTES })).close()

test('buildIndex after a kill removes what the killed maker left', async () => {
  const child = startChild(CHILD, loaded.lake, await newFolder())
  const folder = (await child.nextLine()) ?? ''
  const [left] = await readdir(dirname(folder))
  expect(left).toMatch(/^\.tmp-/)
  // As long as it works its folder is its own.
  await buildIndex(requestOf(loaded, { folder: join(dirname(folder), '2') }))
  expect(await readdir(dirname(folder))).toEqual([left, '2'])
  await child.kill()
  await buildIndex(requestOf(loaded, { folder }))
  expect(await readdir(dirname(folder))).toEqual(['1', '2'])
  await opens(folder)
})
