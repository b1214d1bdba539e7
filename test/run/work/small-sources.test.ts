import { expect, test } from 'vitest'
import type { PartitionEntry } from '../../../src/core/partition.ts'
import { replayFiles } from '../../../src/jobs/replay.ts'
import { listQuarantine, waitingFiles } from '../../../src/kinds/quarantine.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type Bench, companyLine, hashLake, openBench, sha256 } from '../batch-bench.ts'

const ANY = { maxQuarantined: { kind: 'share', share: 1 } } as const
const nameOf = (number: number): string => `in/small-${String(number).padStart(2, '0')}.jsonl`

/** Files of one company each, of which every third has a bad line too, between blank ones. */
const smallFiles = async (bench: Bench, count: number, from = 0): Promise<void> => {
  for (let number = from; number < from + count; number += 1) {
    const bad = number % 3 === 1 ? ['', '  not JSON', ''] : []
    const compression = number % 2 === 0 ? 'plain' : 'gzip'
    await bench.write(nameOf(number), [...bad, companyLine(number + 1)], compression)
  }
}

const opened = async (count: number): Promise<Bench> => {
  const bench = openBench(await temporaryFolder())
  await smallFiles(bench, count)
  return bench
}

const sourceNames = ({ sources, source }: PartitionEntry): readonly string[] =>
  (sources ?? [source]).map(({ name }) => name)

const quarantined = async (bench: Bench) =>
  bench.query('SELECT source, line, byte_offset, size_bytes, raw FROM quarantine ORDER BY source, line')

test('consecutive small sources share a partition, and each keeps an entry of its own', async () => {
  const bench = await opened(12)
  const bytes = await bench.write(nameOf(12), ['', companyLine(500), 'bad', companyLine(501)])
  const { summary } = await bench.run(['in'], ANY)
  const { partitions } = await bench.snapshot()
  expect(partitions).toHaveLength(1)
  const [partition] = partitions
  expect(partition?.counts).toMatchObject({ lines: 19, records: 14, quarantined: 5 })
  expect(partition?.sources).toHaveLength(13)
  expect(partition?.sources?.[1]?.counts).toEqual({ lines: 2, records: 1, quarantined: 1 })
  expect(partition?.sources?.[12]).toEqual({
    ...{ kind: 'file', name: nameOf(12), bytes: bytes.length, sha256: sha256(bytes) },
    ...{ block: 0, firstLine: 1, offset: 0, last: true },
    counts: { lines: 3, records: 2, quarantined: 1 },
    asOf: '2025-01-01T00:00:00.000Z',
  })
  expect(partitions).toMatchObject(summary.partitions)
  expect(await bench.verify()).toMatchObject({ problems: [], notes: [] })
})

test('small sources that share a partition give the rows and quarantined lines that they give by themselves', async () => {
  const together = await opened(9)
  await together.run(['in'], ANY)
  const alone = await opened(9)
  // Fewer at once have a partition each.
  for (const numbers of [
    [0, 1, 2, 3, 4],
    [5, 6, 7, 8],
  ])
    await alone.run(numbers.map(nameOf), ANY)
  expect((await alone.snapshot()).partitions.map(({ sources }) => sources)).toEqual(Array(9).fill(undefined))
  // Two runs have two dictionaries.
  const { line_items_history: _, ...hashes } = await hashLake(alone.lake)
  expect(await hashLake(together.lake)).toMatchObject(hashes)
  expect(await quarantined(together)).toEqual(await quarantined(alone))
  expect((await quarantined(together))[0]).toEqual([nameOf(1), 2, 3, 8, 'not JSON'])
})

test('what is loaded goes by source: the rest of a folder is loaded, and all of it with again', async () => {
  const bench = await opened(10)
  await bench.run(['in'], ANY)
  await smallFiles(bench, 9, 10)
  const { summary } = await bench.run(['in'], ANY)
  expect(summary.skipped.map(({ source }) => source)).toEqual(
    Array.from({ length: 10 }, (_, at) => nameOf(at)),
  )
  const { partitions } = await bench.snapshot()
  expect(partitions.map(sourceNames)).toEqual([
    Array.from({ length: 10 }, (_, at) => nameOf(at)),
    Array.from({ length: 9 }, (_, at) => nameOf(10 + at)),
  ])
  expect((await bench.run(['in'], ANY)).summary).toMatchObject({ snapshot: undefined, partitions: [] })
  await bench.run(['in'], { ...ANY, again: true })
  expect((await bench.snapshot()).partitions.map(sourceNames).at(-1)).toHaveLength(19)
  expect(await bench.verify()).toMatchObject({ problems: [] })
})

test('of equal small sources one is loaded', async () => {
  const bench = await opened(9)
  await bench.write('in/twin.jsonl', [companyLine(1)])
  const { summary } = await bench.run(['in'], ANY)
  expect(summary.skipped).toEqual([{ source: 'in/twin.jsonl', reason: `it is equal to "${nameOf(0)}"` }])
  expect(summary.partitions.map(sourceNames)).toEqual([Array.from({ length: 9 }, (_, at) => nameOf(at))])
})

test('a run that was refused for its bad lines takes the shared partition as it was finished', async () => {
  const bench = await opened(10)
  const none = { maxQuarantined: { kind: 'count', lines: 0 } } as const
  await expect(bench.run(['in'], none)).rejects.toMatchObject({ code: 'QUARANTINE_LIMIT' })
  const { events } = await bench.run(['in'], ANY)
  expect(events[0]).toMatchObject({ kind: 'started', resumed: true, finished: 1 })
  const ids = (await bench.snapshot()).partitions.map(({ id }) => id)
  expect(ids).toHaveLength(1)
  expect(await bench.gc()).toMatchObject({ runs: [], files: [] })
  expect(await bench.verify()).toMatchObject({ problems: [], notes: [] })
})

test('a company in two small sources has the version of the later one, also with a large one between them', async () => {
  const bench = await opened(8)
  await bench.write('in/small-07a.jsonl', [companyLine(1, {}, 2)])
  await bench.write(
    'in/small-07b.jsonl',
    Array.from({ length: 8000 }, (_, at) => companyLine(at + 1, {}, 3)),
  )
  await smallFiles(bench, 9, 8)
  await bench.write('in/small-99.jsonl', [companyLine(2, {}, 4), companyLine(2, {}, 5)])
  await bench.run(['in'], ANY)
  const { partitions } = await bench.snapshot()
  expect(partitions.map(({ sources }) => sources?.length)).toEqual([9, undefined, undefined, 10, undefined])
  const days = await bench.query(
    'SELECT internal_id, day(content_updated_at) FROM companies WHERE internal_id <= 3 ORDER BY 1',
  )
  expect(days.map((row) => row.map(String))).toEqual([
    ['1', '3'],
    ['2', '5'],
    ['3', '3'],
  ])
  // The second layer holds a line of one source alone.
  expect(partitions[1]?.source).toMatchObject({ name: 'in/small-07a.jsonl', firstLine: 1, offset: 0 })
  expect(partitions[4]?.source).toMatchObject({ name: 'in/small-99.jsonl', firstLine: 2 })
  expect((await bench.run(['in'], ANY)).summary.partitions).toEqual([])
  expect(await bench.verify()).toMatchObject({ problems: [], notes: [] })
})

test('replay loads lines of small sources again and keeps their places', async () => {
  const bench = await opened(9)
  const deep = `{"InternalId":`.repeat(300)
  await bench.write('in/small-03a.jsonl', ['', deep + companyLine(1) + '}'.repeat(300), companyLine(70)])
  await bench.write('in/small-05a.jsonl', [
    JSON.stringify({ ...JSON.parse(companyLine(77)), Odd: [[[[1]]]] }),
  ])
  await bench.run(['in'], { ...ANY, limits: { maxDepth: 4 } })
  const before = await quarantined(bench)
  const files = waitingFiles(await bench.snapshot(), bench.lake)
  const listed: string[] = []
  for await (const lines of listQuarantine(files)) for (const { source } of lines) listed.push(source)
  expect(listed).toEqual(listed.toSorted())
  expect(new Set(listed).size).toBeGreaterThan(3)
  await replayFiles(files, { maxDepth: 256 }, { lake: bench.lake })
  const waiting = waitingFiles(await bench.snapshot(), bench.lake)
  const after: (readonly [string, number, number])[] = []
  for await (const lines of listQuarantine(waiting))
    for (const { source, line, byte_offset } of lines) after.push([source, line, byte_offset])
  expect(after).toContainEqual([nameOf(1), 2, 3])
  expect(after.length).toBeLessThan(before.length)
  expect(await bench.query('SELECT count(*) FROM companies WHERE internal_id = 77')).toEqual([[1]])
  expect(await bench.verify()).toMatchObject({ problems: [] })
})

test('a damaged small source fails the run by its own name, or is left out alone', async () => {
  const bench = await opened(9)
  await bench.write('in/small-04a.jsonl.gz', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]))
  await expect(bench.run(['in'], ANY)).rejects.toMatchObject({
    context: { source: 'in/small-04a.jsonl.gz' },
  })
  await bench.gc()
  const { summary } = await bench.run(['in'], { ...ANY, skipBadFiles: true })
  expect(summary.excluded.map(({ source }) => source)).toEqual(['in/small-04a.jsonl.gz'])
  expect(summary.partitions.flatMap(sourceNames)).toHaveLength(9)
})
