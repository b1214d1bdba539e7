import { randomBytes } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type CompactCommitRequest, commitCompaction } from '../../src/commit/commit-compaction.ts'
import type { PartitionEntry, Snapshot } from '../../src/core/partition.ts'
import { inLake, recordPath, snapshotPath } from '../../src/lake/files/layout.ts'
import { FORMAT } from '../../src/manifest/form/root-form.ts'
import { loadedPartitions, loadedSources, splitLoaded } from '../../src/manifest/form/sources.ts'
import { removeGarbage } from '../../src/manifest/gc/remove-garbage.ts'
import { removeRun } from '../../src/manifest/runs/runs.ts'
import { recordText, rootToText } from '../../src/manifest/snapshots/snapshot-text.ts'
import { readRoot, readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { verifyLake } from '../../src/manifest/verify/verify-lake.ts'
import { countLines, loadSources, NOW, placeStaged, type Staged, stageRun } from '../manifest/small-lake.ts'
import { summariseSnapshot } from '../manifest/summarise-snapshot.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** What a compaction would have written: one partition, two lines, nothing quarantined. */
const stageCompaction = async (lake: string): Promise<Staged> => {
  const staged = await stageRun(lake, ['compacted'])
  const entries = staged.entries.map(({ partition, ...entry }) => ({
    ...entry,
    partition: {
      ...partition,
      source: { ...partition.source, kind: 'compaction' as const },
      counts: { ...partition.counts, lines: 2, quarantined: 0 },
      files: partition.files.filter(({ table }) => table !== 'quarantine'),
    },
  }))
  return { ...staged, entries }
}

const requestOf = ({ lease, entries, runFiles }: Staged, base: Snapshot): CompactCommitRequest => ({
  lease,
  tool: 'firmlake 0.1.0',
  base,
  replaced: base.partitions,
  partitions: entries.map(({ partition }) => partition),
  runFiles,
  versions: async () => [],
  now: () => NOW,
  random: randomBytes,
})

const compactAll = async (lake: string): Promise<Snapshot> => {
  const base = await readSnapshot(lake)
  const staged = await stageCompaction(lake)
  await placeStaged(staged)
  const { snapshot } = await commitCompaction(requestOf(staged, base))
  await removeRun(staged.lease)
  return readSnapshot(lake, snapshot)
}

const idsOf = ({ partitions }: { readonly partitions: readonly PartitionEntry[] }): string[] =>
  partitions.map(({ id }) => id)

test('commitCompaction puts its partitions in place of those it has merged, and keeps what came meanwhile', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a', 'b'])
  const base = await readSnapshot(lake)
  const staged = await stageCompaction(lake)
  await loadSources(lake, ['c'])
  await placeStaged(staged)
  const committed = await commitCompaction(requestOf(staged, base))
  const snapshot = await readSnapshot(lake)
  expect(snapshot).toMatchObject(committed)
  expect(idsOf(snapshot)).toEqual(['compacted-0', 'c-0'])
  expect([snapshot.snapshot, snapshot.parent, snapshot.pipeline]).toEqual([3, 2, 'compact'])
  expect(snapshot.merged?.map(({ id }) => id)).toEqual(['a-0', 'b-0'])
  expect(snapshot.merged?.flatMap(({ files }) => files.map(({ table }) => table))).toEqual([
    'quarantine',
    'quarantine',
  ])
  expect(snapshot.files.map(({ run }) => run)).toEqual([staged.lease.run, snapshot.partitions[1]?.run])
})

test('commitCompaction refuses with COMMIT_CONFLICT when another compaction was first', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a', 'b'])
  const base = await readSnapshot(lake)
  const staged = await stageCompaction(lake)
  await compactAll(lake)
  await placeStaged(staged)
  await expect(commitCompaction(requestOf(staged, base))).rejects.toMatchObject({
    code: 'COMMIT_CONFLICT',
    context: { run: staged.lease.run, partition: 'a-0' },
  })
  expect((await readSnapshot(lake)).snapshot).toBe(2)
})

test('commitCompaction again after a crash gives the snapshot that it had made, and writes its record', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const base = await readSnapshot(lake)
  const staged = await stageCompaction(lake)
  await placeStaged(staged)
  const first = await commitCompaction(requestOf(staged, base))
  await rm(join(lake, recordPath(2)))
  expect(await commitCompaction(requestOf(staged, base))).toMatchObject({ ...first })
  await removeRun(staged.lease)
  expect((await verifyLake({ lake, countRows: countLines })).problems).toEqual([])
})

test('what a compaction has merged counts as loaded, and the compaction itself does not', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a', 'b'])
  const before = await readSnapshot(lake)
  await compactAll(lake)
  await loadSources(lake, ['c'])
  const snapshot = await compactAll(lake)
  expect(idsOf(snapshot)).toEqual(['compacted-0'])
  expect(idsOf({ partitions: loadedPartitions(snapshot) })).toEqual(['a-0', 'b-0', 'c-0'])
  expect(loadedSources(snapshot).size).toBe(3)
  expect(splitLoaded(snapshot, before.partitions)).toMatchObject({ kept: [], dropped: [{}, {}] })
  const { contents, partitions, merged, tables } = summariseSnapshot(snapshot)
  expect(contents).toMatchObject([{ partitions: 3, sources: 3, lines: 9, records: 6, quarantined: 3 }])
  // Rows of a compaction without versions of their own go on to be of its version.
  expect([partitions, merged]).toEqual([1, 4])
  expect(tables.map(({ table, rows }) => [table, rows])).toEqual([
    ['companies', 2],
    ['line_items', 2],
    ['quarantine', 3],
  ])
})

test('gc --keep 1 leaves the quarantine of merged partitions, and verify finds damage in it', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  await loadSources(lake, ['b'])
  const { merged = [] } = await compactAll(lake)
  const { files } = await removeGarbage({ lake, now: new Date(), keep: 1 })
  expect(files.filter((path) => path.startsWith('quarantine/'))).toEqual([])
  expect(files.filter((path) => path.startsWith('companies/'))).toHaveLength(2)
  expect(await verifyLake({ lake, countRows: countLines })).toMatchObject({ problems: [], notes: [] })
  const path = merged[0]?.files[0]?.path ?? ''
  await writeFile(join(lake, path), '')
  expect((await verifyLake({ lake, countRows: countLines })).problems).toMatchObject([
    { path, problem: 'cut' },
  ])
})

test('commits hand on what a root says, also what only a later release knows', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a', 'b'])
  const later = { ...(await readRoot(lake)), dreams: [{ of: 'sheep' }] }
  await writeFile(inLake(lake, snapshotPath(1)), rootToText(later))
  await writeFile(inLake(lake, recordPath(1)), recordText(1, rootToText(later)))
  await loadSources(lake, ['c'])
  await compactAll(lake)
  for (const number of [2, 3])
    expect(JSON.parse(await readFile(inLake(lake, snapshotPath(number)), 'utf8'))).toMatchObject({
      ...{ format: FORMAT, snapshot: number, parent: number - 1 },
      dreams: [{ of: 'sheep' }],
    })
  expect((await verifyLake({ lake, countRows: countLines })).problems).toEqual([])
})
