import { cp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Snapshot } from '../../../../src/core/partition.ts'
import type { Row } from '../../../../src/lake/duckdb/engine.ts'
import { checkNamedFile, readFileList } from '../../../../src/manifest/form/file-list.ts'
import { buildIndex } from '../../../../src/server/serving-index/build/build-index.ts'
import { type IndexDescription, searchFile } from '../../../../src/server/serving-index/index-form.ts'
import { openIndex } from '../../../../src/server/serving-index/open-index.ts'
import { type LoadedLake, Workbench } from '../../../load/loaded-lake.ts'
import { flipBit } from '../../../manifest/damage.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { LIMIT, MEMORY_BYTES, placesOf, requestOf, sampleLines } from '../served-lake.ts'

let bench: Workbench
let loaded: LoadedLake
let parent: string

beforeAll(async () => {
  bench = await Workbench.open()
  const companies = await sampleLines('companies', 30)
  const relations = await sampleLines('relations', 30)
  const renamed = (lines: readonly string[]): string[] =>
    lines.map((line) => line.replace(/"CompanyName":"/, '"CompanyName":"New '))
  loaded = await bench.load(
    { content: 'companies', lines: companies.slice(0, 20) },
    { content: 'relations', lines: relations.slice(0, 20) },
    // A night: some again, some new, and relations whose companies stand before them.
    { content: 'companies', lines: renamed(companies.slice(15, 22)) },
    { content: 'relations', lines: relations.slice(10, 23) },
    { content: 'companies', lines: renamed(renamed(companies.slice(18, 20))) },
    { content: 'companies', lines: companies.slice(25, 28) },
  )
  parent = join(bench.folder, 'indexes')
})
afterAll(() => bench.close())

/** The lake when it had so many partitions. */
const snapshots = new Map<string, Promise<Snapshot>>()
const upTo = (number: number, without?: number): Promise<Snapshot> => {
  const name = `${number} ${without}`
  const partitions = loaded.snapshot.partitions.slice(0, number).filter((_, at) => at !== without)
  const known =
    snapshots.get(name) ?? bench.listed(loaded.lake, { ...loaded.snapshot, snapshot: number, partitions })
  snapshots.set(name, known)
  return known
}

interface Made {
  readonly folder: string
  readonly description: IndexDescription
}
const make = async (partitions: number, within = parent): Promise<Made> => {
  const folder = join(within, String(partitions))
  const description = await buildIndex(requestOf({ ...loaded, snapshot: await upTo(partitions) }, { folder }))
  return { folder, description }
}

/** Indexes of 2, 4 and 6 partitions, each of which uses the segments of those before it: made once. */
let three: Promise<readonly Made[]> | undefined
const madeOnce = (): Promise<readonly Made[]> => {
  three ??= (async () => [await make(2), await make(4), await make(6)])()
  return three
}

/** Copies those of so many partitions. @returns the folder that they stand in */
const copied = async (...numbers: readonly number[]): Promise<string> => {
  await madeOnce()
  const within = await temporaryFolder()
  for (const number of numbers)
    await cp(join(parent, String(number)), join(within, String(number)), { recursive: true })
  return within
}

const TABLES = {
  company: 'internal_id',
  relation: 'internal_id',
  dated_relation: 'internal_id',
  figure: 'line_item, internal_id, fiscal_year',
  posting: 'term, internal_id',
  embedding: 'internal_id',
  person: 'national_id, internal_id',
}
const PLACE = /^(segment|.*block_at|.*block_bytes|at|minified_at)$/

/** All that an index answers from, wherever it stands. */
const contentOf = async (folder: string): Promise<object> => {
  const index = await openIndex({ folder, memoryBytes: MEMORY_BYTES })
  const content: Record<string, unknown> = {}
  const ask = (sql: string): Promise<Row[]> => index.query((session) => session.rows(sql), LIMIT)
  for (const [table, order] of Object.entries(TABLES)) {
    const rows = await ask(`SELECT * FROM serving.${table} ORDER BY ${order}`)
    content[table] = rows.map((row) =>
      Object.fromEntries(Object.entries(row).filter(([name]) => !PLACE.test(name))),
    )
  }
  const companies = await ask('SELECT * FROM serving.company ORDER BY internal_id')
  const relations = await ask('SELECT * FROM serving.relation ORDER BY internal_id')
  content.companies = (await index.documents('companies', placesOf(companies))).map(String)
  content.minified = (await index.documents('minified', placesOf(companies, 'minified_'))).map(String)
  content.relations = (await index.documents('relations', placesOf(relations))).map(String)
  await index.close()
  return content
}

const contents = new Map<number, Promise<object>>()
/** That of one of the indexes that are made once. */
const contentOfMade = (number: number): Promise<object> => {
  const known = contents.get(number) ?? madeOnce().then(() => contentOf(join(parent, String(number))))
  contents.set(number, known)
  return known
}

const inodeOf = async ({ folder, description }: Made, segment: number): Promise<number> =>
  (await stat(join(folder, searchFile(description.segments[segment]?.name ?? '')))).ino

test('buildIndex uses the segments of an earlier index and makes one of what is new, equal to an index made at once', async () => {
  const [first, second, third] = await madeOnce()
  if (!(first && second && third)) throw new TypeError('three indexes')
  expect(first.description.segments).toHaveLength(1)
  expect(second.description.segments).toMatchObject([
    { partitions: 2, records: { companies: 20, relations: 20 } },
    { partitions: 2, records: { companies: 7, relations: 13 } },
  ])
  expect(await inodeOf(second, 0)).toBe(await inodeOf(first, 0))
  expect(third.description.segments.map(({ partitions }) => partitions)).toEqual([2, 2, 2])
  const atOnce = await make(6, await temporaryFolder())
  expect(atOnce.description.segments).toHaveLength(1)
  expect(third.description.records).toEqual(atOnce.description.records)
  expect(await contentOfMade(6)).toEqual(await contentOf(atOnce.folder))
})

test.each([
  ['the last partition', 5],
  ['one in the middle', 2],
])('records that a newer snapshot has no more leave the index: those of %s', async (_which, gone) => {
  const within = await copied(2, 4, 6)
  const snapshot = await upTo(7, gone)
  const makeIn = async (parentFolder: string): Promise<string> => {
    const folder = join(parentFolder, '7')
    await buildIndex(requestOf({ ...loaded, snapshot }, { folder }))
    return folder
  }
  const folder = await makeIn(within)
  const after = await contentOf(folder)
  expect(after).not.toEqual(await contentOfMade(6))
  expect(after).toEqual(await contentOf(await makeIn(await temporaryFolder())))
})

test('an index stays whole when the one is removed whose segments it uses', async () => {
  const within = await copied(2)
  const second = await make(4, within)
  await rm(join(within, '2'), { recursive: true })
  expect(await contentOf(second.folder)).toEqual(await contentOfMade(4))
})

test('buildIndex uses no segment that is damaged, nor any behind it', async () => {
  const within = await copied(2)
  const [first] = await madeOnce()
  const path = join(within, '2', `companies-${first?.description.segments[0]?.name}.jsonl.zst`)
  const { size } = await stat(path)
  await flipBit(path, size - 1, 0)
  const second = await make(4, within)
  expect(second.description.segments.map(({ partitions }) => partitions)).toEqual([4])
  expect(await contentOf(second.folder)).toEqual(await contentOfMade(4))
})

test('buildIndex twice at once uses the same segments, and one index is left', async () => {
  const within = await copied(2)
  const [one, two] = await Promise.all([make(4, within), make(4, within)])
  expect(one.description).toEqual(two.description)
  expect((await readdir(within)).sort()).toEqual(['2', '4'])
  await contentOf(one.folder)
})

test('the lists of two indexes name the files that both share, with the same lengths and hashes', async () => {
  const made = await madeOnce()
  const lists = await Promise.all(made.slice(0, 2).map(({ folder }) => readFileList(folder)))
  const [first = [], second = []] = lists.map((list) => (list.kind === 'list' ? list.files : []))
  const shared = first.filter(({ name }) => name !== 'index.json')
  expect(shared).toHaveLength(4)
  expect(second).toEqual(expect.arrayContaining(shared))
  for (const file of second) expect(await checkNamedFile(join(parent, '4'), file)).toBeNull()
})
