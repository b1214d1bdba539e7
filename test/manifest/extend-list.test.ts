import { randomBytes } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { FileOfRun } from '../../src/core/partition.ts'
import { inLake, PARTS_FOLDER } from '../../src/lake/lake/layout.ts'
import { extendList, PartWriter } from '../../src/manifest/extend-list.ts'
import { makeLake } from '../../src/manifest/runs.ts'
import { listOf, type SnapshotRoot } from '../../src/manifest/snapshot-root.ts'
import { sha256Of } from '../../src/support/hash.ts'
import { newRunId } from '../../src/support/run-ids.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const HASH = sha256Of('')
const runAt = (day: number): string =>
  newRunId(new Date(Date.UTC(2026, 0, 1 + day)), () => new Uint8Array([0, 0, day % 256]))

const filesOf = (run: string, count: number): readonly FileOfRun[] =>
  Array.from({ length: count }, (_, at) => ({
    ...{
      table: 'line_items',
      path: `line_items/load=${run}/${at}.parquet`,
      rows: at,
      bytes: at,
      sha256: HASH,
    },
    run,
    ...{ committed: { snapshot: 1, time: '' }, version: at + 1 },
  }))

type Files = SnapshotRoot['lists']['files']

/** Appends a list again and again. @returns all entries, and the root's parts after each time */
const extendAgain = async (lake: string, counts: readonly number[]) => {
  await makeLake(lake)
  const all: FileOfRun[] = []
  const roots: Files[] = []
  for (const [at, count] of counts.entries()) {
    const added = filesOf(runAt(at), count)
    all.push(...added)
    const writer = new PartWriter({ lake, run: runAt(at) }, randomBytes)
    roots.push(await extendList(writer, 'files', roots.at(-1) ?? [], added))
  }
  return { all, roots }
}

const listed = (lake: string, files: Files): Promise<readonly FileOfRun[]> =>
  listOf(lake, { lists: { partitions: [], files, pulls: [], merged: [] } }, 'files')

test('extendList keeps the order of entries, and a root lists few parts however long the list is', async () => {
  const lake = await temporaryFolder()
  const { all, roots } = await extendAgain(
    lake,
    Array.from({ length: 60 }, () => 400),
  )
  expect(await listed(lake, roots.at(-1) ?? [])).toEqual(all)
  expect(Math.max(...roots.map((parts) => parts.length))).toBeLessThan(16)
  const levels = (roots.at(-1) ?? []).map(({ ref }) => ref.level)
  expect(levels).toEqual(levels.toSorted((a, b) => b - a))
  expect(levels[0]).toBe(1)
  // Every root reads as it did: no part was written again.
  expect(await listed(lake, roots[9] ?? [])).toEqual(all.slice(0, 4000))
})

test('extendList writes each entry a number of times that grows with the logarithm', async () => {
  const lake = await temporaryFolder()
  const { all, roots } = await extendAgain(
    lake,
    Array.from({ length: 128 }, () => 1),
  )
  const names = await readdir(inLake(lake, PARTS_FOLDER))
  const sizes = await Promise.all(names.map((name) => stat(join(inLake(lake, PARTS_FOLDER), name))))
  const once = all.reduce((sum, file) => sum + JSON.stringify(file).length + 1, 0)
  const written = sizes.reduce((sum, { size }) => sum + size, 0)
  expect(written).toBeLessThan(once * (1 + Math.log2(128)))
  expect(roots.at(-1)).toHaveLength(1)
})

test('extendList cuts what one run adds into parts of 1,000 entries', async () => {
  const lake = await temporaryFolder()
  const { all, roots } = await extendAgain(lake, [3, 2500, 1])
  const counts = (roots.at(-1) ?? []).map(({ ref }) => ref.entries)
  expect(counts).toEqual([3, 1000, 1000, 500, 1])
  expect(await listed(lake, roots.at(-1) ?? [])).toEqual(all)
})

test('PartWriter discards what it has written, and nothing else', async () => {
  const lake = await temporaryFolder()
  const { all, roots } = await extendAgain(lake, [3])
  const writer = new PartWriter({ lake, run: runAt(1) }, randomBytes)
  await extendList(writer, 'files', roots[0] ?? [], filesOf(runAt(1), 2))
  expect(await readdir(inLake(lake, PARTS_FOLDER))).toHaveLength(2)
  await writer.discard()
  expect(await listed(lake, roots[0] ?? [])).toEqual(all)
  expect(await readdir(inLake(lake, PARTS_FOLDER))).toHaveLength(1)
})
