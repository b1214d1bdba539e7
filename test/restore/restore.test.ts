import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { emptyControl } from '../../data/control.ts'
import { linesOf } from '../../data/sample.ts'
import { CONSOLIDATIONS } from '../../src/contract/dictionaries.ts'
import type { Content } from '../../src/contract/objects.ts'
import { LakeQuery } from '../../src/lake/query/lake-query.ts'
import { type LoadedLake, Workbench } from '../load/loaded-lake.ts'
import { canonicalAll } from '../load/same-record.ts'

const MEMORY_BYTES = 512 * 1024 * 1024
type Cells = readonly unknown[]

let bench: Workbench
beforeAll(async () => {
  bench = await Workbench.open()
})
afterAll(() => bench.close())

/** Rows of a query over the current views, as lists. */
const asking = async <T>(
  lake: LoadedLake,
  use: (ask: (sql: string) => Promise<Cells[]>) => Promise<T>,
): Promise<T> => {
  const query = await LakeQuery.open({ lake: lake.lake, snapshot: lake.snapshot, memoryBytes: MEMORY_BYTES })
  try {
    return await use(async (sql) => {
      const rows: Cells[] = []
      for await (const chunk of (await query.run(sql)).rows) rows.push(...chunk)
      return rows
    })
  } finally {
    query.close()
  }
}
const sorted = (cells: readonly Cells[]): string[] => cells.map((row) => row.join(' | ')).sort()
/** Sums by their names, compared to 1e-9 of the value. */
const expectSums = (found: readonly Cells[], wanted: readonly Cells[]): void => {
  const sums = new Map(found.map((row) => [row.slice(0, -1).join(' | '), Number(row.at(-1))]))
  expect([...sums.keys()].sort()).toEqual(sorted(wanted.map((row) => row.slice(0, -1))))
  const apart = wanted.filter((row) => {
    const sum = sums.get(row.slice(0, -1).join(' | ')) ?? Number.NaN
    return !(Math.abs(sum - Number(row.at(-1))) <= 1e-9 * Math.abs(Number(row.at(-1))))
  })
  expect(apart).toEqual([])
}

const REAL = resolve('../shared/data/real')
/** Ids of the fictional companies of the data's notes, A5. */
const EXAMPLES = [
  1_000_745_682_419, 1_001_811_701_746, 1_006_457_293_873, 1_006_718_728_428, 1_007_271_597_699,
  1_013_308_645_338, 1_015_091_221_352, 1_018_786_623_940, 1_021_941_258_216, 1_024_394_584_797,
  1_025_766_232_091, 1_026_560_013_482, 1_034_632_529_061, 1_043_014_218_468, 1_045_444_645_105,
  1_050_468_431_892, 1_050_921_327_213, 1_052_755_098_490, 1_054_160_190_849, 1_057_398_154_093,
  1_059_553_773_065, 1_061_343_336_544, 1_062_071_038_606, 1_064_898_034_846, 1_066_406_435_714,
]
const ABSENT = `no folder "${REAL}"`

interface RealControl {
  readonly profileOnly: { readonly brreg_asa: number }
  readonly bodsUkGleif: Readonly<Record<string, number | string>>
  readonly Financials: {
    readonly values: number
    readonly companiesWithFinancials: number
    readonly companiesByCurrency: Readonly<Record<string, number>>
    readonly lineItems: Readonly<
      Record<
        string,
        Readonly<Record<string, { values: number; companies: number; sum: Readonly<Record<string, string>> }>>
      >
    >
    readonly netSalesByFiscalYear: Readonly<
      Record<string, Readonly<Record<string, { companies: number; sum: string }>>>
    >
    readonly valuesByFiscalYear: Readonly<Record<string, number>>
  }
}

describe('real companies', () => {
  let lake: LoadedLake
  let control: RealControl
  const lines = new Map<Content, string[]>()

  beforeAll(async () => {
    if (!existsSync(REAL)) return
    control = JSON.parse(await readFile(join(REAL, 'control.json'), 'utf8'))
    for (const content of ['companies', 'relations'] as const) {
      const text = await readFile(join(REAL, `${content}.jsonl`), 'utf8')
      lines.set(
        content,
        text.split('\n').filter((line) => line !== ''),
      )
    }
    lake = await bench.load(...[...lines].map(([content, all]) => ({ content, lines: all })))
  })
  const realTest = (name: string, body: () => Promise<void>): void => {
    test(name, async ({ skip }) => {
      if (!existsSync(REAL)) skip(ABSENT)
      await body()
    })
  }

  realTest('all load', async () => {
    expect(lake.rejected).toEqual([])
    expect(lake.snapshot.partitions.map(({ counts }) => counts.records)).toEqual([719, 266])
  })

  realTest('are given back equal', async () => {
    for (const [content, all] of lines) {
      expect(canonicalAll(await lake.givenBack(content), content)).toEqual(canonicalAll(all, content))
    }
  })

  realTest('have the figures that their sources have', () =>
    asking(lake, async (ask) => {
      const { Financials: totals } = control
      expect(await ask('SELECT count(*), count(DISTINCT internal_id) FROM financials')).toEqual([
        [totals.values, totals.companiesWithFinancials],
      ])
      expect(
        sorted(
          await ask(
            'SELECT currency, count(DISTINCT internal_id) FROM financials WHERE currency IS NOT NULL GROUP BY 1',
          ),
        ),
      ).toEqual(sorted(Object.entries(totals.companiesByCurrency)))
      expect(sorted(await ask('SELECT fiscal_year, count(*) FROM financials GROUP BY 1'))).toEqual(
        sorted(Object.entries(totals.valuesByFiscalYear)),
      )
      const items = Object.entries(totals.lineItems).flatMap(([category, inside]) =>
        Object.entries(inside).map(([item, of]) => ({ category, item, ...of })),
      )
      expect(
        sorted(
          await ask(
            'SELECT category, line_item, count(*), count(DISTINCT internal_id) FROM financials GROUP BY 1, 2',
          ),
        ),
      ).toEqual(
        sorted(items.map(({ category, item, values, companies }) => [category, item, values, companies])),
      )
      expectSums(
        await ask(
          'SELECT category, line_item, current_currency_code, sum(value) FROM financials JOIN companies USING (internal_id) GROUP BY 1, 2, 3',
        ),
        items.flatMap(({ category, item, sum }) =>
          Object.entries(sum).map(([currency, total]) => [category, item, currency, total]),
        ),
      )
      const netSales = Object.entries(totals.netSalesByFiscalYear).flatMap(([currency, years]) =>
        Object.entries(years).map(([year, { companies, sum }]) => [currency, year, companies, sum]),
      )
      expectSums(
        await ask(
          "SELECT currency, fiscal_year, count(*), sum(value) FROM financials WHERE line_item = 'NetSales' GROUP BY 1, 2",
        ),
        netSales,
      )
    }),
  )

  realTest('have the relations that their sources have', () =>
    asking(lake, async (ask) => {
      const { bodsUkGleif: totals, profileOnly } = control
      const one = async (sql: string): Promise<unknown> => (await ask(sql))[0]?.[0]
      expect(await one('SELECT count(*) FROM companies WHERE internal_id // 1_000_000_000 = 47')).toBe(
        profileOnly.brreg_asa,
      )
      // Ids of the ownership standard are above 10^12; the examples among them (the data's notes, A5) are no part of it.
      const bods = (id: string): string => `${id} > 1e12 AND ${id} NOT IN (${EXAMPLES.join(', ')})`
      const parents = `direction = 'parent' AND ${bods('company_id')}`
      const current = `FROM ownerships WHERE kind = 'Direct' AND NOT is_history AND ${parents}`
      expect({
        companies: await one(`SELECT count(*) FROM companies WHERE ${bods('internal_id')}`),
        relationshipRecords: await one(
          `SELECT count(*) FROM ownerships WHERE kind <> 'Beneficial' AND ${parents}`,
        ),
        parentRelations: await one(
          `SELECT count(*) FROM relation_entities WHERE NOT is_history AND ${parents}`,
        ),
        companiesInRelations: await one(`SELECT count(*) FROM relations WHERE ${bods('internal_id')}`),
        historyRecords: await one(`SELECT count(*) FROM relation_entities WHERE is_history AND ${parents}`),
        currentShareholdings: await one(`SELECT count(*) ${current}`),
        sumMinOwnershipStakeCurrent: String(await one(`SELECT sum(min_ownership_stake) ${current}`)),
      }).toEqual(totals)
      // "Contents" of the data's notes: all relations, the examples included.
      expect(
        sorted(
          await ask(
            "SELECT direction, is_history, count(*) FROM relation_entities WHERE direction = 'parent' OR NOT is_history GROUP BY ALL",
          ),
        ),
      ).toEqual(['child | false | 301', 'parent | false | 323', 'parent | true | 54'])
      expect(
        sorted(
          await ask(
            "SELECT kind, count(*) FROM ownerships WHERE direction = 'parent' AND NOT is_history GROUP BY 1",
          ),
        ),
      ).toEqual(['Beneficial | 15', 'Direct | 163', 'Structure | 72', 'Ultimate | 87'])
      expect(await one("SELECT count(*) FROM roles WHERE direction = 'parent' AND NOT is_history")).toBe(2)
      expect(await one('SELECT count(*) FROM relations WHERE ubo_has_reported_missing_ubo IS NOT NULL')).toBe(
        1,
      )
    }),
  )
})

describe('generated records', () => {
  const options = {
    companies: 300,
    seed: 7,
    files: 1,
    small: true,
    awkward: 1,
    content: ['companies', 'relations'],
  } as const
  const control = emptyControl()
  const lines = new Map<Content, string[]>(
    options.content.map((content) => [content, [...linesOf(content, options, control)]]),
  )
  let lake: LoadedLake
  beforeAll(async () => {
    lake = await bench.load(...[...lines].map(([content, all]) => ({ content, lines: all })))
  })

  test('all load', () => {
    expect(lake.rejected).toEqual([])
    expect(lake.snapshot.partitions.map(({ counts }) => counts.records)).toEqual([
      control.companies.records,
      control.relations.records,
    ])
  })

  test('are given back equal though every line is awkward', async () => {
    for (const [content, all] of lines) {
      expect(canonicalAll(await lake.givenBack(content), content)).toEqual(canonicalAll(all, content))
    }
  })

  test('have the totals of companies that the generator counted', () =>
    asking(lake, async (ask) => {
      const { companies } = control
      const counts = (of: Readonly<Record<string, number>>): string[] => sorted(Object.entries(of))
      const by = (column: string): Promise<Cells[]> =>
        ask(`SELECT coalesce(${column}::VARCHAR, ''), count(*) FROM companies GROUP BY 1`)
      expect(sorted(await by('country_code'))).toEqual(counts(companies.byCountry))
      expect(sorted(await by('financial_figure_scale'))).toEqual(counts(companies.byScale))
      expect(sorted(await by('nullif(operational_status, 0)'))).toEqual(counts(companies.byStatus))
      expect(sorted(await ask('SELECT consolidation, count(*) FROM employees GROUP BY 1'))).toEqual(
        counts(companies.employees),
      )
      const wanted = CONSOLIDATIONS.flatMap(({ name }) =>
        Object.entries(companies.figures[name]).flatMap(([category, items]) =>
          Object.entries(items).flatMap(([item, { count, sumAbs }]) =>
            count > 0 ? [{ name, category, item, count, sumAbs }] : [],
          ),
        ),
      )
      expect(
        sorted(await ask('SELECT consolidation, category, line_item, count(*) FROM financials GROUP BY ALL')),
      ).toEqual(sorted(wanted.map(({ name, category, item, count }) => [name, category, item, count])))
      expectSums(
        await ask(
          "SELECT consolidation, category, line_item, coalesce(currency, ''), sum(abs(value)) FROM financials GROUP BY ALL",
        ),
        wanted.flatMap(({ name, category, item, sumAbs }) =>
          Object.entries(sumAbs).map(([currency, sum]) => [name, category, item, currency, sum]),
        ),
      )
      expect(await ask('SELECT count(*) FROM financials')).toEqual([[companies.values]])
      const observed = lake.snapshot.partitions[0]?.range.observed
      const toMilliseconds = (text = ''): string => new Date(text).toISOString()
      expect({
        least: toMilliseconds(observed?.least),
        greatest: toMilliseconds(observed?.greatest),
      }).toEqual(companies.contentUpdatedAt)
    }))

  test('have the totals of relations that the generator counted', () =>
    asking(lake, async (ask) => {
      const { relations } = control
      expect(
        sorted(
          await ask(
            "SELECT direction, if(is_history, 'history', 'current'), count(*) FROM relation_entities GROUP BY ALL",
          ),
        ),
      ).toEqual(
        sorted(
          Object.entries(relations.entities).flatMap(([direction, of]) =>
            Object.entries(of).flatMap(([state, count]) => (count > 0 ? [[direction, state, count]] : [])),
          ),
        ),
      )
      expect(sorted(await ask('SELECT kind, count(*) FROM ownerships GROUP BY 1'))).toEqual(
        sorted(Object.entries(relations.ownerships)),
      )
      expect(
        await ask(
          'SELECT (SELECT count(*) FROM roles), count(*) FILTER (is_protected), max(depth)::INTEGER FROM relation_entities',
        ),
      ).toEqual([[relations.roles, relations.protected, relations.deepestHistory]])
    }))
})

test('restoreRecords gives parents, children and histories back that have no field at all', async () => {
  const line =
    '{"InternalId":2,"Parents":[{"Name":"A","History":[{},{"History":[{}]}]}],"Children":[{},{"Name":"x"},{"History":[]}]}'
  const { givenBack } = await bench.load({ content: 'relations', lines: [line] })
  expect(await givenBack('relations')).toEqual([line])
})

test('restoreRecords gives the current version of each record, once', async () => {
  const named = (InternalId: number, CompanyName: string): object => ({
    BasicDetails: { InternalId, CompanyName },
  })
  const lake = await bench.load(
    { content: 'companies', lines: [named(1, 'old'), named(2, 'only')] },
    { content: 'companies', lines: [named(3, 'new'), named(1, 'current')] },
  )
  expect(canonicalAll(await lake.givenBack(), 'companies')).toEqual(
    canonicalAll(
      [named(1, 'current'), named(2, 'only'), named(3, 'new')].map((record) => JSON.stringify(record)),
      'companies',
    ),
  )
})

test.each([1, 4])(
  'restoreRecords leaves out the figures of superseded records, %i of 5',
  async (superseded) => {
    const company = (InternalId: number, value: number): object => ({
      BasicDetails: { InternalId },
      MetaData: { FinancialFigureScale: InternalId % 2 === 0 ? 'Thousands' : 'None' },
      Financials: { ProfitAndLoss: { NetSales: { 2023: value, 2024: value + 0.25 } } },
      UnconsolidatedFinancials: { BalanceSheet: { TotalAssets: { 2022: value } } },
    })
    const ids = [1, 2, 3, 4, 5]
    const again = ids.slice(1, 1 + superseded)
    const lake = await bench.load(
      { content: 'companies', lines: ids.map((id) => company(id, id)) },
      { content: 'companies', lines: again.map((id) => company(id, 10 * id)) },
    )
    const current = ids.map((id) => JSON.stringify(company(id, again.includes(id) ? 10 * id : id)))
    expect(canonicalAll(await lake.givenBack(), 'companies')).toEqual(canonicalAll(current, 'companies'))
  },
)
