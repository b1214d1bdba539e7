/** What others' records say of the forgotten in fields that the contract does not know. */

import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { commitForget } from '../../src/commit/commit-forget.ts'
import { compact } from '../../src/jobs/compact.ts'
import { forget } from '../../src/jobs/forget.ts'
import { createRun } from '../../src/manifest/runs/runs.ts'
import { readRoot } from '../../src/manifest/snapshots/snapshots.ts'
import { storedPlan } from '../../src/run/run-plan.ts'
import { publish } from '../../src/targets/publish.ts'
import { DEAD } from '../manifest/small-lake.ts'
import { type Bench, openBench } from '../run/batch-bench.ts'
import { benchCopies } from '../support/bench-copies.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { marksBelow } from './planted-lake.ts'

const PERSON = 48151902
const OTHER = 48151903
const national = (id: number): string => `1950-${id}`
const nameOf = (id: number): string => `Ann Ek${id === PERSON ? 'lund' : 'holm'}`

/** Texts that stand in the person's objects and nowhere else. */
const markOf = (id: number, place: string): string => `zq${place}x${id}qz`
const PLACES = ['basic', 'top', 'item', 'linked', 'record', 'entity', 'owner', 'role', 'past', 'bad'] as const

const aboutBy = {
  basic: (id: number) => ({ PersonId: id }),
  top: (id: number) => ({ Name: nameOf(id) }),
  item: (id: number) => ({ PNo: national(id).replace('-', ' ') }),
  linked: (id: number) => ({ InternalId: id }),
  record: (id: number) => ({ InternalId: String(id) }),
  entity: (id: number) => ({ Signed: `by ${national(id)}` }),
  owner: (id: number) => ({ Name: nameOf(id).toUpperCase() }),
  role: (id: number) => ({ OwnerId: id }),
  past: (id: number) => ({ InternalId: id }),
  bad: (id: number) => ({ InternalId: id }),
} as const

/** An object about a person: the mark goes with it. */
const about = (place: (typeof PLACES)[number], id: number): object => ({
  ...aboutBy[place](id),
  Note: markOf(id, place),
})

/** @param people `undefined`: no unknown field at all */
const unknown = (place: (typeof PLACES)[number], people: readonly number[] | undefined): object =>
  people === undefined ? {} : { [`More${place}`]: people.map((id) => about(place, id)) }

const company = (id: number, people?: readonly number[]): object => ({
  BasicDetails: {
    InternalId: id,
    CompanyName: `Company ${id}`,
    CountryCode: 'SE',
    IndustryCode: { IndustryCodes: [{ Code: '1', ...unknown('item', people) }] },
    ...unknown('basic', people),
  },
  MetaData: { ContentUpdatedAt: '2025-01-01T00:00:00' },
  EnhancedDetails: { Employees: { 2023: id } },
  LinkedIn: { Name: 'x', ...unknown('linked', people) },
  Financials: { ProfitAndLoss: { NetSales: { 2023: id, 2024: id + 0.5 } } },
  ...unknown('top', people),
})

const relations = (id: number, people: readonly number[] | undefined, entities = people ?? []): object => ({
  InternalId: id,
  ...unknown('record', people),
  Parents: [
    {
      InternalId: 7000 + id,
      Name: 'Stays',
      ...unknown('entity', people),
      Ownerships: [{ OwnershipStake: 1, ...unknown('owner', people) }],
      KeyPersonRoles: [{ Id: 1, ...unknown('role', people) }],
      History: [{ InternalId: 8000, ...unknown('past', people) }],
    },
    // The lake knows their names and numbers from here.
    ...entities.map((one) => ({
      ...{
        InternalId: one,
        Name: nameOf(one),
        NationalIdentificationNumber: national(one),
        CountryCode: 'SE',
      },
    })),
  ],
})

const IDS = [11, 12, 13]
/** A company that says nothing of anybody, and whose files are of the same load. */
const QUIET = 14

const write = async (
  bench: Bench,
  companies: readonly object[],
  others: readonly object[],
): Promise<void> => {
  const lines = (records: readonly object[]): string[] => records.map((one) => JSON.stringify(one))
  await bench.write('companies', lines(companies))
  await bench.write('relations', lines(others))
  await bench.run(['companies', 'relations'], { maxQuarantined: { kind: 'share', share: 0.9 } })
}

/** A line that nobody can load. */
const bad = (people?: readonly number[]): object => ({
  BasicDetails: { InternalId: 15, LegalForm: 'text', ...unknown('bad', people) },
})

const load = (bench: Bench, people: readonly number[]): Promise<void> =>
  write(
    bench,
    [...IDS.map((id) => company(id, people)), company(QUIET, [OTHER]), bad(people)],
    [...IDS.map((id) => relations(id, people)), relations(QUIET, [OTHER])],
  )

/** Lakes whose records tell of the other person, and of both. */
const ofOther = benchCopies((bench) => load(bench, [OTHER]))
const ofBoth = benchCopies((bench) => load(bench, [PERSON, OTHER]))

/** The same without unknown fields where the person stood: the other one is an entity there. */
const expected = benchCopies((bench) =>
  write(
    bench,
    [...IDS.map((id) => company(id)), company(QUIET, [OTHER]), bad()],
    [...IDS.map((id) => relations(id, undefined, [OTHER])), relations(QUIET, [OTHER])],
  ),
)

const marksOf = (id: number): string[] => PLACES.map((place) => markOf(id, place))

const inOrder = (value: unknown): unknown =>
  typeof value === 'string' && value.startsWith('{') ? JSON.parse(value) : value

const rowsOf = async (bench: Bench): Promise<object> => {
  const tables: Record<string, unknown> = {}
  for (const [table, key] of [
    ['companies', 'internal_id'],
    ['financials', 'internal_id, fiscal_year'],
    ['employees', 'internal_id'],
    ['relations', 'internal_id'],
    ['relation_entities', 'company_id, entity_no'],
    ['ownerships', 'company_id, entity_no'],
    ['roles', 'company_id, entity_no'],
  ]) {
    const rows = await bench.query(
      `SELECT COLUMNS(name -> name NOT IN ('partition', 'run', 'snapshot', 'loaded_at', 'version', 'shown_from', 'shown_until', 'known_since')) FROM ${table} ORDER BY ${key}`,
    )
    expect(rows.length).toBeGreaterThan(0)
    tables[table ?? ''] = rows.map((row) => row.map(inOrder))
  }
  return tables
}

/** Three companies and their relations, and the bad line. */
const left = { ...{ kind: 'forgotten', recordsStripped: 6, linesCleared: 1, unknown: 0, unresolved: 0 } }

test.each(['as loaded', 'compacted'])(
  'forget takes a person out of unknown fields everywhere, %s',
  async (state) => {
    const bench = await ofBoth()
    const { lake } = bench
    if (state === 'compacted') await compact({ lake })
    await publish({ lake, formats: ['delta'] })
    expect(await marksBelow(lake, marksOf(PERSON))).toEqual(new Set(marksOf(PERSON)))
    expect(await forget({ lake, persons: [PERSON] })).toMatchObject(left)
    const found = await marksBelow(lake, [
      ...marksOf(PERSON),
      ...marksOf(OTHER),
      nameOf(PERSON),
      nameOf(PERSON).toUpperCase(),
      ...[String(PERSON), national(PERSON)],
    ])
    expect([...found].sort()).toEqual(
      marksOf(OTHER)
        .filter((mark) => mark !== markOf(OTHER, 'bad'))
        .sort(),
    )
    expect(await bench.verify()).toMatchObject({ problems: [], notes: [] })
    expect(await rowsOf(bench)).toEqual(await rowsOf(await expected()))
    expect(await forget({ lake, persons: [PERSON] })).toMatchObject({ kind: 'nothing', recordsStripped: 0 })
  },
)

test('forget finds by national ids whom only unknown fields know', async () => {
  const bench = openBench(await temporaryFolder())
  await bench.write('companies', [JSON.stringify(company(11, [PERSON, OTHER]))])
  await bench.run(['companies'])
  expect(await forget({ lake: bench.lake, nationalIds: [national(PERSON)] })).toMatchObject({
    ...{ kind: 'forgotten', persons: 0, unresolved: 1, recordsStripped: 1 },
    files: expect.arrayContaining([expect.objectContaining({ kind: 'companies', rows: 1 })]),
  })
  expect(await marksBelow(bench.lake, [markOf(PERSON, 'item')])).toEqual(new Set())
})

test('forget lists the records first that lose their unknown fields, and then says how many', async () => {
  const bench = openBench(await temporaryFolder())
  const { lake } = bench
  const [first, ...others] = nameOf(PERSON).split(' ')
  await write(
    bench,
    [
      { ...company(11), Note: `${others.join(' ').toUpperCase()}, ${first}: has signed` },
      { ...company(12), Notes: ['x'], Count: PERSON },
      { ...company(13), Notes: [first] },
    ],
    [{ ...relations(11, undefined, [PERSON]), Note: national(PERSON) }, relations(12, undefined, [PERSON])],
  )
  const planned = await forget({ lake, persons: [PERSON], dryRun: true })
  const done = await forget({ lake, persons: [PERSON] })
  expect(planned).toMatchObject({
    recordsStripped: 3,
    records: [
      { content: 'companies', id: '11' },
      { content: 'companies', id: '12' },
      { content: 'relations', id: '11' },
    ],
  })
  expect(done).toMatchObject({ recordsStripped: 3, files: planned.files })
  expect(done.records).toBeUndefined()
  expect(JSON.stringify([planned, done])).not.toMatch(new RegExp(`${PERSON}|${nameOf(PERSON)}`, 'i'))
  expect((await readRoot(lake)).forgotten?.at(-1)?.recordsStripped).toBe(3)
  expect(await bench.query("SELECT internal_id FROM companies WHERE extra LIKE '%Notes%'")).toEqual([[13]])
})

test('forget of a killed one that was completed takes nobody for unknown', async () => {
  const bench = await ofOther()
  const { lake } = bench
  const plan = storedPlan({ jobs: [{ kind: 'forget', published: [] }], again: false, limits: {} })
  const lease = await createRun({ lake, plan, now: new Date(), random: randomBytes, process: DEAD })
  const base = await bench.snapshot()
  const { partitions, files, pulls = [], merged = [] } = base
  await commitForget({
    ...{ lease, tool: 'firmlake 0.1.0', base, written: [], names: [] },
    ...{ random: randomBytes, now: () => new Date() },
    listed: { partitions, files, pulls, merged },
    versions: async ({ versions }) => versions,
    ids: { companies: new Set(), persons: new Set() },
    receipt: { companies: 0, persons: 1, files: [], recordsStripped: 0, linesCleared: 0, later: 'allowed' },
  })
  expect(await forget({ lake, persons: [PERSON], allowLater: true })).toMatchObject({
    ...{ completed: [2], unknown: 1 },
  })
})

test('forget takes figures of line items whose names tell of somebody, and their names', async () => {
  const bench = openBench(await temporaryFolder())
  const item = `Loan to ${nameOf(PERSON)}`
  const figures = { ProfitAndLoss: { [item]: { 2024: 1 }, NetSales: { 2024: 2 } } }
  await write(
    bench,
    [{ ...company(11), Financials: figures }, company(12)],
    [relations(11, undefined, [PERSON])],
  )
  const { recordsStripped } = await forget({ lake: bench.lake, persons: [PERSON] })
  expect(recordsStripped).toBe(1)
  expect(await marksBelow(bench.lake, [item, nameOf(PERSON)])).toEqual(new Set())
  expect(
    await bench.query('SELECT internal_id, line_item, fiscal_year, value FROM financials ORDER BY ALL'),
  ).toEqual([
    [11, 'NetSales', 2024, 2],
    [12, 'NetSales', 2023, 12],
    [12, 'NetSales', 2024, 12.5],
  ])
  expect(await bench.verify()).toMatchObject({ problems: [], notes: [] })
})

test('forget of nobody that the lake knows changes nothing, and says so', async () => {
  const { lake } = await ofOther()
  const before = await readdir(lake, { recursive: true })
  for (const dryRun of [true, false])
    await expect(
      forget({ lake, companies: [999_999], persons: [999_998], nationalIds: ['none'], dryRun }),
    ).rejects.toMatchObject({ code: 'IDS_UNKNOWN', context: { ids: 3 } })
  expect(await readdir(lake, { recursive: true })).toEqual(before)
  expect((await readRoot(lake)).refusals).toBeUndefined()
  expect(await forget({ lake, companies: [999_999], persons: [OTHER] })).toMatchObject({ unknown: 1 })
})

test('a later load does not bring a forgotten person back in unknown fields', async () => {
  const bench = await ofBoth()
  await forget({ lake: bench.lake, persons: [PERSON] })
  const again = {
    ...company(11, [OTHER]),
    Board: { Chair: { InternalId: PERSON, Note: markOf(PERSON, 'late') } },
  }
  await bench.write('companies-b', [JSON.stringify(again)])
  await bench.run(['companies-b'])
  expect(await bench.query('SELECT count(*) FROM companies_history WHERE internal_id = 11')).toEqual([[2]])
  expect(await marksBelow(bench.lake, [markOf(PERSON, 'late')])).toEqual(new Set())
})
