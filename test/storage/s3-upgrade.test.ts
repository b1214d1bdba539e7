/** A lake of an earlier release in a bucket is upgraded and taken back as one in a folder. */

import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { LAKE_ID_PATH } from '../../src/lake/lake/layout.ts'
import { takeBack } from '../../src/pipeline/upgrade/take-back.ts'
import { upgradeLake } from '../../src/pipeline/upgrade/upgrade-lake.ts'
import type { Storage } from '../../src/storage/storage.ts'
import { sha256Of } from '../../src/support/hash.ts'
import { hashLake } from '../pipeline/batch-bench.ts'
import { filesBelow, openEarlier } from '../pipeline/upgrade/earlier-lake.ts'
import { LAKE, s3Bench } from './s3-bench.ts'

/** Without the lake's id, which a lake keeps once it has one. */
const hashesOf = async (storage: Storage): Promise<ReadonlyMap<string, string>> => {
  const hashes = new Map<string, string>()
  for (const { path } of await storage.list(''))
    if (path !== LAKE_ID_PATH) hashes.set(path, sha256Of((await storage.read(path)) ?? Buffer.alloc(0)))
  return hashes
}

test('an upgrade of a lake in a bucket changes its forms and no row, and is taken back', async (context) => {
  const { open } = await s3Bench(context)
  const earlier = await openEarlier('1-first')
  const storage = open()
  await storage.prepare(['_manifest', '_runs'])
  for (const path of (await filesBelow(earlier.lake)).keys())
    await storage.create(path, await readFile(`${earlier.lake}/${path}`))
  const [files, rows] = [await hashesOf(storage), await hashLake(earlier.lake)]
  const { changes, snapshot } = await upgradeLake({ lake: LAKE })
  expect(changes.map(({ part }) => part)).toEqual(['rates', 'manifest', 'hashes', 'publications'])
  expect(snapshot).toBe(4)
  expect(await hashLake(LAKE)).toEqual(rows)
  expect(await upgradeLake({ lake: LAKE })).toEqual({ kind: 'nothing', snapshot: 4, changes: [] })
  expect(await takeBack(LAKE)).toEqual({ kind: 'taken back', snapshot: 3, format: 1 })
  expect(await hashesOf(storage)).toEqual(files)
  expect(await hashLake(LAKE)).toEqual(rows)
  expect((await upgradeLake({ lake: LAKE })).changes).toEqual(changes)
  expect(await hashLake(LAKE)).toEqual(rows)
})
