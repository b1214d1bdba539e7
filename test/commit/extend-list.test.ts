import { randomBytes } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { extendList, PartWriter } from '../../src/commit/extend-list.ts'
import type { CommittedPartition, FileOfRun } from '../../src/core/partition.ts'
import { inLake, PARTS_FOLDER } from '../../src/lake/files/layout.ts'
import { togetherAs } from '../../src/manifest/form/sources.ts'
import { makeLake } from '../../src/manifest/runs/runs.ts'
import { listOf, type SnapshotRoot } from '../../src/manifest/snapshots/snapshot-root.ts'
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

const sizesIn = async (lake: string): Promise<readonly number[]> => {
  const folder = inLake(lake, PARTS_FOLDER)
  const names = await readdir(folder)
  return Promise.all(names.map(async (name) => (await stat(join(folder, name))).size))
}

const listed = (lake: string, files: Files): Promise<readonly FileOfRun[]> =>
  listOf(lake, { lists: { partitions: [], files, pulls: [], merged: [], checks: [] } }, 'files')

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

test('a part of entries that list many sources has about a megabyte, and one more entry is written without the others', async () => {
  const lake = await temporaryFolder()
  await makeLake(lake)
  const run = runAt(0)
  const shared = (number: number): CommittedPartition => {
    const sources = Array.from({ length: 1000 }, (_, at) => ({
      ...{
        kind: 'file' as const,
        name: `in/${number}-${at}.jsonl`,
        bytes: 200,
        sha256: sha256Of(`${number} ${at}`),
      },
      ...{ block: 0, firstLine: 1, offset: 0, last: true },
      counts: { lines: 1, records: 1, quarantined: 0 },
    }))
    return {
      ...{ id: String(number), run, content: 'companies', files: [], drift: [] },
      ...{ source: togetherAs(sources), sources, version: number },
      ...{ committed: { snapshot: 1, time: '2026-01-01T00:00:00.000Z' }, asOf: '2026-01-01T00:00:00.000Z' },
      range: { field: 'ContentUpdatedAt', requested: null, observed: null },
      counts: { lines: 1000, records: 1000, quarantined: 0, rows: {} },
    }
  }
  const entries = Array.from({ length: 30 }, (_, at) => shared(at))
  const writer = new PartWriter({ lake, run }, randomBytes)
  const first = await extendList(writer, 'partitions', [], entries)
  const sizes = await sizesIn(lake)
  expect(sizes.length).toBeGreaterThan(5)
  expect(Math.max(...sizes)).toBeLessThan(1.5 * 1024 ** 2)
  await extendList(writer, 'partitions', first, [shared(30)])
  const more = (await sizesIn(lake)).reduce((sum, size) => sum + size, 0)
  expect(more - sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(1.5 * 1024 ** 2)
  const lists = { partitions: first, files: [], pulls: [], merged: [], checks: [] }
  expect(await listOf(lake, { lists }, 'partitions')).toEqual(entries)
})
