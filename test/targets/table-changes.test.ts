import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { extendList, PartWriter } from '../../src/commit/extend-list.ts'
import type { CommittedPartition, FileEntry } from '../../src/core/partition.ts'
import { inLake, loadPath, partPath } from '../../src/lake/files/layout.ts'
import { totalsOf } from '../../src/manifest/form/totals.ts'
import { makeLake } from '../../src/manifest/runs/runs.ts'
import { countEntries, differingParts, type Part } from '../../src/manifest/snapshots/parts.ts'
import type { SnapshotRoot } from '../../src/manifest/snapshots/snapshot-root.ts'
import { sha256Of } from '../../src/support/hash.ts'
import { newRunId } from '../../src/support/run-ids.ts'
import { tableChanges, tableFilesOf } from '../../src/targets/table-changes.ts'
import { rootOf } from '../manifest/write-snapshot.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const RUN = newRunId(new Date(0), () => new Uint8Array(3))
const COMPANIES = { name: 'companies', content: 'companies' } as const

const partitionOf = (number: number): CommittedPartition => {
  const path = `${loadPath('companies', RUN)}/${number}.parquet`
  const file: FileEntry = { table: 'companies', path, rows: 1, bytes: number, sha256: sha256Of(path) }
  return {
    ...{ id: String(number), run: RUN, content: 'companies', files: [file], drift: [] },
    source: {
      ...{ kind: 'file', name: path, bytes: number, sha256: sha256Of(String(number)) },
      ...{ block: 0, firstLine: 1, offset: 0, last: true },
    },
    range: { field: 'ContentUpdatedAt', requested: null, observed: null },
    counts: { lines: 1, records: 1, quarantined: 0, rows: { companies: 1 } },
    ...{ committed: { snapshot: 1, time: '' }, version: number + 1, asOf: '' },
  }
}

const HEAD = { snapshot: 1, parent: null, run: RUN, pipeline: '', tool: '', time: '' }

/** A snapshot in parts that lists so many partitions after those of another one. */
const extended = async (lake: string, before: SnapshotRoot, count: number): Promise<SnapshotRoot> => {
  const first = countEntries(before.lists.partitions)
  const added = Array.from({ length: count }, (_, at) => partitionOf(first + at))
  const writer = new PartWriter({ lake, run: RUN }, randomBytes)
  const partitions = await extendList(writer, 'partitions', before.lists.partitions, added)
  const totals = totalsOf({ partitions: added, files: [] })
  return { ...before, totals, lists: { ...before.lists, partitions } }
}

const emptyRoot = (lake: string): Promise<SnapshotRoot> =>
  rootOf(lake, { ...HEAD, partitions: [], files: [] })

const namesOf = (parts: readonly { readonly part: Part }[]): string[] =>
  parts.map(({ part }) => part.ref.name)

test('tableChanges opens the parts that differ, and no others', async () => {
  const lake = await temporaryFolder()
  await makeLake(lake)
  // Nine full parts, eight of which are listed by one of their own after the second commit, and a short one.
  const before = await extended(lake, await emptyRoot(lake), 8500)
  const after = await extended(lake, before, 600)
  const differing = await differingParts(lake, before.lists.partitions, after.lists.partitions)
  expect(differing.before.length).toBeLessThanOrEqual(1)
  const touched = new Set([...namesOf(differing.before), ...namesOf(differing.after)])
  for (const { lists } of [before, after])
    for (const part of lists.partitions)
      if (part.ref.level === 0 && !touched.has(part.ref.name))
        await rm(inLake(lake, partPath(part.ref.name)), { force: true })
  const { added, removed } = await tableChanges(lake, before, after, COMPANIES)
  expect(added.map(({ version }) => version)).toEqual(Array.from({ length: 600 }, (_, at) => 8501 + at))
  expect(removed).toEqual([])
})

test('tableChanges says what a compaction adds and removes, and nothing of what stays', async () => {
  const lake = await temporaryFolder()
  await makeLake(lake)
  const before = await extended(lake, await emptyRoot(lake), 3)
  const partitions = [{ ...partitionOf(7), id: 'compacted' }, partitionOf(2)]
  const after = await rootOf(lake, { ...HEAD, snapshot: 2, partitions, files: [] })
  const { added, removed } = await tableChanges(lake, before, after, COMPANIES)
  const versionsOf = (files: typeof added) => files.map(({ version }) => version)
  expect([versionsOf(added), versionsOf(removed)]).toEqual([[8], [1, 2]])
  expect(versionsOf(await tableFilesOf(lake, after, COMPANIES))).toEqual([8, 3])
})
