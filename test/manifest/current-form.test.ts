import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { PullEntry, Snapshot } from '../../src/core/partition.ts'
import { partPath, snapshotPath } from '../../src/lake/lake/layout.ts'
import { commitCompaction } from '../../src/manifest/commit-compaction.ts'
import { commitForget } from '../../src/manifest/commit-forget.ts'
import { inCurrentForm } from '../../src/manifest/current-form.ts'
import { extendList, PartWriter } from '../../src/manifest/extend-list.ts'
import { createRun, removeRun } from '../../src/manifest/runs.ts'
import { createSnapshot, ensureRecord, readRoot, readSnapshot } from '../../src/manifest/snapshots.ts'
import { verifyLake } from '../../src/manifest/verify-lake.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { countLines, loadSources, NOW } from './small-lake.ts'

/** As earlier releases recorded a number. */
const HASHED = 'sha256:0123456789abcdef'
const search = { CountryCode: ['SE'], NationalIdentificationNumber: [HASHED, 'sha256:fedcba9876543210'] }

/** A lake whose newest snapshot is of an earlier release: a pull, a window and a merged window with hashed searches. */
const hashedLake = async (): Promise<string> => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a', 'b'])
  const { searches: _, ...root } = await readRoot(lake)
  const { partitions, files, pulls = [], merged = [] } = await readSnapshot(lake)
  const window = { service: 'https://example', search, announced: 2, received: 2, pages: 1 }
  const hashed = partitions.map((one) => ({ ...one, source: { ...one.source, window } }))
  const pull: PullEntry = {
    ...{ run: root.run, content: 'relations', service: 'https://example', search },
    ...{ asOf: NOW.toISOString(), announced: 2, planned: 2, received: 2 },
  }
  const lease = await createRun({ lake, plan: {}, now: NOW, random: randomBytes })
  const writer = new PartWriter(lease, randomBytes)
  await createSnapshot(lake, {
    ...root,
    ...{ snapshot: root.snapshot + 1, parent: root.snapshot, run: lease.run },
    lists: {
      partitions: await extendList(writer, 'partitions', [], hashed.slice(0, 1)),
      files: await extendList(writer, 'files', [], files),
      pulls: await extendList(writer, 'pulls', [], [...pulls, pull]),
      merged: await extendList(writer, 'merged', [], [...merged, ...hashed.slice(1)]),
    },
  })
  await ensureRecord(lake, root.snapshot + 1)
  await removeRun(lease)
  return lake
}

/** All that the newest snapshot says, its parts with it. */
const textsOf = async (lake: string): Promise<string> => {
  const root = await readRoot(lake)
  const parts = Object.values(root.lists).flatMap((list) =>
    list.flatMap((part) => (part.kind === 'stored' ? [partPath(part.ref.name)] : [])),
  )
  const texts = [snapshotPath(root.snapshot), ...parts].map((path) => readFile(join(lake, path), 'utf8'))
  return (await Promise.all(texts)).join('\n')
}

const searchesIn = ({ partitions, pulls = [], merged = [] }: Snapshot) => [
  ...pulls.map((one) => one.search),
  ...[...partitions, ...merged].flatMap(({ source }) => (source.window ? [source.window.search] : [])),
]

const counted = { CountryCode: ['SE'], NationalIdentificationNumber: ['2 values'] }

const COMMITS: Readonly<Record<string, (lake: string) => Promise<unknown>>> = {
  'a load': (lake) => loadSources(lake, ['c']),
  compact: async (lake) => {
    const lease = await createRun({ lake, plan: {}, now: NOW, random: randomBytes })
    const base = { ...(await readSnapshot(lake)), partitions: [], files: [], merged: [] }
    await commitCompaction({
      ...{ lease, tool: 'firmlake 0.1.0', base, partitions: [], runFiles: [] },
      ...{ now: () => NOW, random: randomBytes },
    })
    await removeRun(lease)
  },
  forget: async (lake) => {
    const lease = await createRun({ lake, plan: { pipeline: 'forget' }, now: NOW, random: randomBytes })
    const base = await readSnapshot(lake)
    const { partitions, files, pulls = [], merged = [] } = base
    await commitForget({
      ...{ lease, tool: 'firmlake 0.1.0', base, written: [], random: randomBytes, now: () => NOW },
      listed: { partitions, files, pulls, merged },
      ids: { companies: new Set(), persons: new Set() },
      receipt: { companies: 0, persons: 0, files: [], linesCleared: 0, later: 'allowed' },
    })
    await removeRun(lease)
  },
}

test.each(Object.entries(COMMITS))(
  '%s writes searches of earlier releases anew, with a count in place of hashes',
  async (_, commit) => {
    const lake = await hashedLake()
    expect(await textsOf(lake)).toContain(HASHED)
    await commit(lake)
    expect(await textsOf(lake)).not.toContain('sha256:')
    expect((await readRoot(lake)).searches).toBe('counted')
    expect(searchesIn(await readSnapshot(lake))).toEqual([counted, counted, counted])
    expect((await verifyLake({ lake, countRows: countLines })).problems).toEqual([])
  },
)

/** The same partitions as an earlier release lists them. */
const unnumberedLake = async (): Promise<string> => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a', 'b'])
  const { nextVersion: _, ...root } = await readRoot(lake)
  const { partitions, files } = await readSnapshot(lake)
  const lease = await createRun({ lake, plan: {}, now: NOW, random: randomBytes })
  const writer = new PartWriter(lease, randomBytes)
  const without = <Entry extends { readonly version?: number }>({ version: __, ...entry }: Entry) => entry
  await createSnapshot(lake, {
    ...root,
    ...{ snapshot: root.snapshot + 1, parent: root.snapshot, run: lease.run },
    lists: {
      ...root.lists,
      partitions: await extendList(writer, 'partitions', [], partitions.map(without)),
      files: await extendList(writer, 'files', [], files.map(without)),
    },
  })
  await ensureRecord(lake, root.snapshot + 1)
  await removeRun(lease)
  return lake
}

test.each(Object.entries(COMMITS))(
  '%s gives the partitions of earlier releases the versions that their views have shown',
  async (name, commit) => {
    const lake = await unnumberedLake()
    const before = await readSnapshot(lake)
    expect(before.partitions.map(({ version }) => version)).toEqual([undefined, undefined])
    await commit(lake)
    const { partitions } = await readSnapshot(lake)
    expect(partitions.slice(0, 2).map(({ version }) => version)).toEqual([0, 1])
    expect(partitions.length).toBe(name === 'a load' ? 3 : 2)
    for (const { version } of partitions.slice(2)) expect(version).toBeGreaterThan(1)
    const { nextVersion = 0 } = await readRoot(lake)
    for (const { version } of partitions) expect(version).toBeLessThan(nextVersion)
    expect((await verifyLake({ lake, countRows: countLines })).problems).toEqual([])
  },
)

test('a commit does not read lists that this release has written', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a'])
  const root = await readRoot(lake)
  expect(root.searches).toBe('counted')
  // A list that is not read is handed on as it is.
  expect(await inCurrentForm(join(lake, 'elsewhere'), root)).toBe(root)
})
