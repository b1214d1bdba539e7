import { appendFile, chown, readdir, rename, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ToolkitError } from '../../../src/core/errors.ts'
import type { PartitionEntry } from '../../../src/core/partition.ts'
import type { Source } from '../../../src/core/source.ts'
import { inLake, stagedPath, stagingPath } from '../../../src/lake/files/layout.ts'
import { readJournal } from '../../../src/manifest/runs/journal.ts'
import { leaseRun } from '../../../src/manifest/runs/run-lease.ts'
import { listRunIds } from '../../../src/manifest/runs/runs.ts'
import type { LoadSummary } from '../../../src/run/commit-loaded.ts'
import { loadIntoLake } from '../../../src/run/load-into-lake.ts'
import type { RunPlan } from '../../../src/run/run-plan.ts'
import { withRun } from '../../../src/run/with-run.ts'
import type { RunEvent } from '../../../src/run/work/progress.ts'
import { flipBit } from '../../manifest/damage.ts'
import {
  type Bench,
  companyLine,
  companyLines,
  hashLake,
  type RunOptions,
  sha256,
  textOf,
} from '../../run/batch-bench.ts'
import { benchCopies } from '../../support/bench-copies.ts'
import { resumeRuns } from './resume-runs.ts'

const BLOCKS: RunOptions = { limits: { blockBytes: 4000 } }

/** Two files of about three blocks each. */
const writeBoth = async (one: Bench): Promise<void> => {
  await one.write('a.jsonl', companyLines(60))
  await one.write('b.jsonl', companyLines(60, 1000))
}
const bench = benchCopies(writeBoth)

/** The same after a run that nothing has interrupted. */
const undisturbed = benchCopies(async (one) => {
  await writeBoth(one)
  await one.run(['a.jsonl', 'b.jsonl'], BLOCKS)
})

let hashes: ReturnType<typeof hashLake> | undefined
/** What its tables hold. */
const undisturbedHashes = (): ReturnType<typeof hashLake> => {
  hashes ??= undisturbed().then(({ lake }) => hashLake(lake))
  return hashes
}

/** Calls `then` once so many records are loaded. */
const afterRecords =
  (records: number, then: () => void): ((event: RunEvent) => void) =>
  (event) => {
    if (event.kind === 'progress' && event.progress.records >= records) then()
  }

/** Runs until so many records are loaded, then stops as Ctrl-C does. @returns the run's finished partitions */
const interrupted = async (
  one: Bench,
  records: number,
  inputs = ['a.jsonl', 'b.jsonl'],
): Promise<PartitionEntry[]> => {
  const controller = new AbortController()
  const run = one.run(inputs, {
    ...BLOCKS,
    signal: controller.signal,
    onEvent: afterRecords(records, () => controller.abort()),
  })
  await expect(run).rejects.toMatchObject({ code: 'INTERRUPTED' })
  const runs = await listRunIds(one.lake)
  return (await readJournal(one.lake, runs.at(-1) ?? '')).entries.map(({ partition }) => partition)
}

/** Inodes of the files of partitions: written anew, a file has another one. */
const inodes = async (
  lake: string,
  partitions: readonly PartitionEntry[],
  where: 'staged' | 'placed',
): Promise<readonly (readonly [string, number])[]> => {
  const files = partitions.flatMap((partition) =>
    partition.files.map(({ table, path }) => ({ ...partition, table, path })),
  )
  return Promise.all(
    files.map(async ({ run, table, path }) => {
      const name = path.slice(path.lastIndexOf('/') + 1)
      const at = where === 'staged' ? `${stagingPath(run)}/${table}/${name}` : path
      return [path, (await stat(inLake(lake, at))).ino] as const
    }),
  )
}

const placeOf = ({ source }: PartitionEntry): unknown => [source.name, source.block, source.offset]

test('an interrupted run shows nothing and can be taken up at once', async () => {
  const one = await bench()
  const done = await interrupted(one, 40)
  expect(done.length).toBeGreaterThan(1)
  await expect(one.snapshot()).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' })
  const [run = ''] = await listRunIds(one.lake)
  expect(await leaseRun(one.lake, run, { now: new Date() })).toMatchObject({ run })
})

test('the same command takes up its interrupted run without loading finished partitions again', async () => {
  const one = await bench()
  const done = await interrupted(one, 80)
  const before = await inodes(one.lake, done, 'staged')
  const { summary, events } = await one.run(['a.jsonl', 'b.jsonl'], BLOCKS)
  const [run] = new Set(done.map((partition) => partition.run))
  expect(events[0]).toEqual({ kind: 'started', run, resumed: true, finished: done.length })
  expect(summary.partitions).toEqual(expect.arrayContaining(done))
  expect(await inodes(one.lake, done, 'placed')).toEqual(before)

  const whole = await undisturbed()
  expect(summary.partitions.map(placeOf)).toEqual((await whole.snapshot()).partitions.map(placeOf))
  expect(await hashLake(one.lake)).toEqual(await undisturbedHashes())
  expect(await one.verify()).toMatchObject({ problems: [], notes: [] })
  expect(await readdir(join(one.lake, '_runs'))).toEqual([])
})

test('a run that is interrupted again and again ends as an undisturbed one', async () => {
  const one = await bench()
  const finished: number[] = []
  for (const records of [20, 70]) finished.push((await interrupted(one, records)).length)
  expect(finished).toEqual(finished.toSorted((a, b) => a - b))
  await one.run(['a.jsonl', 'b.jsonl'], BLOCKS)
  expect(await hashLake(one.lake)).toEqual(await undisturbedHashes())
  expect((await one.snapshot()).snapshot).toBe(1)
})

test('resume goes on with an interrupted run', async () => {
  const one = await bench()
  const done = await interrupted(one, 40)
  const [run = ''] = await listRunIds(one.lake)
  const events: RunEvent[] = []
  const limit = { kind: 'count', lines: 0 } as const
  const resumed = await resumeRuns({
    run,
    lake: one.lake,
    maxQuarantined: limit,
    onEvent: (event) => events.push(event),
  })
  expect(resumed).toMatchObject([{ kind: 'loaded' }])
  expect(events[0]).toMatchObject({ resumed: true, finished: done.length })
  expect(await one.query('SELECT count(*) FROM companies')).toEqual([[120]])
})

test.each(['relative', 'absolute'])(
  'a command with %s paths takes up a run with the other ones',
  async (second) => {
    const one = await bench()
    const [relative, absolute] = [
      ['./a.jsonl', 'b.jsonl'],
      ['a.jsonl', 'b.jsonl'].map((name) => join(one.folder, name)),
    ]
    const [before, after] = second === 'relative' ? [absolute, relative] : [relative, absolute]
    const done = await interrupted(one, 40, before)
    // A relative path is the file's from its folder, an absolute one from anywhere.
    const { events } = await one.run(after, second === 'relative' ? BLOCKS : { ...BLOCKS, cwd: '/' })
    expect(events[0]).toMatchObject({ resumed: true, finished: done.length })
    expect(await one.query('SELECT count(*) FROM companies')).toEqual([[120]])
    expect((await one.verify()).problems).toEqual([])
  },
)

test('files of a plan that another user has put there are not read, but by the command that names them', async (context) => {
  if (process.getuid?.() !== 0) context.skip('only root gives a file to another user')
  const one = await bench()
  await interrupted(one, 40)
  const [run = ''] = await listRunIds(one.lake)
  await chown(join(one.lake, '_runs', run, 'plan.json'), 12345, 12345)
  await expect(resumeRuns({ run, lake: one.lake })).rejects.toMatchObject({
    code: 'RUN_NOT_RESUMABLE',
    message: expect.stringContaining('its plan is of another user and may name any file'),
  })
  expect((await one.run(['a.jsonl', 'b.jsonl'], BLOCKS)).events[0]).toMatchObject({ resumed: true })
})

test('another command does not take up the run, and gc removes it', async () => {
  const one = await bench()
  await interrupted(one, 40)
  const [run] = await listRunIds(one.lake)
  for (const [inputs, options] of [
    [['b.jsonl'], BLOCKS],
    [['a.jsonl'], { limits: { blockBytes: 3000 } }],
  ] as const)
    expect((await one.run(inputs, options)).events[0]).toMatchObject({ resumed: false })
  expect(await listRunIds(one.lake)).toEqual([run])
  expect((await one.gc()).runs).toEqual([run])
  expect(await readdir(join(one.lake, '_runs')).catch(() => [])).toEqual([])
  expect(await one.query('SELECT count(*) FROM companies')).toEqual([[120]])
  expect((await one.verify()).problems).toEqual([])
})

test('an interrupt before the first partition, or of a run that waits for nothing, leaves no harm', async () => {
  const one = await bench()
  const run = one.run(['a.jsonl'], { ...BLOCKS, signal: AbortSignal.abort() })
  await expect(run).rejects.toMatchObject({ code: 'INTERRUPTED' })
  const { events } = await one.run(['a.jsonl'], BLOCKS)
  expect(events[0]).toMatchObject({ resumed: true, finished: 0 })
})

test('a file that changes while it is read fails the run, and is loaded whole by the next', async () => {
  const one = await bench()
  const path = join(one.folder, 'large.jsonl')
  // Larger than what is read at once, so that its end is read after the change.
  const large = Array.from({ length: 40 }, (_, at) => companyLine(at + 1, { Note: 'x'.repeat(100_000) }))
  await one.write('large.jsonl', large)
  const limits = { blockBytes: 500_000 }
  let changed: Promise<void> | undefined
  const run = one.run(['large.jsonl'], {
    limits,
    onEvent: afterRecords(1, () => {
      changed ??= appendFile(path, textOf([companyLine(41)]))
    }),
  })
  await expect(run).rejects.toMatchObject({ code: 'SOURCE_CHANGED', context: { source: 'large.jsonl' } })
  await changed
  await expect(one.snapshot()).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' })
  const { events } = await one.run(['large.jsonl'], { limits })
  expect(events[0]).toMatchObject({ resumed: true })
  expect(await one.query('SELECT count(*) FROM companies_history')).toEqual([[41]])
  expect((await one.verify()).problems).toEqual([])
})

test('a file that is replaced between two attempts of a run is loaded as it is now', async () => {
  const one = await bench()
  await interrupted(one, 80)
  await writeFile(join(one.folder, 'a.jsonl'), textOf(companyLines(30)))
  const { summary } = await one.run(['a.jsonl', 'b.jsonl'], BLOCKS)
  expect(await one.query('SELECT count(*) FROM companies_history')).toEqual([[90]])
  const bytes = textOf(companyLines(30))
  expect(summary.partitions[0]?.source).toMatchObject({ bytes: bytes.length, sha256: sha256(bytes) })
  expect(await one.verify()).toMatchObject({ problems: [], notes: [] })
})

test('a file that is gone fails the run, and is loaded when it is back', async () => {
  const one = await bench()
  const [path, away] = [join(one.folder, 'b.jsonl'), join(one.folder, 'away')]
  let moved: Promise<void> | undefined
  const run = one.run(['a.jsonl', 'b.jsonl'], {
    ...BLOCKS,
    onEvent: afterRecords(10, () => {
      moved ??= rename(path, away)
    }),
  })
  await expect(run).rejects.toMatchObject({ code: 'SOURCE_NOT_FOUND' })
  await moved
  await rename(away, path)
  const { events } = await one.run(['a.jsonl', 'b.jsonl'], BLOCKS)
  expect(events[0]).toMatchObject({ resumed: true, finished: expect.any(Number) })
  expect(await one.query('SELECT count(*) FROM companies')).toEqual([[120]])
})

test('a source that cannot be read on fails the run and keeps what was finished', async () => {
  const one = await bench()
  const bytes = textOf(companyLines(1000))
  const source = (readable: number): Source => ({
    kind: 'file',
    name: 'on a bad disk',
    sizeBytes: bytes.length,
    fingerprint: async () => ({ bytes: bytes.length, sha256: sha256(bytes) }),
    open: async function* () {
      for (let at = 0; at < readable; at += 1000) yield bytes.subarray(at, Math.min(at + 1000, readable))
      if (readable < bytes.length)
        throw new ToolkitError('SOURCE_UNREADABLE', 'Cannot read "on a bad disk": EIO', {})
    },
  })
  const limits = { maxLineBytes: 1e6, maxRatio: 250, maxDepth: 256, blockBytes: 40_000 }
  const plan: RunPlan = { jobs: [{ kind: 'convert', inputs: ['x'], cwd: '' }], again: false, limits }
  const { lake } = one
  const load = (readable: number): Promise<LoadSummary> =>
    withRun({ lake, plan }, (run) =>
      loadIntoLake(run, [{ sources: [source(readable)] }], {
        lake,
        maxQuarantined: { kind: 'count', lines: 0 },
      }),
    )
  await expect(load(170_000)).rejects.toMatchObject({ code: 'SOURCE_UNREADABLE' })
  const [run = ''] = await listRunIds(lake)
  const { entries: kept } = await readJournal(lake, run)
  expect(kept.length).toBeGreaterThan(1)
  const { partitions } = await load(bytes.length)
  expect(partitions.slice(0, kept.length).map(({ id }) => id)).toEqual(
    kept.map(({ partition }) => partition.id).sort(),
  )
  expect(await one.query('SELECT count(*) FROM companies')).toEqual([[1000]])
})

test('an interrupt while the run commits either commits it or leaves it to be taken up', async () => {
  const one = await bench()
  const controller = new AbortController()
  const run = one.run(['a.jsonl'], {
    ...BLOCKS,
    signal: controller.signal,
    onEvent: (event) => {
      if (event.kind === 'committing') controller.abort()
    },
  })
  await run.catch((error: unknown) => expect(error).toMatchObject({ code: 'INTERRUPTED' }))
  await one.run(['a.jsonl'], BLOCKS)
  expect((await one.snapshot()).snapshot).toBe(1)
  expect(await one.query('SELECT count(*) FROM companies_history')).toEqual([[60]])
  expect(await one.verify()).toMatchObject({ problems: [], notes: [] })
})

test('two runs at once on one lake both land, and the same file is in once', async () => {
  const one = await bench()
  const [first, second, third] = await Promise.all([
    one.run(['a.jsonl'], BLOCKS),
    one.run(['b.jsonl'], BLOCKS),
    one.run(['b.jsonl', 'a.jsonl'], BLOCKS),
  ])
  const loaded = [first, second, third].flatMap(({ summary }) => summary.partitions)
  expect(loaded.map(({ source }) => `${source.name} ${source.block}`).sort()).toEqual(
    [...new Set(loaded.map(({ source }) => `${source.name} ${source.block}`))].sort(),
  )
  expect(await one.query('SELECT count(*) FROM companies_history')).toEqual([[120]])
  expect(await one.verify()).toMatchObject({ problems: [], notes: [] })
})

test('a resumed run loads anew each partition of which a staged file was damaged, and says which', async () => {
  const one = await bench()
  const [first, second, third] = await interrupted(one, 80)
  if (!first || !second || !third) throw new Error('No partitions')
  const staged = ({ run, files }: PartitionEntry, table: string): string => {
    const file = files.find((one) => one.table === table)
    return inLake(one.lake, file ? stagedPath(run, file) : '')
  }
  await flipBit(staged(first, 'companies'), 300, 2)
  await truncate(staged(second, 'financials'), 100)
  await rm(staged(third, 'companies'))
  const { events } = await one.run(['a.jsonl', 'b.jsonl'], BLOCKS)
  const again = events.flatMap((event) => (event.kind === 'again' ? [event.partition] : []))
  expect(again).toEqual([first.id, second.id, third.id])
  expect(await hashLake(one.lake)).toEqual(await undisturbedHashes())
  expect((await one.verify()).problems).toEqual([])
})
