import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { TABLES } from '../../../src/lake/tables/tables.ts'
import { removeGarbage } from '../../../src/manifest/gc/remove-garbage.ts'
import { readSnapshot } from '../../../src/manifest/snapshots/snapshots.ts'
import { currentSnapshot } from '../../../src/publish/iceberg/table-metadata.ts'
import { verify } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { commitChanged, loadSmallRun, versionsOf } from '../sample-lake.ts'
import { usePublishedLakes, useSmallLakes } from '../small-lakes.ts'
import {
  changeMetadata,
  metadataFile,
  metadataNames,
  metadataNumbers,
  publishIceberg,
  readManifests,
  readMetadata,
  tableText,
} from './iceberg-lake.ts'

const smallLake = useSmallLakes()
const publishedLake = usePublishedLakes(smallLake, publishIceberg)

const strings = (lake: string): Promise<string[]> =>
  Promise.all(TABLES.map(({ name }) => tableText(lake, name)))

const forget = async (lake: string): Promise<void> => {
  for (const { name } of TABLES) await rm(join(lake, name, 'metadata'), { recursive: true, force: true })
}

test('publish writes one snapshot for each snapshot of the lake that changes a table', async () => {
  const lake = await smallLake(await temporaryFolder(), 2)
  const summary = await publishIceberg(lake)
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
  expect(await metadataNumbers(lake, 'companies')).toEqual([1, 2])
  const metadata = await readMetadata(lake, 'companies')
  const [first, second] = metadata.snapshots ?? []
  const { run } = await readSnapshot(lake, 2)
  expect(metadata).toMatchObject({
    'format-version': 2,
    location: `file://${lake}/companies`,
    'last-sequence-number': 2,
    'current-snapshot-id': second?.['snapshot-id'],
    refs: { main: { 'snapshot-id': second?.['snapshot-id'], type: 'branch' } },
    'metadata-log': [{ 'metadata-file': `file://${lake}/companies/metadata/v1.metadata.json` }],
  })
  expect(metadata['snapshot-log']?.map((one) => one['snapshot-id'])).toEqual([
    first?.['snapshot-id'],
    second?.['snapshot-id'],
  ])
  expect(second).toMatchObject({
    'parent-snapshot-id': first?.['snapshot-id'],
    'sequence-number': 2,
    summary: {
      operation: 'append',
      'added-data-files': '1',
      'added-records': '2',
      'total-data-files': '2',
      'total-records': '4',
      'firmlake.snapshot': '2',
      'firmlake.run': run,
    },
  })
})

test('publish adds one manifest for an append and lists those before it as they are', async () => {
  const lake = await publishedLake(2)
  const [first, second] = (await readMetadata(lake, 'companies')).snapshots ?? []
  const [before] = await readManifests(first)
  const [added, kept] = await readManifests(second)
  expect(kept).toEqual(before)
  expect(added).toMatchObject({ sequence_number: 2, added_files_count: 1, existing_files_count: 0 })
  const [entry] = added?.entries ?? []
  const { run, partitions } = await readSnapshot(lake, 2)
  const { version } = partitions[1] ?? {}
  expect(entry).toMatchObject({
    status: 1,
    sequence_number: null,
    data_file: { content: 0, file_format: 'PARQUET', partition: { load: run, version }, record_count: 2 },
  })
  const ends = (bounds: readonly { key: number; value: Buffer }[] | null | undefined) =>
    bounds?.find(({ key }) => key === 3)?.value.readBigInt64LE()
  expect(ends(entry?.data_file.lower_bounds)).toBe(2n)
  expect(ends(entry?.data_file.upper_bounds)).toBe(3n)
  const country = entry?.data_file.lower_bounds?.find(({ key }) => key === 6)?.value
  expect(country?.toString()).toBe('SE')
})

test('publish again adds nothing', async () => {
  const lake = await publishedLake(2)
  const names = await Promise.all(TABLES.map(({ name }) => metadataNames(lake, name)))
  expect(versionsOf(await publishIceberg(lake))).toEqual({})
  expect(await Promise.all(TABLES.map(({ name }) => metadataNames(lake, name)))).toEqual(names)
})

test('publish after each run gives the tables of one publish at the end', async () => {
  const lake = await publishedLake(1)
  const folder = dirname(lake)
  await loadSmallRun(folder, 2)
  await publishIceberg(lake)
  const stepwise = await strings(lake)
  await forget(lake)
  await publishIceberg(lake)
  expect(await strings(lake)).toEqual(stepwise)
})

test('publish tells which files are deleted and which stay, and drops their manifest afterwards', async () => {
  const lake = await publishedLake(2)
  const folder = dirname(lake)
  // The first partition goes, and another one comes.
  await loadSmallRun(folder, 3)
  const { partitions } = await commitChanged(lake, (newest) => ({ partitions: newest.partitions.slice(1) }))
  await removeGarbage({ lake, keep: 1, now: new Date() })
  await publishIceberg(lake)
  const metadata = await readMetadata(lake, 'companies')
  const ids = metadata.snapshots?.map((one) => one['snapshot-id'])
  expect(currentSnapshot(metadata)?.summary).toMatchObject({
    operation: 'overwrite',
    'deleted-data-files': '1',
    'added-data-files': '1',
    'total-data-files': '2',
    'total-records': '4',
  })
  const [rewritten, added] = await readManifests(currentSnapshot(metadata))
  expect(rewritten).toMatchObject({ deleted_files_count: 1, deleted_rows_count: 2, added_files_count: 0 })
  expect(rewritten?.entries).toMatchObject([
    { status: 2, snapshot_id: ids?.at(-1), sequence_number: 1, file_sequence_number: 1 },
  ])
  expect(added?.entries).toMatchObject([
    { status: 1, data_file: { partition: { load: partitions[1]?.run, version: partitions[1]?.version } } },
  ])
  await loadSmallRun(folder, 5)
  await publishIceberg(lake)
  const later = await readManifests(currentSnapshot(await readMetadata(lake, 'companies')))
  expect(later.map((one) => one.deleted_files_count)).toEqual([0, 0, 0])
})

test('publish keeps the files beside a deleted one as existing', async () => {
  const folder = await temporaryFolder()
  const lake = await smallLake(folder, 3)
  const removed = await commitChanged(lake, () => ({}))
  await publishIceberg(lake)
  await forget(lake)
  await removeGarbage({ lake, keep: 1, now: new Date() })
  // All three files stand in one manifest.
  await publishIceberg(lake)
  await commitChanged(lake, ({ partitions }) => ({ partitions: partitions.slice(0, 2) }))
  await publishIceberg(lake)
  const metadata = await readMetadata(lake, 'companies')
  const [manifest, ...more] = await readManifests(currentSnapshot(metadata))
  expect(more).toEqual([])
  expect(manifest).toMatchObject({
    existing_files_count: 2,
    deleted_files_count: 1,
    sequence_number: 2,
    min_sequence_number: 1,
  })
  expect(manifest?.entries.map(({ status }) => status)).toEqual([0, 0, 2])
  expect(removed.snapshot).toBe(4)
})

test('publish expires snapshots that gc has removed, with the files that only they use', async () => {
  const lake = await publishedLake(3)
  const folder = dirname(lake)
  await commitChanged(lake, ({ partitions }) => ({ partitions: partitions.slice(2) }))
  await publishIceberg(lake)
  const before = await readMetadata(lake, 'companies')
  await removeGarbage({ lake, keep: 1, now: new Date() })
  await loadSmallRun(folder, 7)
  await publishIceberg(lake)
  const after = await readMetadata(lake, 'companies')
  expect(after.snapshots?.map((one) => one.summary['firmlake.snapshot'])).toEqual(['4', '5'])
  expect(after['snapshot-log']).toHaveLength(2)
  const names = await metadataNames(lake, 'companies')
  const gone = (before.snapshots ?? []).slice(0, 3).map((one) => one['manifest-list'].split('/').at(-1))
  for (const name of gone) expect(names).not.toContain(name)
  for (const snapshot of after.snapshots ?? []) expect(await readManifests(snapshot)).not.toEqual([])
})

test('publish makes the tables anew when the lake was moved, and says so', async () => {
  const lake = await publishedLake(2)
  const folder = dirname(lake)
  const before = await readMetadata(lake, 'companies')
  const moved = join(folder, 'elsewhere now')
  await rename(lake, moved)
  const summary = await publishIceberg(moved)
  expect(summary.tables.every((table) => table.moved)).toBe(true)
  const after = await readMetadata(moved, 'companies')
  expect(after.location).toBe(`file://${moved}/companies`)
  expect(after['table-uuid']).not.toBe(before['table-uuid'])
  expect(after.snapshots).toHaveLength(2)
  expect(await metadataNumbers(moved, 'companies')).toEqual([1, 2, 3, 4])
  expect((await publishIceberg(moved)).tables.some((table) => table.moved)).toBe(false)
})

test('publish gives a table the columns that its schema lacks, and leaves those of a later release', async () => {
  const lake = await publishedLake(1)
  const later = { id: 99, name: 'of_a_later_release', required: false, type: 'string' }
  await changeMetadata(lake, 'employees', ({ schemas }) => ({
    schemas: schemas.map((schema) => ({
      ...schema,
      fields: [...schema.fields.filter(({ name }) => name !== 'employees'), later],
    })),
  }))
  await commitChanged(lake, () => ({}))
  await publishIceberg(lake)
  const metadata = await readMetadata(lake, 'employees')
  expect(metadata['current-schema-id']).toBe(1)
  const names = metadata.schemas[1]?.fields.map(({ id, name }) => [id, name])
  expect(names).toEqual([
    [3, 'internal_id'],
    [4, 'country_code'],
    [5, 'consolidation'],
    [6, 'fiscal_year'],
    [7, 'employees'],
    [12, 'is_preferred'],
    [1, 'load'],
    [2, 'version'],
    [8, 'snapshot'],
    [9, 'run'],
    [10, 'loaded_at'],
    [11, 'as_of'],
    [99, 'of_a_later_release'],
  ])
})

test.each([
  ['another format version', () => ({ 'format-version': 1 })],
  ['properties of another table', () => ({ properties: { 'firmlake.table': 'roles' } })],
  ['a snapshot of another writer on top', () => ({ 'current-snapshot-id': 7 })],
])('publish refuses metadata with %s', async (_what, change) => {
  const lake = await publishedLake(1)
  await changeMetadata(lake, 'companies', change)
  await expect(publishIceberg(lake)).rejects.toMatchObject({
    code: 'PUBLISH_CONFLICT',
    context: { table: 'companies' },
  })
})

test.each(['{', '[]'])('publish refuses metadata that reads %s', async (text) => {
  const lake = await publishedLake(1)
  await writeFile(metadataFile(lake, 'companies', 2), text)
  await rm(join(lake, 'companies/metadata/_hashes'), { recursive: true })
  await expect(publishIceberg(lake)).rejects.toMatchObject({ code: 'PUBLISH_CONFLICT' })
})

test('publish refuses a table whose manifest is gone', async () => {
  const lake = await publishedLake(1)
  const folder = dirname(lake)
  for (const name of await metadataNames(lake, 'companies'))
    if (/m\d\.avro$/.test(name)) await rm(join(lake, 'companies/metadata', name))
  await loadSmallRun(folder, 2)
  await expect(publishIceberg(lake)).rejects.toMatchObject({ code: 'PUBLISH_CONFLICT' })
})

test('verify and gc leave a publication alone', async () => {
  const lake = await publishedLake(2)
  const before = await strings(lake)
  expect((await verify(lake)).problems).toEqual([])
  const garbage = await removeGarbage({ lake, keep: 1, now: new Date() })
  expect(garbage.leftovers).toEqual([])
  // The parts of the first snapshot alone.
  expect(garbage.files.filter((path) => !path.startsWith('_manifest/parts/'))).toEqual([])
  expect(await strings(lake)).toEqual(before)
})

describe('verify notes a publication of which the last step is missing, as a kill or a full disk leaves it:', () => {
  const HINT = 'companies/metadata/version-hint.text'
  const unfinished = (what: string): string =>
    `"${HINT}" ${what}, the newest is 2: an unfinished publication, "firmlake publish iceberg" finishes it`

  test.each([
    ['a hint of the version before', (path: string) => writeFile(path, '1'), unfinished('names version 1')],
    ['no hint', (path: string) => rm(path), unfinished('is not there yet')],
  ])('%s', async (_, leave, note) => {
    const lake = await publishedLake(2)
    expect(await readFile(join(lake, HINT), 'utf8')).toBe('2')
    await leave(join(lake, HINT))
    expect(await verify(lake)).toMatchObject({ problems: [], notes: [note] })
    await publishIceberg(lake)
    expect(await readFile(join(lake, HINT), 'utf8')).toBe('2')
    expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
  })

  test.each(['3', '0', '02', '2\n', '', 'v2'])('a hint that reads %j is damage', async (text) => {
    const lake = await publishedLake(2)
    await writeFile(join(lake, HINT), text)
    expect((await verify(lake)).problems).toMatchObject([{ path: HINT, problem: 'changed' }])
  })
})
