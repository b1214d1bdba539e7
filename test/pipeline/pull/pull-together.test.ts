/** Pulls of companies and relations in one run: one snapshot a night. */

import { expect, onTestFinished, test } from 'vitest'
import type { PullSettings } from '../../../src/pipeline/pull/pull-settings.ts'
import { type PulledPart, pullTogether } from '../../../src/pipeline/pull/pull-together.ts'
import { openService } from '../../../src/source/service/service.ts'
import type { FakeCompany } from '../../service/fake-service.ts'
import { openPullBench, type PullBench, SWEDEN } from '../../service/pull-bench.ts'

const companies = (count: number): readonly FakeCompany[] =>
  Array.from({ length: count }, (_, at) => ({ id: at + 1, country: 'SE' }))

const asked = (content: PullSettings['content'], more: Partial<PullSettings> = {}): PullSettings => ({
  ...{ content, search: SWEDEN, pageSize: 10, cap: 100_000, since: 'last', ...more },
})
const BOTH = [asked('companies'), asked('relations')]

const together = (
  { fake, service, lake }: PullBench,
  searches: readonly PullSettings[] = BOTH,
  signal?: AbortSignal,
): Promise<readonly PulledPart[]> =>
  pullTogether(fake.url, searches, {
    ...{ lake, service, concurrency: 2, limit: { kind: 'count', lines: 0 }, signal },
  })

/** What became of each part, in short. */
const outcomes = (parts: readonly PulledPart[]) =>
  parts.map((part) =>
    part.kind === 'failed' ? part.error.code : [part.summary.snapshot?.snapshot, part.entry.received],
  )

test('pullTogether that is interrupted in the second pull goes on there, and makes one snapshot', async () => {
  const stop = new AbortController()
  const one = await openPullBench({
    companies: companies(40),
    before: ({ content, cursor }) => {
      if (content === 'relations' && cursor !== undefined) stop.abort()
      return undefined
    },
  })
  await expect(together(one, BOTH, stop.signal)).rejects.toMatchObject({ code: 'INTERRUPTED' })
  const [run] = await one.runs()
  const before = one.fake.pages.filter(({ content }) => content === 'companies').length
  const parts = await together(one)
  expect(outcomes(parts)).toEqual([
    [1, 40],
    [1, 40],
  ])
  expect(parts[0]).toMatchObject({ summary: { run } })
  expect(one.fake.pages.filter(({ content }) => content === 'companies')).toHaveLength(before)
  const { pulls } = await one.snapshot()
  expect(pulls?.map(({ content }) => content)).toEqual(['companies', 'relations'])
  expect(await one.runs()).toEqual([])
})

test('pullTogether loads the others where one can only fail, found out before or while it is planned', async () => {
  const same = companies(100).map((one) => ({ ...one, dates: { ContentUpdatedAt: '2026-01-01' } }))
  const one = await openPullBench({ companies: same })
  const relations = asked('relations', { cap: 60 })
  expect(outcomes(await together(one, [asked('companies'), relations]))).toEqual([
    [1, 100],
    'PLAN_IMPOSSIBLE',
  ])
  const refused = asked('companies', { search: { NoSuchParameter: [1] } })
  expect(outcomes(await together(one, [refused, asked('relations')]))).toEqual([
    'PARAMETER_REFUSED',
    [2, 100],
  ])
  expect(await one.runs()).toEqual([])
})

test('pullTogether makes no snapshot where nothing came, but the first one of a lake', async () => {
  const one = await openPullBench({ companies: [] })
  expect(outcomes(await together(one))).toEqual([
    [1, 0],
    [1, 0],
  ])
  for (let night = 0; night < 2; night += 1)
    expect(outcomes(await together(one))).toEqual([
      [undefined, 0],
      [undefined, 0],
    ])
  expect((await one.snapshot()).snapshot).toBe(1)
  const dates = { ContentUpdatedAt: '2026-06-15', RelationsUpdatedAt: '2026-06-15' }
  one.fake.hold(companies(2).map((company) => ({ ...company, dates })))
  expect(outcomes(await together(one))).toEqual([
    [2, 2],
    [2, 2],
  ])
})

test('pullTogether keeps its run where the service is busy: that is no fault of one part', async () => {
  let busy = true
  const one = await openPullBench({
    companies: companies(20),
    before: ({ content }) => (busy && content === 'relations' ? { busy: 7200 } : undefined),
  })
  await expect(together(one)).rejects.toMatchObject({ code: 'SERVICE_BUSY' })
  expect(await one.runs()).toHaveLength(1)
  busy = false
  // Another night is another process, whose service has no pause to keep.
  const service = openService({ url: one.fake.url, token: one.fake.token, maxRequestsPerSecond: 5000 })
  onTestFinished(() => service.close())
  expect(outcomes(await together({ ...one, service }))).toEqual([
    [1, 20],
    [1, 20],
  ])
})
