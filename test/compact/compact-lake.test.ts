import { readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { CompactEvent, CompactSummary } from '../../src/compact/compact-work.ts'
import { checkColumns, checkDictionaries } from '../../src/compact/read-group.ts'
import { compact } from '../../src/jobs/compact.ts'
import { replayFiles } from '../../src/jobs/replay.ts'
import { listQuarantine, waitingFiles } from '../../src/kinds/quarantine.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { dictionaryTable, TABLES } from '../../src/lake/tables/tables.ts'
import { readTable } from '../../src/lake/views/current-versions.ts'
import { removeGarbage } from '../../src/manifest/gc/remove-garbage.ts'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import type { CompactOptions } from '../../src/options/interfaces.ts'
import { restoreRecords } from '../../src/restore/restore.ts'
import { summariseSnapshot } from '../manifest/summarise-snapshot.ts'
import { type Bench, companyLine, companyLines, openBench, relationsLine } from '../run/batch-bench.ts'
import { benchCopies } from '../support/bench-copies.ts'
import { copyLake } from '../support/lakes.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const KIB = 1024
const HALF = { maxQuarantined: { kind: 'share', share: 0.5 } } as const

const bench = async (): Promise<Bench> => openBench(await temporaryFolder())

/** Five companies, one of which a second run brought anew, beside bad lines; and a record of relations. */
const withBadLines = benchCopies(async (one) => {
  await one.write('a', companyLines(5))
  await one.write('b', [companyLine(2, {}, 9), '{"bad"', relationsLine(1)])
  await one.write('r', [relationsLine(7)])
  await one.run(['a'])
  await one.run(['b', 'r'], HALF)
})

/** Fifty companies, twenty of which a second run brought again. */
const loadedTwice = benchCopies(async (one) => {
  await one.write('a', companyLines(50))
  await one.write('b', companyLines(20))
  await one.run(['a'])
  await one.run(['b'])
})

const manyFiles = benchCopies(async (one) => {
  await one.write('a', companyLines(300))
  await one.write('b', companyLines(30))
  await one.write(
    'r',
    Array.from({ length: 20 }, (_, at) => relationsLine(at)),
  )
  await one.run(['a'])
  await one.run(['b', 'r'])
})

const compacted = async (
  { lake }: Bench,
  options: Partial<CompactOptions> = {},
): Promise<CompactSummary & { kind: 'compacted' }> => {
  const summary = await compact({ lake, ...options })
  if (summary.kind !== 'compacted') throw new Error(`Nothing was compacted: ${summary.kind}`)
  return { ...summary, kind: 'compacted' }
}

const recordsOf = async ({ lake }: Bench): Promise<string[]> => {
  const records: string[] = []
  const request = { lake, snapshot: await readSnapshot(lake), memoryBytes: 512 * KIB * KIB }
  for await (const text of restoreRecords(request)) records.push(text)
  return records.sort()
}

const runsLeft = ({ lake }: Bench): Promise<string[]> => readdir(join(lake, '_runs'))

const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()

test('compact leaves every record of the sample, with all its histories and unknown fields, as it was', async () => {
  const one = await bench()
  await copyLake('deliveries', one.lake)
  const records = await recordsOf(one)
  const { snapshot, partitions } = await compacted(one, { targetBytes: 100 * KIB })
  expect([snapshot, partitions]).toEqual([3, 8])
  expect(records).toHaveLength(1733)
  expect(await recordsOf(one)).toEqual(records)
  expect(await one.verify()).toMatchObject({ problems: [], notes: [] })
  expect(await runsLeft(one)).toEqual([])
})

test('compact leaves the history of the tables as it was', async () => {
  const one = await withBadLines()
  expect(await one.query('SELECT count(*) FROM companies_history')).toEqual([[6]])
  await compacted(one)
  expect(
    await one.query(`SELECT count(*), count(DISTINCT internal_id),
  max(content_updated_at::TEXT) FILTER (internal_id = 2) FROM companies_history`),
  ).toEqual([[6, 5, expect.stringContaining('2025-01-09')]])
})

test('compact records one partition of each content, and what it has merged', async () => {
  const one = await withBadLines()
  const before = await one.snapshot()
  await compacted(one)
  const { partitions, merged = [], files } = await one.snapshot()
  expect(partitions).toMatchObject([
    {
      content: 'companies',
      source: { kind: 'compaction', name: 'compaction of 2 partitions', block: 0, last: true },
      range: {
        requested: null,
        observed: { least: '2025-01-01T00:00:00Z', greatest: '2025-01-09T00:00:00Z' },
      },
      counts: { lines: 5, records: 5, quarantined: 0, rows: { companies: 5, financials: 10 } },
    },
    { content: 'relations', counts: { records: 1 } },
  ])
  expect(files.map(({ table }) => table)).toEqual(['line_items'])
  expect(merged.map(({ id }) => id)).toEqual(before.partitions.map(({ id }) => id))
  expect(merged.flatMap((partition) => partition.files.map(({ table }) => table))).toEqual(['quarantine'])
  expect(merged.map(({ counts }) => counts.rows)).toEqual([{}, {}, {}])
})

test('compact leaves what status tells of sources and lines as it was', async () => {
  const one = await withBadLines()
  const before = summariseSnapshot(await one.snapshot())
  await compacted(one)
  const after = summariseSnapshot(await one.snapshot())
  expect(after.contents).toEqual(before.contents)
  expect([after.runs, after.partitions, after.merged]).toEqual([3, 2, 3])
})

test('convert leaves out a file that was loaded before a compaction, and a later load supersedes', async () => {
  const one = await bench()
  await one.write('a', companyLines(3))
  await one.run(['a'])
  await one.write('b', [companyLine(2, {}, 5)])
  await one.run(['b'])
  await compacted(one)
  const { summary } = await one.run(['a'])
  expect(summary).toMatchObject({ partitions: [], skipped: [{ source: 'a' }] })
  await one.write('c', [companyLine(2, { Financials: {} }, 7)])
  await one.run(['c'])
  expect(
    await one.query(`SELECT (SELECT count(*) FROM companies), count(*), count(*) FILTER (internal_id = 2)
FROM financials`),
  ).toEqual([[3, 4, 0]])
})

test('compact again merges the compaction with what came after, and keeps what was loaded only once', async () => {
  const one = await bench()
  for (const [at, name] of ['a', 'b', 'c'].entries()) {
    await one.write(name, [companyLine(1, {}, at + 1), companyLine(10 + at), '{"bad"'])
    await one.run([name], HALF)
    if (at > 0) await compacted(one)
  }
  const { partitions, merged = [] } = await one.snapshot()
  expect(partitions).toHaveLength(1)
  expect(merged.map(({ source }) => source.name)).toEqual(['a', 'b', 'c'])
  // Company 1 was otherwise each time; the three others came once.
  expect(await one.query('SELECT count(*) FROM companies_history')).toEqual([[6]])
  expect(await one.query('SELECT count(*) FROM quarantine')).toEqual([[3]])
  const { summary } = await one.run(['a', 'c'], HALF)
  expect(summary.skipped).toHaveLength(2)
  expect(await one.verify()).toMatchObject({ problems: [], notes: [] })
})

test('compact of a compacted lake does nothing, also when a load brought bad lines only', async () => {
  const one = await bench()
  expect(await compact({ lake: one.lake }).catch(({ code }) => code)).toBe('LAKE_NOT_FOUND')
  await one.write('a', companyLines(3))
  await one.run(['a'])
  await compacted(one)
  await one.write('bad', [JSON.stringify({ BasicDetails: { InternalId: 0.5 } })])
  await one.run(['bad'], { maxQuarantined: { kind: 'share', share: 1 }, content: 'companies' })
  expect(await compact({ lake: one.lake })).toEqual({ kind: 'nothing', snapshot: 3, delivered: [] })
  expect((await one.snapshot()).snapshot).toBe(3)
  expect(await runsLeft(one)).toEqual([])
})

test('compact with another target size writes the files anew', async () => {
  const one = await manyFiles()
  await compacted(one, { targetBytes: 1024 * KIB })
  const { tables } = await compacted(one, { targetBytes: KIB })
  expect(tables.find(({ table }) => table === 'financials')?.after.files).toBeGreaterThan(1)
  expect((await compact({ lake: one.lake, targetBytes: KIB })).kind).toBe('nothing')
})

test('compact writes nine of ten files within a tenth of the target, in order of country and company', async () => {
  const one = await bench()
  const countries = ['SE', 'NO', 'DK', 'FI']
  for (const part of [0, 1, 2]) {
    const lines = Array.from({ length: 4000 }, (_, at) =>
      companyLine(((at * 7919) % 4000) * 3 + part, {
        BasicDetails: {
          InternalId: ((at * 7919) % 4000) * 3 + part,
          CompanyName: `Company ${((at * 2_654_435_761) % 4_294_967_296).toString(36)}`,
          CountryCode: countries[(at * 31) % 4],
        },
        Financials: {
          ProfitAndLoss: {
            NetSales: { 2022: (at * 7_919_317) % 99_991, 2023: at, 2024: (at * 31_337) % 1009 },
          },
        },
      }),
    )
    await one.write(`p${part}`, lines)
    await one.run([`p${part}`])
  }
  const targetBytes = 12 * KIB
  await compacted(one, { targetBytes })
  const [partition] = (await one.snapshot()).partitions
  const engine = await Engine.open({ memoryBytes: 256 * KIB * KIB })
  try {
    const session = await engine.connect()
    for (const [table, rows, many] of [
      ['companies', 12_000, 10],
      ['financials', 36_000, 10],
    ] as const) {
      const files = partition?.files.filter((file) => file.table === table) ?? []
      expect(files.length, table).toBeGreaterThanOrEqual(many)
      const whole = files.slice(0, -1)
      const off = whole.filter(({ bytes }) => Math.abs(bytes / targetBytes - 1) > 0.1)
      expect(off.length, `${table}: ${whole.map(({ bytes }) => bytes).join(' ')}`).toBeLessThanOrEqual(
        whole.length / 10,
      )
      expect(files.at(-1)?.bytes).toBeLessThanOrEqual(targetBytes * 1.1)
      const paths = files.map(({ path }) => literal(join(one.lake, path))).join(', ')
      const [found] = await session.rows(
        `WITH numbered AS (
  SELECT country_code, internal_id, row_number() OVER (ORDER BY file_index, file_row_number) AS place
  FROM read_parquet([${paths}], file_row_number = true)),
placed AS (SELECT row(country_code, internal_id) AS here, place FROM numbered),
followed AS (SELECT here, lead(here) OVER (ORDER BY place) AS next FROM placed)
SELECT count(*) AS rows, count(*) FILTER (next < here) AS disordered FROM followed`,
      )
      expect([Number(found?.rows), Number(found?.disordered)], table).toEqual([rows, 0])
    }
    const [ownFile] = partition?.files.filter((file) => file.table === 'financials') ?? []
    const statistics = await session.rows(
      `SELECT path_in_schema AS name, min(stats_min_value) AS min FROM parquet_metadata(${literal(join(one.lake, ownFile?.path ?? ''))})
WHERE path_in_schema IN ('country_code', 'line_item', 'internal_id') GROUP BY 1 ORDER BY 1`,
    )
    expect(statistics).toMatchObject([
      { name: 'country_code', min: 'DK' },
      { name: 'internal_id' },
      { name: 'line_item', min: 'NetSales' },
    ])
    expect(statistics.every(({ min }) => min !== null)).toBe(true)
  } finally {
    engine.close()
  }
})

test('compact in pieces leaves every record as it was, and nothing of the pieces', async () => {
  const one = await loadedTwice()
  const records = await recordsOf(one)
  const phases = new Set<string>()
  await compacted(one, {
    ...{ targetBytes: 2 * KIB, localBytes: 2 * 2 * KIB + 524 * KIB },
    onEvent: (event) => event.kind === 'progress' && phases.add(event.phase),
  })
  expect(phases).toContain('cutting')
  expect(await recordsOf(one)).toEqual(records)
  expect((await one.verify()).problems).toEqual([])
  expect(await runsLeft(one)).toEqual([])
})

test('compact refuses a local disk that is too small for two files', async () => {
  const one = await loadedTwice()
  await expect(compacted(one, { targetBytes: KIB, localBytes: 2 * KIB })).rejects.toMatchObject({
    code: 'USAGE',
  })
  expect((await one.snapshot()).snapshot).toBe(2)
  expect(await runsLeft(one)).toEqual([])
})

test('an old snapshot stays readable after compact until gc --keep 1', async () => {
  const one = await withBadLines()
  const old = await filesIn(join(one.lake, 'companies'))
  await compacted(one)
  const request = { lake: one.lake, snapshot: await readSnapshot(one.lake, 1), memoryBytes: 512 * KIB * KIB }
  const records: string[] = []
  for await (const text of restoreRecords(request)) records.push(text)
  expect(records).toHaveLength(5)
  expect((await removeGarbage({ lake: one.lake, now: new Date(), keep: 1 })).snapshots).toEqual([1, 2])
  const left = await filesIn(join(one.lake, 'companies'))
  expect(left).toHaveLength(1)
  expect(old).not.toContain(left[0])
  expect(await one.verify()).toMatchObject({ problems: [], notes: [], snapshots: 1 })
  expect(
    await one.query('SELECT (SELECT count(*) FROM quarantine), (SELECT count(*) FROM companies)'),
  ).toEqual([[2, 5]])
})

test('quarantined lines can be listed and replayed after compact, and wait no more when they are', async () => {
  const one = await bench()
  const deep = `{"x":${'['.repeat(300)}${']'.repeat(300)}}`
  await one.write('a', [companyLine(1), companyLine(2, { Unknown: JSON.parse(deep) })])
  await one.run(['a'], { ...HALF, limits: { maxDepth: 100 } })
  await compacted(one)
  const waiting = waitingFiles(await one.snapshot(), one.lake)
  const lines: string[] = []
  for await (const chunk of listQuarantine(waiting))
    lines.push(...chunk.map(({ code, source }) => `${source} ${code}`))
  expect(lines).toEqual(['a TOO_DEEP'])
  await replayFiles(waiting, { maxDepth: 1000 }, { lake: one.lake })
  expect(await one.query('SELECT internal_id FROM companies ORDER BY 1')).toEqual([[1], [2]])
  await compacted(one)
  expect(waitingFiles(await one.snapshot(), one.lake)).toEqual([])
  expect(await one.query('SELECT internal_id FROM companies ORDER BY 1')).toEqual([[1], [2]])
})

test('a load that commits while compact works keeps its partitions and supersedes', async () => {
  const one = await loadedTwice()
  await one.write('c', [companyLine(3, { Financials: {} }, 9), companyLine(99)])
  let loading: Promise<unknown> | undefined
  await compacted(one, {
    onEvent: ({ kind }) => {
      if (kind === 'started') loading = one.run(['c'])
    },
  })
  await loading
  const { partitions } = await one.snapshot()
  expect(partitions.map(({ source }) => source.kind)).toEqual(['compaction', 'file'])
  expect(await one.query('SELECT count(*) FROM companies')).toEqual([[51]])
  expect(await one.query('SELECT count(*) FROM financials WHERE internal_id = 3')).toEqual([[0]])
  expect(await one.verify()).toMatchObject({ problems: [], notes: [] })
})

test('of two compactions at once one ends with COMMIT_CONFLICT and leaves nothing behind', async () => {
  const one = await loadedTwice()
  const outcomes = await Promise.allSettled([compact({ lake: one.lake }), compact({ lake: one.lake })])
  const failed = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))
  expect(failed).toEqual(['COMMIT_CONFLICT'])
  expect((await one.snapshot()).snapshot).toBe(3)
  expect(await runsLeft(one)).toEqual([])
  expect(await one.verify()).toMatchObject({ problems: [], notes: [] })
  expect(await one.query('SELECT count(*) FROM companies')).toEqual([[50]])
})

test.each(['checking', 'finding', 'writing', 'committing'] as const)(
  'compact that is stopped while %s leaves the lake as it was',
  async (phase) => {
    const one = await manyFiles()
    const before = await filesIn(one.lake)
    const controller = new AbortController()
    const onEvent = (event: CompactEvent): void => {
      const here = event.kind === 'progress' ? event.phase : event.kind
      if (here === phase) controller.abort()
      // This phase may be over before it tells how far it is.
      if (phase === 'finding' && here === 'checking') setImmediate(() => controller.abort())
    }
    await expect(
      compact({ lake: one.lake, targetBytes: KIB, signal: controller.signal, onEvent }),
    ).rejects.toThrow()
    expect(await filesIn(one.lake)).toEqual(before)
    expect(await one.verify()).toMatchObject({ problems: [], notes: [] })
  },
)

test('compact refuses a damaged file and leaves the lake as it was', async () => {
  const one = await loadedTwice()
  const [file] = (await one.snapshot()).partitions.flatMap(({ files }) => files)
  await writeFile(join(one.lake, file?.path ?? ''), 'not Parquet')
  await expect(compact({ lake: one.lake })).rejects.toMatchObject({ code: 'LAKE_DAMAGED' })
  expect(await runsLeft(one)).toEqual([])
  expect((await one.snapshot()).snapshot).toBe(2)
})

test('compact refuses runs that disagree on which line items are scaled', async () => {
  const one = await bench()
  await one.write('a', companyLines(3))
  await one.run(['a'])
  const path = join(one.lake, 'other.parquet')
  const engine = await Engine.open({ memoryBytes: 256 * KIB * KIB })
  const session = await engine.connect()
  await session.run(
    `COPY (SELECT 'NetSales' AS line_item, 'ProfitAndLoss' AS category, 'ratio' AS unit, false AS scaled) TO ${literal(path)} (FORMAT parquet)`,
  )
  engine.close()
  const snapshot = await one.snapshot()
  const other = await Engine.open({ memoryBytes: 256 * KIB * KIB })
  try {
    const [first] = snapshot.files
    if (first === undefined) throw new Error('The run has no dictionary')
    const rowsOf = (...paths: readonly string[]): string =>
      readTable(
        dictionaryTable(),
        paths.map((name) => ({ path: join(one.lake, name), version: 0 })),
      )
    const reading = await other.connect()
    await checkDictionaries(reading, one.lake, rowsOf(first.path))
    await expect(
      checkDictionaries(reading, one.lake, rowsOf(first.path, 'other.parquet')),
    ).rejects.toMatchObject({
      code: 'COMPACT_IMPOSSIBLE',
    })
  } finally {
    other.close()
    await rm(path)
  }
})

test('compact refuses to leave out a column that a later release has loaded', async () => {
  const one = await bench()
  await one.write('a', companyLines(3))
  await one.run(['a'])
  const { partitions } = await one.snapshot()
  const [file] = (partitions[0]?.files ?? []).filter(({ table }) => table === 'companies')
  if (file === undefined) throw new Error('The run has no companies')
  const engine = await Engine.open({ memoryBytes: 256 * KIB * KIB })
  try {
    const session = await engine.connect()
    const check = (name: string) =>
      checkColumns(session, one.lake, { name: 'companies' }, [{ path: join(one.lake, name) }])
    expect(await check(file.path)).toContain('linkedin')
    for (const [name, column] of [
      ['column', "'x' AS mood"],
      ['field', "{'name': 'x', 'mood': 'y'} AS linkedin"],
    ] as const) {
      const [from, to] = [file.path, `${name}.parquet`].map((path) => literal(join(one.lake, path)))
      await session.run(
        `COPY (SELECT * EXCLUDE (linkedin), ${column} FROM read_parquet(${from})) TO ${to} (FORMAT parquet)`,
      )
      await expect(check(`${name}.parquet`)).rejects.toMatchObject({
        code: 'COMPACT_IMPOSSIBLE',
        message: expect.stringContaining('mood'),
      })
    }
  } finally {
    engine.close()
  }
})

test('compact --dry-run tells what would be left and changes nothing', async () => {
  const one = await loadedTwice()
  const before = await filesIn(one.lake)
  const summary = await compact({ lake: one.lake, dryRun: true })
  expect(summary).toMatchObject({ kind: 'planned', snapshot: 2, partitions: 2 })
  expect(summary.kind === 'planned' && summary.tables).toMatchObject([
    { table: 'companies', before: { files: 2, rows: 70 }, after: { files: 1, rows: 50 } },
    // So many rows were replaced; equal ones become one.
    { table: 'companies_past', before: { rows: 0 }, after: { rows: 20 } },
    { table: 'employees', before: { rows: 0 } },
    { table: 'financials', before: { rows: 140 }, after: { rows: 100 } },
    { table: 'financials_past', before: { rows: 0 }, after: { rows: 40 } },
    { table: 'line_items', before: { files: 2 }, after: { files: 1 } },
  ])
  expect(await filesIn(one.lake)).toEqual(before)
})

test('the tables that compact orders by country are those of companies', async () => {
  const { compactOrder } = await import('../../src/lake/tables/sort-rows.ts')
  expect(Object.fromEntries(TABLES.map((table) => [table.name, compactOrder(table).slice(0, 3)]))).toEqual({
    companies: ['country_code', 'internal_id'],
    financials: ['country_code', 'internal_id', 'consolidation'],
    employees: ['country_code', 'internal_id', 'consolidation'],
    relations: ['country_code', 'internal_id'],
    relation_entities: ['company_id', 'entity_no'],
    ownerships: ['company_id', 'entity_no', 'no'],
    roles: ['company_id', 'entity_no', 'no'],
    line_items: ['category', 'line_item'],
  })
})
