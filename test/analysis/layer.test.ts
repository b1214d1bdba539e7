import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Company, RelationsCompany } from '../../src/contract/objects.ts'
import { compact } from '../../src/jobs/compact.ts'
import { convert } from '../../src/jobs/convert.ts'
import { openQuery } from '../../src/jobs/query.ts'
import type { LakeQuery } from '../../src/lake/query/lake-query.ts'
import { readRows } from '../../src/lake/query/read-rows.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import {
  chainOf,
  type Figure,
  figuresOf,
  growthOf,
  holdingsOf,
  latestOf,
  median,
  missingYearsOf,
  ultimateOf,
  valueIn,
} from './expected.ts'

const NET_SALES = 'NetSales'

const company = (InternalId: number, country: string, currency: string, more: object): object => ({
  BasicDetails: {
    ...{ InternalId, CompanyName: `Company ${InternalId}`, CountryCode: country },
    IndustryCode: { IndustryCodes: [{ Code: '62.010', Text: 'Programming', Type: 'Nace' }] },
  },
  MetaData: { CurrentCurrencyCode: currency, FinancialFigureScale: 'Thousands' },
  ...more,
})
const sales = (years: Readonly<Record<number, number>>, more: object = {}): object => ({
  Financials: { ProfitAndLoss: { NetSales: years, ...more } },
})

/** 1 has a gap, a later unconsolidated year and units of each kind; 4 is in another industry. */
const COMPANIES = [
  company(1, 'SE', 'SEK', {
    Financials: {
      ProfitAndLoss: { NetSales: { 2020: 0, 2021: 100, 2022: 110, 2024: 90 } },
      KeyFinancialRatio: { EBITDAMargin: { 2022: 0.25 }, EPS: { 2022: 2 } },
    },
    UnconsolidatedFinancials: { ProfitAndLoss: { NetSales: { 2024: 5, 2025: 7 } } },
  }),
  company(2, 'SE', 'EUR', sales({ 2024: 9 })),
  company(3, 'NO', 'NOK', sales({ 2024: 100 })),
  {
    ...company(4, 'SE', 'EUR', sales({ 2024: 9 })),
    BasicDetails: {
      ...{ InternalId: 4, CountryCode: 'SE' },
      IndustryCode: {
        IndustryCodes: [{ Code: '01.1', Type: 'Nace' }, { Code: '62' }],
        WeightedGroupIndustryCodes: [{ Code: 'x' }],
      },
    },
  },
  company(5, 'SE', 'XXX', sales({ 2024: 1 })),
]

const owner = (InternalId: number, stake: object | null, more: object = {}): object => ({
  ...{ InternalId, Name: `Owner ${InternalId}`, IsCompany: InternalId < 900 },
  ...(stake && { Ownerships: [stake] }),
  ...more,
})
const names = (internal_id: number) => ({ internal_id, company_name: `Company ${internal_id}` })
const GROUP = 'SELECT internal_id, level, is_head'
const percent = (OwnershipStake: number): object => ({ OwnershipStake })

/**
 * 100 is held by 101 (60 %), 102 (25 to 50 %) and 901; both 101 and 102 by 103; 103 by 902 and, as a cycle, by 101.
 * 901 has two share classes. 104 has ended. What 101 says of 100 is stated by 100 itself already.
 */
const RELATIONS = [
  {
    ...{ InternalId: 100, Name: 'Company 100', CountryCode: 'SE' },
    Parents: [
      owner(101, percent(60)),
      owner(102, { MinOwnershipStake: 25, MaxOwnershipStake: 50 }),
      owner(901, null, {
        Ownerships: [
          { OwnershipStake: 3, ShareClass: 'A' },
          { OwnershipStake: 4, ShareClass: 'B' },
          { OwnershipStake: 2, ShareClass: 'B' },
        ],
        ...{ FirstName: 'Ann', LastName: 'Owner', BirthDate: '1970-05-06', CountryCode: 'SE' },
        KeyPersonRoles: [
          { Id: 1, Text: 'Chair of the board', Category: 'Board', InDate: '1999-12-31T23:30:00' },
          { Id: 2, Text: 'Chief executive', Category: 'Management' },
        ],
      }),
      owner(104, { OwnershipStake: 90, OutDate: '2020-01-01T00:00:00' }),
    ],
  },
  {
    InternalId: 101,
    Parents: [owner(103, percent(50)), owner(100, percent(1))],
    Children: [owner(100, percent(99)), owner(105, percent(80))],
  },
  { InternalId: 102, Parents: [owner(103, {})] },
  {
    InternalId: 103,
    Parents: [
      owner(902, percent(100), {
        ...{ IsProtected: true, Name: 'Protected Identity', BirthDate: 'Protected Identity' },
        KeyPersonRoles: [{ Id: 1, Text: 'Member of the board', Category: 'Board' }],
      }),
    ],
  },
  {
    InternalId: 106,
    Parents: [
      owner(901, null, {
        KeyPersonRoles: [
          { Id: 1, Text: 'Member of the board', Category: 'Board' },
          { Id: 1, Text: 'Deputy member', Category: 'Board', OutDate: '2021-01-01T00:00:00' },
        ],
      }),
    ],
  },
]

let folder: string
let query: LakeQuery
const rows = async (sql: string, from = query) => [...(await readRows(await from.run(sql)))]

const openLake = async (name: string, ...loads: readonly (readonly object[])[]): Promise<LakeQuery> => {
  const lake = join(folder, name)
  for (const records of loads)
    await convert({ from: fromRecords('crm', records), lake, again: true, changeCurrency: true })
  return openQuery({ lake })
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  query = await openLake('lake', COMPANIES, RELATIONS)
})
afterAll(async () => {
  query.close()
  await rm(folder, { recursive: true, force: true })
})

describe('money', () => {
  test('convert_currency takes the rate of the year, of the nearest one where there is none, and NULL without any', async () => {
    const cases = [
      ["100, 'SEK', 2020, 'EUR'", (100 / 9.2167) * 0.8764],
      ["100, 'USD', 2020, 'EUR'", 87.64],
      ["1, 'EUR', 1990, 'USD'", 1 / 0.9387],
      ["1, 'EUR', 2070, 'USD'", 1 / 0.8845],
      ["1, 'EUR', 3000, 'USD'", 1 / 0.8845],
      ["5, 'XXX', 2020, 'XXX'", 5],
      ["5, 'XXX', 2020, 'EUR'", null],
      ["5, NULL, 2020, 'EUR'", null],
    ] as const
    const [answer] = await rows(
      `SELECT ${cases.map(([sql], at) => `convert_currency(${sql}) AS c${at}`).join(', ')}`,
    )
    for (const [at, [, expected]] of cases.entries())
      if (expected === null) expect(answer?.[`c${at}`]).toBeNull()
      else expect(answer?.[`c${at}`]).toBeCloseTo(expected, 9)
  })

  test('financials_in converts amounts and per-share figures, and leaves ratios as they are', async () => {
    const found = await rows(
      "SELECT line_item, value, currency FROM financials_in('EUR') WHERE internal_id = 1 AND fiscal_year = 2022 ORDER BY 1",
    )
    const factor = 0.9493 / 10.1177
    expect(found.map(({ line_item, currency }) => [line_item, currency])).toEqual([
      ['EBITDAMargin', null],
      ['EPS', 'EUR'],
      ['NetSales', 'EUR'],
    ])
    for (const [at, value] of [0.25, 2 * factor, 110_000 * factor].entries())
      expect(found[at]?.value).toBeCloseTo(value, 6)
  })
})

describe('figures', () => {
  test('latest_figures takes the latest year, and of one year the consolidated figure', async () => {
    const sql = "FROM latest_figures WHERE line_item = 'NetSales' ORDER BY internal_id LIMIT 2"
    expect(await rows(`SELECT internal_id, fiscal_year, consolidation, value ${sql}`)).toEqual([
      { internal_id: 1, fiscal_year: 2025, consolidation: 'Unconsolidated', value: 7000 },
      { internal_id: 2, fiscal_year: 2024, consolidation: 'Consolidated', value: 9000 },
    ])
  })

  test('quality_scale notes a wrong scale of the newest year, the first one and two in a row, of three line items at once', async () => {
    const years = (factors: readonly number[], items: readonly string[]): object => ({
      Financials: {
        ProfitAndLoss: Object.fromEntries(
          items.map((item, no) => [
            item,
            Object.fromEntries(factors.map((factor, at) => [2019 + at, (100 + 7 * no + at) * factor])),
          ]),
        ),
      },
    })
    const [three, two] = [
      ['NetSales', 'EBIT', 'GrossProfit'],
      ['NetSales', 'EBIT'],
    ]
    const lake = await openLake('scale', [
      company(31, 'SE', 'SEK', years([1, 1, 1, 1, 1000], three)),
      company(32, 'SE', 'SEK', years([1000, 1, 1, 1, 1], three)),
      company(33, 'SE', 'SEK', years([1, 1000, 1000, 1, 1], three)),
      company(34, 'SE', 'SEK', years([1000, 1, 1, 1000, 1000, 1], two)),
      company(35, 'SE', 'SEK', years([1, 1, 1000, 1000, 1000], three)),
      company(36, 'SE', 'SEK', years([1, 1, 1000, 1, 1], two)),
    ])
    const found = await rows(
      'SELECT internal_id AS id, fiscal_year AS year, severity, count(*) AS n FROM quality_scale GROUP BY ALL ORDER BY ALL',
      lake,
    )
    const of = (id: number, year: number, severity: string, n: number): object => ({ id, year, severity, n })
    expect(found).toEqual([
      ...[of(31, 2023, 'note', 3), of(32, 2019, 'note', 3), of(33, 2020, 'note', 3), of(33, 2021, 'note', 3)],
      of(36, 2021, 'error', 2),
    ])
    lake.close()
  })

  test('growth compares years that follow each other, and of a 0 gives none', async () => {
    const sql = "FROM growth('NetSales') WHERE consolidation = 'Consolidated' ORDER BY fiscal_year"
    expect(await rows(`SELECT fiscal_year, previous_value, round(growth, 9) AS growth ${sql}`)).toEqual([
      { fiscal_year: 2021, previous_value: 0, growth: null },
      { fiscal_year: 2022, previous_value: 100_000, growth: 0.1 },
    ])
  })

  test('cagr is the rate a year between two years; none of what is not above 0, or of other currencies', async () => {
    const pair = (first: number, last: number): object => sales({ 2020: first, 2021: 9999, 2023: last })
    const lake = await openLake('cagr', [
      company(11, 'SE', 'SEK', pair(100, 133.1)),
      company(12, 'NO', 'NOK', pair(200, 25)),
      company(13, 'SE', 'SEK', pair(100, 0)),
      company(14, 'SE', 'SEK', pair(0, 100)),
      company(15, 'SE', 'SEK', pair(-100, 50)),
      company(16, 'SE', 'SEK', pair(100, -50)),
      company(17, 'SE', 'SEK', pair(-100, -200)),
      company(18, 'SE', 'SEK', sales({ 2020: 100, 2022: 120 })),
    ])
    const asked = "internal_id, years, round(cagr, 9) AS cagr FROM cagr('NetSales', 2020, 2023) ORDER BY 1"
    const growth = [0.1, -0.5, -1, null, null, null, null]
    expect(await rows(`SELECT ${asked}`, lake)).toEqual(
      growth.map((cagr, at) => ({ internal_id: 11 + at, years: 3, cagr })),
    )
    expect(await rows("FROM cagr('NetSales', 2020, 2023) WHERE internal_id = 11", lake)).toMatchObject([
      {
        ...{ company_name: 'Company 11', country_code: 'SE', consolidation: 'Consolidated' },
        ...{ first_value: 100_000, last_value: 133_100, currency: 'SEK' },
      },
    ])
    expect(await rows("FROM cagr('NetSales', 2023, 2020)", lake)).toEqual([])
    expect(await rows("FROM cagr('NetSales', 2020, 2020)", lake)).toEqual([])
    lake.close()
  })

  test('missing_years names gaps, and no year before the first or after the last', async () => {
    expect(await rows('FROM missing_years')).toEqual([
      {
        ...{ internal_id: 1, company_name: 'Company 1', country_code: 'SE', consolidation: 'Consolidated' },
        ...{ fiscal_year: 2023, first_year: 2020, last_year: 2024 },
      },
    ])
  })

  test('coverage counts a company once', async () => {
    const sql = "FROM coverage WHERE country_code = 'SE' AND fiscal_year IN (2022, 2024) ORDER BY ALL"
    expect(await rows(`SELECT fiscal_year, line_item, companies, share ${sql}`)).toEqual([
      { fiscal_year: 2022, line_item: 'EBITDAMargin', companies: 1, share: 1 },
      { fiscal_year: 2022, line_item: 'EPS', companies: 1, share: 1 },
      { fiscal_year: 2022, line_item: 'NetSales', companies: 1, share: 1 },
      { fiscal_year: 2024, line_item: 'NetSales', companies: 4, share: 1 },
    ])
  })

  test('financials_wide has a column for each item', async () => {
    const sql = "FROM financials_wide WHERE internal_id = 1 AND consolidation = 'Consolidated' ORDER BY 1"
    expect(await rows(`SELECT fiscal_year, NetSales, EBITDAMargin, EBIT ${sql} LIMIT 3`)).toEqual([
      { fiscal_year: 2020, NetSales: 0, EBITDAMargin: null, EBIT: null },
      { fiscal_year: 2021, NetSales: 100_000, EBITDAMargin: null, EBIT: null },
      { fiscal_year: 2022, NetSales: 110_000, EBITDAMargin: 0.25, EBIT: null },
    ])
  })

  test('restatements and company_changes compare a version with the one before it', async () => {
    const changed = { ...company(1, 'SE', 'SEK', sales({ 2021: 150, 2022: 110, 2023: 1 })), Score: 2 }
    const other = company(2, 'SE', 'USD', sales({ 2024: 9 }))
    const lake = await openLake('restated', COMPANIES, [changed, other], [changed])
    expect(
      await rows(
        'SELECT * EXCLUDE (loaded_at, known_since, as_of, company_name, country_code, category) FROM restatements ORDER BY 1',
        lake,
      ),
    ).toEqual([
      {
        ...{ internal_id: 1, consolidation: 'Consolidated', line_item: 'NetSales', fiscal_year: 2021 },
        ...{ old_value: 100_000, new_value: 150_000, percent: 50, old_currency: 'SEK', new_currency: 'SEK' },
        // A third load brought the same once more: the new figure still counts.
        ...{ snapshot: 2, is_current: true },
      },
      {
        ...{ internal_id: 2, consolidation: 'Consolidated', line_item: 'NetSales', fiscal_year: 2024 },
        ...{ old_value: 9000, new_value: 9000, percent: null, old_currency: 'EUR', new_currency: 'USD' },
        ...{ snapshot: 2, is_current: true },
      },
    ])
    expect(
      await rows(
        'SELECT internal_id, company_name, column_name, old_value, new_value FROM company_changes ORDER BY ALL',
        lake,
      ),
    ).toEqual([
      { ...names(1), column_name: 'score', old_value: null, new_value: '2.0' },
      { ...names(2), column_name: 'current_currency_code', old_value: 'EUR', new_value: 'USD' },
    ])
    lake.close()
  })
})

test('a compaction keeps restatements; where it drops them history_begins says since when, and older snapshots still answer', async () => {
  const lake = join(folder, 'compacted')
  const load = (value: number) =>
    convert({
      from: fromRecords('crm', [company(1, 'SE', 'SEK', sales({ 2021: value }))]),
      lake,
      again: true,
    })
  await load(1)
  await load(2)
  const ask = async (sql: string, snapshot?: number) => {
    const query = await openQuery({ lake, ...(snapshot === undefined ? {} : { snapshot }) })
    const found = await rows(sql, query)
    query.close()
    return found
  }
  const RESTATED = 'SELECT old_value, new_value, snapshot FROM restatements ORDER BY snapshot'
  const BEGINS = 'SELECT content, is_compacted, snapshot, merged_loads FROM history_begins'
  const FIRST = { old_value: 1000, new_value: 2000, snapshot: 2 }
  expect(await ask(BEGINS)).toEqual([
    { content: 'companies', is_compacted: false, snapshot: 1, merged_loads: 0 },
  ])
  await compact({ lake })
  expect(await ask(RESTATED)).toEqual([FIRST])
  expect(await ask(BEGINS)).toEqual([
    { content: 'companies', is_compacted: true, snapshot: 1, merged_loads: 2 },
  ])
  await load(3)
  expect(await ask(RESTATED)).toEqual([FIRST, { old_value: 2000, new_value: 3000, snapshot: 4 }])
  await compact({ lake, dropHistory: true })
  expect(await ask(RESTATED)).toEqual([])
  expect(await ask(BEGINS)).toEqual([
    { content: 'companies', is_compacted: true, snapshot: 4, merged_loads: 3 },
  ])
  expect(await ask(RESTATED, 2)).toEqual([FIRST])
  await load(4)
  expect(await ask(RESTATED)).toEqual([{ old_value: 3000, new_value: 4000, snapshot: 6 }])
  // Nothing is past but what was dropped before.
  await compact({ lake })
  expect(await ask(RESTATED)).toEqual([{ old_value: 3000, new_value: 4000, snapshot: 6 }])
  expect(await ask(BEGINS)).toMatchObject([{ is_compacted: true, snapshot: 4 }])
})

test('rules on amounts pass over line items of the same name in a category where the contract has none', async () => {
  const years = (value: number): object => ({ 2020: value, 2021: value, 2022: value })
  const strange = {
    ...company(1, 'SE', 'SEK', {
      Financials: {
        ProfitAndLoss: { NetSales: { 2020: 5, 2021: 5000, 2022: 5 } },
        BalanceSheet: {
          ...{ NetSales: years(5), TotalAssets: { 2020: 10 } },
          ...{ TotalCurrentAssets: { 2020: 6 }, TotalNonCurrentAssets: { 2020: 4 } },
        },
        Strange: { TotalAssets: { 2020: 3 } },
      },
    }),
    // Without a currency, so that amounts have none either.
    MetaData: { FinancialFigureScale: 'None' },
  }
  const dated = { BasicDetails: { InternalId: 2, RegistrationDate: '40000-01-01' } }
  const lake = await openLake('names', [strange, dated])
  expect(
    await rows(
      'SELECT rule, internal_id, fiscal_year, item, value, expected FROM quality_findings ORDER BY 1',
      lake,
    ),
  ).toEqual([
    {
      rule: 'future',
      internal_id: 2,
      fiscal_year: null,
      item: 'registration_date',
      value: null,
      expected: null,
    },
    { rule: 'scale', internal_id: 1, fiscal_year: 2021, item: 'NetSales', value: 5000, expected: 5 },
  ])
  lake.close()
})

describe('companies', () => {
  test('company_industries has a row a code, with its section and division', async () => {
    const sql = 'FROM company_industries WHERE internal_id = 4 ORDER BY is_group, position'
    expect(await rows(`SELECT is_group, position, code, section, division ${sql}`)).toEqual([
      { is_group: false, position: 1, code: '01.1', section: 'A', division: '01' },
      { is_group: false, position: 2, code: '62', section: 'J', division: '62' },
      { is_group: true, position: 1, code: 'x', section: null, division: null },
    ])
  })

  test('find_company gives the best match first: names, earlier names and numbers, whatever case and accents', async () => {
    const named = (InternalId: number, CompanyName: string, more: object = {}): object => ({
      BasicDetails: { InternalId, CompanyName, CountryCode: 'SE', ...more },
    })
    const lake = await openLake('found', [
      named(21, 'Pineapple Trading AB'),
      named(22, 'The Apple Farm AB'),
      named(23, 'Applebee Ltd'),
      named(24, 'APPLE', { OrgNo: '556677-8899' }),
      named(25, 'Pear AB', { PreviousNames: ['Äpple, Inc.', 'Apple'] }),
      named(26, 'Aplpe Systems', { OrgNo: '556677-1111' }),
      named(27, 'Ørsted A/S', { OrgNo: 'SC 123' }),
      named(28, 'Quince AB', { PreviousNames: [''] }),
    ])
    const find = (searched: string) =>
      rows(
        `SELECT internal_id AS id, matched_by AS how, matched_column AS "column" FROM find_company('${searched}') ORDER BY rank`,
        lake,
      )
    const name = 'company_name'
    const found = [
      { id: 24, how: 'exact', column: name },
      { id: 25, how: 'exact', column: 'previous_names' },
      { id: 23, how: 'prefix', column: name },
      { id: 22, how: 'word', column: name },
      { id: 21, how: 'contains', column: name },
      { id: 26, how: 'similar', column: name },
    ]
    expect(await find('apple')).toEqual(found)
    expect(await find('  ÀPPLE! ')).toEqual(found)
    expect(await find('apple inc')).toContainEqual({ id: 25, how: 'exact', column: 'previous_names' })
    expect(await find('5566778899')).toEqual([{ id: 24, how: 'exact', column: 'org_no' }])
    expect(await find('556677')).toEqual([
      { id: 24, how: 'prefix', column: 'org_no' },
      { id: 26, how: 'prefix', column: 'org_no' },
    ])
    expect(await find('sc-123')).toEqual([{ id: 27, how: 'exact', column: 'org_no' }])
    expect(await find('orsted a/s')).toEqual([{ id: 27, how: 'exact', column: name }])
    for (const nothing of ['', ' - ', 'zzzzzz']) expect(await find(nothing)).toEqual([])
    expect(await rows('FROM find_company(NULL)', lake)).toEqual([])
    expect(await rows("SELECT rank, matched_text, org_no FROM find_company('äpple') LIMIT 1", lake)).toEqual([
      { rank: 1, matched_text: 'APPLE', org_no: '556677-8899' },
    ])
    lake.close()
  })

  test('peers are of the same division, nearest in size first, the own country before others', async () => {
    const size = (7000 / 9.806) * 0.8845
    const [first, second, ...others] = await rows('FROM peers(1, 5)')
    expect(first).toMatchObject({ rank: 1, internal_id: 2, net_sales_eur: 9000, same_country: true })
    expect(first?.times_the_size).toBeCloseTo(9000 / size, 9)
    expect(second).toMatchObject({ rank: 2, internal_id: 3, same_country: false })
    expect(others).toEqual([])
    expect(await rows('FROM peers(1, 1)')).toHaveLength(1)
  })
})

describe('ownership', () => {
  test('owner_holdings has a row a pair: ranges stay, classes add up, what is unstated is 0 to 100', async () => {
    const sql = 'FROM owner_holdings WHERE owned_id IN (100, 102) ORDER BY owned_id, owner_id'
    expect(await rows(`SELECT owner_id, min_stake, max_stake, is_stated ${sql}`)).toEqual([
      { owner_id: 101, min_stake: 60, max_stake: 60, is_stated: true },
      { owner_id: 102, min_stake: 25, max_stake: 50, is_stated: true },
      { owner_id: 901, min_stake: 7, max_stake: 7, is_stated: true },
      { owner_id: 103, min_stake: 0, max_stake: 100, is_stated: false },
    ])
  })

  test('ownership_chain multiplies along paths, and ends where one comes back to itself', async () => {
    const found = await rows(
      'SELECT * EXCLUDE (path), path::VARCHAR AS path FROM ownership_chain(100, 10) AS c ORDER BY c.path',
    )
    const line = (path: number[], min_stake: number, max_stake: number, end?: 'cycle' | 'top') => ({
      ...{ owner_id: path.at(-1), level: path.length - 1, min_stake, max_stake },
      ...{ is_cycle: end === 'cycle', is_top: end === 'top', path: `[${path.join(', ')}]` },
    })
    expect(found).toEqual([
      line([100, 101], 60, 60),
      line([100, 101, 100], 0.6, 0.6, 'cycle'),
      line([100, 101, 103], 30, 30),
      line([100, 101, 103, 902], 30, 30, 'top'),
      line([100, 102], 25, 50),
      line([100, 102, 103], 0, 50),
      line([100, 102, 103, 902], 0, 50, 'top'),
      line([100, 901], 7, 7, 'top'),
    ])
    expect(await rows('FROM ownership_chain(100, 1)')).toHaveLength(3)
  })

  test('ultimate_owners sums over paths, group_of follows majorities and no persons', async () => {
    expect(await rows('SELECT * EXCLUDE owner_name FROM ultimate_owners(100) ORDER BY owner_id')).toEqual([
      { owner_id: 901, min_stake: 7, max_stake: 7, paths: 1, level: 1 },
      { owner_id: 902, min_stake: 30, max_stake: 80, paths: 2, level: 3 },
    ])
    expect(await rows(`${GROUP} FROM group_of(100) ORDER BY internal_id`)).toEqual([
      { internal_id: 100, level: 1, is_head: false },
      { internal_id: 101, level: 0, is_head: true },
      { internal_id: 105, level: 1, is_head: false },
    ])
  })

  test('groups leave out what a consolidated statement above holds already, and names stand beside owners', async () => {
    const own = (InternalId: number, owner: number, OwnershipStake: number): object => ({
      InternalId,
      Parents: [
        {
          ...{ InternalId: owner, Name: `Owner ${owner}`, IsCompany: true },
          Ownerships: [{ OwnershipStake }],
        },
      ],
    })
    const alone = { UnconsolidatedFinancials: { ProfitAndLoss: { NetSales: { 2024: 1 } } } }
    const lake = await openLake(
      'groups',
      // 1 consolidates 2, which is alone, and so 3 below it; 4 has a minority; 5 is below one that does not consolidate.
      [1, 2, 3, 4, 5, 6, 7, 8].map((id) =>
        company(id, 'SE', 'SEK', [2, 6].includes(id) ? alone : sales({ 2024: 1 })),
      ),
      [own(2, 1, 80), own(3, 2, 60), own(4, 1, 50), own(5, 6, 100), own(7, 8, 60), own(8, 7, 60)],
    )
    expect(await rows('SELECT internal_id FROM groups ORDER BY 1', lake)).toEqual(
      [1, 4, 5, 6, 7].map((internal_id) => ({ internal_id })),
    )
    expect(await rows('SELECT owner_id, owner_name FROM ultimate_owners(3)', lake)).toEqual([
      { owner_id: 1, owner_name: 'Company 1' },
    ])
    expect(await rows('SELECT owner_name FROM owner_names WHERE owner_id = 6', lake)).toEqual([
      { owner_name: 'Company 6' },
    ])
    lake.close()
  })

  test('of several majorities of a company the greatest leads its group: by least, then greatest stake, then the least id', async () => {
    const majorities = (InternalId: number, ...owners: readonly object[]): object => ({
      InternalId,
      Parents: owners,
    })
    const unnamed = { Name: 'Nobody', IsCompany: false, Ownerships: [percent(99)] }
    const lake = await openLake('majorities', [
      majorities(601, owner(610, percent(60)), owner(609, { MinOwnershipStake: 55, MaxOwnershipStake: 90 })),
      majorities(602, owner(610, percent(70)), owner(609, { MinOwnershipStake: 70, MaxOwnershipStake: 75 })),
      majorities(603, owner(610, percent(100)), owner(608, percent(100))),
      // A person leads no group, whatever he holds, and whether he has an identifier or not.
      majorities(604, owner(901, percent(100)), owner(608, percent(51)), unnamed),
      // The stake counts, whatever range stands beside it.
      majorities(605, owner(610, { OwnershipStake: 52, MinOwnershipStake: 40 }), owner(609, percent(51))),
      majorities(609, owner(611, percent(80)), owner(610, percent(51))),
      majorities(611, owner(609, percent(100))),
    ])
    const groups = {
      601: [
        [610, 0],
        [601, 1],
        [605, 1],
      ],
      602: [
        [609, 0],
        [602, 1],
        [611, 1],
      ],
      603: [
        [608, 0],
        [603, 1],
        [604, 1],
      ],
      610: [
        [610, 0],
        [601, 1],
        [605, 1],
      ],
      // 609 and 611 own each other, and of the two majorities of 609 that of 611 is the greater one.
      611: [
        [609, 0],
        [602, 1],
        [611, 1],
      ],
    }
    for (const [id, group] of Object.entries(groups))
      expect([
        id,
        await rows(`SELECT internal_id, level FROM group_of(${id}) ORDER BY level, internal_id`, lake),
      ]).toEqual([id, group.map(([internal_id, level]) => ({ internal_id, level }))])
    lake.close()
  })

  test('a chain of majorities has one head, however long it is', async () => {
    const owned = Array.from({ length: 119 }, (_, at) => at + 1)
    const lake = await openLake(
      'long chain',
      owned.map((InternalId) => ({ InternalId, Parents: [owner(InternalId + 1, percent(51))] })),
    )
    const [found] = await rows(
      'SELECT count(*)::INTEGER AS n, max(level) AS level, arg_min(internal_id, level) AS head FROM group_of(3)',
      lake,
    )
    expect(found).toEqual({ n: 120, level: 119, head: 120 })
    lake.close()
  })

  test('a range keeps its ends beside a stake, and in what is held the stake counts', async () => {
    const lake = await openLake('ends', [
      {
        InternalId: 701,
        Parents: [
          owner(711, { OwnershipStake: 7, MinOwnershipStake: 2 }),
          owner(712, { OwnershipStake: 7, MaxOwnershipStake: 9 }),
          owner(713, { OwnershipStake: 7, MinOwnershipStake: 0, MaxOwnershipStake: 10 }),
          owner(714, { MinOwnershipStake: 30 }),
          owner(715, { MaxOwnershipStake: 40 }),
          owner(716, percent(8)),
        ],
      },
    ])
    const ends = [
      [711, 7, 2, 7],
      [712, 7, 7, 9],
      [713, 7, 0, 10],
      [714, null, 30, null],
      [715, null, null, 40],
      [716, 8, 8, 8],
    ].map(([owner_id, stake, min_stake, max_stake]) => ({ owner_id, stake, min_stake, max_stake }))
    for (const view of ['owners_stated', 'owners_current'])
      expect(
        await rows(`SELECT owner_id, stake, min_stake, max_stake FROM ${view} ORDER BY 1`, lake),
      ).toEqual(ends)
    expect(await rows('SELECT owner_id, min_stake, max_stake FROM owner_holdings ORDER BY 1', lake)).toEqual([
      ...[711, 712, 713].map((owner_id) => ({ owner_id, min_stake: 7, max_stake: 7 })),
      { owner_id: 714, min_stake: 30, max_stake: 100 },
      { owner_id: 715, min_stake: 0, max_stake: 40 },
      { owner_id: 716, min_stake: 8, max_stake: 8 },
    ])
    lake.close()
  })

  test('own shares and owners that own each other do not hide the top; the head of a group is in its cycle', async () => {
    const lake = await openLake('cycles', [
      { InternalId: 201, Parents: [owner(202, percent(60)), owner(903, percent(10))] },
      // Holds own shares, and nobody else is known to own it.
      { InternalId: 202, Parents: [owner(202, percent(5))] },
      { InternalId: 210, Parents: [owner(301, percent(80))] },
      { InternalId: 301, Parents: [owner(302, percent(100))] },
      { InternalId: 302, Parents: [owner(301, percent(51)), owner(904, percent(49))] },
    ])
    const stakes = 'SELECT owner_id AS owner, min_stake AS min, paths'
    expect(await rows(`${stakes} FROM ultimate_owners(201) ORDER BY 1`, lake)).toEqual([
      { owner: 202, min: 60, paths: 1 },
      { owner: 903, min: 10, paths: 1 },
    ])
    expect(await rows(`${stakes} FROM ultimate_owners(210) ORDER BY 1`, lake)).toEqual([
      { owner: 904, min: 39.2, paths: 1 },
    ])
    expect(await rows(`${GROUP} FROM group_of(210) ORDER BY 1`, lake)).toEqual([
      { internal_id: 210, level: 1, is_head: false },
      { internal_id: 301, level: 0, is_head: true },
      { internal_id: 302, level: 1, is_head: false },
    ])
    lake.close()
  })

  test('who is protected in one record, a history too, is masked in all', async () => {
    const person = (more: object): object =>
      owner(905, percent(10), { BirthDate: '1980-01-01', NationalIdentificationNumber: '80-1', ...more })
    const lake = await openLake('protected', [
      {
        InternalId: 401,
        Parents: [person({ KeyPersonRoles: [{ Id: 1, Category: 'Board', Text: 'Chair' }] })],
      },
      {
        InternalId: 402,
        Parents: [
          owner(906, percent(50), {
            History: [
              person({ IsProtected: true, Name: 'Protected Identity', BirthDate: 'Protected Identity' }),
            ],
          }),
        ],
      },
    ])
    expect(await rows('FROM people WHERE person_id = 905', lake)).toEqual([
      {
        ...{ person_id: 905, person_name: null, birth_year: null, national_id: null, country_code: null },
        ...{ is_protected: true, companies: 1 },
      },
    ])
    expect(await rows('SELECT person_id, person_name, role FROM board_seats', lake)).toEqual([
      { person_id: 905, person_name: null, role: 'Chair' },
    ])
    // A history in another record protects 905; who has that history is not protected by it.
    expect(
      await rows(
        'SELECT owner_id, owner_name FROM owner_names WHERE owner_id IN (905, 906) ORDER BY 1',
        lake,
      ),
    ).toEqual([
      { owner_id: 905, owner_name: null },
      { owner_id: 906, owner_name: 'Owner 906' },
    ])
    lake.close()
  })

  test('owner_names has no name of a protected person, and one of others', async () => {
    expect(
      await rows('SELECT owner_id, owner_name FROM owner_names WHERE owner_id IN (901, 902) ORDER BY 1'),
    ).toEqual([
      { owner_id: 901, owner_name: 'Owner 901' },
      { owner_id: 902, owner_name: null },
    ])
  })

  test('people and board_seats mask the protected, and join nobody by name', async () => {
    expect(await rows('FROM people ORDER BY person_id')).toEqual([
      {
        ...{
          person_id: 901,
          person_name: 'Owner 901',
          birth_year: 1970,
          national_id: null,
          country_code: 'SE',
        },
        ...{ is_protected: false, companies: 2 },
      },
      {
        ...{ person_id: 902, person_name: null, birth_year: null, national_id: null, country_code: null },
        ...{ is_protected: true, companies: 1 },
      },
    ])
    expect(
      await rows('SELECT * EXCLUDE (is_protected) FROM board_seats ORDER BY person_id, internal_id'),
    ).toEqual([
      {
        ...{ internal_id: 100, company_name: 'Company 100', country_code: 'SE', since: '1999-12-31' },
        ...{ person_id: 901, person_name: 'Owner 901', role: 'Chair of the board' },
      },
      {
        ...{ internal_id: 106, company_name: null, country_code: null, since: null },
        ...{ person_id: 901, person_name: 'Owner 901', role: 'Member of the board' },
      },
      {
        ...{ internal_id: 103, company_name: null, country_code: null, since: null },
        ...{ person_id: 902, person_name: null, role: 'Member of the board' },
      },
    ])
  })
})

test('the lake itself: snapshots, runs, partitions and sources as the manifest has them', async () => {
  expect(await rows('SELECT snapshot, parent, pipeline FROM snapshots ORDER BY 1')).toEqual([
    { snapshot: 1, parent: null, pipeline: 'program' },
    { snapshot: 2, parent: 1, pipeline: 'program' },
  ])
  expect(await rows('SELECT snapshot, records, quarantined FROM runs ORDER BY 1')).toEqual([
    { snapshot: 1, records: 5, quarantined: 0 },
    { snapshot: 2, records: 5, quarantined: 0 },
  ])
  expect(await rows('SELECT content, is_merged, lines, snapshot FROM partitions ORDER BY 4')).toEqual([
    { content: 'companies', is_merged: false, lines: 5, snapshot: 1 },
    { content: 'relations', is_merged: false, lines: 5, snapshot: 2 },
  ])
  expect(await rows('SELECT kind, name, lines FROM sources')).toHaveLength(2)
  expect(await rows('FROM pulls')).toEqual([])
  expect(await rows('FROM drift')).toEqual([])
})

const REAL = resolve('../shared/data/real')
const present = existsSync(REAL)
if (!present) console.warn(`skipped: the analysis of real companies needs a folder "${REAL}"`)

describe.skipIf(!present)('on real companies the answers are those of the records:', () => {
  let real: LakeQuery
  let figures: readonly Figure[]
  let relations: readonly RelationsCompany[]
  const readLines = async <T>(name: string): Promise<T[]> =>
    (await readFile(join(REAL, `${name}.jsonl`), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line): T => JSON.parse(line))

  beforeAll(async () => {
    figures = figuresOf(await readLines<Company>('companies'))
    relations = await readLines<RelationsCompany>('relations')
    const lake = join(folder, 'real')
    await convert({ from: [join(REAL, 'companies.jsonl'), join(REAL, 'relations.jsonl')], lake })
    real = await openQuery({ lake })
  })
  afterAll(() => real.close())

  test('latest figures', async () => {
    const found = await rows(
      'SELECT count(*) AS n, sum(fiscal_year) AS years, sum(value) AS total FROM latest_figures',
      real,
    )
    const expected = latestOf(figures)
    expect(found).toMatchObject([
      { n: expected.length, years: expected.reduce((sum, { year }) => sum + year, 0) },
    ])
    const total = expected.reduce((sum, { value }) => sum + value, 0)
    expect(Number(found[0]?.total) / total).toBeCloseTo(1, 9)
  })

  test('median growth of sales by year', async () => {
    const found = await rows(
      "SELECT fiscal_year AS year, count(*) AS n, median(growth) AS growth FROM growth('NetSales') GROUP BY 1 ORDER BY 1",
      real,
    )
    const byYear = Map.groupBy(growthOf(figures, NET_SALES), ({ year }) => year)
    expect(found.map(({ year, n }) => [year, n])).toEqual(
      [...byYear].map(([year, own]) => [year, own.length]).sort(),
    )
    for (const { year, growth } of found)
      expect(growth).toBeCloseTo(
        median((byYear.get(Number(year)) ?? []).flatMap((one) => one.growth ?? [])),
        9,
      )
  })

  test('missing years, and sales in EUR', async () => {
    const gaps = await rows(
      'SELECT internal_id AS id, fiscal_year AS year FROM missing_years ORDER BY ALL',
      real,
    )
    expect(gaps).toEqual(missingYearsOf(figures).sort((a, b) => a.id - b.id || a.year - b.year))
    const [{ n, total } = {}] = await rows(
      "SELECT count(value) AS n, sum(value) AS total FROM financials_in('EUR') WHERE line_item = 'NetSales'",
      real,
    )
    const inEur = figures.filter(({ item }) => item === NET_SALES).flatMap((one) => valueIn(one, 'EUR') ?? [])
    expect(n).toBe(inEur.length)
    expect(Number(total) / inEur.reduce((sum, one) => sum + one, 0)).toBeCloseTo(1, 9)
  })

  test('ownership chains and ultimate owners of every company', async () => {
    const holdings = holdingsOf(relations)
    const key = (row: object): string => JSON.stringify(row)
    const found = await rows(
      'SELECT owner_id AS owner, owned_id AS owned, min_stake AS min, max_stake AS most FROM owner_holdings',
      real,
    )
    expect(found.map(key).sort()).toEqual(holdings.map(key).sort())
    for (const id of new Set(holdings.map(({ owned }) => owned).slice(0, 12))) {
      const chain = await rows(
        `SELECT path::VARCHAR AS path, is_cycle AS isCycle FROM ownership_chain(${id}, 10)`,
        real,
      )
      const expected = chainOf(holdings, id, 10)
      expect(chain.map(key).sort()).toEqual(
        expected.map(({ path, isCycle }) => key({ path: `[${path.join(', ')}]`, isCycle })).sort(),
      )
      const owners = await rows(
        `SELECT owner_id AS owner, round(min_stake, 6) AS min, round(max_stake, 6) AS most FROM ultimate_owners(${id})`,
        real,
      )
      const rounded = (value: number): number => Math.round(value * 1e6) / 1e6
      expect(owners.map(key).sort()).toEqual(
        ultimateOf(holdings, id)
          .map(({ owner: at, min, most }) => key({ owner: at, min: rounded(min), most: rounded(most) }))
          .sort(),
      )
    }
  })
})
