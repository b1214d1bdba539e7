import { mkdir, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import type { PartitionEntry } from '../../../src/core/partition.ts'
import { replayFiles } from '../../../src/jobs/replay.ts'
import {
  listQuarantine,
  type QuarantinedLine,
  type QuarantineFile,
  waitingFiles,
  waitingFilesOfRun,
} from '../../../src/kinds/quarantine.ts'
import { inLake, stagingPath } from '../../../src/lake/files/layout.ts'
import { readJournal } from '../../../src/manifest/runs/journal.ts'
import { listRunIds } from '../../../src/manifest/runs/runs.ts'
import { type QuarantineLimit, readLimit } from '../../../src/options/value-types.ts'
import type { LoadSummary } from '../../../src/run/commit-loaded.ts'
import { type Bench, companyLine, companyLines, openBench, textOf } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { resumeRuns } from '../resume/resume-runs.ts'

const bench = async (): Promise<Bench> => openBench(await temporaryFolder())
const bad = (count: number): string[] => Array.from({ length: count }, (_, at) => `{"bad": ${at}`)
const atMost = (text: string): { maxQuarantined: QuarantineLimit } => ({
  maxQuarantined: readLimit(text) ?? expect.fail(`${text} is no limit`),
})

const listed = async (files: readonly QuarantineFile[]): Promise<QuarantinedLine[]> => {
  const lines: QuarantinedLine[] = []
  for await (const chunk of listQuarantine(files)) lines.push(...chunk)
  return lines
}

const waiting = async ({ lake, snapshot }: Bench): Promise<readonly QuarantineFile[]> =>
  waitingFiles(await snapshot(), lake)

const replayAll = async (one: Bench, limits: Record<string, number> = {}): Promise<LoadSummary> =>
  replayFiles(await waiting(one), limits, { lake: one.lake })

/** A record whose history is so many levels deep. */
const deepRelations = (id: number, levels: number): string => {
  let entity: object = { InternalId: id + 1, Name: 'deepest' }
  for (let level = 0; level < levels; level++)
    entity = { InternalId: id + 1, Name: `level ${level}`, History: [entity] }
  return JSON.stringify({ InternalId: id, Name: `Company ${id}`, Parents: [entity] })
}

test.each([
  ['2', 2, true],
  ['2', 3, false],
  ['0', 1, false],
  ['10%', 10, true],
  ['10%', 11, false],
  ['0%', 1, false],
  ['100%', 100, true],
])('convert with at most %s bad lines commits %i of 100: %s', async (limit, count, commits) => {
  const one = await bench()
  await one.write('companies.jsonl', [...bad(count), ...companyLines(100 - count)])
  const run = one.run(['companies.jsonl'], atMost(limit))
  if (commits) expect((await run).summary.snapshot?.snapshot).toBe(1)
  else
    await expect(run).rejects.toMatchObject({
      code: 'QUARANTINE_LIMIT',
      context: { quarantined: count, lines: 100 },
    })
})

test('convert counts bad lines over all sources of the run', async () => {
  const one = await bench()
  await one.write('a.jsonl', [...companyLines(50), ...bad(2)])
  await one.write('b.jsonl', companyLines(50, 100))
  const { summary } = await one.run(['a.jsonl', 'b.jsonl'], atMost('2%'))
  expect(summary.partitions.map(({ counts }) => counts.quarantined)).toEqual([2, 0])
})

/** Paths and inodes of the files of partitions, in staging or in their places. */
const inodes = async (
  lake: string,
  partitions: readonly PartitionEntry[],
  staged: boolean,
): Promise<ReadonlyMap<string, number>> => {
  const found = new Map<string, number>()
  for (const { run, files } of partitions)
    for (const { table, path } of files) {
      const name = path.slice(path.lastIndexOf('/') + 1)
      const at = staged ? `${stagingPath(run)}/${table}/${name}` : path
      found.set(path, (await stat(inLake(lake, at))).ino)
    }
  return found
}

test('a refused run stays, shows nothing, and is taken up with a higher limit without loading again', async () => {
  const one = await bench()
  await one.write('a.jsonl', [...companyLines(30), ...bad(5)])
  const limits = { blockBytes: 2000 }
  await expect(one.run(['a.jsonl'], { limits, ...atMost('1%') })).rejects.toMatchObject({
    code: 'QUARANTINE_LIMIT',
  })
  await expect(one.snapshot()).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' })
  const [run = ''] = await listRunIds(one.lake)
  const files = await waitingFilesOfRun(one.lake, run)
  expect((await listed(files)).map(({ line }) => line)).toEqual([31, 32, 33, 34, 35])

  const partitions = (await readJournal(one.lake, run)).entries.map(({ partition }) => partition)
  // As a commit that was cut off in its midst leaves it.
  const [file] = files
  if (!file?.staged) throw new Error('No staged file')
  await mkdir(dirname(inLake(one.lake, file.path)), { recursive: true })
  await rename(file.staged, inLake(one.lake, file.path))
  expect(await listed(files)).toHaveLength(5)
  await rename(inLake(one.lake, file.path), file.staged)
  const before = await inodes(one.lake, partitions, true)
  const { summary, events } = await one.run(['a.jsonl'], { limits, ...atMost('20%') })
  expect(events[0]).toEqual({ kind: 'started', run, resumed: true, finished: partitions.length })
  expect(await inodes(one.lake, summary.partitions, false)).toEqual(before)
  expect(await one.query('SELECT count(*) FROM companies')).toEqual([[30]])
  expect((await one.verify()).notes).toEqual([])
})

test('resume commits a refused run with a higher limit, and refuses it again with a lower one', async () => {
  const one = await bench()
  await one.write('a.jsonl', [...companyLines(8), ...bad(2)])
  await expect(one.run(['a.jsonl'])).rejects.toMatchObject({ code: 'QUARANTINE_LIMIT' })
  const [run = ''] = await listRunIds(one.lake)
  await expect(resumeRuns({ run, lake: one.lake, ...atMost('1') })).rejects.toMatchObject({
    code: 'QUARANTINE_LIMIT',
  })
  expect(await resumeRuns({ run, lake: one.lake, ...atMost('2') })).toMatchObject([{ kind: 'loaded' }])
  expect(await one.query('SELECT count(*) FROM quarantine')).toEqual([[2]])
  expect(await listRunIds(one.lake)).toEqual([])
})

test('listQuarantine tells where each line stood, why it is bad, and the line as it came', async () => {
  const one = await bench()
  const notUtf8 = Buffer.from([0x7b, 0xff, 0xfe, 0x7d])
  const lines = [
    Buffer.from(companyLine(1)),
    Buffer.from('{"bad"'),
    Buffer.from(companyLine(2, { BasicDetails: {} })),
    notUtf8,
    Buffer.from('{"a": "\u0000 \\ "}'),
  ]
  const bytes = Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]))
  await one.write('companies.jsonl', bytes)
  await one.run(['companies.jsonl'], atMost('4'))
  const found = await listed(await waiting(one))
  expect(found.map(({ line, code }) => [line, code])).toEqual([
    [2, 'NOT_JSON'],
    [3, 'ID_MISSING'],
    [4, 'NOT_UTF8'],
    [5, 'NOT_JSON'],
  ])
  for (const { line, byte_offset, size_bytes, raw, raw_base64, source, content } of found) {
    const came = lines[line - 1] ?? Buffer.alloc(0)
    expect(raw === null ? Buffer.from(raw_base64 ?? '', 'base64') : Buffer.from(raw)).toEqual(came)
    expect(bytes.subarray(byte_offset, byte_offset + size_bytes)).toEqual(came)
    expect([source, content]).toEqual(['companies.jsonl', 'companies'])
  }
})

test('replay loads lines that were too deep once maxDepth is raised, and keeps the rest listed', async () => {
  const one = await bench()
  const lines = [deepRelations(1, 1), '{"bad"', deepRelations(2, 20), deepRelations(3, 200)]
  await one.write('relations.jsonl', lines)
  await one.run(['relations.jsonl'], { limits: { maxDepth: 30 }, ...atMost('3') })
  expect((await listed(await waiting(one))).map(({ line, code }) => [line, code])).toEqual([
    [2, 'NOT_JSON'],
    [3, 'TOO_DEEP'],
    [4, 'TOO_DEEP'],
  ])
  const summary = await replayAll(one, { maxDepth: 60 })
  expect(summary.snapshot).toMatchObject({ snapshot: 2, pipeline: 'replay' })
  expect(summary.partitions).toMatchObject([
    {
      source: { kind: 'quarantine', name: 'relations.jsonl' },
      counts: { lines: 3, records: 1, quarantined: 2 },
    },
  ])
  expect(await one.query('SELECT internal_id FROM relations ORDER BY 1')).toEqual([[1], [2]])
  const left = await listed(await waiting(one))
  expect(left.map(({ line, code, source }) => [line, code, source])).toEqual([
    [2, 'NOT_JSON', 'relations.jsonl'],
    [4, 'TOO_DEEP', 'relations.jsonl'],
  ])
  expect(left.map(({ byte_offset }) => byte_offset)).toEqual(
    [1, 3].map((at) => textOf(lines.slice(0, at)).length),
  )
  expect((await one.verify()).problems).toEqual([])

  await replayAll(one, { maxDepth: 600 })
  expect(await one.query('SELECT internal_id FROM relations ORDER BY 1')).toEqual([[1], [2], [3]])
  expect((await listed(await waiting(one))).map(({ line }) => line)).toEqual([2])
})

test('replay loads lines that were too long once maxLineBytes is raised', async () => {
  const one = await bench()
  const long = companyLine(2, { Note: 'x'.repeat(5000) })
  await one.write('companies.jsonl', [companyLine(1), long, companyLine(3)])
  await one.run(['companies.jsonl'], { limits: { maxLineBytes: 1000 }, ...atMost('1') })
  expect(await listed(await waiting(one))).toMatchObject([
    { line: 2, code: 'LINE_TOO_LONG', size_bytes: long.length, raw: long },
  ])
  await replayAll(one)
  expect(await one.query('SELECT internal_id FROM companies ORDER BY 1')).toEqual([[1], [2], [3]])
  expect(await waiting(one)).toEqual([])
})

test('replay cannot load a line of which only the head was kept, and leaves it listed', async () => {
  const one = await bench()
  const long = companyLine(2, { Note: 'x'.repeat(100_000) })
  await one.write('companies.jsonl', [companyLine(1), long])
  await one.run(['companies.jsonl'], { limits: { maxLineBytes: 1000 }, ...atMost('1') })
  expect(await replayAll(one)).toMatchObject({ snapshot: undefined, partitions: [] })
  expect(await listed(await waiting(one))).toMatchObject([{ line: 2, code: 'LINE_TOO_LONG' }])
})

test('replay of lines that are still bad makes no snapshot and leaves everything as it was', async () => {
  const one = await bench()
  await one.write('companies.jsonl', [companyLine(1), ...bad(3)])
  await one.run(['companies.jsonl'], atMost('3'))
  const before = await waiting(one)
  expect(await replayAll(one)).toMatchObject({ snapshot: undefined, partitions: [] })
  expect((await one.snapshot()).snapshot).toBe(1)
  expect(await waiting(one)).toEqual(before)
  expect(await listRunIds(one.lake)).toEqual([])
})

test('replay loads some files and leaves those of which no line loads as they are', async () => {
  const one = await bench()
  await one.write('a-relations.jsonl', [deepRelations(1, 1), deepRelations(2, 20)])
  await one.write('b-relations.jsonl', [deepRelations(5, 1), '{"bad"'])
  await one.run(['a-relations.jsonl', 'b-relations.jsonl'], { limits: { maxDepth: 30 }, ...atMost('2') })
  const [, untouched] = await waiting(one)
  await replayAll(one, { maxDepth: 60 })
  expect(await waiting(one)).toEqual([untouched])
})

test('replay in small blocks loads every line that is good by now', async () => {
  const one = await bench()
  const lines = Array.from({ length: 30 }, (_, at) =>
    at % 3 === 0 ? `{"bad": ${at}` : deepRelations(at, 20),
  )
  await one.write('relations.jsonl', lines)
  await one.run(['relations.jsonl'], { limits: { maxDepth: 30, blockBytes: 5000 }, ...atMost('100%') })
  const { partitions } = await replayAll(one, { maxDepth: 60, blockBytes: 2000 })
  expect(partitions.length).toBeGreaterThan(5)
  expect(await one.query('SELECT count(*) FROM relations')).toEqual([[20]])
  expect((await listed(await waiting(one))).map(({ line }) => line)).toEqual(
    lines.flatMap((line, at) => (line.startsWith('{"bad') ? [at + 1] : [])),
  )
  expect((await one.verify()).problems).toEqual([])
})

test('replay keeps a line of bytes that are no text as it came', async () => {
  const one = await bench()
  const lines = [
    Buffer.from(deepRelations(1, 20)),
    Buffer.concat([Buffer.from('{"InternalId": 3, "Name": "'), Buffer.from([0xff]), Buffer.from('"}')]),
  ]
  await one.write('relations.jsonl', Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')])))
  await one.run(['relations.jsonl'], { limits: { maxDepth: 30 }, ...atMost('2') })
  const before = await listed(await waiting(one))
  await replayAll(one, { maxDepth: 60 })
  const after = await listed(await waiting(one))
  const origin = ({ partition: _, ...rest }: QuarantinedLine): object => rest
  expect(after.map(origin)).toEqual(before.slice(1).map(origin))
})

test('the same replay is not loaded twice', async () => {
  const one = await bench()
  await one.write('relations.jsonl', [deepRelations(2, 20)])
  await one.run(['relations.jsonl'], { limits: { maxDepth: 30 }, ...atMost('1') })
  const files = await waiting(one)
  await replayFiles(files, { maxDepth: 60 }, { lake: one.lake })
  expect(await replayFiles(files, { maxDepth: 60 }, { lake: one.lake })).toMatchObject({ partitions: [] })
  expect(await one.query('SELECT count(*) FROM relations_history')).toEqual([[1]])
})
