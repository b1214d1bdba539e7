import { expect, test } from 'vitest'
import { syncSearch } from '../../src/jobs/sync.ts'
import { listRunIds } from '../../src/manifest/runs/runs.ts'
import { type Bench, companyLine, openBench } from '../run/batch-bench.ts'
import type { FakeCompany } from '../service/fake-service.ts'
import { openPullBench, SWEDEN } from '../service/pull-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const COMPANIES: readonly FakeCompany[] = [1, 2, 3].map((id) => ({
  ...{ id, country: 'SE' },
  dates: { ContentUpdatedAt: '2026-01-01' },
}))

test('pull in another currency than the last pull of the search is refused before there is a run', async () => {
  const one = await openPullBench({ companies: COMPANIES })
  await one.pull({ currency: 'EUR' })
  await expect(one.pull()).rejects.toMatchObject({
    code: 'CURRENCY_CHANGED',
    message: expect.stringMatching(/in USD \(without --currency\).*was in EUR.*--change-currency/),
    context: { from: 'EUR', to: 'USD' },
  })
  await expect(one.pull({ currency: 'SEK', since: 'last' })).rejects.toMatchObject({
    context: { from: 'EUR', to: 'SEK' },
  })
  const call = {
    lake: one.lake,
    service: one.service,
    concurrency: 1,
    maxQuarantined: { kind: 'count', lines: 0 },
  } as const
  await expect(syncSearch(one.fake.url, { search: SWEDEN }, call)).rejects.toMatchObject({
    code: 'CURRENCY_CHANGED',
  })
  expect(await one.runs()).toEqual([])
  expect((await one.snapshot()).snapshot).toBe(1)
})

test('pull in the same currency goes on, however it is written, and another search has its own', async () => {
  const one = await openPullBench({ companies: COMPANIES })
  await one.pull()
  expect(await one.pull({ currency: 'usd' })).not.toHaveProperty('currencyBefore')
  const other = { CountryCode: ['SE'], InternalId: [1] }
  expect((await one.pull({ currency: 'EUR', search: other })).entry).toMatchObject({ currency: 'EUR' })
  expect((await one.pull({ content: 'relations', currency: undefined })).entry.received).toBe(3)
})

test('pull with changeCurrency says which currency was before, and sets the one of the next', async () => {
  const one = await openPullBench({ companies: COMPANIES })
  await one.pull({ currency: 'EUR' })
  expect(await one.pull({}, { changeCurrency: true })).toMatchObject({ currencyBefore: 'EUR' })
  expect(await one.pull()).not.toHaveProperty('currencyBefore')
  await expect(one.pull({ currency: 'EUR' })).rejects.toMatchObject({ code: 'CURRENCY_CHANGED' })
})

/** All of one instant: whichever is committed first, no other one is older. */
const lineIn = (id: number, currency: string | undefined, more: object = {}): string =>
  companyLine(id, {
    MetaData: {
      ...{ CurrentCurrencyCode: currency, LocalCurrencyCode: 'SEK', FinancialFigureScale: 'None' },
      ContentUpdatedAt: '2025-01-01T00:00:00',
    },
    ...more,
  })

const load = (bench: Bench, name: string, lines: readonly string[], changeCurrency = false) =>
  bench.write(name, lines).then(() => bench.run([name], { changeCurrency }))

test('a run that replaces figures by figures in another currency ends before its commit, with count and ids', async () => {
  const bench = openBench(await temporaryFolder())
  await load(
    bench,
    'old.jsonl',
    [1, 2, 3, 4, 5].map((id) => lineIn(id, 'SEK')),
  )
  const mixed = [lineIn(1, 'SEK'), ...[5, 2, 4, 3].map((id) => lineIn(id, 'EUR')), lineIn(9, 'EUR')]
  await expect(load(bench, 'new.jsonl', mixed)).rejects.toMatchObject({
    code: 'CURRENCY_CHANGED',
    message: expect.stringContaining(
      'figures of 4 companies (InternalId 2: SEK by EUR; InternalId 3: SEK by EUR; InternalId 4: SEK by EUR; …)',
    ),
    context: { companies: 4, ids: '2 3 4', from: 'SEK', to: 'EUR' },
  })
  expect((await bench.snapshot()).snapshot).toBe(1)
  expect(await bench.query('SELECT count(*) FROM financials WHERE currency <> $$SEK$$')).toEqual([[0]])
  // The same command with the option goes on with what is loaded, and says what it did.
  const { summary, events } = await bench.run(['new.jsonl'], { changeCurrency: true })
  expect(events[0]).toMatchObject({ kind: 'started', resumed: true, finished: 1 })
  expect(summary.currencyChange).toMatchObject({ companies: 4, local: 0, examples: { length: 3 } })
  expect(
    await bench.query('SELECT currency, count(DISTINCT internal_id) FROM financials GROUP BY 1 ORDER BY 1'),
  ).toEqual([
    ['EUR', 5],
    ['SEK', 1],
  ])
  expect(await listRunIds(bench.lake)).toEqual([])
})

test('a run is compared with the current figures alone, and a company without figures does not count', async () => {
  const bench = openBench(await temporaryFolder())
  const bare = { Financials: undefined }
  await load(bench, 'a.jsonl', [
    lineIn(1, 'SEK'),
    lineIn(2, 'SEK', bare),
    lineIn(3, 'SEK'),
    lineIn(4, undefined),
  ])
  expect((await load(bench, 'b.jsonl', [lineIn(1, 'EUR')], true)).summary.currencyChange?.companies).toBe(1)
  // 1 is in EUR by now; 2 had no figures, 3 gets none, and of 4 no currency is known.
  const lines = [
    lineIn(1, 'EUR'),
    lineIn(2, 'EUR'),
    lineIn(3, 'EUR', bare),
    lineIn(4, 'EUR'),
    lineIn(5, 'EUR'),
  ]
  expect((await load(bench, 'c.jsonl', lines)).summary).not.toHaveProperty('currencyChange')
  await expect(load(bench, 'd.jsonl', [lineIn(1, 'SEK')])).rejects.toMatchObject({
    message: expect.stringContaining('1 company (InternalId 1: EUR by SEK)'),
  })
})

test('a company whose figures are all free of currency is none whose figures would be replaced', async () => {
  const bench = openBench(await temporaryFolder())
  const ratios = { Financials: { KeyFinancialRatio: { RRK: { 2020: 3 } }, Strange: { Thing: { 2020: 1 } } } }
  await load(bench, 'a.jsonl', [lineIn(1, 'SEK', ratios)])
  expect((await load(bench, 'b.jsonl', [lineIn(1, 'EUR', ratios)])).summary).not.toHaveProperty(
    'currencyChange',
  )
})

test('a changed local currency is named as such', async () => {
  const bench = openBench(await temporaryFolder())
  const croatian = (id: number, currency: string) =>
    lineIn(id, currency, {
      MetaData: {
        ...{ CurrentCurrencyCode: currency, LocalCurrencyCode: currency },
        ContentUpdatedAt: '2025-01-01T00:00:00',
      },
    })
  await load(bench, 'a.jsonl', [croatian(1, 'HRK'), croatian(2, 'HRK')])
  await expect(load(bench, 'b.jsonl', [croatian(1, 'EUR'), lineIn(2, 'EUR')])).rejects.toMatchObject({
    message: expect.stringContaining('2 with another local currency than before'),
  })
})

test('of two runs at once that bring the same companies in two currencies one commits', async () => {
  const bench = openBench(await temporaryFolder())
  const ids = Array.from({ length: 20 }, (_, at) => at + 1)
  const runs = await Promise.allSettled(
    ['SEK', 'EUR'].map((currency) =>
      load(
        bench,
        `${currency}.jsonl`,
        ids.map((id) => lineIn(id, currency)),
      ),
    ),
  )
  expect(runs.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  const lost = runs.find((run) => run.status === 'rejected')
  expect(lost?.reason).toMatchObject({ code: 'CURRENCY_CHANGED', context: { companies: 20 } })
  expect(await bench.query('SELECT count(DISTINCT currency) FROM financials')).toEqual([[1]])
})
