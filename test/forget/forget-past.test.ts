import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compact } from '../../src/jobs/compact.ts'
import { forget } from '../../src/jobs/forget.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { ident, literal } from '../../src/lake/duckdb/sql.ts'
import { historyTablesOf } from '../../src/lake/tables/past-tables.ts'
import { mainTables } from '../../src/lake/tables/tables.ts'
import { type Bench, openBench } from '../run/batch-bench.ts'
import { benchCopies } from '../support/bench-copies.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { markOf, marksBelow } from './planted-lake.ts'

const GONE = 902

interface Owner {
  readonly id: number
  readonly name: string
  readonly stake: number
}

const person = ({ id, name, stake }: Owner) => ({
  InternalId: id,
  Name: name,
  LastName: name,
  IsCompany: false,
  Ownerships: [{ OwnershipStake: stake, UpdatedAt: '2025-01-01T00:00:00' }],
  KeyPersonRoles: [{ Id: 1, Text: `Chair ${name}`, InDate: '2020-01-01T00:00:00' }],
})

/** Owners of company 1, day by day: the one who goes stands before others, in an older name too, and leaves in the end. */
const DAYS: readonly (readonly Owner[])[] = [
  [
    { id: GONE, name: markOf('maiden', GONE), stake: 10 },
    { id: 901, name: 'Ann', stake: 40 },
  ],
  [
    { id: GONE, name: markOf('last', GONE), stake: 10 },
    { id: 901, name: 'Ann', stake: 40 },
    { id: 903, name: 'Bo', stake: 20 },
  ],
  [
    { id: 901, name: 'Ann', stake: 40 },
    { id: 903, name: 'Bo', stake: 25 },
  ],
]

const relationsLine = (id: number, owners: readonly Owner[], day: number): string =>
  JSON.stringify({
    InternalId: id,
    Name: `Company ${id}`,
    CountryCode: 'SE',
    Parents: owners.map(person),
    UpdatedAt: `2025-01-0${day}T00:00:00`,
  })

const companyLine = (id: number, name: string, day: number): string =>
  JSON.stringify({
    BasicDetails: { InternalId: id, CompanyName: name, CountryCode: 'SE' },
    MetaData: { ContentUpdatedAt: `2025-01-0${day}T00:00:00` },
    Financials: { ProfitAndLoss: { NetSales: { 2023: id * day } } },
  })

/** Three days of two companies; company 2 is called otherwise each day. @param isTheirs whether the forgotten are there */
const plant = async (bench: Bench, isTheirs: boolean): Promise<void> => {
  for (const [at, all] of DAYS.entries()) {
    const owners = all.filter(({ id }) => isTheirs || id !== GONE)
    const day = at + 1
    const second = isTheirs ? [companyLine(2, markOf(`name${day}`, 2), day)] : []
    await bench.write(`c${day}`, [companyLine(1, `One ${day}`, day), ...second])
    await bench.write(`r${day}`, [
      relationsLine(1, owners, day),
      ...(isTheirs ? [relationsLine(2, [{ id: 905, name: 'Cy', stake: 1 }], day)] : []),
    ])
    await bench.run([`c${day}`, `r${day}`], { asOf: `2025-01-0${day}T12:00:00.000Z` })
  }
  await compact({ lake: bench.lake })
}

const planted = benchCopies((bench) => plant(bench, true))
const neverLoaded = benchCopies((bench) => plant(bench, false))

const MARKS = [
  ...[1, 2, 3].map((day) => markOf(`name${day}`, 2)),
  markOf('maiden', GONE),
  markOf('last', GONE),
]

/** All rows that a compaction keeps beside the current ones. */
const pastRows = async ({ lake, snapshot }: Bench) => {
  const { partitions } = await snapshot()
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    const found: Record<string, unknown> = {}
    for (const table of mainTables().flatMap(({ content }) => historyTablesOf(content))) {
      const files = partitions.flatMap((one) => one.files.filter((file) => file.table === table.name))
      const paths = files.map(({ path }) => literal(join(lake, path)))
      const columns = table.columns.map(({ name }) => ident(name)).join(', ')
      found[table.name] =
        paths.length === 0
          ? []
          : await session.rows(`SELECT ${columns} FROM read_parquet([${paths.join(', ')}]) ORDER BY ALL`)
    }
    return found
  } finally {
    engine.close()
  }
}

test('forget erases companies and persons from past rows, and leaves those of others as if they had never been loaded', async () => {
  const [bench, other] = [await planted(), await neverLoaded()]
  const before = await pastRows(bench)
  expect(JSON.stringify(before, (_, value) => (typeof value === 'bigint' ? String(value) : value))).toContain(
    markOf('maiden', GONE),
  )
  expect([...(await marksBelow(bench.lake, MARKS))].sort()).toEqual([...MARKS].sort())
  await forget({ lake: bench.lake, companies: [2], persons: [GONE] })
  expect([...(await marksBelow(bench.lake, MARKS))]).toEqual([])
  expect(await pastRows(bench)).toEqual(await pastRows(other))
  expect(await bench.verify()).toMatchObject({ problems: [], notes: [] })
})

test('a person who stands in past rows alone is known by the id and by an older name', async () => {
  const bench = openBench(await temporaryFolder())
  await plant(bench, true)
  const planned = await forget({ lake: bench.lake, persons: [GONE], dryRun: true })
  expect(planned).toMatchObject({ kind: 'planned', unknown: 0 })
  expect(planned.files.map(({ kind }) => kind)).toContain('relation_entities_past')
})
