import { rmSync, writeFileSync } from 'node:fs'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { oldestPath, RUNS_FOLDER, recordPath, snapshotPath } from '../../../src/lake/files/layout.ts'
import { TABLES } from '../../../src/lake/tables/tables.ts'
import { removeGarbage } from '../../../src/manifest/gc/remove-garbage.ts'
import { oldestText } from '../../../src/manifest/snapshots/snapshot-text.ts'
import { readSnapshot } from '../../../src/manifest/snapshots/snapshots.ts'
import { temporaryName, thisProcess } from '../../../src/support/process-identity.ts'
import { publishedFormats } from '../../../src/targets/table-formats.ts'
import { createSnapshot } from '../../manifest/write-snapshot.ts'
import { verify } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import {
  commitChanged,
  type LogAction,
  loadSmallRun,
  logNames,
  logPath,
  logText,
  smallLake as newLake,
  publishDelta,
  readCommit,
  versionsOf,
} from '../sample-lake.ts'
import { usePublishedLakes, useSmallLakes } from '../small-lakes.ts'

const smallLake = useSmallLakes()
const publishedLake = usePublishedLakes(smallLake, publishDelta)

/** A folder of its own with a lake of twelve small runs. */
const twelveRuns = async (): Promise<string> => {
  const folder = await temporaryFolder()
  await smallLake(folder, 12)
  return folder
}

const logStrings = async (lake: string): Promise<string[]> =>
  Promise.all(TABLES.map(({ name }) => logText(lake, name)))

const only = (actions: readonly LogAction[], kind: string) =>
  actions.flatMap((action) => (action[kind] ? [action[kind]] : []))

/** Adds a version to a log, as another program would. */
const foreignCommit = async (lake: string, table: string, version: number, actions: readonly object[]) => {
  await writeFile(
    logPath(lake, table, version),
    actions.map((action) => `${JSON.stringify(action)}\n`).join(''),
  )
  // Whoever else writes a log knows nothing of our hashes.
  await rm(join(lake, table, '_delta_log/_hashes'), { recursive: true, force: true })
}

test('publish and verify find a changed byte of what was published, and take it without its hash', async () => {
  const lake = await publishedLake(1)
  const path = logPath(lake, 'companies', 0)
  await writeFile(path, (await readFile(path, 'utf8')).replace('"size":', '"sizE":'))
  const damaged = {
    code: 'LAKE_DAMAGED',
    context: { path: 'companies/_delta_log/00000000000000000000.json' },
  }
  await expect(publishDelta(lake)).rejects.toMatchObject(damaged)
  expect((await verify(lake)).problems).toMatchObject([{ path: damaged.context.path, problem: 'changed' }])
  await rm(join(lake, 'companies/_delta_log/_hashes'), { recursive: true })
  expect(await verify(lake)).toMatchObject({
    problems: [],
    notes: ['published files without a hash, whose publisher was interrupted: 1'],
  })
})

test('a version whose publisher was killed before its hash gets it from the next one', async () => {
  const lake = await publishedLake(1)
  const hash = join(lake, 'companies/_delta_log/_hashes/00000000000000000000.json.hash')
  const written = await readFile(hash, 'utf8')
  await rm(hash)
  await publishDelta(lake)
  expect(await readFile(hash, 'utf8')).toBe(written)
  expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
})

const SPARK = { commitInfo: { operation: 'DELETE', engineInfo: 'Apache-Spark/4.1.1 Delta-Lake/4.3.1' } }

test('publish writes one version for each snapshot that changes a table', async () => {
  const lake = await smallLake(await temporaryFolder(), 2)
  const summary = await publishDelta(lake)
  expect(summary.snapshot).toBe(2)
  expect(versionsOf(summary)).toEqual({
    companies: 2,
    financials: 2,
    employees: 2,
    line_items: 2,
    relations: 1,
    relation_entities: 1,
    ownerships: 1,
    roles: 1,
  })
  const first = await readSnapshot(lake, 1)
  const [partition] = first.partitions
  const actions = await readCommit(lake, 'companies', 0)
  expect(actions.map((action) => Object.keys(action)[0])).toEqual([
    'commitInfo',
    'protocol',
    'metaData',
    'txn',
    'add',
  ])
  expect(only(actions, 'protocol')).toEqual([{ minReaderVersion: 1, minWriterVersion: 2 }])
  expect(only(actions, 'txn')).toMatchObject([{ appId: first.run, version: 1 }])
  expect(only(actions, 'metaData')).toMatchObject([
    { partitionColumns: ['load', 'version', 'snapshot', 'run', 'loaded_at', 'as_of'] },
  ])
  const [add] = only(actions, 'add')
  expect(add).toMatchObject({
    path: `load=${first.run}/${partition?.id}.parquet`,
    partitionValues: {
      ...{ load: first.run, version: '1', snapshot: '1', run: first.run },
      loaded_at: first.time,
    },
    dataChange: true,
    size: partition?.files.find(({ table }) => table === 'companies')?.bytes,
  })
  expect(JSON.parse(String(add?.stats))).toMatchObject({
    numRecords: 2,
    minValues: { internal_id: 1, company_name: 'Company 1', country_code: 'SE' },
    maxValues: { internal_id: 2, content_updated_at: '2025-01-01T00:00:00.000000Z' },
    nullCount: { internal_id: 0, org_no: 2 },
  })
})

test('publish computes the ends of ENUM columns from the rows', async () => {
  const lake = await publishedLake(1)
  const [add] = only(await readCommit(lake, 'financials', 0), 'add')
  const ends = {
    internal_id: 1,
    country_code: 'SE',
    consolidation: 'Consolidated',
    category: 'ProfitAndLoss',
    line_item: 'NetSales',
    fiscal_year: 2023,
    value: 1,
  }
  expect(JSON.parse(String(add?.stats))).toEqual({
    numRecords: 4,
    minValues: ends,
    maxValues: { ...ends, internal_id: 2, fiscal_year: 2024, value: 2.5 },
    nullCount: {
      ...Object.fromEntries(Object.keys(ends).map((name) => [name, 0])),
      currency: 4,
      reported: 4,
      months: 4,
      is_preferred: 0,
    },
  })
})

test('publish adds nothing the second time', async () => {
  const lake = await smallLake(await temporaryFolder(), 2)
  expect(await publishedFormats(lake, 'all')).toEqual([])
  await publishDelta(lake)
  expect(await publishedFormats(lake, 'all')).toEqual(['delta'])
  const before = await logStrings(lake)
  expect(versionsOf(await publishDelta(lake))).toEqual({})
  expect(await logStrings(lake)).toEqual(before)
})

test('publish after each run gives the same log as publishing all runs at once', async () => {
  const lake = await publishedLake(1)
  const folder = dirname(lake)
  for (const run of [2, 3]) {
    await loadSmallRun(folder, run)
    await publishDelta(lake)
  }
  const stepwise = await logStrings(lake)
  for (const { name } of TABLES) await rm(join(lake, name, '_delta_log'), { recursive: true })
  await publishDelta(lake)
  expect(await logStrings(lake)).toEqual(stepwise)
})

test('publish removes what a snapshot does not list', async () => {
  const lake = await publishedLake(3)
  await commitChanged(lake, (newest) => ({ partitions: newest.partitions.slice(1) }))
  await publishDelta(lake)
  const actions = await readCommit(lake, 'companies', 3)
  expect(only(actions, 'remove')).toMatchObject([{ dataChange: true, partitionValues: { version: '1' } }])
  expect(only(actions, 'add')).toEqual([])
})

test('publish jumps over snapshots that gc has removed', async () => {
  const lake = await publishedLake(1)
  const folder = dirname(lake)
  for (const run of [2, 3, 4]) await loadSmallRun(folder, run)
  await removeGarbage({ lake, keep: 1, now: new Date() })
  expect(versionsOf(await publishDelta(lake))).toMatchObject({ companies: 1 })
  const actions = await readCommit(lake, 'companies', 1)
  expect(only(actions, 'add')).toHaveLength(3)
  expect(only(actions, 'txn')).toMatchObject([{ version: 4 }])
})

test('publish continues where gc removes snapshots while it works', async () => {
  const lake = await smallLake(await temporaryFolder(), 4)
  let isFirst = true
  const onProgress = (): void => {
    if (!isFirst) return
    isFirst = false
    writeFileSync(join(lake, oldestPath(3)), oldestText(3))
    for (const number of [1, 2]) {
      rmSync(join(lake, snapshotPath(number)))
      rmSync(join(lake, recordPath(number)))
    }
  }
  expect(versionsOf(await publishDelta(lake, { onProgress }))).toMatchObject({ companies: 3 })
  const txns = await Promise.all([0, 1, 2].map((version) => readCommit(lake, 'companies', version)))
  expect(txns.flatMap((actions) => only(actions, 'txn').map(({ version }) => version))).toEqual([1, 3, 4])
})

test('verify and gc leave a publication alone', async () => {
  const lake = await publishedLake(2)
  const before = await logStrings(lake)
  expect((await verify(lake)).problems).toEqual([])
  const garbage = await removeGarbage({ lake, keep: 1, now: new Date() })
  expect(garbage).toMatchObject({ leftovers: [], runs: [] })
  // The parts of the first snapshot alone.
  expect(garbage.files.filter((path) => !path.startsWith('_manifest/parts/'))).toEqual([])
  expect(await logStrings(lake)).toEqual(before)
})

test('publish makes a checkpoint every ten versions and reads on from it', async () => {
  const folder = await twelveRuns()
  const lake = join(folder, 'lake')
  await publishDelta(lake)
  const checkpoint = '00000000000000000010.checkpoint.parquet'
  expect(await logNames(lake, 'companies')).toContain(checkpoint)
  expect(JSON.parse(await readFile(join(lake, 'companies/_delta_log/_last_checkpoint'), 'utf8'))).toEqual({
    version: 10,
    // Protocol, schema, and of each version its run and its file.
    size: 2 + 2 * 11,
  })
  for (let version = 0; version < 10; version += 1) await rm(logPath(lake, 'companies', version))
  await loadSmallRun(folder, 13)
  expect(versionsOf(await publishDelta(lake))).toMatchObject({ companies: 1, financials: 1 })
  const actions = await readCommit(lake, 'companies', 12)
  expect(actions.map((action) => Object.keys(action)[0])).toEqual(['commitInfo', 'txn', 'add'])
})

test('publish makes a checkpoint that a killed publisher has left undone', async () => {
  const lake = join(await twelveRuns(), 'lake')
  await publishDelta(lake)
  const names = await logNames(lake, 'companies')
  const made = names.filter((name) => !name.endsWith('.json'))
  for (const name of made) await rm(join(lake, 'companies/_delta_log', name))
  const left = temporaryName({ ...thisProcess(), pid: 2 ** 30 })
  await writeFile(join(lake, 'companies/_delta_log', left), 'half')
  await publishDelta(lake)
  expect(await logNames(lake, 'companies')).toEqual([
    ...names.filter((name) => name.endsWith('.json') && !name.includes('11.')),
    '00000000000000000011.checkpoint.parquet',
    '00000000000000000011.json',
    '_last_checkpoint',
  ])
})

test.each([
  ['other files', [{ add: { path: 'part-0.parquet', partitionValues: {}, size: 1 } }, SPARK]],
  ['files removed', [SPARK, { remove: { path: 'load=x/y.parquet', dataChange: true } }]],
  ['another schema', [{ metaData: { id: 'x', schemaString: '{}', partitionColumns: [] } }, SPARK]],
  ['a newer protocol', [{ protocol: { minReaderVersion: 3, minWriterVersion: 7 } }, SPARK]],
  ['no JSON', ['x']],
])('publish refuses a log into which somebody wrote %s', async (_what, actions) => {
  const lake = await publishedLake(1)
  const lines = actions.map((action) => (typeof action === 'string' ? action : JSON.stringify(action)))
  await writeFile(logPath(lake, 'companies', 1), `${lines.join('\n')}\n`)
  await expect(publishDelta(lake)).rejects.toMatchObject({
    code: 'PUBLISH_CONFLICT',
    context: { table: 'companies', version: 1 },
  })
})

test('publish goes on behind an unknown commit that changes nothing', async () => {
  const lake = await publishedLake(1)
  const folder = dirname(lake)
  await foreignCommit(lake, 'companies', 1, [
    { commitInfo: { operation: 'VACUUM START' } },
    { txn: { appId: 'a stream', version: 99 } },
  ])
  await loadSmallRun(folder, 2)
  expect(versionsOf(await publishDelta(lake))).toMatchObject({ companies: 1 })
  expect(only(await readCommit(lake, 'companies', 2), 'add')).toHaveLength(1)
})

test('publish refuses a log with a version missing', async () => {
  const lake = await publishedLake(3)
  await rm(logPath(lake, 'companies', 1))
  await expect(publishDelta(lake)).rejects.toMatchObject({ code: 'PUBLISH_CONFLICT' })
})

test('publish refuses the publication of another lake that stood here before', async () => {
  const [one, other] = [
    await newLake(await temporaryFolder(), 1),
    await smallLake(await temporaryFolder(), 2),
  ]
  await publishDelta(other)
  for (const { name } of TABLES)
    await cp(join(other, name, '_delta_log'), join(one, name, '_delta_log'), { recursive: true })
  await expect(publishDelta(one)).rejects.toMatchObject({ code: 'TARGET_AHEAD' })
})

test('publish leaves all tables as they are where one shows another lake', async () => {
  const lake = await publishedLake(2)
  // As if the last snapshot had not changed this table: it comes before those that show the other run.
  await rm(logPath(lake, 'financials', 1))
  const newest = await readSnapshot(lake)
  await rm(join(lake, snapshotPath(2)))
  await rm(join(lake, recordPath(2)))
  await createSnapshot(lake, { ...newest, run: newest.run.replace(/.{6}$/, 'ffffff') })
  const before = await logStrings(lake)
  await expect(publishDelta(lake)).rejects.toMatchObject({ code: 'TARGET_AHEAD' })
  expect(await logStrings(lake)).toEqual(before)
})

test('publish writes a new schema where its columns are more than those of the log, under the same id', async () => {
  const lake = await publishedLake(1)
  const folder = dirname(lake)
  const actions = await readCommit(lake, 'employees', 0)
  const older = actions.map((action) => {
    const { metaData } = action
    if (!metaData) return action
    const schema: { fields: { name: string }[] } = JSON.parse(String(metaData.schemaString))
    const fields = [
      ...schema.fields.filter(({ name }) => name !== 'employees'),
      { name: 'of_a_newer_tool', type: 'string', nullable: true, metadata: {} },
    ]
    return { metaData: { ...metaData, schemaString: JSON.stringify({ ...schema, fields }) } }
  })
  await foreignCommit(lake, 'employees', 0, older)
  await loadSmallRun(folder, 2)
  await publishDelta(lake)
  const grown = await readCommit(lake, 'employees', 1)
  const [before, after] = [only(actions, 'metaData')[0], only(grown, 'metaData')[0]]
  expect(after?.id).toBe(before?.id)
  const names = (JSON.parse(String(after?.schemaString)) as { fields: { name: string }[] }).fields
  expect(names.map(({ name }) => name)).toEqual([
    'internal_id',
    'country_code',
    'consolidation',
    'fiscal_year',
    'is_preferred',
    'load',
    'version',
    'snapshot',
    'run',
    'loaded_at',
    'as_of',
    'of_a_newer_tool',
    'employees',
  ])
})

test('publish stops when it is aborted, and the next one completes it', async () => {
  const lake = await smallLake(await temporaryFolder(), 3)
  const stop = new AbortController()
  const onProgress = ({ snapshots, table }: { snapshots: number; table: string }): void => {
    if (snapshots === 1 && table === 'roles') stop.abort()
  }
  await expect(publishDelta(lake, { signal: stop.signal, onProgress })).rejects.toThrow()
  expect(await logNames(lake, 'financials')).toHaveLength(2)
  expect(await logNames(lake, 'companies')).toHaveLength(1)
  await publishDelta(lake)
  expect(await logNames(lake, 'companies')).toHaveLength(3)
})

test('publish says so where there is no lake', async () => {
  await expect(publishDelta(await temporaryFolder())).rejects.toMatchObject({ code: 'LAKE_NOT_FOUND' })
})

test('publish says so where nothing can be written', async () => {
  const lake = await smallLake(await temporaryFolder(), 1)
  await rm(join(lake, RUNS_FOLDER), { recursive: true })
  await writeFile(join(lake, RUNS_FOLDER), '')
  await expect(publishDelta(lake)).rejects.toMatchObject({ code: 'WRITE_FAILED' })
})

test('publish names a table whose file is not Parquet', async () => {
  const lake = await smallLake(await temporaryFolder(), 1)
  const { partitions } = await readSnapshot(lake)
  const file = partitions[0]?.files.find(({ table }) => table === 'roles' || table === 'financials')
  await writeFile(join(lake, file?.path ?? ''), 'x')
  await expect(publishDelta(lake)).rejects.toMatchObject({ code: 'LAKE_DAMAGED' })
})
