import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { check } from '../../src/jobs/check.ts'
import { compact } from '../../src/jobs/compact.ts'
import { forget } from '../../src/jobs/forget.ts'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { createRun } from '../../src/manifest/runs/runs.ts'
import { readRoot, readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { makeBatchFiles } from '../../src/server/batch-files/make-batch-files.ts'
import { currentIndex } from '../../src/server/serving-index/build/current-index.ts'
import { publish } from '../../src/targets/publish.ts'
import { type Bench, companyLine, openBench } from '../run/batch-bench.ts'
import { lengthEmbedder, MEMORY_BYTES } from '../server/serving-index/served-lake.ts'
import { rowsOf } from '../service/serving.ts'
import { benchCopies } from '../support/bench-copies.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  badLines,
  badRelations,
  COMPANIES,
  company,
  companyMarks,
  escaped,
  MANY_BAD,
  marksBelow,
  numbers,
  personMarks,
  plantLake,
  relations,
} from './planted-lake.ts'

const planted = benchCopies(plantLake)

/** The same without company 2 and person 902. */
const forgotten = benchCopies(async (bench) => {
  await plantLake(bench)
  await forget({ lake: bench.lake, companies: [2], persons: [902] })
})

const UNREADABLE = '{"unreadable"'

type Json = Readonly<Record<string, unknown>>
const isGone = (entity: Json): boolean => entity.InternalId === 2 || entity.InternalId === 902
const kept = (list: unknown): Json[] =>
  (list as Json[])
    .filter((entity) => !isGone(entity))
    .map((entity) => ({ ...entity, ...('History' in entity && { History: kept(entity.History) }) }))

/** The same lake, of lines without company 2 and person 902. */
const neverLoaded = benchCopies(async (bench) => {
  const rest = (count: number): number[] => numbers(count).filter((id) => id !== 2)
  const without = (id: number): string => {
    const record = relations(id, COMPANIES)
    return escaped({ ...record, Parents: kept(record.Parents), Children: kept(record.Children) })
  }
  await bench.write(
    'companies-a',
    rest(COMPANIES).map((id) => escaped(company(id))),
  )
  await bench.write('relations-a', rest(COMPANIES).map(without))
  await bench.write('companies-b', [
    ...rest(3).map((id) => escaped(company(id, 2))),
    // Lines that nobody can read lose their text and stay.
    ...[UNREADABLE, UNREADABLE],
    ...badLines(3, 903),
  ])
  const { Parents, ...refused } = JSON.parse(badRelations(4, 902))
  await bench.write('relations-b', [
    ...rest(3).map(without),
    JSON.stringify({ ...refused, Parents: kept(Parents) }),
    badRelations(4, 903),
  ])
  await bench.run(['companies-a', 'relations-a'])
  await bench.run(['companies-b', 'relations-b'], MANY_BAD)
})

const gone = [...companyMarks(2), ...personMarks(902)]
const others = [1, 3, 4, 5, 6].flatMap(companyMarks).concat([901, 903, 904].flatMap(personMarks))
/** Lines in the quarantine are about these alone. */
const unused = [1, 4, 5, 6].map((id) => `zqbadx${id}qz`).concat([901, 904].map((id) => `zqpbadx${id}qz`))

/** The members of `extra` in one order: what is restored and loaded again has them in another. */
const inOrder = (cell: unknown): unknown =>
  typeof cell === 'string' && cell.startsWith('{')
    ? Object.entries<unknown>(JSON.parse(cell)).sort(([a], [b]) => (a < b ? -1 : 1))
    : cell

const tablesOf = ({ lake }: Bench): Promise<Readonly<Record<string, readonly string[]>>> =>
  rowsOf(
    lake,
    TABLES.flatMap(({ name }) => [name, `${name}_history`]),
    (_, cell) => inOrder(cell),
  )

let tables: ReturnType<typeof tablesOf> | undefined
const tablesNeverLoaded = (): ReturnType<typeof tablesOf> => {
  tables ??= neverLoaded().then(tablesOf)
  return tables
}

/** What the manifest says, partition by partition: what is filtered counts as never there. */
const factsOf = async (bench: Bench) => {
  const { partitions } = await bench.snapshot()
  return partitions.map(({ content, counts: { filtered = 0, lines, ...counts }, range }) => ({
    ...{ content, counts, lines: lines - filtered, observed: range.observed },
  }))
}

const LINES = 'SELECT code, raw, size_bytes FROM quarantine ORDER BY ALL'

test('forget erases all marks of a company and a person, and none of the others', async () => {
  const bench = await planted()
  const { lake } = bench
  await publish({ lake, formats: ['delta'], rows: ['all'] })
  await publish({ lake, formats: ['iceberg'], rows: ['current'] })
  const index = await currentIndex({ lake, memoryBytes: MEMORY_BYTES, embedder: lengthEmbedder })
  await makeBatchFiles({ lake, index })
  await index.close()
  expect([...(await marksBelow(lake, gone))].sort()).toEqual([...gone].sort())
  const summary = await forget({ lake, companies: [2], persons: [902] })
  expect(summary).toMatchObject({
    made: ['_serve/00000002', '_batches/00000002'],
    published: ['delta all', 'iceberg current'],
    kind: 'forgotten',
    snapshot: 3,
    companies: 1,
    persons: 1,
    snapshots: [1, 2],
  })
  const left = await marksBelow(lake, [...gone, ...others])
  expect(gone.filter((mark) => left.has(mark))).toEqual([])
  expect(others.filter((mark) => !left.has(mark) && !unused.includes(mark))).toEqual([])
  expect(await bench.verify()).toMatchObject({ problems: [], notes: [] })
  expect(await readdir(join(lake, '_runs'))).toEqual([])
})

test('forget leaves the lake as if it had never loaded them', async () => {
  const [bench, other] = [await forgotten(), await neverLoaded()]
  expect(await tablesOf(bench)).toEqual(await tablesNeverLoaded())
  expect(await factsOf(bench)).toEqual(await factsOf(other))
  const lines = await other.query(LINES)
  expect((await bench.query(LINES)).filter(([, raw]) => raw !== null)).toEqual(
    lines.filter(([, raw]) => raw !== UNREADABLE),
  )
})

/** Rows of a history without what says whether they are current. */
const statesIn = (rows: readonly string[] = []): readonly string[] =>
  rows.map((row) => row.replace(/,(true|false)\]$/, ']'))

test('forget in a compacted lake leaves it as if it had never loaded them', async () => {
  const bench = await planted()
  await compact({ lake: bench.lake, targetBytes: 16_384 })
  await forget({ lake: bench.lake, companies: [2], persons: [902] })
  expect([...(await marksBelow(bench.lake, gone))]).toEqual([])
  await compact({ lake: bench.lake, targetBytes: 16_384 })
  expect(await bench.verify()).toMatchObject({ problems: [], notes: [] })
  const [compacted, other] = [await tablesOf(bench), await tablesNeverLoaded()]
  for (const { name, content } of TABLES) {
    expect(compacted[name]).toEqual(other[name])
    // Equal versions are one row.
    if (content)
      expect(new Set(statesIn(compacted[`${name}_history`]))).toEqual(
        new Set(statesIn(other[`${name}_history`])),
      )
    expect(compacted[`${name}_history`]).toHaveLength(new Set(statesIn(other[`${name}_history`])).size)
  }
})

/** Names in the drift of a lake. */
const namesOf = async (bench: Bench): Promise<readonly string[]> => {
  const { partitions, merged = [] } = await bench.snapshot()
  return [...merged, ...partitions].flatMap(({ drift }) => drift.map(({ name }) => name))
}

test.each(['as loaded', 'compacted'])(
  'forget drops the drift of loads that have lost records, and new_drift does not ring for its names, %s',
  async (state) => {
    const bench = openBench(await temporaryFolder())
    const { lake } = bench
    const load = async (name: string, ...lines: readonly string[]): Promise<void> => {
      await bench.write(name, lines)
      await bench.run([name])
    }
    // The second record of a company in one block, the names of which stand with the first.
    await load('a', companyLine(1, { Both: 1 }), companyLine(2, { Both: 1 }), companyLine(2, { Theirs: 1 }))
    await load('b', companyLine(3, { Others: 1 }))
    if (state === 'compacted') await compact({ lake })
    await forget({ lake, companies: [2] })
    expect(await namesOf(bench)).toEqual(state === 'compacted' ? [] : ['Others'])
    expect([...(await marksBelow(lake, ['Theirs']))]).toEqual([])
    // Given again, it finds nothing to do.
    expect(await forget({ lake, companies: [2] })).toMatchObject({ kind: 'nothing' })
    expect(await bench.verify()).toMatchObject({ problems: [], notes: [] })
    if (state === 'compacted') return
    const newDrift = async () => (await check({ lake, noNewDrift: true, data: false })).checks
    await load('c', companyLine(4, { Both: 1, Theirs: 1, Others: 1 }))
    expect(await newDrift()).toMatchObject([{ name: 'new_drift', status: 'passed', value: 0 }])
    await load('d', companyLine(5, { Both: 1, Newest: 1 }))
    expect(await newDrift()).toMatchObject([{ name: 'new_drift', status: 'failed', value: 1 }])
  },
)

test('forget says of older snapshots why they are gone', async () => {
  const { lake } = await forgotten()
  await expect(readSnapshot(lake, 1)).rejects.toMatchObject({
    code: 'SNAPSHOT_FORGOTTEN',
    context: { snapshot: 1, forgottenBy: 3 },
  })
  const { forgotten: forgets = [] } = await readRoot(lake)
  expect(forgets).toMatchObject([{ snapshot: 3, companies: 1, persons: 1, later: 'refused' }])
})

test('forget with dryRun changes nothing, and says the same', async () => {
  const { lake } = await planted()
  const before = await readdir(lake, { recursive: true })
  const planned = await forget({ lake, nationalIds: ['zqORGx2qz', 'zqnationalx902qz', 'none'], dryRun: true })
  expect(await readdir(lake, { recursive: true })).toEqual(before)
  expect(planned).toMatchObject({ kind: 'planned', snapshot: 2, companies: 1, persons: 1, unresolved: 1 })
  const done = await forget({ lake, companies: [2], persons: [902] })
  const withoutItems = done.files.filter(({ kind }) => kind !== 'line_items')
  expect(withoutItems).toEqual(planned.files)
})

test('a later load leaves out what was forgotten, whatever brings it, and counts it as filtered', async () => {
  const bench = await forgotten()
  await bench.write('companies-c', [
    ...numbers(COMPANIES).map((id) => escaped(company(id, 3))),
    ...badLines(2, 901),
  ])
  await bench.write(
    'relations-c',
    numbers(COMPANIES)
      .reverse()
      .map((id) => escaped(relations(id, COMPANIES))),
  )
  await bench.run(['companies-c', 'relations-c'], MANY_BAD)
  expect([...(await marksBelow(bench.lake, gone))]).toEqual([])
  const loaded = (await bench.snapshot()).partitions.slice(-3)
  expect(
    loaded.map(({ counts: { lines, records, quarantined, filtered } }) => [
      lines,
      records,
      quarantined,
      filtered,
    ]),
  ).toEqual([
    [8, 5, 2, 1],
    // Its second line of the same block.
    [1, 0, 0, 1],
    [6, 5, 0, 1],
  ])
  expect(await bench.verify()).toMatchObject({ problems: [], notes: [] })
})

test('forget with allowLater lets a later load bring the same ids back', async () => {
  const bench = await forgotten()
  await forget({ lake: bench.lake, companies: [2], persons: [902], allowLater: true })
  expect((await readRoot(bench.lake)).refusals).toBeUndefined()
  await bench.run(['companies-a'], { again: true })
  expect(await bench.query('SELECT count(*) FROM companies')).toEqual([[6]])
})

test('forget is refused while another run is at work, which it names', async () => {
  const { lake } = await planted()
  const { run } = await createRun({
    lake,
    plan: { pipeline: 'convert' },
    now: new Date(),
    random: randomBytes,
  })
  await expect(forget({ lake, companies: [2] })).rejects.toMatchObject({
    code: 'RUN_LIVE',
    message: expect.stringContaining(run),
  })
  expect((await readRoot(lake)).snapshot).toBe(2)
  expect(await readdir(join(lake, '_runs'))).toEqual([run])
})
