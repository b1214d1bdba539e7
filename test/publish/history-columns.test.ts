/** What published tables of all versions say of their rows' loads: the same as the `…_history` views, at every step. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { PartitionEntry } from '../../src/core/partition.ts'
import { openLakeQuery } from '../../src/lake/lake/lake-query.ts'
import { withCommits } from '../../src/manifest/lake-facts.ts'
import { removeGarbage } from '../../src/manifest/remove-garbage.ts'
import { readSnapshot } from '../../src/manifest/snapshots.ts'
import { compactLake } from '../../src/pipeline/compact/compact.ts'
import { publish } from '../../src/pipeline/targets/publish.ts'
import { currentSnapshot } from '../../src/publish/iceberg/table-metadata.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { asEarlierRelease } from './earlier-release.ts'
import { readManifests, readMetadata } from './iceberg/iceberg-lake.ts'
import {
  commitChanged,
  type LogAction,
  loadSmallRun,
  logNames,
  readCommit,
  smallLake,
} from './sample-lake.ts'

const TABLES = ['companies', 'financials', 'line_items'] as const
type TableName = (typeof TABLES)[number]

/** `run, version, snapshot, loaded_at, rows`, in the order of the versions. */
type Loads = readonly (readonly [unknown, number, number | null, string | null, number])[]

const publishBoth = (lake: string) =>
  publish({ lake, formats: ['delta', 'iceberg'], rows: ['all'], memoryBytes: 256 * 1024 ** 2 })

/** Rows of one load together, as a view has them. */
const together = (loads: Loads): Loads => {
  const rows = new Map<string, number>()
  for (const [run, version, snapshot, at, n] of loads) {
    const key = JSON.stringify([run, version, snapshot, at])
    rows.set(key, (rows.get(key) ?? 0) + n)
  }
  return [...rows]
    .map(([key, n]): Loads[number] => [...JSON.parse(key), n] as unknown as Loads[number])
    .sort(([, a], [, b]) => a - b)
}

const ofView = async (lake: string, table: TableName): Promise<Loads> => {
  const snapshot = await withCommits(lake, await readSnapshot(lake))
  const query = await openLakeQuery({ lake, snapshot, memoryBytes: 256 * 1024 ** 2 })
  try {
    const { rows } = await query.run(
      `SELECT run, version, snapshot, epoch_ms(loaded_at), count(*) FROM ${table}_history GROUP BY ALL`,
    )
    const loads: Loads[number][] = []
    for await (const chunk of rows)
      for (const [run, version, number, at, n] of chunk)
        loads.push([
          run,
          Number(version),
          number === null ? null : Number(number),
          at === null ? null : new Date(Number(at)).toISOString(),
          Number(n),
        ])
    return together(loads)
  } finally {
    query.close()
  }
}

/** The files of a Delta table by its log alone. */
const deltaAdds = async (lake: string, table: TableName): Promise<readonly LogAction[string][]> => {
  const files = new Map<unknown, LogAction[string]>()
  const versions = (await logNames(lake, table)).filter((name) => /^\d{20}\.json$/.test(name))
  for (const version of versions.keys())
    for (const { add, remove } of await readCommit(lake, table, version)) {
      if (add) files.set(add.path, add)
      if (remove) files.delete(remove.path)
    }
  return [...files.values()]
}

const numberOf = (value: unknown): number | null => (value === null ? null : Number(value))

const ofDelta = async (lake: string, table: TableName): Promise<Loads> =>
  together(
    (await deltaAdds(lake, table)).map(({ partitionValues, stats }) => {
      const values = partitionValues as Record<string, string | null>
      expect(values.load).toBe(values.run)
      return [
        values.run,
        Number(values.version),
        numberOf(values.snapshot),
        values.loaded_at ?? null,
        Number(JSON.parse(String(stats)).numRecords),
      ]
    }),
  )

const liveEntries = async (lake: string, table: TableName) =>
  (await readManifests(currentSnapshot(await readMetadata(lake, table)))).flatMap((manifest) =>
    manifest.entries.filter(({ status }) => status !== 2).map((entry) => ({ ...entry, manifest })),
  )

const ofIceberg = async (lake: string, table: TableName): Promise<Loads> =>
  together(
    (await liveEntries(lake, table)).map(({ data_file: { partition, record_count } }) => {
      expect(partition.load).toBe(partition.run)
      const { run, version, snapshot, loaded_at: at } = partition
      return [
        run,
        Number(version),
        snapshot,
        at === null ? null : new Date(at / 1000).toISOString(),
        record_count,
      ]
    }),
  )

const expectAsViews = async (lake: string, when: string): Promise<void> => {
  for (const table of TABLES) {
    const expected = await ofView(lake, table)
    expect(expected.length, `${table} ${when}`).toBeGreaterThan(0)
    expect(await ofDelta(lake, table), `${table} ${when}, Delta`).toEqual(expected)
    expect(await ofIceberg(lake, table), `${table} ${when}, Iceberg`).toEqual(expected)
  }
}

test('published versions say of their loads what the views say, after restatements, a compaction and gc', async () => {
  const folder = await temporaryFolder()
  const lake = await smallLake(folder, 2)
  await publishBoth(lake)
  await expectAsViews(lake, 'after two runs')
  expect((await ofDelta(lake, 'companies')).map(([, , snapshot]) => snapshot)).toEqual([1, 2])

  await compactLake({ lake })
  await publishBoth(lake)
  await expectAsViews(lake, 'after a compaction')
  // The views begin there, and so do these.
  expect((await ofDelta(lake, 'companies')).map(([, , snapshot]) => snapshot)).toEqual([3])

  await loadSmallRun(folder, 3)
  await removeGarbage({ lake, keep: 1, now: new Date() })
  await publishBoth(lake)
  await expectAsViews(lake, 'after gc and a run')
  expect((await ofDelta(lake, 'companies')).map(([, , snapshot]) => snapshot)).toEqual([3, 4])
})

test('tables that an earlier release published get the columns with the next publication, without a new snapshot', async () => {
  const folder = await temporaryFolder()
  const lake = await smallLake(folder, 2)
  await asEarlierRelease(() => publishBoth(lake))
  const before = await deltaAdds(lake, 'financials')
  expect(Object.keys(before[0]?.partitionValues ?? {})).toEqual(['load', 'version'])

  const { tables } = await publishBoth(lake)
  for (const { table, versions } of tables) expect([table, versions]).toEqual([table, 1])
  await expectAsViews(lake, 'after the upgrade')
  // Taken over from the log: no file is read again.
  const after = await deltaAdds(lake, 'financials')
  expect(after.map(({ stats }) => stats)).toEqual(before.map(({ stats }) => stats))
  const metadata = await readMetadata(lake, 'financials')
  expect(metadata['partition-specs'].map(({ fields }) => fields.map(({ name }) => name))).toEqual([
    ['load', 'version'],
    ['load', 'version', 'snapshot', 'run', 'loaded_at'],
  ])
  expect(metadata).toMatchObject({ 'default-spec-id': 1, 'last-partition-id': 1004 })
  const manifests = await readManifests(currentSnapshot(metadata))
  expect(
    manifests.map((one) => [one.partition_spec_id, one.deleted_files_count, one.added_files_count]),
  ).toEqual([
    [0, 2, 0],
    [1, 0, 2],
  ])
  expect(manifests.map(({ partitions }) => partitions?.length)).toEqual([2, 5])

  expect((await publishBoth(lake)).tables.map(({ versions }) => versions)).toEqual(tables.map(() => 0))
  await loadSmallRun(folder, 3)
  await publishBoth(lake)
  await expectAsViews(lake, 'after a run more')
  expect((await readManifests(currentSnapshot(await readMetadata(lake, 'companies')))).length).toBe(2)
})

test('tables of an earlier release get the columns together with the snapshots that they lack', async () => {
  const folder = await temporaryFolder()
  const lake = await smallLake(folder, 1)
  await asEarlierRelease(() => publishBoth(lake))
  for (const run of [2, 3]) await loadSmallRun(folder, run)
  await removeGarbage({ lake, keep: 1, now: new Date() })
  await publishBoth(lake)
  await expectAsViews(lake, 'after the upgrade')
})

test('where no snapshot says when a row came, its columns are NULL in the views and in published tables', async () => {
  const folder = await temporaryFolder()
  const lake = await smallLake(folder, 2)
  // As earlier releases committed.
  const older = ({ committed: _committed, ...partition }: PartitionEntry): PartitionEntry => partition
  await commitChanged(lake, ({ partitions }) => ({ partitions: partitions.map(older) }))
  await publishBoth(lake)
  // Found by the runs of the snapshots that are kept.
  await expectAsViews(lake, 'with all snapshots')
  expect((await ofDelta(lake, 'companies')).map(([, , snapshot]) => snapshot)).toEqual([1, 2])

  const other = await smallLake(join(await temporaryFolder()), 2)
  await commitChanged(other, ({ partitions }) => ({ partitions: partitions.map(older) }))
  await removeGarbage({ lake: other, keep: 1, now: new Date() })
  await publishBoth(other)
  await expectAsViews(other, 'without the snapshots')
  expect((await ofDelta(other, 'companies')).map(([, , snapshot]) => snapshot)).toEqual([null, null])
})
