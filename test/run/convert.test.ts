import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Source } from '../../src/core/source.ts'
import type { LoadSummary } from '../../src/run/commit-loaded.ts'
import { loadIntoLake } from '../../src/run/load-into-lake.ts'
import type { RunPlan } from '../../src/run/run-plan.ts'
import { withRun } from '../../src/run/with-run.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  type Bench,
  COMPRESSIONS,
  type Compression,
  companyLine,
  companyLines,
  openBench,
  relationsLine,
  sha256,
  textOf,
} from './batch-bench.ts'

const bench = async (): Promise<Bench> => openBench(await temporaryFolder())

const ids = async ({ query }: Bench): Promise<unknown[]> =>
  (await query('SELECT internal_id FROM companies ORDER BY 1')).flat()

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

test.each(Object.keys(COMPRESSIONS) as Compression[])('convert loads a %s file', async (compression) => {
  const one = await bench()
  const bytes = await one.write('batch', companyLines(50), compression)
  const { summary } = await one.run(['batch'])
  expect(summary.snapshot?.snapshot).toBe(1)
  expect(summary.partitions).toMatchObject([
    {
      content: 'companies',
      source: {
        kind: 'file',
        name: 'batch',
        bytes: bytes.length,
        sha256: sha256(bytes),
        block: 0,
        last: true,
      },
      counts: { lines: 50, records: 50, quarantined: 0, rows: { companies: 50, financials: 100 } },
    },
  ])
  expect(await one.query('SELECT count(*), sum(value) FROM financials')).toEqual([[100, 2575]])
  expect((await one.verify()).problems).toEqual([])
})

test('convert loads a folder and leaves out what is no batch, and says so', async () => {
  const one = await bench()
  await one.write('in/a.jsonl.br', companyLines(3), 'brotli')
  await one.write('in/deeper/b.jsonl', [relationsLine(7)])
  await one.write('in/control.json', Buffer.from('{"files": [1, 2]}\n'))
  await one.write('in/notes.txt', Buffer.from('Two batches.\nThat is all.\n'))
  await one.write('in/picture.png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))
  const { summary, events } = await one.run(['in'])
  expect(summary.partitions.map(({ source, content }) => [source.name, content])).toEqual([
    ['in/a.jsonl.br', 'companies'],
    ['in/deeper/b.jsonl', 'relations'],
  ])
  const skipped = summary.skipped.map(({ source }) => source)
  expect(skipped).toEqual(['in/control.json', 'in/notes.txt', 'in/picture.png'])
  expect(events.flatMap((event) => (event.kind === 'skipped' ? [event.source] : []))).toEqual(skipped)
  expect(await ids(one)).toEqual([1, 2, 3])
})

test('convert refuses a file that was named itself and is no batch', async () => {
  const one = await bench()
  await one.write('notes.txt', Buffer.from('Two batches.\n'))
  await expect(one.run(['notes.txt'])).rejects.toMatchObject({
    code: 'CONTENT_UNKNOWN',
    context: { source: 'notes.txt' },
  })
})

test('convert tells companies from relations by the records, else by the name', async () => {
  const one = await bench()
  await one.write('a.jsonl', ['', 'no JSON', relationsLine(1)])
  await one.write('b.jsonl', ['[]', companyLine(2)])
  await one.write('relations-of-friday.jsonl', ['no JSON'])
  const { summary } = await one.run(['a.jsonl', 'b.jsonl', 'relations-of-friday.jsonl'], {
    maxQuarantined: { kind: 'count', lines: 3 },
  })
  expect(summary.partitions.map(({ content, counts }) => [content, counts.records])).toEqual([
    ['relations', 1],
    ['companies', 1],
    ['relations', 0],
  ])
})

test('convert takes the content it is given, and quarantines what does not fit', async () => {
  const one = await bench()
  await one.write('a.jsonl', [relationsLine(1), companyLine(2)])
  const { summary } = await one.run(['a.jsonl'], {
    content: 'companies',
    maxQuarantined: { kind: 'count', lines: 1 },
  })
  expect(summary.partitions[0]?.counts).toMatchObject({ records: 1, quarantined: 1 })
  expect(await ids(one)).toEqual([2])
})

test('convert loads an empty file as a partition without lines', async () => {
  const one = await bench()
  await one.write('empty.jsonl', Buffer.alloc(0))
  const { summary } = await one.run(['empty.jsonl'])
  expect(summary.partitions).toMatchObject([
    { source: { bytes: 0, block: 0, last: true }, counts: { lines: 0, records: 0 }, files: [] },
  ])
  expect((await one.verify()).problems).toEqual([])
})

test('convert cuts a file into blocks whose counts, places and ranges are true', async () => {
  const one = await bench()
  const lines = Array.from({ length: 40 }, (_, at) => companyLine(at + 1, {}, 1 + (at % 20)))
  // A blank line and a bad one, so that lines, records and places differ.
  const all = [...lines.slice(0, 15), '', ...lines.slice(15, 30), '{"bad"', ...lines.slice(30)]
  const text = textOf(all)
  await one.write('a.jsonl.gz', text, 'gzip')
  await one.run(['a.jsonl.gz'], { limits: { blockBytes: 2000 }, maxQuarantined: { kind: 'count', lines: 1 } })
  const { partitions } = await one.snapshot()
  expect(partitions.length).toBeGreaterThan(3)
  expect(partitions.map(({ source }) => source.block)).toEqual(partitions.map((_, at) => at))
  expect(partitions.map(({ source }) => source.last)).toEqual(
    partitions.map((_, at) => at === partitions.length - 1),
  )
  expect(sum(partitions.map(({ counts }) => counts.lines))).toBe(41)
  expect(sum(partitions.map(({ counts }) => counts.quarantined))).toBe(1)
  for (const [at, { source, counts, range }] of partitions.entries()) {
    const end = partitions[at + 1]?.source.offset ?? text.length
    const block = text.subarray(source.offset, end).toString().split('\n').slice(0, -1)
    expect(source.firstLine).toBe(all.indexOf(block.find((line) => line !== '') ?? '') + 1)
    const good = block.filter((line) => line.startsWith('{"Basic'))
    expect(counts).toMatchObject({
      lines: block.filter((line) => line !== '').length,
      records: good.length,
      rows: { companies: good.length, financials: 2 * good.length },
    })
    const days = good.map((line) => /2025-01-\d\d/.exec(line)?.[0] ?? '').sort()
    expect(range).toEqual({
      field: 'ContentUpdatedAt',
      requested: null,
      observed: { least: `${days[0]}T00:00:00Z`, greatest: `${days.at(-1)}T00:00:00Z` },
    })
  }
  expect((await one.verify()).problems).toEqual([])
})

test('convert reports what the contract does not know in the partition where it stands', async () => {
  const one = await bench()
  const unknown = { Financials: { ProfitAndLoss: { NetSalesOfTea: { 2023: 1 } } }, Colour: 'green' }
  await one.write('a.jsonl', [companyLine(1), companyLine(2, unknown), companyLine(3, unknown)])
  await one.write('b.jsonl', [companyLine(4)])
  const { summary } = await one.run(['a.jsonl', 'b.jsonl'])
  expect(summary.partitions.map(({ drift }) => drift)).toEqual([
    expect.arrayContaining([
      { kind: 'field', name: 'Colour', records: 2 },
      { kind: 'line-item', name: 'ProfitAndLoss.NetSalesOfTea', records: 2 },
    ]),
    [],
  ])
  const items = await one.query(`SELECT category FROM line_items WHERE line_item = 'NetSalesOfTea'`)
  expect(items).toEqual([['ProfitAndLoss']])
})

test('convert takes the later of two lines of a company as the current one, also within a block', async () => {
  const one = await bench()
  await one.write('a.jsonl', [companyLine(1), companyLine(2), companyLine(1, { Financials: {} })])
  await one.run(['a.jsonl'])
  expect(await one.query('SELECT internal_id, count(*) FROM financials GROUP BY 1')).toEqual([[2, 2]])
  expect(await one.query('SELECT count(*) FROM companies_history')).toEqual([[3]])
  expect((await one.snapshot()).partitions.map(({ source }) => source.block)).toEqual([0, 0])
})

test('convert does not load a file twice, whatever its name', async () => {
  const one = await bench()
  await one.write('a.jsonl', companyLines(3))
  await one.run(['a.jsonl'])
  await one.write('b.jsonl', companyLines(3))
  await one.write('c.jsonl', companyLines(2, 10))
  const { summary } = await one.run(['b.jsonl', 'c.jsonl'])
  expect(summary.skipped.map(({ source }) => source)).toEqual(['b.jsonl'])
  expect(summary.partitions.map(({ source }) => source.name)).toEqual(['c.jsonl'])
  expect(await one.query('SELECT count(*) FROM companies_history')).toEqual([[5]])
})

test('convert makes no snapshot when there is nothing new', async () => {
  const one = await bench()
  await one.write('a.jsonl', companyLines(3))
  await one.run(['a.jsonl'])
  const { summary } = await one.run(['a.jsonl'])
  expect(summary).toMatchObject({ snapshot: undefined, partitions: [] })
  expect((await one.snapshot()).snapshot).toBe(1)
  expect(await readdir(join(one.lake, '_runs'))).toEqual([])
})

test('convert loads two equal files of one run once', async () => {
  const one = await bench()
  await one.write('a.jsonl', companyLines(3))
  await one.write('b.jsonl', companyLines(3))
  const { summary } = await one.run(['a.jsonl', 'b.jsonl'])
  expect(summary.skipped.map(({ source }) => source)).toEqual(['b.jsonl'])
  expect(await one.query('SELECT count(*) FROM companies_history')).toEqual([[3]])
})

test('convert loads a file once more when told to', async () => {
  const one = await bench()
  await one.write('a.jsonl', companyLines(3))
  await one.run(['a.jsonl'])
  const { summary } = await one.run(['a.jsonl'], { again: true })
  expect(summary.snapshot?.snapshot).toBe(2)
  expect(await one.query('SELECT count(*) FROM companies_history')).toEqual([[6]])
  expect(await ids(one)).toEqual([1, 2, 3])
  expect((await one.verify()).problems).toEqual([])
})

test('convert loads two equal files of one run once, also when told to load again', async () => {
  const one = await bench()
  await one.write('a.jsonl', companyLines(3))
  await one.write('b.jsonl', companyLines(3))
  await one.run(['a.jsonl'])
  const { summary } = await one.run(['a.jsonl', 'b.jsonl'], { again: true })
  expect(summary.skipped).toEqual([{ source: 'b.jsonl', reason: 'it is equal to "a.jsonl"' }])
  expect(await one.query('SELECT count(*) FROM companies_history')).toEqual([[6]])
  expect((await one.verify()).problems).toEqual([])
})

/** A source that can be read only once, as standard input. */
const stream = (bytes: Buffer, pieceBytes = 100): Source => ({
  kind: 'stdin',
  name: 'stdin',
  open: async function* () {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
  },
})

const runStream = async (
  { lake }: Bench,
  source: Source,
  again = false,
  badLines = 0,
): Promise<LoadSummary> => {
  const limits = { maxLineBytes: 1e6, maxRatio: 250, maxDepth: 256, blockBytes: 2000 }
  const plan: RunPlan = { jobs: [{ kind: 'convert', inputs: ['-'], cwd: '' }], again, limits }
  return withRun({ lake, plan, fresh: true }, (run) =>
    loadIntoLake(run, [{ sources: [source] }], { lake, maxQuarantined: { kind: 'count', lines: badLines } }),
  )
}

test('convert loads a stream and knows its bytes once it has been read', async () => {
  const one = await bench()
  const bytes = await COMPRESSIONS.brotli(textOf(companyLines(40)))
  const { partitions } = await runStream(one, stream(bytes))
  expect(partitions.length).toBeGreaterThan(3)
  for (const { source } of partitions)
    expect(source).toMatchObject({ kind: 'stdin', name: 'stdin', bytes: bytes.length, sha256: sha256(bytes) })
  expect(partitions.filter(({ source }) => source.last)).toEqual([partitions.at(-1)])
  expect((await one.verify()).problems).toEqual([])
  expect(await ids(one)).toHaveLength(40)
})

test('convert does not load a stream twice, nor one that came as a file', async () => {
  const one = await bench()
  const text = textOf(companyLines(20))
  await runStream(one, stream(text))
  const { skipped, snapshot } = await runStream(one, stream(text, 999))
  expect([snapshot, skipped.map(({ source }) => source)]).toEqual([undefined, ['stdin']])
  await one.write('a.jsonl', text)
  expect((await one.run(['a.jsonl'])).summary.partitions).toEqual([])
  expect(await readdir(join(one.lake, '_runs'))).toEqual([])
  expect((await one.verify()).notes).toEqual([])
})

test('convert gives two streams, and the same bytes loaded once more, partition ids of their own', async () => {
  const one = await bench()
  const bad = (id: number): Buffer => textOf([companyLine(id), '{"bad"'])
  for (const id of [1, 2]) await runStream(one, stream(bad(id)), false, 1)
  await one.write('a.jsonl', bad(3))
  for (const again of [false, true])
    await one.run(['a.jsonl'], { again, maxQuarantined: { kind: 'count', lines: 1 } })
  const { partitions } = await one.snapshot()
  expect(new Set(partitions.map(({ id }) => id)).size).toBe(4)
  expect(await one.query('SELECT count(*), count(DISTINCT (partition, line)) FROM quarantine')).toEqual([
    [4, 4],
  ])
})

test.each(['br', 'gz', 'zst'])(
  'convert takes a file of 0 bytes named .%s for truncated, also once an empty file was loaded',
  async (ending) => {
    const one = await bench()
    const name = `cut.jsonl.${ending}`
    await one.write('empty.jsonl', Buffer.alloc(0))
    await one.write(name, Buffer.alloc(0))
    const truncated = { code: 'DECODE_TRUNCATED' }
    await expect(one.run(['empty.jsonl', name])).rejects.toMatchObject(truncated)
    await one.run(['empty.jsonl'])
    await expect(one.run([name])).rejects.toMatchObject(truncated)
    const { summary } = await one.run(['empty.jsonl'])
    expect(summary.skipped.map(({ source }) => source)).toEqual(['empty.jsonl'])
  },
)

test('convert fails when a source cannot be read to its end, and shows nothing of it', async () => {
  const one = await bench()
  const bytes = await COMPRESSIONS.gzip(textOf(companyLines(500)))
  await one.write('cut.jsonl.gz', bytes.subarray(0, bytes.length - 50))
  await one.write('good.jsonl', companyLines(3))
  await expect(
    one.run(['good.jsonl', 'cut.jsonl.gz'], { limits: { blockBytes: 20_000 } }),
  ).rejects.toMatchObject({ code: 'DECODE_TRUNCATED' })
  await expect(one.snapshot()).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' })
})

test('convert fails when the lake cannot be written, and leaves nothing behind', async () => {
  const one = await bench()
  await one.write('a.jsonl', companyLines(3))
  await writeFile(one.lake, 'a file stands here')
  await expect(one.run(['a.jsonl'])).rejects.toMatchObject({ code: 'WRITE_FAILED' })
  expect((await readdir(one.folder)).sort()).toEqual(['a.jsonl', 'lake'])
})

test('convert goes into a folder that holds other things', async () => {
  const one = await bench()
  await one.write('a.jsonl', companyLines(3))
  await mkdir(join(one.lake, 'companies'), { recursive: true })
  await writeFile(join(one.lake, 'companies', 'mine.parquet'), 'not ours')
  await one.run(['a.jsonl'])
  expect(await ids(one)).toEqual([1, 2, 3])
  await one.gc()
  expect(await readdir(join(one.lake, 'companies'))).toContain('mine.parquet')
})

test('progress counts only sources that hold records', async () => {
  const one = openBench(await temporaryFolder())
  await one.write('in/a.jsonl', companyLines(3))
  await one.write('in/notes.json', ['{"title":"not a record"}'])
  await one.write('in/z.jsonl', companyLines(3, 10))
  const { events } = await one.run(['in'])
  const states = events.flatMap((event) => (event.kind === 'progress' ? [event.progress] : []))
  expect(states.at(0)).toMatchObject({ sources: 3 })
  expect(states.at(-1)).toMatchObject({ sources: 2, sourcesDone: 2 })
  expect(states.at(-1)?.bytesTotal).toBe(textOf([...companyLines(3), ...companyLines(3, 10)]).length)
  expect(states.every(({ sources, sourcesDone }) => sourcesDone <= sources)).toBe(true)
})
