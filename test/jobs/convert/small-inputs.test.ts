import { expect, test } from 'vitest'
import { readJournal } from '../../../src/manifest/runs/journal.ts'
import { listRunIds, readPlan } from '../../../src/manifest/runs/runs.ts'
import type { RunEvent } from '../../../src/run/work/progress.ts'
import { type Bench, companyLine, openBench } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const MIB = 1024 ** 2

/** Lines of a megabyte each, cheap to load: most of each is a text. */
const largeLines = (count: number, from: number): string[] =>
  Array.from({ length: count }, (_, at) => companyLine(from + at, { Note: 'x'.repeat(MIB - 500) }))

/** Files of 4 and of 8 MiB: together not as large as one block may be, and each of two blocks as large as 6 lines. */
const bench = async (): Promise<Bench> => {
  const one = openBench(await temporaryFolder())
  await one.write('a.jsonl', largeLines(4, 101))
  await one.write('b.jsonl', largeLines(8, 201))
  return one
}

const places = async ({ snapshot }: Bench) =>
  (await snapshot()).partitions.map(({ source, counts }) => [source.name, counts.records])

test('convert cuts a small input into blocks, so that they are loaded side by side', async () => {
  const one = await bench()
  await one.run(['a.jsonl', 'b.jsonl'])
  expect(await places(one)).toEqual([
    ['a.jsonl', 4],
    ['b.jsonl', 6],
    ['b.jsonl', 2],
  ])
})

test('convert resumes a run that was begun with larger blocks, and cuts as that run does', async () => {
  const one = await bench()
  const stop = new AbortController()
  const onEvent = (event: RunEvent): void => {
    if (event.kind === 'progress' && event.progress.records >= 4) stop.abort()
  }
  // As a version did that had one size of blocks for all inputs.
  const limits = { blockBytes: 32 * MIB - 64 * 1024 }
  const before = { limits, threads: 1, signal: stop.signal, onEvent }
  await expect(one.run(['a.jsonl', 'b.jsonl'], before)).rejects.toMatchObject({ code: 'INTERRUPTED' })
  const [run = ''] = await listRunIds(one.lake)
  const { entries: kept } = await readJournal(one.lake, run)
  expect(kept.map(({ partition }) => partition.counts.records)).toEqual([4])
  const { summary } = await one.run(['a.jsonl', 'b.jsonl'])
  expect(summary.run).toBe(run)
  expect(await places(one)).toEqual([
    ['a.jsonl', 4],
    ['b.jsonl', 8],
  ])
  expect(await one.query('SELECT count(*), count(DISTINCT internal_id) FROM companies')).toEqual([[12, 12]])
})

test('convert begins another run where blocks of the interrupted one do not fit into the memory given now', async () => {
  const one = await bench()
  const stop = AbortSignal.abort()
  const before = { limits: { blockBytes: 64 * MIB }, signal: stop }
  await expect(one.run(['a.jsonl', 'b.jsonl'], before)).rejects.toMatchObject({ code: 'INTERRUPTED' })
  const [run = ''] = await listRunIds(one.lake)
  expect(await readPlan(one.lake, run)).toMatchObject({ limits: { blockBytes: 64 * MIB } })
  const { summary } = await one.run(['a.jsonl', 'b.jsonl'])
  expect(summary.run).not.toBe(run)
})
