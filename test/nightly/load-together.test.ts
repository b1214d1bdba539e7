/** Several loads in one run: one snapshot a night. */

import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ToolkitError } from '../../src/core/errors.ts'
import { loadTogether, type PartOutcome } from '../../src/nightly/load-together.ts'
import { loadPartOf, type NightPart } from '../../src/nightly/night-parts.ts'
import type { LoadPart } from '../../src/nightly/open-loads.ts'
import { syncSettings } from '../../src/pull/sync/find-changes.ts'
import type { PullSettings } from '../../src/pull/windows/pull-settings.ts'
import { createService, type ListedBatchFile, type Service } from '../../src/source/service/service.ts'
import { companyLine } from '../run/batch-bench.ts'
import type { FakeCompany } from '../service/fake-service.ts'
import { openPullBench, type PullBench, SWEDEN } from '../service/pull-bench.ts'

const companies = (count: number): readonly FakeCompany[] =>
  Array.from({ length: count }, (_, at) => ({ id: at + 1, country: 'SE' }))

const asked = (content: PullSettings['content'], more: Partial<PullSettings> = {}): PullSettings => ({
  ...{ content, search: SWEDEN, pageSize: 10, cap: 100_000, since: 'last', ...more },
})
const BOTH = [asked('companies'), asked('relations')]

const partOf = (settings: PullSettings, url: string, name: string = settings.content): LoadPart => ({
  ...{ name, needed: false },
  job: { kind: 'pull', url, ...settings },
})

const loaded = (
  { service, lake }: PullBench,
  parts: readonly LoadPart[],
  signal?: AbortSignal,
): Promise<readonly PartOutcome[]> =>
  loadTogether(parts, { lake, service, concurrency: 2, maxQuarantined: { kind: 'count', lines: 0 }, signal })

const together = (
  bench: PullBench,
  searches: readonly PullSettings[] = BOTH,
  signal?: AbortSignal,
): Promise<readonly PartOutcome[]> =>
  loaded(
    bench,
    searches.map((settings) => partOf(settings, bench.fake.url)),
    signal,
  )

const codeOf = (error: unknown): unknown => (error instanceof ToolkitError ? error.code : error)

/** What became of each part, in short. */
const outcomes = (parts: readonly PartOutcome[]) =>
  parts.map((part) => {
    if (part.kind === 'failed') return codeOf(part.error)
    if (part.kind !== 'loaded') return part.kind
    return [part.summary.snapshot?.snapshot, part.pulled?.entry.received ?? part.counts.records]
  })

test('loadTogether that is interrupted in the second pull goes on there, and makes one snapshot', async () => {
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

test('loadTogether loads the others where one can only fail, found out before or while it is planned', async () => {
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

test('loadTogether makes no snapshot where nothing came, but the first one of a lake', async () => {
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

test('loadTogether makes no snapshot where all that came stands in the lake, whatever its dates, and one where a figure differs', async () => {
  const all = [asked('companies', { since: undefined }), asked('relations', { since: undefined })]
  const held = companies(60).map((company) => ({ ...company, lineItem: 'NetSales' }))
  const one = await openPullBench({ companies: held })
  const night = async (): Promise<readonly unknown[]> => outcomes(await together(one, all))
  expect(await night()).toEqual([
    [1, 60],
    [1, 60],
  ])
  one.fake.hold(held.map((company) => (company.id === 7 ? { ...company, lineItem: 'EBITDA' } : company)))
  expect(await night()).toEqual([
    [2, 60],
    [2, 60],
  ])
  // A name that only the relations have, in the newest of two versions.
  one.fake.hold(held.map((company) => (company.id === 7 ? { ...company, name: 'Other' } : company)))
  expect(await night()).toEqual([
    [3, 60],
    [3, 60],
  ])
  expect(await night()).toEqual([
    [undefined, 60],
    [undefined, 60],
  ])
  one.fake.hold(held.filter(({ id }) => id !== 7))
  const job = { kind: 'sync', url: one.fake.url, ...syncSettings({ search: SWEDEN }) } as const
  await loaded(one, [{ name: 'sync', needed: false, job }])
  expect((await one.snapshot()).snapshot).toBe(4)
  one.fake.hold(held.map((company) => (company.id === 7 ? { ...company, name: 'Other' } : company)))
  // It had left, and is back as it was.
  expect(await night()).toEqual([
    [5, 60],
    [5, 60],
  ])
  expect(await one.runs()).toEqual([])
})

test('loadTogether keeps its run where the service is busy: that is no fault of one part', async () => {
  let busy = true
  const one = await openPullBench({
    companies: companies(20),
    before: ({ content }) => (busy && content === 'relations' ? { busy: 7200 } : undefined),
  })
  expect(outcomes(await together(one))).toEqual(['SERVICE_BUSY', 'SERVICE_BUSY'])
  expect(await one.runs()).toHaveLength(1)
  busy = false
  // Another night is another process, whose service has no pause to keep.
  const service = createService({
    url: one.fake.url,
    token: one.fake.token,
    now: one.fake.clock,
    maxRequestsPerSecond: 5000,
  })
  onTestFinished(() => service.close())
  expect(outcomes(await together({ ...one, service }))).toEqual([
    [1, 20],
    [1, 20],
  ])
})

/** A file of companies beside the lake. */
const fileOf = async ({ lake }: PullBench, name: string, lines: readonly string[]): Promise<string> => {
  const path = join(dirname(lake), name)
  await writeFile(path, lines.map((line) => `${line}\n`).join(''))
  return path
}
const filesPart = (name: string, inputs: readonly string[], needed = false): LoadPart => ({
  ...{ name, needed },
  job: { kind: 'convert', inputs, cwd: '/', content: 'companies' },
})

test('loadTogether commits pulls of one content, their relations, and files in one snapshot, and counts each', async () => {
  const one = await openPullBench({ companies: companies(4) })
  const path = await fileOf(one, 'own.jsonl', [companyLine(501), companyLine(502)])
  const parts = [
    partOf(asked('companies'), one.fake.url, 'first'),
    partOf(asked('companies', { currency: 'EUR' }), one.fake.url, 'again'),
    partOf(asked('relations'), one.fake.url),
    filesPart('own', [path]),
  ]
  expect(outcomes(await loaded(one, parts))).toEqual([
    [1, 4],
    [1, 4],
    [1, 4],
    [1, 2],
  ])
  const { partitions } = await one.snapshot()
  expect(new Set(partitions.map(({ source }) => source.name)).size).toBe(4)
  expect(outcomes(await loaded(one, [filesPart('own', [path])]))).toEqual([[undefined, 0]])
  // A file of what the lake has is recorded all the same: the next night need not read it.
  const same = filesPart('same', [await fileOf(one, 'same.jsonl', [companyLine(502), companyLine(501)])])
  expect(outcomes(await loaded(one, [same]))).toEqual([[2, 2]])
  expect(outcomes(await loaded(one, [same]))).toEqual([[undefined, 0]])
  expect(outcomes(await loaded(one, [filesPart('none', [join(dirname(one.lake), '*.none')])]))).toEqual([
    'nothing',
  ])
})

test('loadTogether leaves out the part whose lines are bad, or whose file is, and commits the others together', async () => {
  const one = await openPullBench({ companies: companies(4) })
  const bad = filesPart('bad', [await fileOf(one, 'bad.jsonl', ['{"broken', companyLine(600)])])
  const cut = filesPart('cut', [await fileOf(one, 'cut.jsonl.gz', ['this is no gzip'])])
  const good = filesPart('good', [await fileOf(one, 'good.jsonl', [companyLine(601)])])
  const pulls = BOTH.map((settings) => partOf(settings, one.fake.url))
  const done = await loaded(one, [bad, ...pulls, cut, good])
  expect(outcomes(done)).toEqual([
    'QUARANTINE_LIMIT',
    [1, 4],
    [1, 4],
    expect.stringMatching(/^(DECODE|SOURCE)_/),
    [1, 1],
  ])
  expect((await one.snapshot()).snapshot).toBe(1)
  expect(await one.runs()).toEqual([])
})

test('loadTogether commits nothing where a part that is needed fails', async () => {
  const one = await openPullBench({ companies: companies(4) })
  const bad = filesPart('bad', [await fileOf(one, 'bad.jsonl', ['{"broken'])], true)
  const pull = partOf(asked('companies'), one.fake.url)
  expect(outcomes(await loaded(one, [pull, bad]))).toEqual(['held-back', 'QUARANTINE_LIMIT'])
  const missing = filesPart('missing', ['/no/such/file.jsonl'], true)
  expect(await loaded(one, [pull, missing])).toMatchObject([
    { kind: 'held-back', by: 'missing' },
    { kind: 'failed' },
  ])
  expect(one.fake.pages).toHaveLength(1)
  expect(await one.runs()).toEqual([])
})

test('loadTogether loads the files although the service is down, and the pulls go on the next night', async () => {
  let down = true
  const one = await openPullBench({
    companies: companies(20),
    before: ({ cursor }) => (down && cursor !== undefined ? { busy: 7200 } : undefined),
  })
  const own = filesPart('own', [await fileOf(one, 'own.jsonl', [companyLine(501)])])
  const parts = [...BOTH.map((settings) => partOf(settings, one.fake.url)), own]
  expect(outcomes(await loaded(one, parts))).toEqual(['SERVICE_BUSY', 'SERVICE_BUSY', [1, 1]])
  expect(await one.runs()).toHaveLength(1)
  down = false
  const service = createService({
    url: one.fake.url,
    token: one.fake.token,
    now: one.fake.clock,
    maxRequestsPerSecond: 5000,
  })
  onTestFinished(() => service.close())
  expect(outcomes(await loaded({ ...one, service }, parts))).toEqual([
    [2, 20],
    [2, 20],
    [2, 0],
  ])
  expect(await one.runs()).toEqual([])
})

test('loadTogether with a sync makes a snapshot where a company is gone, and none the night after', async () => {
  const one = await openPullBench({ companies: companies(60) })
  const job = { kind: 'sync', url: one.fake.url, ...syncSettings({ search: SWEDEN }) } as const
  const sync: LoadPart = { name: 'sync', needed: false, job }
  const snapshots = async (): Promise<readonly unknown[]> =>
    (await loaded(one, [sync])).map((part) =>
      part.kind === 'loaded' ? part.summary.snapshot?.snapshot : part,
    )
  expect(await snapshots()).toEqual([1])
  expect(await snapshots()).toEqual([undefined])
  one.fake.hold(companies(59))
  expect(await snapshots()).toEqual([2])
  expect(await snapshots()).toEqual([undefined])
  expect(await one.runs()).toEqual([])
})

test('loadTogether says that the lake holds all only where it does, and names entries that cannot be asked for', async () => {
  const one = await openPullBench({ companies: [] })
  const listing = (files: readonly ListedBatchFile[], ...idless: readonly string[]): Service => ({
    ...one.service,
    batchFiles: async ({ onIdless } = {}) => {
      for (const name of idless) onIdless?.(name)
      return [...files]
    },
  })
  const batches: LoadPart = {
    ...{ name: 'batches', needed: false },
    job: { kind: 'batches', url: one.fake.url, selection: { kind: 'all' } },
  }
  const files: LoadPart = {
    ...{ name: 'files', needed: false },
    job: { kind: 'convert', inputs: ['none/*.br'], cwd: dirname(one.lake), content: undefined },
  }
  const shown = async (service: Service): Promise<readonly NightPart[]> =>
    (await loaded({ ...one, service }, [batches, files])).map(loadPartOf)
  const nothing = { kind: 'batch_files', name: 'batches', state: 'nothing' }
  expect(await shown(listing([]))).toEqual([
    { ...nothing, reason: 'the service offers no such batch file' },
    { kind: 'files', name: 'files', state: 'nothing', reason: 'no file matches none/*.br' },
  ])
  const why = 'the listing gives it no id'
  expect((await shown(listing([], 'x.br', '')))[0]).toEqual({
    ...nothing,
    reason: `no file of the listing can be asked for; "x.br" is skipped: ${why}; "an entry without a name" is skipped: ${why}`,
    skipped: [
      { source: 'x.br', reason: why },
      { source: 'an entry without a name', reason: why },
    ],
  })
})

test('a night says of each part how many records the lake has newer data of', async () => {
  const one = await openPullBench({ companies: companies(3) })
  await together(one)
  const file = async (name: string, day: number, ids: readonly number[]): Promise<LoadPart> => {
    const path = join(dirname(one.lake), `${name}.jsonl`)
    await writeFile(path, ids.map((id) => `${companyLine(id, {}, day)}\n`).join(''))
    return { name, needed: false, job: { kind: 'convert', inputs: [path], cwd: dirname(path) } }
  }
  const parts = [await file('late', 2, [1, 2, 8]), await file('of others', 3, [9])]
  expect((await loaded(one, parts)).map(loadPartOf)).toMatchObject([
    { name: 'late', state: 'done', records: 3, older: 2 },
    { name: 'of others', state: 'done', records: 1 },
  ])
})
