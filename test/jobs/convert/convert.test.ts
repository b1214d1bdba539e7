import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { convert } from '../../../src/jobs/convert.ts'
import { query } from '../../../src/jobs/query.ts'
import { resume } from '../../../src/jobs/resume.ts'
import { csv } from '../../../src/sink/csv.ts'
import { fromRecords } from '../../../src/source/from-records.ts'
import { files } from '../../../src/source/inputs.ts'
import { companyLine, openBench } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const company = (id: number): object => JSON.parse(companyLine(id))

/** Each record is a line of half a mebibyte, so that a few of them make a block. */
const wide = (id: number): object => ({ ...company(id), Padding: 'x'.repeat(512 * 1024) })

/** The least memory in which blocks are cut, so that few records make several partitions. */
const SMALL = { memoryBytes: 560 * 1024 ** 2, threads: 1 } as const

test('convert loads paths, files and records of a program in one commit', async () => {
  const { folder, lake, write } = openBench(await temporaryFolder())
  await write('a.jsonl', [companyLine(1)])
  await write('b.jsonl', [companyLine(2)])
  const from = [join(folder, 'a.jsonl'), files('b.jsonl', folder), fromRecords('crm', [company(3)])]
  expect(await convert({ from, lake })).toMatchObject({ snapshot: 1, sources: 3, records: 3, delivered: [] })
})

test('convert quarantines a bad record of a program as it does a bad line', async () => {
  const { lake } = openBench(await temporaryFolder())
  const from = fromRecords('crm', [company(1), { BasicDetails: {} }, null])
  expect(await convert({ from, lake, maxQuarantined: 2 })).toMatchObject({ records: 1, quarantined: 2 })
  expect(await query({ lake, sql: 'SELECT line, source FROM quarantine ORDER BY 1' })).toEqual([
    { line: 2, source: 'crm' },
    { line: 3, source: 'crm' },
  ])
})

test('convert leaves out records that the lake holds, whether they can be read again or not', async () => {
  const { lake } = openBench(await temporaryFolder())
  const records = [company(1), company(2)]
  expect(await convert({ from: fromRecords('a', () => records), lake })).toMatchObject({ snapshot: 1 })
  const again = await convert({ from: [fromRecords('b', () => records), fromRecords('c', records)], lake })
  expect([again.snapshot, again.skipped.map(({ source }) => source)]).toEqual([null, ['b', 'c']])
})

test('convert over a function goes on at the last finished partition, over an iterable it begins anew', async () => {
  for (const again of [true, false]) {
    const { lake } = openBench(await temporaryFolder())
    const records = Array.from({ length: 40 }, (_, at) => wide(at + 1))
    const from = () => fromRecords('crm', again ? () => records : records)
    const stop = new AbortController()
    const stopped = convert({
      ...{ from: from(), lake, ...SMALL, signal: stop.signal },
      onEvent: (event) => event.kind === 'progress' && event.progress.records > 0 && stop.abort(),
    })
    await expect(stopped).rejects.toMatchObject({ name: 'ToolkitError', code: 'INTERRUPTED' })
    const [run = ''] = await readdir(join(lake, '_runs'))
    const resuming = resume({ lake, run })
    await expect(resuming).rejects.toThrow(/its sources belong to a program/)
    const started: boolean[] = []
    const done = await convert({
      ...{ from: from(), lake, ...SMALL },
      onEvent: (event) => event.kind === 'started' && started.push(event.finished > 0),
    })
    expect([done.records, started, done.run === run]).toEqual([40, [again], again])
  }
})

test('convert without a source is refused before there is a lake', async () => {
  const { lake } = openBench(await temporaryFolder())
  await expect(convert({ from: [], lake })).rejects.toMatchObject({ code: 'USAGE' })
  expect(existsSync(lake)).toBe(false)
})

test('convert refuses targets that cannot be used before there is a lake', async () => {
  const { folder, lake, write } = openBench(await temporaryFolder())
  await write('a.jsonl', [companyLine(1)])
  const from = join(folder, 'a.jsonl')
  await expect(convert({ from, lake, sinks: ['out.csv'] })).rejects.toMatchObject({ code: 'TARGET_REFUSED' })
  // @ts-expect-error: the type says so too.
  await expect(convert({ from, lake, publish: ['hudi'] })).rejects.toMatchObject({ code: 'USAGE' })
  // @ts-expect-error: the type says so too.
  const silent = convert({ from, lake, sinks: [{ name: 'silent', open: async () => undefined }] })
  await expect(silent).rejects.toMatchObject({ name: 'ToolkitError', code: 'TARGET_REFUSED' })
  expect(existsSync(lake)).toBe(false)
})

test('convert tells what it has committed although a target fails, serves the others, and catches up later', async () => {
  const { folder, lake, write } = openBench(await temporaryFolder())
  await write('a.jsonl', [companyLine(1)])
  const blocked = join(folder, 'blocked')
  await writeFile(blocked, '')
  const committed: (number | null)[] = []
  const from = join(folder, 'a.jsonl')
  const sinks = [csv(blocked), csv(join(folder, 'out'))]
  const failing = convert({ from, lake, sinks, onCommitted: ({ snapshot }) => void committed.push(snapshot) })
  await expect(failing).rejects.toThrow(/The lake itself is committed; run the same command again to resume$/)
  expect(committed).toEqual([1])
  expect(await readdir(join(folder, 'out', 'companies'))).toHaveLength(1)
  const { delivered, snapshot } = await convert({ from, lake, sinks: [csv(join(folder, 'later'))] })
  expect([snapshot, delivered[0]?.runs.length]).toEqual([null, 1])
})
