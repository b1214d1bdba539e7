/** The same command after a kill between its commit and its end: it finds its run in the lake, and loads nothing again. */

import { rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { reportLines } from '../../src/cli/output/run-report.ts'
import { pullBatches } from '../../src/jobs/pull-batch-files.ts'
import { resume } from '../../src/jobs/resume.ts'
import { syncSearch } from '../../src/jobs/sync.ts'
import { inLake, runPath } from '../../src/lake/files/layout.ts'
import { listRunIds } from '../../src/manifest/runs/runs.ts'
import { listSnapshots } from '../../src/manifest/snapshots/snapshots.ts'
import { loadTogether, type PartOutcome } from '../../src/nightly/load-together.ts'
import type { LoadPart } from '../../src/nightly/open-loads.ts'
import { syncSettings } from '../../src/pull/sync/find-changes.ts'
import { reportOf } from '../../src/run/run-report.ts'
import type { RunEvent } from '../../src/run/work/progress.ts'
import { createService } from '../../src/source/service/service.ts'
import type { FakeCompany } from '../service/fake-service.ts'
import { openPullBench, type PullBench, SWEDEN } from '../service/pull-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Bench, companyLine, companyLines, openBench, queryLake } from './batch-bench.ts'
import { offer, startBatchService, TOKEN } from './batch-service.ts'
import { stoppedBehindCommit } from './stopped-behind-commit.ts'

const companies = (count: number): readonly FakeCompany[] =>
  Array.from({ length: count }, (_, at) => ({
    id: at + 1,
    country: 'SE',
    dates: { ContentUpdatedAt: `2026-0${1 + (at % 5)}-01` },
  }))

const bench = () => openPullBench({ companies: companies(40), cap: 20 })

const snapshots = async (lake: string): Promise<number> => (await listSnapshots(lake)).length

test.each([
  ['on the same machine', async () => undefined],
  ['on a machine that has none of its windows', (windows: string) => rm(windows, { recursive: true })],
])(
  'a pull that was committed and then killed is found %s by the same pull, which asks for no page',
  async (_, leave) => {
    const one = await bench()
    let first: Awaited<ReturnType<PullBench['pull']>> | undefined
    const run = await stoppedBehindCommit(one.lake, async (onEvent) => {
      first = await one.pull({}, { onEvent })
    })
    await leave(join(inLake(one.lake, runPath(run)), 'windows'))
    const pages = one.fake.pages.length
    const events: RunEvent[] = []
    const again = await one.pull({}, { onEvent: (event) => events.push(event) })
    expect(one.fake.pages.length).toBe(pages)
    expect(events).toEqual([{ kind: 'already', run, snapshot: 1 }])
    expect(again.summary).toMatchObject({ run, snapshot: { snapshot: 1 }, already: {} })
    expect(again.summary.partitions.map(({ id }) => id)).toEqual(
      first?.summary.partitions.map(({ id }) => id),
    )
    expect([again.entry, again.windows, again.plan]).toEqual([first?.entry, first?.windows, first?.plan])
    expect(again.windows.length).toBeGreaterThan(1)
    expect([await snapshots(one.lake), await one.runs()]).toEqual([1, []])
    const report = reportOf(again.summary, { seconds: 0, decodedBytes: 0 })
    expect(report).toMatchObject({ already: true, snapshot: 1, records: 40 })
    expect(reportLines(report)[0]).toBe(
      `Run ${run} was committed before, by a call that was interrupted then: snapshot 1 shows it.`,
    )
    // Once more it is a pull like any other.
    const next = await one.pull()
    expect(next.summary.run).not.toBe(run)
    expect(next.summary).not.toHaveProperty('already')
    expect(one.fake.pages.length).toBeGreaterThan(pages)
  },
)

test('a pull that was committed and then killed holds no pull of the next day back', async () => {
  const one = await bench()
  const run = await stoppedBehindCommit(one.lake, (onEvent) => one.pull({}, { onEvent }))
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 13 * 3_600_000 })
  onTestFinished(() => void vi.useRealTimers())
  const { summary } = await one.pull()
  expect([summary.run === run, summary.snapshot?.snapshot, await one.runs()]).toEqual([false, 2, []])
})

test('a sync that was committed and then killed fetches nothing again', async () => {
  const one = await bench()
  const sync = (onEvent?: (event: RunEvent) => void) =>
    syncSearch(
      one.fake.url,
      { search: SWEDEN },
      {
        lake: one.lake,
        service: one.service,
        concurrency: 2,
        maxQuarantined: { kind: 'count', lines: 0 },
        onEvent,
      },
    )
  await stoppedBehindCommit(one.lake, sync)
  expect(await sync()).toMatchObject({ fetched: 0, summary: { partitions: [] } })
  expect(await one.runs()).toEqual([])
})

test('resume finds the run of a pull that was committed and then killed, and asks the service nothing', async () => {
  const one = await bench()
  const run = await stoppedBehindCommit(one.lake, (onEvent) => one.pull({}, { onEvent }))
  const { runs } = await resume({
    lake: one.lake,
    service: () => {
      throw new Error('the service is asked')
    },
  })
  expect(runs).toEqual([{ kind: 'committed', run, snapshot: 1 }])
  expect(await one.runs()).toEqual([])
})

test.each([false, true])(
  'files that were committed before a kill are not loaded again, with again: %s',
  async (again) => {
    const one = openBench(await temporaryFolder())
    await one.write('a.jsonl', companyLines(5))
    await one.run(['a.jsonl'])
    await one.write('a.jsonl', companyLines(6))
    const run = await stoppedBehindCommit(one.lake, (onEvent) => one.run(['a.jsonl'], { again, onEvent }))
    const { summary } = await one.run(['a.jsonl'], { again })
    if (again) expect(summary).toMatchObject({ run, snapshot: { snapshot: 2 }, already: { pulls: [] } })
    else expect(summary).toMatchObject({ snapshot: undefined, skipped: [{ source: 'a.jsonl' }] })
    expect([await snapshots(one.lake), await listRunIds(one.lake)]).toEqual([2, []])
  },
)

/** The ids of the companies that `--again` loads once more after a kill behind its snapshot, `already` where it loads none. */
const loadedAfter = async (change: (one: Bench) => Promise<unknown>, inputs: readonly string[] = ['in']) => {
  const one = openBench(await temporaryFolder())
  await one.write('in/a.jsonl', companyLines(2))
  await one.write('in/b.jsonl', [companyLine(2, {}, 2), companyLine(3)])
  await one.write('in/notes.txt', ['not a record'])
  await stoppedBehindCommit(one.lake, (onEvent) => one.run(['in'], { again: true, onEvent }))
  await change(one)
  const { summary } = await one.run(inputs, { again: true })
  expect(await listRunIds(one.lake)).toEqual([])
  if (summary.already !== undefined) return 'already'
  const rows = await one.query(
    `SELECT DISTINCT internal_id FROM companies_history WHERE run = '${summary.run}' ORDER BY 1`,
  )
  return rows.map(([id]) => Number(id))
}

test.each<[string, (one: Bench) => Promise<unknown>, readonly number[] | 'already']>([
  ['nothing has changed', async () => undefined, 'already'],
  [
    'files have moved, at another time',
    async ({ folder }) => {
      await utimes(join(folder, 'in/a.jsonl'), 1_700_000_000, 1_700_000_000)
      await rename(join(folder, 'in'), join(folder, 'elsewhere'))
    },
    'already',
  ],
  [
    'a file has changed, its length and time have not',
    async ({ folder, write }) => {
      const { atime, mtime } = await stat(join(folder, 'in/a.jsonl'))
      await write('in/a.jsonl', companyLines(2, 8))
      await utimes(join(folder, 'in/a.jsonl'), atime, mtime)
    },
    [2, 3, 8, 9],
  ],
  ['a file has come', ({ write }) => write('in/c.jsonl', [companyLine(4)]), [1, 2, 3, 4]],
  [
    'a file that held no records has some',
    ({ write }) => write('in/notes.txt', [companyLine(5)]),
    [1, 2, 3, 5],
  ],
  ['a file has gone', ({ folder }) => rm(join(folder, 'in/a.jsonl')), [2, 3]],
  [
    'files stand in another order, so that other versions are current',
    ({ folder }) => rename(join(folder, 'in/a.jsonl'), join(folder, 'in/z.jsonl')),
    [1, 2, 3],
  ],
  [
    'another run was committed since',
    async ({ write, run }) => {
      await write('other.jsonl', [companyLine(3, {}, 3)])
      await run(['other.jsonl'])
    },
    [1, 2, 3],
  ],
])('the same --again after a kill behind its snapshot, where %s', async (what, change, expected) => {
  expect(await loadedAfter(change, what.startsWith('files have moved') ? ['elsewhere'] : ['in'])).toEqual(
    expected,
  )
})

test('a bad file that was left out is left out again, and loaded once it is mended', async () => {
  const one = openBench(await temporaryFolder())
  await one.write('a.jsonl', companyLines(1))
  const bytes = await one.write('b.jsonl.gz', companyLines(2, 2), 'gzip')
  await one.write('b.jsonl.gz', bytes.subarray(0, -9))
  const again = (onEvent?: (event: RunEvent) => void) =>
    one.run(['a.jsonl', 'b.jsonl.gz'], { again: true, skipBadFiles: true, onEvent })
  for (const mended of [false, true]) {
    const run = await stoppedBehindCommit(one.lake, again)
    if (mended) await one.write('b.jsonl.gz', bytes)
    const { summary } = await again()
    expect([summary.run === run, summary.excluded.length]).toEqual(mended ? [false, 0] : [true, 1])
  }
  expect(await one.query('SELECT internal_id FROM companies ORDER BY 1')).toEqual([[1], [2], [3]])
})

test('batch files that came or changed behind a kill are loaded by the same --again', async () => {
  const offered = await startBatchService([offer('a', companyLines(2)), offer('b', companyLines(2, 3))])
  const service = createService({ url: offered.url, token: TOKEN, maxRequestsPerSecond: 5000 })
  onTestFinished(async () => {
    await service.close()
    await offered.close()
  })
  const lake = join(await temporaryFolder(), 'lake')
  const all = (onEvent?: (event: RunEvent) => void) =>
    pullBatches(offered.url, { kind: 'all' }, true, {
      ...{ lake, service, concurrency: 2, maxQuarantined: { kind: 'count', lines: 0 }, onEvent },
    })
  const companiesOf = async (run: string | undefined) =>
    (
      await queryLake(
        lake,
        `SELECT DISTINCT internal_id FROM companies_history WHERE run = '${run}' ORDER BY 1`,
      )
    ).map(([id]) => Number(id))
  const run = await stoppedBehindCommit(lake, all)
  expect((await all()).summary).toMatchObject({ run, already: {} })

  await stoppedBehindCommit(lake, all)
  // As long as before, and listed as before.
  offered.files[1] = {
    ...offer('b', companyLines(2, 7)),
    listed: { ...offered.files[1]?.listed, SizeInBytes: undefined },
  }
  expect(await companiesOf((await all()).summary?.run)).toEqual([1, 2, 7, 8])

  await stoppedBehindCommit(lake, all)
  offered.files.push(offer('c', companyLines(1, 9)))
  expect(await companiesOf((await all()).summary?.run)).toEqual([1, 2, 7, 8, 9])
  expect(await listRunIds(lake)).toEqual([])
})

const partOf = (url: string, content: 'companies' | 'relations'): LoadPart => ({
  ...{ name: content, needed: false },
  job: { kind: 'pull', url, content, search: SWEDEN, pageSize: 10, cap: 100_000 },
})

const syncPart = (url: string, country: string): LoadPart => ({
  ...{ name: `sync ${country}`, needed: false },
  job: { kind: 'sync', url, ...syncSettings({ search: { CountryCode: [country] } }) },
})

const shown = (parts: readonly PartOutcome[]) =>
  parts.map((part) =>
    part.kind === 'loaded'
      ? [
          part.part.name,
          part.summary.run,
          part.counts,
          part.pulled?.entry,
          part.pulled?.windows,
          part.pulled?.missing,
        ]
      : part.kind,
  )

test.each([
  ['with all its parts', 0],
  ['without the files, which the lake holds', 1],
])('a night that was committed and then killed is found by the same night, %s', async (_, from) => {
  const norwegian = companies(40).map((company) => ({ ...company, id: company.id + 100, country: 'NO' }))
  const one = await openPullBench({ companies: [...companies(40), ...norwegian] })
  const folder = await temporaryFolder()
  const { write } = openBench(folder)
  await write('more.jsonl', [companyLine(900)])
  const parts: readonly LoadPart[] = [
    { name: 'files', needed: false, job: { kind: 'convert', inputs: ['more.jsonl'], cwd: folder } },
    partOf(one.fake.url, 'companies'),
    partOf(one.fake.url, 'relations'),
    // As many companies each: the windows of both have the same name.
    syncPart(one.fake.url, 'SE'),
    syncPart(one.fake.url, 'NO'),
  ]
  const load = (some: readonly LoadPart[], onEvent?: (event: RunEvent) => void) => {
    const { lake, service } = one
    return loadTogether(some, {
      lake,
      service,
      concurrency: 2,
      maxQuarantined: { kind: 'count', lines: 0 },
      onEvent,
    })
  }
  let first: readonly PartOutcome[] = []
  const run = await stoppedBehindCommit(one.lake, async (onEvent) => {
    first = await load(parts, onEvent)
  })
  await rm(join(inLake(one.lake, runPath(run)), 'windows-1'), { recursive: true, force: true })
  const pages = one.fake.pages.length
  const again = await load(parts.slice(from))
  expect(one.fake.pages.length).toBe(pages)
  expect(shown(again)).toEqual(shown(first).slice(from))
  expect([await snapshots(one.lake), await one.runs()]).toEqual([1, []])
})

test.each<[string, string, number]>([
  ['a file that came', 'more/b.jsonl', 901],
  ['a file that changed', 'more/a.jsonl', 901],
])('a night that was committed and then killed takes %s since', async (_, name, id) => {
  const one = await openPullBench({ companies: companies(4) })
  const folder = await temporaryFolder()
  const { write } = openBench(folder)
  await write('more/a.jsonl', [companyLine(900)])
  const parts: readonly LoadPart[] = [
    { name: 'files', needed: false, job: { kind: 'convert', inputs: ['more'], cwd: folder } },
    partOf(one.fake.url, 'companies'),
  ]
  const load = (onEvent?: (event: RunEvent) => void) =>
    loadTogether(parts, {
      ...{
        lake: one.lake,
        service: one.service,
        concurrency: 2,
        maxQuarantined: { kind: 'count', lines: 0 },
        onEvent,
      },
    })
  const run = await stoppedBehindCommit(one.lake, load)
  await write(name, [companyLine(id)])
  const [part] = await load()
  expect(part).toMatchObject({ kind: 'loaded', counts: { records: 1 } })
  expect(part?.kind === 'loaded' && part.summary.run).not.toBe(run)
  expect(await one.query('SELECT internal_id FROM companies WHERE internal_id >= 900 ORDER BY 1')).toEqual([
    [900],
    [901],
  ])
  expect(await one.runs()).toEqual([])
})
