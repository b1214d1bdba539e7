import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openQuery } from '../../src/jobs/query.ts'
import { Engine, type Session } from '../../src/lake/duckdb/engine.ts'
import type { LakeQuery } from '../../src/lake/query/lake-query.ts'
import { type QueryRow, readRows } from '../../src/lake/query/read-rows.ts'
import { sharedLake } from '../support/lakes.ts'
import { someRows } from '../support/same-rows.ts'
import { cellText, questions } from './cookbook.ts'
import {
  chainOf,
  type Figure,
  figuresOf,
  growthOf,
  type Holding,
  holdingsOf,
  latestOf,
  median,
  missingYearsOf,
  valueIn,
} from './expected.ts'
import { type SampleRecords, sampleRecords } from './sample-lake.ts'

let folder: string
let lake: string
let query: LakeQuery
let records: SampleRecords
let figures: readonly Figure[]
let holdings: readonly Holding[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  lake = await sharedLake('deliveries')
  records = await sampleRecords()
  figures = figuresOf(records.current)
  holdings = holdingsOf(records.currentRelations)
  query = await openQuery({ lake })
}, 120_000)
afterAll(async () => {
  query.close()
  await rm(folder, { recursive: true, force: true })
})

const ask = async (sql: string): Promise<readonly QueryRow[]> => readRows(await query.run(sql))

const ALL = questions()
const ask10 = async (title: string): Promise<readonly QueryRow[]> =>
  ask(ALL.find((one) => one.title === title)?.sql ?? '')

test('there are at least 25 questions, each in at most four lines; the first ten in three', () => {
  expect(ALL.length).toBeGreaterThanOrEqual(25)
  for (const [at, { sql }] of ALL.entries())
    expect(sql.split('\n').length).toBeLessThanOrEqual(at < 10 ? 3 : 4)
})

describe('the answers of docs/analysis.md', () => {
  let engine: Engine
  let session: Session
  beforeAll(async () => {
    engine = await Engine.open({ memoryBytes: 512 * 1024 ** 2 })
    session = await engine.connect()
    await session.run(`ATTACH '${join(lake, 'lake.duckdb')}' AS lake (READ_ONLY); USE lake`)
  })
  afterAll(() => engine.close())

  test.each(ALL)('from query and from lake.duckdb: $title', async ({ sql, columns, rows }) => {
    const found = await ask(sql)
    expect(Object.keys(found[0] ?? {})).toEqual(columns)
    expect(found.map((row) => Object.values(row).map(cellText))).toEqual(rows)
    const kept = await session.rows(sql)
    expect(kept.map((row) => Object.values(row).map(cellText))).toEqual(rows)
  })
})

describe('computed from the records in another way, the answer is the same:', () => {
  const round = (value: number, digits: number): number => Number(value.toFixed(digits))
  const country = (): ReadonlyMap<number, string | null> =>
    new Map(figures.map((one) => [one.id, one.country]))
  const sectionOf = (code: string | null | undefined): string | null => {
    const letters: Readonly<Record<string, string>> = {
      '16': 'C',
      '25': 'C',
      '46': 'G',
      '49': 'H',
      '62': 'J',
      '64': 'K',
    }
    return letters[code?.slice(0, 2) ?? ''] ?? null
  }
  const mainCodes = (): ReadonlyMap<number, string | null | undefined> =>
    new Map(
      records.current.flatMap(({ BasicDetails }) => {
        const [first] = BasicDetails?.IndustryCode?.IndustryCodes ?? []
        return first === undefined ? [] : [[Number(BasicDetails?.InternalId), first.Code] as const]
      }),
    )

  test('growth of sales by industry', async () => {
    const codes = mainCodes()
    const own = growthOf(figures, 'NetSales').filter(({ id, year }) => year === 2024 && codes.has(id))
    const expected = [...Map.groupBy(own, ({ id }) => sectionOf(codes.get(id)))].map(([section, some]) => ({
      ...{ section, companies: some.length },
      median_growth: round(median(some.flatMap(({ growth }) => growth ?? [])), 3),
    }))
    expect(await ask10('Growth of sales by industry')).toEqual(
      expected.sort((a, b) => String(a.section).localeCompare(String(b.section))),
    )
  })

  test('the largest owners', async () => {
    const owners = [...Map.groupBy(holdings, ({ owner }) => owner)].map(([owner_id, own]) => ({
      ...{ owner_id, companies: own.length, majorities: own.filter(({ min }) => min > 50).length },
    }))
    owners.sort((a, b) => b.companies - a.companies || b.majorities - a.majorities || a.owner_id - b.owner_id)
    expect(await ask10('The largest owners, by companies held')).toEqual(owners.slice(0, 5))
  })

  test('restated figures', async () => {
    const ids = new Set(records.second.companies.map(({ BasicDetails }) => Number(BasicDetails?.InternalId)))
    const keyOf = ({ id, consolidation, item, year }: Figure): string =>
      `${id} ${consolidation} ${item} ${year}`
    const before = new Map(
      figuresOf(records.companies)
        .filter(({ id }) => ids.has(id))
        .map((one) => [keyOf(one), one]),
    )
    const expected = figures.flatMap((one) => {
      const old = before.get(keyOf(one))
      if (one.item !== 'NetSales' || old === undefined || old.value === one.value) return []
      const percent = round((100 * (one.value - old.value)) / Math.abs(old.value), 1)
      return [
        {
          internal_id: one.id,
          fiscal_year: one.year,
          old_value: old.value,
          new_value: one.value,
          percent,
          snapshot: 2,
        },
      ]
    })
    expect(expected.length).toBeGreaterThan(2)
    // Scaled by a product of doubles here, so without the last digits.
    const digits = (rows: readonly QueryRow[]): readonly QueryRow[] =>
      rows.map((row) => ({
        ...row,
        old_value: Number(row.old_value).toPrecision(13),
        new_value: Number(row.new_value).toPrecision(13),
      }))
    expect(digits(await ask10('Which figures were restated, and by how much'))).toEqual(
      digits(expected.sort((a, b) => a.internal_id - b.internal_id)),
    )
  })

  test('median EBITDA margin by country and year', async () => {
    const own = figures.filter(({ consolidation, year }) => consolidation === 'Consolidated' && year === 2023)
    const of = (item: string): ReadonlyMap<number, number> =>
      new Map(own.filter((one) => one.item === item).map(({ id, value }) => [id, value]))
    const [sales, ebitda] = [of('NetSales'), of('EBITDA')]
    const margins = [...sales].flatMap(([id, value]) => {
      const above = ebitda.get(id)
      return value > 0 && above !== undefined ? [{ id, margin: above / value }] : []
    })
    const expected = [...Map.groupBy(margins, ({ id }) => country().get(id) ?? null)].map(
      ([country_code, some]) => ({
        ...{ country_code, fiscal_year: 2023, companies: some.length },
        margin: round(median(some.map(({ margin }) => margin)), 3),
      }),
    )
    const found = await ask10('Median EBITDA margin by country and year')
    const key = (row: object): string => JSON.stringify(row)
    expect(found.map(key).sort()).toEqual(someRows(expected.map(key).sort(), 'median margins'))
  })

  test('sales in EUR', async () => {
    const own = figures.filter(
      ({ item, isPreferred, year }) => item === 'NetSales' && isPreferred && year >= 2020 && year <= 2024,
    )
    const expected = [...Map.groupBy(own, ({ year }) => year)].map(([fiscal_year, some]) => {
      const values = some.flatMap((one) => valueIn(one, 'EUR') ?? [])
      return {
        ...{ fiscal_year, companies: values.length },
        million_eur: Math.round(values.reduce((sum, value) => sum + value, 0) / 1e6),
      }
    })
    expect(await ask10('Sales in EUR')).toEqual(
      someRows(
        expected.sort((a, b) => a.fiscal_year - b.fiscal_year),
        'sales',
      ),
    )
  })

  test('latest figures, of every company', async () => {
    const expected = latestOf(figures)
    const found = await ask(
      'SELECT internal_id, line_item, fiscal_year, consolidation, value FROM latest_figures',
    )
    const key = (...cells: readonly unknown[]): string => cells.join(' ')
    // Scaled by a product of doubles here, so without the last digits.
    const digits = (value: unknown): string => Number(value).toPrecision(13)
    expect(found.map(({ value, ...row }) => key(...Object.values(row), digits(value))).sort()).toEqual(
      expected.map((one) => key(one.id, one.item, one.year, one.consolidation, digits(one.value))).sort(),
    )
    const wanted = ['EBITDA', 'NetSales', 'TotalAssets', 'EquityRatio']
    const own = expected.filter(({ id, item }) => id === 1000121 && wanted.includes(item))
    const rows = await ask10('The latest figures of a company')
    expect(rows.map(({ line_item, fiscal_year, currency }) => key(line_item, fiscal_year, currency))).toEqual(
      own.map(({ item, year, currency }) => key(item, year, currency)).sort(),
    )
  })

  test('the ownership chain', async () => {
    const sql = ALL.find(({ title }) => title.startsWith('Who owns a company'))?.sql ?? ''
    const id = Number(/ownership_chain\((\d+)/.exec(sql)?.[1])
    type Link = Readonly<Record<'owner' | 'level' | 'isCycle' | 'min' | 'most', unknown>>
    const key = ({ owner, level, isCycle, min, most }: Link): string =>
      [owner, level, isCycle, Number(min).toFixed(6), Number(most).toFixed(6)].join(' ')
    const expected = chainOf(holdings, id, 10)
    expect(expected.length).toBeGreaterThan(3)
    const found = await ask(
      `SELECT owner_id AS owner, level, is_cycle AS isCycle, min_stake AS min, max_stake AS most FROM ownership_chain(${id}, 10)`,
    )
    const links = found.map(({ owner, level, isCycle, min, most }) => ({
      ...{ owner, level, isCycle, min, most },
    }))
    expect(links.map(key).sort()).toEqual(expected.map(key).sort())
  })

  test('people on several boards', async () => {
    const seats = records.currentRelations.flatMap(({ InternalId, Parents }) =>
      (Parents ?? []).flatMap((one) =>
        one.IsCompany === false &&
        one.KeyPersonRoles?.some(({ Category, OutDate }) => Category === 'Board' && !OutDate)
          ? [{ person: one.InternalId, company: InternalId }]
          : [],
      ),
    )
    const boards = [...Map.groupBy(seats, ({ person }) => person)].flatMap(([person_id, own]) => {
      const companies = new Set(own.map(({ company }) => company)).size
      return companies > 1 ? [{ person_id, boards: companies }] : []
    })
    const found = await ask10('People on several boards')
    expect(found.map(({ person_id, boards: n }) => ({ person_id, boards: n }))).toEqual(boards)
  })

  test('years without figures', async () => {
    const found = await ask10('Years without figures')
    expect(found.map(({ internal_id, fiscal_year }) => ({ id: internal_id, year: fiscal_year }))).toEqual(
      missingYearsOf(figures),
    )
  })

  test('peers', async () => {
    const sql = ALL.find(({ title }) => title === 'The peers of a company')?.sql ?? ''
    const id = Number(/peers\((\d+)/.exec(sql)?.[1])
    const codes = mainCodes()
    const sized = latestOf(figures).flatMap((one) => {
      const division = codes.get(one.id)?.slice(0, 2)
      const size = valueIn(one, 'EUR')
      return one.item === 'NetSales' && one.value > 0 && size !== null && division !== undefined
        ? [{ id: one.id, country: one.country, division, size }]
        : []
    })
    const self = sized.find((one) => one.id === id)
    const near = sized
      .filter((one) => one.id !== id && one.division === self?.division)
      .map((one) => {
        const times = one.size / (self?.size ?? Number.NaN)
        return {
          ...one,
          times,
          distance: Math.abs(Math.log(times)) + (one.country === self?.country ? 0 : 1),
        }
      })
      .sort((a, b) => a.distance - b.distance || a.id - b.id)
    expect(await ask10('The peers of a company')).toEqual(
      near.slice(0, 5).map((one, at) => ({
        ...{ rank: at + 1, internal_id: one.id, country_code: one.country, division: one.division },
        times_the_size: round(one.times, 2),
      })),
    )
  })
})
