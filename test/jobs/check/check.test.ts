import { expect, test } from 'vitest'
import { checkLoads, type LoadFacts } from '../../../src/checks/check-loads.ts'
import { foundText } from '../../../src/core/checks.ts'
import { check } from '../../../src/jobs/check.ts'
import { companyLine, openBench } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const [OLDER, NEWER] = ['20261120T120000000Z-aaaaaa', '20261121T120000000Z-bbbbbb'] as const
const MIDDLE = '20261121T000000000Z-cccccc'
const NOW = new Date('2026-11-22T12:00:00Z')
const FACTS: LoadFacts = {
  sources: [
    { run: OLDER, content: 'companies', records: 1000, lines: 1000, quarantined: 0 },
    { run: NEWER, content: 'companies', records: 880, lines: 900, quarantined: 20 },
    { run: NEWER, content: 'relations', records: 5, lines: 5, quarantined: 0 },
  ],
  pulls: [
    { run: OLDER, content: 'companies', service: 's', search: '{}', gap_left: 9 },
    { run: NEWER, content: 'companies', service: 's', search: '{}', gap_left: 2 },
  ],
  drift: [
    { run: OLDER, content: 'companies', kind: 'field', name: 'BasicDetails.Old' },
    { run: NEWER, content: 'companies', kind: 'field', name: 'BasicDetails.Old' },
    { run: NEWER, content: 'companies', kind: 'field', name: 'BasicDetails.New' },
    { run: NEWER, content: 'companies', kind: 'field', name: 'BasicDetails.Known' },
  ],
  entries: [
    {
      ...{ run: OLDER, content: 'companies', service: 's', search: {}, asOf: '2026-11-21T00:00:00Z' },
      ...{ announced: 9, planned: 9, received: 9 },
    },
  ],
  knowsName: (name) => name === 'companies field BasicDetails.Known',
}

test.each([
  [{ maxAgeMs: 24 * 3_600_000 }, [['age_seconds', 'passed', 86_400]]],
  [{ maxAgeMs: 23 * 3_600_000 }, [['age_seconds', 'failed', 86_400]]],
  [{ maxUnlookedMs: 36 * 3_600_000 }, [['unlooked_seconds', 'passed', 129_600]]],
  [{ maxUnlookedMs: 35 * 3_600_000 }, [['unlooked_seconds', 'failed', 129_600]]],
  [{ maxGap: 2 }, [['pull_gap', 'passed', 2]]],
  [{ maxGap: 1 }, [['pull_gap', 'failed', 2]]],
  [{ maxQuarantined: 0.03 }, [['quarantined_share', 'passed', 20 / 905]]],
  [{ maxQuarantined: 0.02 }, [['quarantined_share', 'failed', 20 / 905]]],
  [{ noNewDrift: true }, [['new_drift', 'failed', 1]]],
  [
    { maxFall: 0.1 },
    [
      ['fall_companies', 'failed', 0.12],
      ['fall_relations', 'passed', 0],
    ],
  ],
] as const)('checkLoads holds the newest load to %j', (expected, results) => {
  const found = checkLoads(FACTS, expected, NOW).map(({ name, status, value }) => [name, status, value])
  expect(found).toEqual(results.map(([name, status, value]) => [name, status, expect.closeTo(value, 9)]))
})

test('what is found stands beside its limit with the digits that tell them apart', () => {
  const sources = [{ run: NEWER, content: 'companies', lines: 10_000_000, quarantined: 100_004 }]
  const expected = { maxQuarantined: 0.01, maxAgeMs: 24 * 3_600_000 - 100_000 }
  const checks = checkLoads({ ...FACTS, sources }, expected, NOW)
  expect(checks.map((one) => [one.status, foundText(one), one.expected])).toEqual([
    ['failed', '24 h', 'at most 23.972222 h'],
    ['failed', '1.00004 %', 'at most 1 %'],
  ])
})

const pulled = (run: string, received: number, more: object = {}): LoadFacts['pulls'][number] => ({
  ...{ run, content: 'companies', service: 's', search: '{"CountryCode":["SE"]}', received, gap_left: 0 },
  ...more,
})
const loaded = (run: string, records: number): LoadFacts['sources'][number] => ({
  ...{ run, content: 'companies', records, lines: records, quarantined: 0 },
})

test.each<[string, Pick<LoadFacts, 'sources' | 'pulls'>, number]>([
  [
    'changes since the last time are no fall',
    {
      sources: [loaded(OLDER, 284), loaded(NEWER, 7)],
      pulls: [pulled(OLDER, 284), pulled(NEWER, 7, { from_day: '2026-11-19' })],
    },
    0,
  ],
  [
    'a sync is judged by what it lists',
    { sources: [loaded(OLDER, 284), loaded(NEWER, 7)], pulls: [pulled(OLDER, 284), pulled(NEWER, 280)] },
    1 - 280 / 284,
  ],
  [
    'a sync that lists few is a fall, though nothing of it is loaded',
    { sources: [loaded(OLDER, 284)], pulls: [pulled(OLDER, 284), pulled(NEWER, 71)] },
    0.75,
  ],
  [
    'a whole pull is held to the last whole one, over those of days between them',
    {
      sources: [loaded(OLDER, 100), loaded(MIDDLE, 3), loaded(NEWER, 50)],
      pulls: [pulled(OLDER, 100), pulled(MIDDLE, 3, { from_day: '2026-11-19' }), pulled(NEWER, 50)],
    },
    0.5,
  ],
  [
    'another search is no smaller load of this one',
    {
      sources: [loaded(OLDER, 284), loaded(NEWER, 7)],
      pulls: [pulled(OLDER, 284), pulled(NEWER, 7, { search: '{"CountryCode":["NO"]}' })],
    },
    0,
  ],
  ['files may hold changes alone', { sources: [loaded(OLDER, 284), loaded(NEWER, 7)], pulls: [] }, 0],
])('checkLoads compares whole loads with whole loads: %s', (_what, facts, fall) => {
  expect(checkLoads({ ...FACTS, ...facts, drift: [] }, { maxFall: 0.1 }, NOW)).toEqual([
    expect.objectContaining({
      ...{ name: 'fall_companies', value: expect.closeTo(fall, 9) },
      status: fall > 0.1 ? 'failed' : 'passed',
    }),
  ])
})

const sheet = (years: Readonly<Record<number, number>>) => ({
  Financials: { BalanceSheet: { TotalAssets: years } },
})
const named = (id: number, basic: object, more: object = {}): string =>
  companyLine(id, { BasicDetails: { InternalId: id, CountryCode: 'SE', ...basic }, ...more })

test('check takes nothing for a fault that only looks like one', async () => {
  const bench = openBench(await temporaryFolder())
  await bench.write('planted.jsonl', [
    named(1, { OrgNo: '556-1' }, sheet({ 2020: 100, 2021: 110_000, 2022: 120 })),
    named(2, { OrgNo: '5561' }, sheet({ 2020: 100, 2021: 110, 2024: 120 })),
    named(3, { OrgNo: '5563' }, sheet({ 2020: 1, 2021: 1000, 2022: 1_000_000 })),
    named(4, { OrgNo: '000' }, sheet({ 2097: 5 })),
    named(
      5,
      { OrgNo: '000' },
      {
        Financials: {
          BalanceSheet: {
            TotalAssets: { 2022: 100 },
            TotalCurrentAssets: { 2022: 60 },
            TotalNonCurrentAssets: { 2022: 30 },
          },
        },
      },
    ),
  ])
  await bench.run(['planted.jsonl'])
  const { failed, checks, findings } = await check({ lake: bench.lake })
  expect(checks.map(({ name, status, value }) => [name, status, value])).toEqual([
    ['balance', 'note', 1],
    ['currency', 'passed', 0],
    ['cycles', 'passed', 0],
    ['duplicates', 'failed', 2],
    ['future', 'failed', 1],
    ['gaps', 'note', 1],
    ['scale', 'failed', 1],
    ['stakes', 'passed', 0],
  ])
  expect(failed).toBe(3)
  const brief = findings.map(({ rule, internal_id, fiscal_year }) => [rule, internal_id, fiscal_year])
  expect(brief.sort()).toEqual(
    [
      ['balance', 5, 2022],
      ['duplicates', 1, null],
      ['duplicates', 2, null],
      ['future', 4, 2097],
      ['gaps', 2, 2022],
      ['scale', 1, 2021],
    ].sort(),
  )
})

test('check counts companies, and takes rules of its caller', async () => {
  const bench = openBench(await temporaryFolder())
  await bench.write('a.jsonl', [companyLine(1), companyLine(2)])
  await bench.run(['a.jsonl'])
  const rules = {
    small: 'SELECT internal_id FROM companies WHERE internal_id < 2',
    none: 'SELECT internal_id FROM companies WHERE internal_id > 9',
  }
  const { failed, checks } = await check({ lake: bench.lake, minCompanies: 3, data: false, rules })
  expect(checks.map(({ name, status, value }) => [name, status, value])).toEqual([
    ['companies', 'failed', 2],
    ['small', 'failed', 1],
    ['none', 'passed', 0],
  ])
  expect(failed).toBe(2)
  const writing = check({ lake: bench.lake, rules: { bad: "COPY (SELECT 1) TO '/tmp/x'" } })
  await expect(writing).rejects.toMatchObject({
    code: expect.stringMatching(/^QUERY_/),
    message: expect.stringMatching(/^Cannot check the rule "bad": /),
  })
})

test('check tells notes from errors by the severity of each row, counts them all, and takes a rule in place of ours', async () => {
  const bench = openBench(await temporaryFolder())
  await bench.write('a.jsonl', [named(1, { RegistrationDate: '2999-01-01' })])
  await bench.run(['a.jsonl'])
  const rows = (severity: string): string =>
    `SELECT ${severity} AS severity, i AS row FROM range(150) AS t(i)`
  const rules = {
    future: "SELECT 'note' AS severity, 1 AS own",
    notes: rows("'note'"),
    some: rows("CASE WHEN i < 120 THEN 'note' ELSE 'error' END"),
    last: "SELECT i AS row, CASE WHEN i < 120 THEN 'note' ELSE 'error' END AS severity FROM range(150) AS t(i)",
    unknown: rows('NULL'),
  }
  const { failed, checks, findings } = await check({ lake: bench.lake, rules })
  const found = new Map(checks.map(({ name, status, value }) => [name, [status, value]]))
  expect([...found.keys()].filter((name) => name === 'future')).toEqual(['future'])
  expect(['future', 'notes', 'some', 'unknown'].map((name) => found.get(name))).toEqual([
    ['note', 1],
    ['note', 150],
    ['failed', 30],
    ['failed', 150],
  ])
  expect(failed).toBe(3)
  const of = (rule: string) => findings.filter((one) => one.rule === rule)
  expect(of('future')).toEqual([{ rule: 'future', severity: 'note', own: 1 }])
  expect(of('some')).toHaveLength(100)
  expect(of('some')[0]).toEqual({ rule: 'some', severity: 'error', row: 120 })
  expect(of('last')).toHaveLength(100)
  expect(of('last')[0]).toEqual({ rule: 'last', severity: 'error', row: 120 })
  expect(of('unknown')[0]).toEqual({ rule: 'unknown', severity: 'error', row: 0 })
})
