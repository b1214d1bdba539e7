/** What published tables of all versions say of their rows' loads: what the manifest says, and the `…_history` views up to a compaction. */

import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compact } from '../../src/jobs/compact.ts'
import { forget } from '../../src/jobs/forget.ts'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { removeGarbage } from '../../src/manifest/gc/remove-garbage.ts'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { currentSnapshot } from '../../src/publish/iceberg/table-metadata.ts'
import { publish } from '../../src/targets/publish.ts'
import { companyLine, queryLake } from '../run/batch-bench.ts'
import { MAIN } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { readManifests, readMetadata } from './iceberg/iceberg-lake.ts'
import { type LogAction, loadSample, loadSmallRun, logNames, readCommit, smallLake } from './sample-lake.ts'

const SMALL_TABLES = ['companies', 'financials', 'line_items']

/** `run, version, snapshot, loaded_at, rows`, in the order of the versions. */
type Loads = readonly (readonly [unknown, number, number | null, string | null, number])[]

const publishBoth = (lake: string) =>
  publish({ lake, formats: ['delta', 'iceberg'], rows: ['all'], memoryBytes: 256 * 1024 ** 2 })

const numberOf = (value: unknown): number | null => (value === null ? null : Number(value))

/** Rows of one load together, as a view has them: none of a file without rows. */
const together = (loads: Loads): Loads => {
  const rows = new Map<string, number>()
  for (const [run, version, snapshot, at, n] of loads) {
    if (n === 0) continue
    const key = JSON.stringify([run, version, snapshot, at])
    rows.set(key, (rows.get(key) ?? 0) + n)
  }
  return [...rows]
    .map(([key, n]): Loads[number] => [...JSON.parse(key), n] as unknown as Loads[number])
    .sort(([, a], [, b]) => a - b)
}

const ofView = async (lake: string, table: string): Promise<Loads> => {
  const rows = await queryLake(
    lake,
    `SELECT run, version, snapshot, epoch_ms(loaded_at), count(*) FROM ${table}_history GROUP BY ALL`,
  )
  return together(
    rows.map(([run, version, number, at, n]) => [
      run,
      Number(version),
      numberOf(number),
      at === null ? null : new Date(Number(at)).toISOString(),
      Number(n),
    ]),
  )
}

/** The files of a Delta table by its log alone. */
const deltaAdds = async (lake: string, table: string): Promise<readonly LogAction[string][]> => {
  const files = new Map<unknown, LogAction[string]>()
  const versions = (await logNames(lake, table)).filter((name) => /^\d{20}\.json$/.test(name))
  for (const version of versions.keys())
    for (const { add, remove } of await readCommit(lake, table, version)) {
      if (add) files.set(add.path, add)
      if (remove) files.delete(remove.path)
    }
  return [...files.values()]
}

const ofDelta = async (lake: string, table: string): Promise<Loads> =>
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

const liveEntries = async (lake: string, table: string) =>
  (await readManifests(currentSnapshot(await readMetadata(lake, table)))).flatMap((manifest) =>
    manifest.entries.filter(({ status }) => status !== 2).map((entry) => ({ ...entry, manifest })),
  )

const ofIceberg = async (lake: string, table: string): Promise<Loads> =>
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

/** A compaction is the load of its rows here, where the views keep the loads of before. */
const ofManifest = async (lake: string, table: string): Promise<Loads> =>
  together(
    (await readSnapshot(lake)).partitions.flatMap(({ run, version, committed, files }) =>
      files
        .filter((file) => file.table === table)
        .map((file) => [run, version, committed.snapshot, committed.time, file.rows] as const),
    ),
  )

/** The dictionary is no table of partitions: its view alone says what it has. */
const expectPublished = async (
  lake: string,
  when: string,
  { tables = SMALL_TABLES, isCompacted = false } = {},
): Promise<void> => {
  for (const table of tables) {
    const asViews = !isCompacted || table === 'line_items'
    const expected = asViews ? await ofView(lake, table) : await ofManifest(lake, table)
    if (table !== 'line_items') expect(await ofManifest(lake, table), `${table} ${when}`).toEqual(expected)
    expect(expected.length, `${table} ${when}`).toBeGreaterThan(0)
    expect(await ofDelta(lake, table), `${table} ${when}, Delta`).toEqual(expected)
    expect(await ofIceberg(lake, table), `${table} ${when}, Iceberg`).toEqual(expected)
  }
}

test('published versions say of their loads what the views say, and after a compaction and gc what the manifest says', async () => {
  const folder = await temporaryFolder()
  const lake = await smallLake(folder, 2)
  await publishBoth(lake)
  await expectPublished(lake, 'after two runs')
  expect((await ofDelta(lake, 'companies')).map(([, , snapshot]) => snapshot)).toEqual([1, 2])

  await compact({ lake })
  await publishBoth(lake)
  await expectPublished(lake, 'after a compaction', { isCompacted: true })
  // Published versions begin there.
  expect((await ofDelta(lake, 'companies')).map(([, , snapshot]) => snapshot)).toEqual([3])

  await loadSmallRun(folder, 3)
  await removeGarbage({ lake, keep: 1, now: new Date() })
  await publishBoth(lake)
  await expectPublished(lake, 'after gc and a run', { isCompacted: true })
  expect((await ofDelta(lake, 'companies')).map(([, , snapshot]) => snapshot)).toEqual([3, 4])
})

/** The numbers of a lake's partitions and of its runs' files, in their order. */
const numbersOf = async (lake: string): Promise<ReadonlyMap<string, number>> => {
  const { partitions, files } = await readSnapshot(lake)
  const named = [
    ...partitions.map(({ run, id, version }) => [`${run} ${id}`, version] as const),
    ...files.map(({ path, version }) => [path, version] as const),
  ]
  expect(new Set(named.map(([, version]) => version)).size).toBe(named.length)
  return new Map(named)
}

test('a version is the number of its partition in the manifest: given once, never again, the same in published tables, and in views up to a compaction', async () => {
  const folder = await temporaryFolder()
  const lake = join(folder, 'lake')
  const given = new Map<number, string>()
  const names = TABLES.map(({ name }) => name)
  const holds = async (when: string): Promise<void> => {
    const numbers = await numbersOf(lake)
    for (const [name, version] of numbers) expect(given.get(version) ?? name, when).toBe(name)
    for (const [name, version] of numbers) given.set(version, name)
    const { partitions } = await readSnapshot(lake)
    const versions = partitions.map(({ version }) => version)
    expect(versions, when).toEqual(versions.toSorted((a, b) => a - b))
    await publishBoth(lake)
    const isCompacted = partitions.some(({ source }) => source.kind === 'compaction')
    await expectPublished(lake, when, { tables: names, isCompacted })
  }
  for (const seed of [3, 4]) {
    await loadSample(folder, { companies: 12, seed })
    await holds(`after the night ${seed}`)
  }
  // A load that is committed while the compaction works counts as later.
  const late = join(folder, 'late.jsonl')
  await writeFile(late, `${companyLine(900_001)}\n`)
  await compact({
    lake,
    onEvent: ({ kind }) => {
      if (kind !== 'started') return
      const args = [MAIN, 'convert', late, '--lake', lake]
      expect(spawnSync(process.execPath, args, { encoding: 'utf8' })).toMatchObject({ status: 0 })
    },
  })
  const { partitions } = await readSnapshot(lake)
  expect(partitions.map(({ source }) => source.kind)).toEqual(['compaction', 'compaction', 'file'])
  await holds('after a compaction')
  const before = await numbersOf(lake)
  expect(await forget({ lake, companies: [900_001] })).toMatchObject({ kind: 'forgotten' })
  for (const [name, version] of await numbersOf(lake))
    if (before.has(name)) expect(version, name).toBe(before.get(name))
  await loadSample(folder, { companies: 12, seed: 5 })
  await holds('after a night more')
})
