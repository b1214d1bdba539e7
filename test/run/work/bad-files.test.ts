/** Damaged and unreadable files among good ones, left out with --skip-bad-files. */

import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { pullBatches } from '../../../src/jobs/pull-batch-files.ts'
import { listRunIds } from '../../../src/manifest/runs/runs.ts'
import type { LoadSummary } from '../../../src/run/commit-loaded.ts'
import { createService } from '../../../src/source/service/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import {
  type Bench,
  COMPRESSIONS,
  companyLines,
  openBench,
  type RunOptions,
  textOf,
  verify,
} from '../batch-bench.ts'
import { offer, startBatchService, TOKEN } from '../batch-service.ts'

const BLOCKS = { blockBytes: 4000 }
const SKIP: RunOptions = { skipBadFiles: true, limits: BLOCKS }
const FILES = ['a.jsonl', 'cut.jsonl.gz', 'empty.jsonl.br', 'z.jsonl']

/** Two good files, one that is cut after some blocks, one cut to nothing. @returns the bytes of the third, whole */
const bench = async (): Promise<{ readonly one: Bench; readonly whole: Buffer }> => {
  const one = openBench(await temporaryFolder())
  await one.write('a.jsonl', companyLines(50))
  await one.write('z.jsonl', companyLines(50, 1000))
  const whole = await COMPRESSIONS.gzip(textOf(companyLines(300, 5000)))
  await one.write('cut.jsonl.gz', whole.subarray(0, -50))
  await one.write('empty.jsonl.br', Buffer.alloc(0))
  return { one, whole }
}

const excluded = ({ excluded: found }: LoadSummary): unknown =>
  found.map(({ source, code }) => [source, code])
const BAD = [
  ['cut.jsonl.gz', 'DECODE_TRUNCATED'],
  ['empty.jsonl.br', 'DECODE_TRUNCATED'],
]
const count = (one: Bench): Promise<unknown> => one.query('SELECT count(*) FROM companies_history')

test('convert leaves bad files out, names them, and the next run takes one that is mended', async () => {
  const { one, whole } = await bench()
  const { summary, events } = await one.run(FILES, SKIP)
  expect(excluded(summary)).toEqual(BAD)
  expect(summary.excluded[0]?.reason).toContain('cut.jsonl.gz')
  expect(events.flatMap((event) => (event.kind === 'left-out' ? [event.source] : []))).toEqual([
    'cut.jsonl.gz',
    'empty.jsonl.br',
  ])
  expect(new Set(summary.partitions.map(({ source }) => source.name))).toEqual(
    new Set(['a.jsonl', 'z.jsonl']),
  )
  expect(await count(one)).toEqual([[100]])
  expect(await one.verify()).toMatchObject({ problems: [], notes: [] })
  expect(await listRunIds(one.lake)).toEqual([])

  await one.write('cut.jsonl.gz', whole)
  const { summary: next } = await one.run(FILES, SKIP)
  expect(excluded(next)).toEqual(BAD.slice(1))
  expect(await count(one)).toEqual([[400]])
})

test('convert stops at the first bad file by default, and goes on with the run once it may leave it out', async () => {
  const { one } = await bench()
  await expect(one.run(FILES, { limits: BLOCKS })).rejects.toMatchObject({ code: 'DECODE_TRUNCATED' })
  const [run] = await listRunIds(one.lake)
  const { summary, events } = await one.run(FILES, SKIP)
  expect(summary.run).toBe(run)
  expect(events[0]).toMatchObject({ kind: 'started', resumed: true })
  expect(excluded(summary)).toEqual(BAD)
  expect(await count(one)).toEqual([[100]])
  expect(await one.verify()).toMatchObject({ problems: [], notes: [] })
})

test('convert of bad files alone commits nothing and names all', async () => {
  const { one } = await bench()
  const { summary } = await one.run(['cut.jsonl.gz', 'empty.jsonl.br'], SKIP)
  expect([summary.snapshot, excluded(summary)]).toEqual([undefined, BAD])
  await expect(one.snapshot()).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' })
  expect(await listRunIds(one.lake)).toEqual([])
})

test('convert leaves a named file of no records out, and a failure that is not one file’s still stops all', async () => {
  const { one } = await bench()
  await one.write('notes.txt', Buffer.from('Two batches.\n'))
  const { summary } = await one.run(['a.jsonl', 'notes.txt'], SKIP)
  expect(summary.excluded.map(({ source }) => source)).toEqual(['notes.txt'])
  await one.write('b.jsonl', ['{"bad"', ...companyLines(3, 9000)])
  await expect(one.run(['b.jsonl', 'empty.jsonl.br'], SKIP)).rejects.toMatchObject({
    code: 'QUARANTINE_LIMIT',
  })
})

test('a batch file that is damaged each time is left out, and the others are loaded', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const bad = offer('b-1', companyLines(20))
  const damaged = { ...bad, answer: () => ({ bytes: bad.bytes.subarray(0, -2) }) }
  const served = await startBatchService([
    damaged,
    offer('b-2', companyLines(20, 100)),
    offer('b-3', companyLines(20, 200)),
  ])
  onTestFinished(served.close)
  const timing = { now: Date.now, random: () => 0, sleep: async () => undefined }
  const service = createService({ url: served.url, token: TOKEN, timing })
  onTestFinished(() => service.close())
  const pull = async (): Promise<LoadSummary | undefined> => {
    const options = {
      lake,
      maxQuarantined: { kind: 'count', lines: 0 },
      service,
      concurrency: 2,
      skipBadFiles: true,
    } as const
    return (await pullBatches(served.url, { kind: 'all' }, false, options)).summary
  }
  const first = await pull()
  expect(first && excluded(first)).toEqual([['b-1.jsonl.br', 'DOWNLOAD_DAMAGED']])
  expect(first?.partitions.map(({ source }) => source.name)).toEqual(['b-2.jsonl.br', 'b-3.jsonl.br'])
  served.files[0] = bad
  const second = await pull()
  expect(second?.partitions.map(({ source }) => source.name)).toEqual(['b-1.jsonl.br'])
  expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
})
