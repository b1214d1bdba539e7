/** The dictionary of line items of runs that were cut off: it has the names of every attempt. */

import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ToolkitError } from '../../src/core/errors.ts'
import type { Source } from '../../src/core/source.ts'
import { pullBatches } from '../../src/jobs/pull-batch-files.ts'
import { readJournal } from '../../src/manifest/runs/journal.ts'
import { listRunIds } from '../../src/manifest/runs/runs.ts'
import { loadIntoLake } from '../../src/run/load-into-lake.ts'
import type { RunPlan } from '../../src/run/run-plan.ts'
import { withRun } from '../../src/run/with-run.ts'
import { createService } from '../../src/source/service/service.ts'
import { openPullBench } from '../service/pull-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { companyLine, openBench, queryLake, sha256, textOf, verify } from './batch-bench.ts'
import { offer, startBatchService, TOKEN } from './batch-service.ts'

const figures = (...names: string[]): object => ({
  Financials: { ProfitAndLoss: Object.fromEntries(names.map((name) => [name, { 2023: 1 }])) },
})
const numbered = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `Item ${from + at}`)

const UNKNOWN = "SELECT line_item FROM line_items WHERE unit = 'unknown' ORDER BY 1"
const WITHOUT_ENTRY = 'SELECT count(*) FROM financials ANTI JOIN line_items USING (category, line_item)'

const namesIn = async (lake: string): Promise<unknown[]> => (await queryLake(lake, UNKNOWN)).flat()
const checkLake = async (lake: string, names: readonly string[]): Promise<void> => {
  expect(await namesIn(lake)).toEqual(names.toSorted())
  expect(await queryLake(lake, WITHOUT_ENTRY)).toEqual([[0]])
  expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
}

const PLAN: Omit<RunPlan, 'limits'> = {
  jobs: [{ kind: 'convert', inputs: ['x'], cwd: '' }],
  again: false,
}
const LIMITS = { maxLineBytes: 1e6, maxRatio: 250, maxDepth: 256 }

const source = (name: string, bytes: Buffer): Source => ({
  kind: 'file',
  name,
  sizeBytes: bytes.length,
  fingerprint: async () => ({ bytes: bytes.length, sha256: sha256(bytes) }),
  open: async function* () {
    yield bytes
  },
})
const failing: Source = {
  ...source('bad', Buffer.from('x')),
  fingerprint: async () => {
    throw new ToolkitError('SOURCE_UNREADABLE', 'Cannot read "bad": EIO', {})
  },
}

/** Works on the sources; the same call again takes the run up. */
const work = async (lake: string, sources: readonly Source[], blockBytes = 1e6): Promise<unknown> => {
  const plan = { ...PLAN, limits: { ...LIMITS, blockBytes } }
  return withRun({ lake, plan }, (run) =>
    loadIntoLake(run, [{ sources }], { lake, maxQuarantined: { kind: 'count', lines: 0 } }),
  )
}
const cutOff = (lake: string, sources: readonly Source[], blockBytes?: number): Promise<void> =>
  expect(work(lake, [...sources, failing], blockBytes)).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })

test('a resumed convert lists the line items of sources that an earlier attempt finished', async () => {
  const lake = await temporaryFolder()
  const first = source('a', textOf([companyLine(1, figures('NetSalesOfTea', 'NetSales'))]))
  const second = source('b', textOf([companyLine(2, figures('NetSalesOfMilk'))]))
  await cutOff(lake, [first])
  await work(lake, [first, second])
  await checkLake(lake, ['NetSalesOfTea', 'NetSalesOfMilk'])
})

test('a resumed convert lists line items of blocks and layers that an earlier attempt finished, few and many', async () => {
  const lake = await temporaryFolder()
  const lines = [
    companyLine(1, figures('One')),
    // Too many for the journal, and the company a second time: a layer of its own.
    companyLine(1, figures(...numbered(0, 300))),
    companyLine(2, figures(...numbered(250, 300))),
    companyLine(3, figures('Two')),
  ]
  const first = source('a', textOf(lines))
  await cutOff(lake, [first], 25_000)
  const [run = ''] = await listRunIds(lake)
  const { entries } = await readJournal(lake, run)
  expect(new Set(entries.map(({ unknownItems }) => unknownItems?.more))).toEqual(new Set([true]))
  await work(lake, [first, source('b', textOf([companyLine(4, figures('Three'))]))], 25_000)
  await checkLake(lake, ['One', 'Two', 'Three', ...numbered(0, 550)])
})

test('a run that was cut off in its commit, its files in their places, lists the line items', async () => {
  const one = openBench(await temporaryFolder())
  await one.write('a.jsonl', [companyLine(1, figures(...numbered(0, 200)))])
  const plan = { ...PLAN, limits: { ...LIMITS, blockBytes: 1e6 } }
  const controller = new AbortController()
  const sources = [source('a', textOf([companyLine(1, figures(...numbered(0, 200)))]))]
  const stopped = withRun({ lake: one.lake, plan }, (run) =>
    loadIntoLake(run, [{ sources }], {
      lake: one.lake,
      maxQuarantined: { kind: 'count', lines: 0 },
      signal: controller.signal,
      onEvent: (event) => {
        if (event.kind === 'committing') controller.abort()
      },
    }),
  )
  await expect(stopped).rejects.toMatchObject({ code: 'INTERRUPTED' })
  await work(one.lake, [source('a', textOf([companyLine(1, figures(...numbered(0, 200)))]))])
  await checkLake(one.lake, numbered(0, 200))
})

test('a resumed pull lists the line items of windows that an earlier attempt finished', async () => {
  const stop = new AbortController()
  const firstIsLoaded = Promise.withResolvers<void>()
  const one = await openPullBench({
    companies: Array.from({ length: 100 }, (_, at) => ({
      id: at + 1,
      country: 'SE',
      dates: { ContentUpdatedAt: at < 50 ? '2026-06-01' : '2026-06-10' },
      lineItem: at < 50 ? 'NetSalesOfTea' : 'NetSalesOfMilk',
    })),
    cap: 60,
    // Of ten records each: the first window has five pages.
    before: async (_, nth) => {
      if (nth !== 8) return undefined
      await firstIsLoaded.promise
      stop.abort()
      return undefined
    },
  })
  const interrupted = one.pull(
    {},
    {
      signal: stop.signal,
      concurrency: 1,
      onEvent: (event) => {
        if (event.kind === 'progress' && event.progress.records >= 50) firstIsLoaded.resolve()
      },
    },
  )
  await expect(interrupted).rejects.toMatchObject({ code: 'INTERRUPTED' })
  const [run = ''] = await one.runs()
  const finished = (await readJournal(one.lake, run)).entries.length
  expect(finished).toBeGreaterThan(0)
  const { summary } = await one.pull({}, { concurrency: 1 })
  expect(summary.partitions.length).toBeGreaterThan(finished)
  await checkLake(one.lake, ['NetSalesOfTea', 'NetSalesOfMilk'])
})

test('a resumed pull of batch files lists the line items of those that an earlier attempt finished', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const second = offer('b-2', [companyLine(2, figures('NetSalesOfMilk'))])
  const damaged = { ...second, answer: () => ({ bytes: second.bytes.subarray(0, -2) }) }
  const files = await startBatchService([offer('b-1', [companyLine(1, figures('NetSalesOfTea'))]), damaged])
  onTestFinished(files.close)
  const timing = { now: Date.now, random: () => 0, sleep: async () => undefined }
  const service = createService({ url: files.url, token: TOKEN, timing })
  onTestFinished(() => service.close())
  const pull = (): Promise<unknown> => {
    const limit = { kind: 'count', lines: 0 } as const
    return pullBatches(files.url, { kind: 'all' }, false, {
      lake,
      maxQuarantined: limit,
      service,
      concurrency: 1,
    })
  }
  await expect(pull()).rejects.toMatchObject({ code: 'DOWNLOAD_DAMAGED' })
  files.files[1] = second
  await pull()
  await checkLake(lake, ['NetSalesOfTea', 'NetSalesOfMilk'])
})
