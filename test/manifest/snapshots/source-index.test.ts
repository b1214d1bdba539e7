import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { inLake, partPath } from '../../../src/lake/files/layout.ts'
import { decodeKeys, hasKey, keysOf } from '../../../src/manifest/form/part-summary.ts'
import { readRoot } from '../../../src/manifest/snapshots/snapshots.ts'
import { SourceIndex } from '../../../src/manifest/snapshots/source-index.ts'
import { sha256Of } from '../../../src/support/hash.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { loadSources } from '../small-lake.ts'

const hashesOf = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => sha256Of(`source ${from + at}`))

test('hasKey finds every source that is there, and hardly one that is not', () => {
  const keys = decodeKeys(keysOf(hashesOf(0, 1000)))
  expect(keys.length).toBeLessThanOrEqual(3000)
  expect(hashesOf(0, 1000).every((hash) => hasKey(keys, hash))).toBe(true)
  expect(hashesOf(1000, 3000).filter((hash) => hasKey(keys, hash)).length).toBeLessThan(10)
  expect(hasKey(decodeKeys(keysOf([])), sha256Of('a'))).toBe(false)
})

test('SourceIndex finds what was loaded, and opens no part for what was not', async () => {
  const lake = await temporaryFolder()
  for (const sources of [['a', 'b'], ['c']]) await loadSources(lake, sources)
  const root = await readRoot(lake)
  const found = await new SourceIndex(lake, root).partitionsOf(new Set(['a', 'c', 'd'].map(sha256Of)))
  expect(found.map(({ id }) => id)).toEqual(['a-0', 'c-0'])
  const index = new SourceIndex(lake, root)
  expect([
    await index.holds('companies', sha256Of('b')),
    await index.holds('relations', sha256Of('b')),
  ]).toEqual([true, false])
  for (const { ref } of root.lists.partitions) await rm(inLake(lake, partPath(ref.name)))
  const blind = new SourceIndex(lake, root)
  expect(await blind.holds('companies', sha256Of('other'))).toBe(false)
  await expect(blind.holds('companies', sha256Of('b'))).rejects.toMatchObject({ code: 'SNAPSHOT_DAMAGED' })
  expect(await new SourceIndex(lake, null).holds('companies', sha256Of('b'))).toBe(false)
})

test('a SourceIndex since an earlier snapshot opens no part that both list, and finds what came later', async () => {
  const lake = await temporaryFolder()
  // Too many to be merged with a single one.
  await loadSources(lake, ['a', 'b', 'c', 'd'])
  const before = await readRoot(lake)
  await loadSources(lake, ['new'])
  const index = new SourceIndex(lake, await readRoot(lake), before)
  const hashes = new Set(['new', 'a'].map((name) => sha256Of(name)))
  expect((await index.partitionsOf(hashes)).map(({ id }) => id)).toEqual(['new-0'])
})
