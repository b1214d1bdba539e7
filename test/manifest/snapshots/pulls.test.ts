/** Pulls from a service in the manifest: recorded, carried on, summed up. */

import { readFile, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { statusLines } from '../../../src/cli/output/status-lines.ts'
import type { PartitionEntry, PullEntry } from '../../../src/core/partition.ts'
import { readStatus } from '../../../src/jobs/lake-status.ts'
import { inLake, PARTS_FOLDER, partPath } from '../../../src/lake/files/layout.ts'
import { loadedSources, splitLoaded } from '../../../src/manifest/form/sources.ts'
import { removeGarbage } from '../../../src/manifest/gc/remove-garbage.ts'
import { removeRun } from '../../../src/manifest/runs/runs.ts'
import { findCommit, readRoot, readSnapshot } from '../../../src/manifest/snapshots/snapshots.ts'
import { differencesOf } from '../../../src/manifest/snapshots/summarise-snapshot.ts'
import { verifyLake } from '../../../src/manifest/verify/verify-lake.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { filesOf } from '../damage.ts'
import { commitStaged, countLines, loadSources, NOW, type Staged, stageRun } from '../small-lake.ts'
import { summariseSnapshot } from '../summarise-snapshot.ts'

const pull = (run: string, more: Partial<PullEntry> = {}): PullEntry => ({
  run,
  content: 'companies',
  service: 'https://localhost:1',
  search: { CountryCode: ['SE'] },
  currency: 'EUR',
  field: 'ContentUpdatedAt',
  to: '2026-11-20',
  asOf: '2026-11-21T09:45:00.000Z',
  announced: 3,
  planned: 3,
  received: 3,
  ...more,
})

const commitPull = async (
  lake: string,
  sources: string[],
  more: Partial<PullEntry> = {},
): Promise<Staged> => {
  const staged = await stageRun(lake, sources)
  await commitStaged(staged, { pulls: [pull(staged.lease.run, more)] })
  await removeRun(staged.lease)
  return staged
}

const asSource = <Entry extends PartitionEntry>(
  partition: Entry,
  source: Partial<Entry['source']>,
): Entry => ({
  ...partition,
  source: { ...partition.source, ...source },
})

const window = { service: 'https://localhost:1', search: {}, pages: 1 }

test('commitPartitions records a pull without a partition, and no file of its run', async () => {
  const lake = await temporaryFolder()
  const { lease } = await commitPull(lake, [])
  const snapshot = await readSnapshot(lake)
  expect(snapshot).toMatchObject({ snapshot: 1, partitions: [], files: [], pulls: [pull(lease.run)] })
  expect((await filesOf(lake)).filter((path) => !path.startsWith('_manifest/'))).toEqual([])
  expect(await verifyLake({ lake, countRows: countLines })).toMatchObject({ problems: [], notes: [] })
})

test('a later commit keeps the pulls of those before, also one that pulls nothing', async () => {
  const lake = await temporaryFolder()
  const first = await commitPull(lake, ['a'])
  await loadSources(lake, ['b'])
  const third = await commitPull(lake, [])
  await loadSources(lake, ['c'])
  const snapshot = await readSnapshot(lake)
  expect(snapshot.pulls?.map(({ run }) => run)).toEqual([first.lease.run, third.lease.run])
  // Its own snapshot is gone: its pull tells.
  await removeGarbage({ lake, now: NOW, keep: 1 })
  const root = await readRoot(lake)
  expect(await findCommit(lake, third.lease.run, 0, root)).toBe(root)
  expect(await findCommit(lake, 'another', 0, root)).toBeNull()
})

test('a snapshot without pulls has no such field', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  expect(await readSnapshot(lake)).not.toHaveProperty('pulls')
})

test('commitPartitions refuses the pull of another run', async () => {
  const staged = await stageRun(await temporaryFolder(), [])
  await expect(commitStaged(staged, { pulls: [pull('another')] })).rejects.toThrow(RangeError)
})

test('verifyLake names the part of a snapshot whose pull was changed', async () => {
  const lake = await temporaryFolder()
  await commitPull(lake, [])
  const [name = ''] = await filesOf(inLake(lake, PARTS_FOLDER))
  const path = inLake(lake, partPath(name))
  const text = await readFile(path, 'utf8')
  await writeFile(path, text.replace('2026-11-20', '2026-11-19'))
  const { problems } = await verifyLake({ lake, countRows: countLines })
  expect(problems.map(({ path: at }) => at)).toEqual([partPath(name)])
})

test('a search is never known by its bytes, neither in the lake nor in its run', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const [one] = (await readSnapshot(lake)).partitions
  if (!one) throw new Error('No partition')
  const search = asSource(one, { kind: 'search', window: { ...window, announced: 3, received: 3 } })
  expect(loadedSources({ partitions: [search] }).size).toBe(0)
  expect(splitLoaded({ partitions: [one] }, [search, { ...search, id: 'twin' }]).kept).toHaveLength(2)
  // The bytes of a batch file may have come as a local file before.
  expect(splitLoaded({ partitions: [one] }, [asSource(one, { kind: 'batch' })]).kept).toEqual([])
})

test('summariseSnapshot counts windows of equal bytes as sources of their own', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a', 'b'])
  const snapshot = await readSnapshot(lake)
  const partitions = snapshot.partitions.map((one, at) =>
    asSource(one, { kind: 'search', name: `window ${at}`, sha256: '0'.repeat(64) }),
  )
  expect(summariseSnapshot({ ...snapshot, partitions }).contents[0]).toMatchObject({
    sources: 2,
    sourceBytes: 200,
  })
})

test('differencesOf names windows and batch files that gave another number than announced', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a', 'b', 'c', 'd'])
  const [a, b, c, d] = (await readSnapshot(lake)).partitions
  if (!a || !b || !c || !d) throw new Error('No partitions')
  const { run } = a
  const batch = { service: 'https://localhost:1', id: 'b-1' }
  // Three lines each: two records and one in the quarantine.
  expect(
    differencesOf([
      asSource(a, { kind: 'search', window: { ...window, announced: 4, received: 3 } }),
      asSource(b, { kind: 'search', window: { ...window, announced: 3, received: 3 } }),
      asSource(c, { kind: 'batch', batch: { ...batch, announced: 5 } }),
      asSource(d, { kind: 'batch', batch: { ...batch, announced: 3 } }),
    ]),
  ).toEqual([
    { kind: 'window', run, name: 'a.jsonl', announced: 4, received: 3 },
    { kind: 'batch', run, name: 'c.jsonl', announced: 5, received: 3 },
  ])
})

test('summariseSnapshot gives the newest pull of each search, and its differences only', async () => {
  const lake = await temporaryFolder()
  await commitPull(lake, ['a'], { announced: 9 })
  const second = await commitPull(lake, ['b'], { announced: 4, asOf: '2026-11-22T00:00:00.000Z' })
  const other = await commitPull(lake, [], { content: 'relations' })
  const { pulls, differences } = summariseSnapshot(await readSnapshot(lake))
  expect(pulls.map(({ run, pulls: times }) => [run, times])).toEqual([
    [second.lease.run, 2],
    [other.lease.run, 1],
  ])
  expect(differences).toEqual([
    { kind: 'pull', run: second.lease.run, name: 'companies', announced: 4, received: 3 },
  ])
})

test('statusLines show what was pulled and where announced and received differ', async () => {
  const lake = await temporaryFolder()
  await commitPull(lake, ['a'], { announced: 1234 })
  const lines = statusLines(await readStatus(lake), false)
  expect(lines.find((line) => line.includes('{"CountryCode":["SE"]} EUR'))).toMatch(
    /^companies .* … to 2026-11-20 +1,234 +3 +1 +2026-11-21 09:45:00 UTC/,
  )
  expect(lines).toContain('  pull companies: 1,234 announced, 3 received')
})
