/** What others' records say of the forgotten in fields that the contract does not know. */

import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commitForget } from '../../../src/commit/commit-forget.ts'
import { compact } from '../../../src/jobs/compact/compact.ts'
import { forget } from '../../../src/jobs/forget/forget.ts'
import { createRun } from '../../../src/manifest/runs/runs.ts'
import { readRoot } from '../../../src/manifest/snapshots/snapshots.ts'
import { storedPlan } from '../../../src/run/run-plan.ts'
import { publish } from '../../../src/targets/publish.ts'
import { DEAD } from '../../manifest/small-lake.ts'
import { type Bench, openBench } from '../../run/batch-bench.ts'
import { benchCopies } from '../../support/bench-copies.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
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

const unknown = (place: (typeof PLACES)[number], people: readonly number[]): object => ({
  [`More${place}`]: people.map((id) => about(place, id)),
})

const company = (id: number, people: readonly number[]): object => ({
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

const relations = (id: number, people: readonly number[]): object => ({
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
    ...people.map((one) => ({
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

const load = async (bench: Bench, people: readonly number[]): Promise<void> => {
  const lines = (recordOf: typeof company): string[] =>
    [...IDS.map((id) => recordOf(id, people)), recordOf(QUIET, [])].map((one) => JSON.stringify(one))
  await bench.write('companies', [
    ...lines(company),
    JSON.stringify({
      BasicDetails: { InternalId: 15, LegalForm: 'text', ...unknown('bad', people) },
    }),
  ])
  await bench.write('relations', lines(relations))
  await bench.run(['companies', 'relations'], { maxQuarantined: { kind: 'share', share: 0.9 } })
}

/** Lakes whose records tell of nobody, of the other person, and of both. */
const ofNobody = benchCopies((bench) => load(bench, []))
const ofOther = benchCopies((bench) => load(bench, [OTHER]))
const ofBoth = benchCopies((bench) => load(bench, [PERSON, OTHER]))

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

/** Lists that the person stood in stay, empty. */
const left = { ...{ kind: 'forgotten', left: [], unknown: 0, unresolved: 0 } }

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
    expect([...found].sort()).toEqual(marksOf(OTHER).sort())
    expect(await bench.verify()).toMatchObject({ problems: [], notes: [] })
    expect(await rowsOf(bench)).toEqual(await rowsOf(await ofOther()))
    expect(await forget({ lake, persons: [PERSON] })).toMatchObject({ kind: 'nothing', left: [] })
  },
)

test('forget finds by national ids whom only unknown fields know', async () => {
  const bench = openBench(await temporaryFolder())
  await bench.write('companies', [JSON.stringify(company(11, [PERSON, OTHER]))])
  await bench.run(['companies'])
  expect(await forget({ lake: bench.lake, nationalIds: [national(PERSON)] })).toMatchObject({
    ...{ kind: 'forgotten', persons: 0, unresolved: 1, left: [] },
    files: expect.arrayContaining([expect.objectContaining({ kind: 'companies', rows: 1 })]),
  })
  expect(await marksBelow(bench.lake, [markOf(PERSON, 'item')])).toEqual(new Set())
})

test('forget counts what nobody can decide on, by the file it stands in now', async () => {
  const bench = openBench(await temporaryFolder())
  const { lake } = bench
  await bench.write('companies', [
    JSON.stringify({ ...company(11, [PERSON]), Note: `${nameOf(PERSON)} has signed`, Count: PERSON }),
    JSON.stringify({ ...company(12, []), Notes: ['x', nameOf(PERSON)] }),
  ])
  await bench.write('relations', [
    JSON.stringify({ ...relations(11, [PERSON]), Note: nameOf(PERSON) }),
    JSON.stringify(relations(12, [])),
  ])
  await bench.run(['companies', 'relations'])
  const planned = await forget({ lake, persons: [PERSON], dryRun: true })
  const done = await forget({ lake, persons: [PERSON] })
  const counts = (of: typeof done) => of.left.map(({ kind, values }) => [kind, values])
  expect(counts(done)).toEqual([
    ['companies', 3],
    ['relations', 1],
  ])
  expect(counts(planned)).toEqual(counts(done))
  for (const { path } of done.left)
    expect(await marksBelow(join(lake, path, '..'), [nameOf(PERSON)])).not.toEqual(new Set())
  const listed = (await bench.snapshot()).partitions.flatMap(({ files }) => files.map(({ path }) => path))
  expect(done.left.filter(({ path }) => !listed.includes(path))).toEqual([])
  expect(JSON.stringify(done)).not.toMatch(new RegExp(`${PERSON}|${nameOf(PERSON)}`))
  expect((await readRoot(lake)).forgotten?.at(-1)?.left).toEqual(done.left)
})

test('forget says what one before it has left that was killed before it could, and takes nobody for unknown then', async () => {
  const bench = await ofNobody()
  const { lake } = bench
  const plan = storedPlan({ jobs: [{ kind: 'forget', published: [] }], again: false, limits: {} })
  const lease = await createRun({ lake, plan, now: new Date(), random: randomBytes, process: DEAD })
  const base = await bench.snapshot()
  const { partitions, files, pulls = [], merged = [] } = base
  const undecided = [{ kind: 'companies', path: 'companies/load=1/1.parquet', values: 3 }]
  await commitForget({
    ...{
      lease,
      tool: 'firmlake 0.1.0',
      base,
      written: [],
      names: [],
      random: randomBytes,
      now: () => new Date(),
    },
    listed: { partitions, files, pulls, merged },
    versions: async ({ versions }) => versions,
    ids: { companies: new Set(), persons: new Set() },
    receipt: { companies: 0, persons: 1, files: [], linesCleared: 0, left: undecided, later: 'allowed' },
  })
  expect(await forget({ lake, persons: [PERSON], allowLater: true })).toMatchObject({
    ...{ completed: [2], left: undecided, unknown: 1 },
  })
})

test('forget counts line items whose names tell of somebody', async () => {
  const bench = openBench(await temporaryFolder())
  const figures = { ProfitAndLoss: { [`Loan to ${nameOf(PERSON)}`]: { 2024: 1 }, NetSales: { 2024: 2 } } }
  await bench.write('companies', [JSON.stringify({ ...company(11, []), Financials: figures })])
  await bench.write('relations', [JSON.stringify(relations(11, [PERSON]))])
  await bench.run(['companies', 'relations'])
  const { left: items } = await forget({ lake: bench.lake, persons: [PERSON] })
  expect(items).toMatchObject([{ kind: 'line_items', values: 1 }])
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
