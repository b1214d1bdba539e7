/** Sources that are not local files: windows of a search and downloads, as the main job sees them. */

import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { ToolkitError } from '../../../src/core/errors.ts'
import type { PullEntry } from '../../../src/core/partition.ts'
import type { Source } from '../../../src/core/source.ts'
import { inLake } from '../../../src/lake/files/layout.ts'
import { journalPath, readJournal } from '../../../src/manifest/runs/journal.ts'
import { listRuns, listRunIds as runsOf } from '../../../src/manifest/runs/runs.ts'
import { readSnapshot } from '../../../src/manifest/snapshots/snapshots.ts'
import type { LoadSummary } from '../../../src/run/commit-loaded.ts'
import { loadIntoLake, type RunOptions } from '../../../src/run/load-into-lake.ts'
import type { RunPlan } from '../../../src/run/run-plan.ts'
import { startRun, withRun } from '../../../src/run/with-run.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import {
  COMPARABLE,
  companyLine,
  companyLines,
  hashLake,
  openBench,
  queryLake,
  sha256,
  textOf,
  verify,
} from '../batch-bench.ts'

const planOf = (country: string): RunPlan => ({
  jobs: [
    {
      ...{ kind: 'pull', url: 'https://localhost:1', content: 'companies', pageSize: 500, cap: 1000 },
      search: { CountryCode: [country] },
    },
  ],
  again: false,
  limits: { maxLineBytes: 1e6, maxRatio: 250, maxDepth: 256, blockBytes: 8000 },
})
const PLAN = planOf('SE')

interface Calls {
  readonly calls: string[]
  readonly source: Source
}

/** A source in memory that writes down what is asked of it. */
const watched = (name: string, lines: readonly string[], more: Partial<Source> = {}): Calls => {
  const calls: string[] = []
  const bytes = textOf(lines)
  const source: Source = {
    kind: 'search',
    name,
    key: name,
    content: 'companies',
    fingerprint: async () => {
      calls.push('fingerprint')
      return { bytes: bytes.length, sha256: sha256(bytes) }
    },
    open: async function* () {
      calls.push('open')
      yield bytes
    },
    release: async () => {
      calls.push('release')
    },
    ...more,
  }
  return { calls, source }
}

const work = async (
  lake: string,
  sources: readonly Source[],
  options: Partial<RunOptions> = {},
  onRun: (run: string) => void = () => undefined,
  plan: RunPlan = PLAN,
): Promise<LoadSummary> =>
  withRun({ lake, plan }, (run) => {
    onRun(run.run)
    return loadIntoLake(run, [{ sources }], { lake, maxQuarantined: { kind: 'count', lines: 0 }, ...options })
  })

const failing = (name: string): Source => ({
  ...watched(name, []).source,
  fingerprint: async () => {
    throw new ToolkitError('SERVICE_FAILED', 'Cannot pull: it kept failing', {})
  },
})

const window = { service: 'https://localhost:1', search: { CountryCode: ['SE'] }, pages: 1 }

test('two windows of equal bytes are both kept, with what was asked, announced and received', async () => {
  const lake = await temporaryFolder()
  const details = { window: { ...window, announced: 3, received: 2 }, requested: { from: '2025-01-01' } }
  const sources = ['one', 'two'].map(
    (name) => watched(name, companyLines(2), { details: () => details }).source,
  )
  const { partitions } = await work(lake, sources)
  expect(partitions.map(({ source }) => source)).toMatchObject([
    { kind: 'search', name: 'one', window: details.window },
    { kind: 'search', name: 'two', window: details.window },
  ])
  expect(partitions.map(({ range }) => range.requested)).toEqual([details.requested, details.requested])
  expect(new Set(partitions.map(({ id }) => id)).size).toBe(2)
  expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
})

test('a window is loaded again although an older pull gave equal bytes', async () => {
  const lake = await temporaryFolder()
  for (const snapshot of [1, 2])
    expect(await work(lake, [watched('one', companyLines(2)).source])).toMatchObject({
      snapshot: { snapshot },
      skipped: [],
    })
  expect(await queryLake(lake, 'SELECT count(*) FROM companies_history')).toEqual([[4]])
})

test('a batch file that was converted as a local file before is skipped', async () => {
  const one = openBench(await temporaryFolder())
  await one.write('a.jsonl', companyLines(2))
  await one.run(['a.jsonl'])
  const { source, calls } = watched('b-1.jsonl.br', companyLines(2), { kind: 'batch' })
  const { snapshot, skipped } = await work(one.lake, [source])
  expect([snapshot, skipped.map((one) => one.source)]).toEqual([undefined, ['b-1.jsonl.br']])
  expect(calls).toEqual(['fingerprint', 'release'])
})

test('a resumed run neither fetches nor opens a source with a key that it has loaded whole', async () => {
  const lake = await temporaryFolder()
  const first = watched('one', companyLines(100))
  await expect(work(lake, [first.source, failing('two')])).rejects.toMatchObject({ code: 'SERVICE_FAILED' })
  expect(first.calls).toEqual(['fingerprint', 'open', 'release'])

  const again = watched('one', companyLines(100))
  const { partitions } = await work(lake, [again.source, watched('two', companyLines(2, 500)).source])
  expect(again.calls).toEqual(['release'])
  expect(partitions.at(-1)?.source.name).toBe('two')
  expect(await queryLake(lake, 'SELECT count(*) FROM companies')).toEqual([[102]])
  expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
})

test('a resumed run does not open a file that it has loaded whole', async () => {
  const lake = await temporaryFolder()
  const named = (): Calls => {
    const { calls, source } = watched('one', companyLines(100), { kind: 'file' })
    const { key: _, ...file } = source
    return { calls, source: file }
  }
  await expect(work(lake, [named().source, failing('two')])).rejects.toMatchObject({ code: 'SERVICE_FAILED' })
  const again = named()
  await work(lake, [again.source])
  expect(again.calls).toEqual(['fingerprint', 'release'])
  expect(await queryLake(lake, 'SELECT count(*) FROM companies')).toEqual([[100]])
})

test.each([
  ['the last block', (lines: string[]) => lines.slice(0, -1)],
  // Of a company that comes twice in a block, the second time is a layer of its own.
  ['a layer', (lines: string[]) => lines.filter((line) => !/"id":"[0-9a-f]{16}-00000-1"/.test(line))],
])('a resumed run opens a source again of which %s is missing', async (_, cut) => {
  const lake = await temporaryFolder()
  const lines = [companyLine(1), ...companyLines(100)]
  await expect(work(lake, [watched('one', lines).source, failing('two')])).rejects.toThrow()
  const [run = ''] = await runsOf(lake)
  const path = inLake(lake, journalPath(run))
  const journal = (await readFile(path, 'utf8')).split('\n').slice(0, -1)
  const less = cut(journal)
  expect(less).toHaveLength(journal.length - 1)
  await writeFile(path, less.map((line) => `${line}\n`).join(''))

  const again = watched('one', lines)
  const { partitions } = await work(lake, [again.source])
  expect(again.calls).toEqual(['fingerprint', 'open', 'release'])
  expect(partitions).toHaveLength(journal.length)
  expect(await queryLake(lake, 'SELECT count(*) FROM companies_history')).toEqual([[101]])
})

test('a source that was loaded whole is not opened while the one before it is loaded again', async () => {
  const lake = await temporaryFolder()
  const named = () => ['one', 'two'].map((name, at) => watched(name, companyLines(100, 1 + 100 * at)))
  const sources = named().map(({ source }) => source)
  await expect(work(lake, [...sources, failing('three')])).rejects.toMatchObject({ code: 'SERVICE_FAILED' })
  const [run = ''] = await runsOf(lake)
  const path = inLake(lake, journalPath(run))
  const journal = (await readFile(path, 'utf8')).split('\n').slice(0, -1)
  const lastOfOne = journal.findLastIndex((line) => line.includes('"name":"one"'))
  await writeFile(path, journal.map((line, at) => (at === lastOfOne ? '' : `${line}\n`)).join(''))

  const [one, two] = named()
  await work(
    lake,
    [one, two].flatMap((again) => (again ? [again.source] : [])),
  )
  expect([one?.calls, two?.calls]).toEqual([['fingerprint', 'open', 'release'], ['release']])
  expect(await queryLake(lake, 'SELECT count(*) FROM companies_history')).toEqual([[200]])
  expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
})

test('a source that is equal to the one before is not opened', async () => {
  const lake = await temporaryFolder()
  const [one, twin, three] = ['one', 'twin', 'three'].map((name) =>
    watched(name, companyLines(100, name === 'three' ? 200 : 1), { kind: 'batch' }),
  )
  let loaded = 0
  const { partitions, skipped } = await work(
    lake,
    [one, twin, three].flatMap((each) => (each ? [each.source] : [])),
    {
      onEvent: (event) => {
        if (event.kind === 'progress') loaded = event.progress.records
      },
    },
  )
  expect(loaded).toBe(200)
  expect(twin?.calls).toEqual(['fingerprint', 'release'])
  expect(skipped).toEqual([{ source: 'twin', reason: 'it is equal to "one"' }])
  expect(new Set(partitions.map(({ source }) => source.name))).toEqual(new Set(['one', 'three']))
  expect(await queryLake(lake, 'SELECT count(*) FROM companies_history')).toEqual([[200]])
  expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
})

test('a source with a key is loaded anew when its bytes are others than in the try before', async () => {
  const lake = await temporaryFolder()
  await expect(work(lake, [watched('one', companyLines(100)).source, failing('two')])).rejects.toThrow()
  const [run = ''] = await runsOf(lake)
  const path = inLake(lake, journalPath(run))
  const [first = ''] = (await readFile(path, 'utf8')).split('\n')
  await writeFile(path, `${first}\n`)
  await work(lake, [watched('one', companyLines(30, 7)).source])
  expect(await queryLake(lake, 'SELECT count(*), min(internal_id) FROM companies_history')).toEqual([[30, 7]])
  expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
})

test('a source is released when all its partitions stand in the journal', async () => {
  const lake = await temporaryFolder()
  const lines = companyLines(100)
  let [run, journaled] = ['', 0]
  const { source } = watched('one', lines, {
    release: async () => {
      const { entries } = await readJournal(lake, run)
      journaled = entries.reduce((sum, { partition }) => sum + partition.counts.records, 0)
    },
  })
  await work(lake, [source], {}, (id) => (run = id))
  expect(journaled).toBe(lines.length)
})

test('the next source is fetched while one is loaded, and is stopped and waited for when that fails', async () => {
  const lake = await temporaryFolder()
  const events: string[] = []
  const fetching = Promise.withResolvers<void>()
  const first = watched('one', [], {
    open: async function* () {
      await fetching.promise
      yield Buffer.from('')
      throw new ToolkitError('SOURCE_UNREADABLE', 'Cannot read "one": EIO', {})
    },
  })
  const second = watched('two', [], {
    fingerprint: async (signal) => {
      fetching.resolve()
      await new Promise<void>((resolve) => {
        signal?.addEventListener('abort', () => setImmediate(resolve))
      })
      events.push('stopped')
      throw new Error('aborted')
    },
  })
  const run = work(lake, [first.source, second.source, watched('three', []).source])
  await run.catch(() => events.push('failed'))
  expect(events).toEqual(['stopped', 'failed'])
  await expect(run).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
  expect(first.calls).not.toContain('release')
})

/** Gives its bytes in pieces, the others as large as the last one. */
const inPieces = (bytes: Buffer, sizes: readonly number[]): Source['open'] =>
  async function* () {
    for (let from = 0, piece = 0; from < bytes.length; piece++) {
      const to = from + (sizes[piece] ?? sizes.at(-1) ?? bytes.length)
      yield bytes.subarray(from, to)
      from = to
    }
  }

const GOOD_AND_BAD = [
  ...companyLines(700),
  ...['{"bad"', '', ...companyLines(10, 20)],
  // Drift is that of a block.
  ...[...Array.from({ length: 700 }, (_, at) => companyLine(900 + at, { [`Unknown${at}`]: 1 })), '[]'],
]
const NO_RECORD = JSON.stringify('x'.repeat(1000))

test.each([
  ['one', [333], GOOD_AND_BAD],
  // What it holds is shown after 64 KiB, and its name would say otherwise.
  ['relations', [70_000, 180_000], [...Array.from({ length: 80 }, () => NO_RECORD), ...GOOD_AND_BAD]],
])('the lake does not depend on how the bytes of a source come: %s', async (name, pieces, lines) => {
  const plan = { ...PLAN, limits: { ...PLAN.limits, blockBytes: 150_000 } }
  const options = { maxQuarantined: { kind: 'count', lines: 200 }, checkThreads: 0 } as const
  const { content: _, ...source } = watched(name, lines).source
  const lakes = await Promise.all(
    [pieces, [10_000_000]].map(async (sizes) => {
      const lake = await temporaryFolder()
      const sources = [{ ...source, open: inPieces(textOf(lines), sizes) }]
      const { partitions } = await work(lake, sources, options, () => undefined, plan)
      return {
        quarantine: await queryLake(lake, `SELECT ${COMPARABLE} FROM quarantine ORDER BY ALL`),
        counts: partitions.map(({ counts, range, drift }) => [counts, range, drift]),
        tables: await hashLake(lake),
      }
    }),
  )
  expect(lakes[0]?.counts.length).toBeGreaterThan(1)
  expect(lakes[0]).toEqual(lakes[1])
})

test('a run is given up only when its sources have stopped', async () => {
  const lake = await temporaryFolder()
  const stopped: string[] = []
  const source: Source = {
    ...failing('one'),
    stop: async () => {
      await new Promise((resolve) => setImmediate(resolve))
      const runs = await listRuns(lake, { now: new Date() })
      stopped.push(...runs.map(({ state }) => state))
    },
  }
  await expect(work(lake, [source])).rejects.toMatchObject({ code: 'SERVICE_FAILED' })
  expect(stopped).toEqual(['live'])
  expect(await listRuns(lake, { now: new Date() })).toMatchObject([{ state: 'gone' }])
})

const pullOf = (run: string, asOf: string): PullEntry => ({
  run,
  content: 'companies',
  service: 'https://localhost:1',
  search: { CountryCode: ['SE'] },
  asOf,
  announced: 0,
  planned: 0,
  received: 0,
})

test('a pull of which nothing came is recorded too, behind those before it', async () => {
  const lake = await temporaryFolder()
  for (const day of ['2025-01-01', '2025-01-02']) {
    const options = { lake, maxQuarantined: { kind: 'count', lines: 0 } } as const
    await withRun({ lake, plan: PLAN }, (run) =>
      loadIntoLake(run, [{ sources: [], facts: () => ({ entry: pullOf(run.run, day) }) }], options),
    )
  }
  const { snapshot, pulls, partitions, files } = await readSnapshot(lake)
  expect([snapshot, partitions, files]).toEqual([2, [], []])
  expect(pulls?.map(({ asOf }) => asOf)).toEqual(['2025-01-01', '2025-01-02'])
  expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
  expect(await runsOf(lake)).toEqual([])
})

test('another search does not take up the run', async () => {
  const lake = await temporaryFolder()
  await expect(work(lake, [failing('one')])).rejects.toThrow()
  const other = planOf('NO')
  const request = { lake, now: new Date(), random: randomBytes }
  expect((await startRun({ ...request, plan: other })).number).toBe(1)
  expect((await startRun({ ...request, plan: PLAN })).number).toBe(3)
})
