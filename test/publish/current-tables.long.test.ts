/** Tables of current rows against the lake's own views, after everything that changes which rows are current. */

import { readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compact } from '../../src/jobs/compact.ts'
import { gc } from '../../src/jobs/gc.ts'
import { Engine, type Session } from '../../src/lake/duckdb/engine.ts'
import { TABLES, type Table } from '../../src/lake/tables/tables.ts'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { companyLine, openBench, verify } from '../run/batch-bench.ts'
import { compareRows } from '../support/same-rows.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  contentTables,
  currentMetadata,
  deltaFiles,
  icebergFiles,
  publishCurrent,
  shownRows,
} from './current-lake.ts'
import { currentRowsOf } from './history.ts'
import { commitChanged, loadSample, loadSmallRun, sampleLake } from './sample-lake.ts'
import { usePublishedLakes, useSmallLakes } from './small-lakes.ts'

const smallLake = useSmallLakes()
const publishedLake = usePublishedLakes(smallLake, publishCurrent)

let engine: Engine
let session: Session
beforeAll(async () => {
  engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  session = await engine.connect()
})
afterAll(() => {
  session.close()
  engine.close()
})

/** The same rows in each format; some at all in a table of each lake, though a lake of companies alone has no roles. */
const expectCurrent = async (lake: string, when: string): Promise<void> => {
  const snapshot = await readSnapshot(lake)
  const sides = await Promise.all(
    contentTables.map(async (table) => ({
      table: table.name,
      lake: currentRowsOf(snapshot, lake, table),
      ...(await shownRows(lake, table)),
    })),
  )
  const hashed = (sql: string): string =>
    `(SELECT [count(*), sum(hash(r)::HUGEINT)]::TEXT FROM (${sql}) AS r)`
  const rows = await session.rows(
    sides
      .map(
        (one, place) =>
          `SELECT ${place} AS place, ${hashed(one.lake)} AS lake, ${hashed(one.delta)} AS delta, ${hashed(one.iceberg)} AS iceberg`,
      )
      .join('\nUNION ALL ')
      .concat(' ORDER BY place'),
  )
  expect(
    rows.filter(({ lake: own }) => !`${own}`.startsWith('[0,')),
    `rows ${when}`,
  ).not.toEqual([])
  for (const [at, one] of sides.entries())
    for (const format of ['delta', 'iceberg'] as const)
      if (rows[at]?.[format] !== rows[at]?.lake)
        expect(await compareRows(session, one.lake, one[format]), `${one.table} of ${format} ${when}`).toBe(
          'the same',
        )
  expect((await verify(lake)).problems, when).toEqual([])
}

const tableOf = (name: string): Table => {
  const table = TABLES.find((one) => one.name === name)
  if (table === undefined) throw new TypeError(name)
  return table
}

/** What the files of the last version of a Delta table's log say of its rows. */
const changesOfLastVersion = async (lake: string, table: string): Promise<readonly unknown[]> => {
  const log = join(lake, 'published/delta', table, '_delta_log')
  const last =
    (await readdir(log))
      .filter((name) => /^\d+\.json$/.test(name))
      .sort()
      .at(-1) ?? ''
  const actions = (await readFile(join(log, last), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  return [...new Set(actions.flatMap(({ add, remove }) => (add ?? remove)?.dataChange ?? []))]
}

const rowsOf = async (lake: string, name: string): Promise<Record<string, number>> => {
  const shown = await shownRows(lake, tableOf(name))
  const counts: Record<string, number> = {}
  for (const [format, sql] of Object.entries(shown)) {
    const [row] = await session.rows(`SELECT count(*) AS n FROM (${sql})`)
    counts[format] = Number(row?.n)
  }
  return counts
}

const restate = (folder: string, seed: number): Promise<void> => loadSample(folder, { companies: 12, seed })

test('tables of current rows follow loads, restatements, a compaction and gc', async () => {
  const folder = await temporaryFolder()
  const lake = await sampleLake(folder, [{ companies: 30, seed: 3 }])
  await publishCurrent(lake)
  await restate(folder, 4)
  await publishCurrent(lake)
  await expectCurrent(lake, 'after a restatement')
  await compact({ lake })
  await gc({ lake, keep: 1 })
  await expectCurrent(lake, 'after a compaction and gc')
  expect((await icebergFiles(lake, 'financials')).deletes).toEqual([])
})

test('tables of current rows follow merges of the newest partitions, and loads behind them', async () => {
  const folder = await temporaryFolder()
  const lake = await sampleLake(folder, [{ companies: 90, seed: 3 }])
  for (let seed = 4; seed <= 15; seed += 1) await loadSample(folder, { companies: 1 + (seed % 3), seed })
  await publishCurrent(lake)
  const before = await deltaFiles(lake, 'companies')
  expect(await compact({ lake, auto: true })).toMatchObject({ kind: 'compacted' })
  await publishCurrent(lake)
  // Whoever follows changes sees none: files of the same rows for others, those of the largest partition as they are.
  const after = await deltaFiles(lake, 'companies')
  expect(after.filter((name) => before.includes(name)).length).toBeGreaterThan(0)
  expect(after.filter((name) => !before.includes(name)).length).toBeGreaterThan(0)
  expect(await changesOfLastVersion(lake, 'companies')).toEqual([false])
  const { snapshots = [] } = await currentMetadata(lake, 'companies')
  expect(snapshots.at(-1)?.summary.operation).toBe('replace')
  await expectCurrent(lake, 'after a merge')
  await restate(folder, 16)
  await publishCurrent(lake)
  await gc({ lake, keep: 1 })
  await expectCurrent(lake, 'after a load behind it')
})

test('a publication writes what changed: copies of files that lost rows, positions that are new', async () => {
  const folder = await temporaryFolder()
  const bench = openBench(folder)
  const load = async (name: string, ids: readonly number[], day: number): Promise<void> => {
    await bench.write(
      `${name}.jsonl`,
      ids.map((id) => companyLine(id, {}, day)),
    )
    await bench.run([`${name}.jsonl`])
  }
  await load('first', [1, 2, 3, 4], 1)
  await load('second', [11, 12], 2)
  await publishCurrent(bench.lake)
  const [before, [first, second]] = [
    await deltaFiles(bench.lake, 'financials'),
    (await bench.snapshot()).partitions,
  ]
  // Not one row of them is superseded: other names of the lake's files.
  const inode = async (path: string) => (await stat(join(bench.lake, path))).ino
  const own = first?.files.find(({ table }) => table === 'financials')?.path ?? ''
  expect(await inode(`published/delta/financials/${before[0]}`)).toBe(await inode(own))

  await load('third', [2, 21], 3)
  await publishCurrent(bench.lake)
  const after = await deltaFiles(bench.lake, 'financials')
  const kept = after.filter((name) => before.includes(name))
  expect(kept).toHaveLength(1)
  expect(kept[0]).toContain(second?.run)
  expect(after).toHaveLength(3)
  const { data, deletes } = await icebergFiles(bench.lake, 'financials')
  expect(data.map(({ rows }) => rows)).toEqual([4, 8, 4])
  expect(deletes.map(({ rows }) => rows)).toEqual([2])

  await load('fourth', [3], 4)
  await publishCurrent(bench.lake)
  const later = await icebergFiles(bench.lake, 'financials')
  expect(later.deletes.map(({ rows }) => rows)).toEqual([2, 2])
  expect(later.deletes.map(({ path }) => path)).toContain(deletes[0]?.path)
  expect(await rowsOf(bench.lake, 'financials')).toEqual({ delta: 14, iceberg: 14 })
  expect((await publishCurrent(bench.lake)).tables.map(({ versions }) => versions)).toEqual(Array(16).fill(0))
})

test('tables of current rows take nothing of what was older than the lake when it came', async () => {
  const folder = await temporaryFolder()
  const bench = openBench(folder)
  const load = async (name: string, ids: readonly number[], day: number): Promise<void> => {
    const named = (id: number): object => ({
      InternalId: id,
      CompanyName: `${id} of ${day}`,
      CountryCode: 'SE',
    })
    await bench.write(
      `${name}.jsonl`,
      ids.map((id) => companyLine(id, { BasicDetails: named(id) }, day)),
    )
    await bench.run([`${name}.jsonl`])
  }
  const shows = async (...names: readonly string[]): Promise<void> => {
    await publishCurrent(bench.lake)
    for (const sql of Object.values(await shownRows(bench.lake, tableOf('companies'))))
      expect(await session.rows(`SELECT company_name AS name FROM (${sql}) ORDER BY 1`)).toEqual(
        names.map((name) => ({ name })),
      )
  }
  await load('first', [1, 2], 10)
  await shows('1 of 10', '2 of 10')
  await load('late', [1, 3], 9)
  await shows('1 of 10', '2 of 10', '3 of 9')
  await load('later still', [2, 3], 8)
  await shows('1 of 10', '2 of 10', '3 of 9')
  await load('newer', [3], 12)
  await shows('1 of 10', '2 of 10', '3 of 12')
  await compact({ lake: bench.lake })
  await load('old', [1, 2, 3, 4], 7)
  await shows('1 of 10', '2 of 10', '3 of 12', '4 of 7')
})

test('a file whose rows are all superseded is in no table of current rows', async () => {
  const lake = await publishedLake(3)
  await expectCurrent(lake, 'of small runs')
  // Company 1 stands in the first file alone, its company 2 in the second one; the third run has 3 and 4.
  expect(await rowsOf(lake, 'companies')).toEqual({ delta: 4, iceberg: 4 })
  const folder = join(lake, '..')
  const bench = openBench(folder)
  await bench.write('again.jsonl', [companyLine(1, {}, 9), companyLine(2, {}, 9)])
  await bench.run(['again.jsonl'])
  await publishCurrent(lake)
  expect((await icebergFiles(lake, 'companies')).data).toHaveLength(2)
  expect(await deltaFiles(lake, 'companies')).toHaveLength(2)
  await expectCurrent(lake, 'after the first files are superseded')
})

test('deletes of one file become one file after a few publications', async () => {
  const folder = await temporaryFolder()
  const bench = openBench(folder)
  await bench.write(
    'all.jsonl',
    Array.from({ length: 20 }, (_, at) => companyLine(at + 1)),
  )
  await bench.run(['all.jsonl'])
  const publishDeletes = () => publishCurrent(bench.lake, { formats: ['iceberg'] })
  await publishDeletes()
  const counts: number[] = []
  for (let id = 1; id <= 8; id += 1) {
    await bench.write(`${id}.jsonl`, [companyLine(id, {}, 2)])
    await bench.run([`${id}.jsonl`])
    await publishDeletes()
    counts.push((await icebergFiles(bench.lake, 'companies')).deletes.length)
  }
  expect(counts).toEqual([1, 2, 3, 4, 5, 6, 7, 1])
  await publishCurrent(bench.lake)
  await expectCurrent(bench.lake, 'after eight restatements')
})

test('files come with a lower number than the deletes of their rows, where one run supersedes its own rows', async () => {
  const folder = await temporaryFolder()
  const bench = openBench(folder)
  await bench.write('a.jsonl', [companyLine(1), companyLine(2)])
  await bench.write('b.jsonl', [companyLine(2, {}, 2), companyLine(3)])
  await bench.run(['a.jsonl', 'b.jsonl'])
  await publishCurrent(bench.lake)
  await expectCurrent(bench.lake, 'of one run')
  const { data, deletes } = await icebergFiles(bench.lake, 'companies')
  for (const { sequence } of deletes) for (const file of data) expect(file.sequence).toBeLessThan(sequence)
  const { snapshots = [] } = await currentMetadata(bench.lake, 'companies')
  expect(snapshots).toHaveLength(1)
})

test('two that publish at once show the lake once', async () => {
  const folder = await temporaryFolder()
  const lake = await smallLake(folder, 2)
  await Promise.all([publishCurrent(lake), publishCurrent(lake)])
  await loadSmallRun(folder, 3)
  await Promise.all([publishCurrent(lake), publishCurrent(lake)])
  await expectCurrent(lake, 'after two at once')
})

test('a table that shows a snapshot which is gone is made from all that the lake lists', async () => {
  const lake = await publishedLake(2)
  const folder = dirname(lake)
  // Rows of the second run that are superseded become current again where the later run goes.
  await loadSmallRun(folder, 3)
  await publishCurrent(lake)
  await commitChanged(lake, ({ partitions }) => ({ partitions: partitions.slice(0, 2) }))
  await publishCurrent(lake)
  await expectCurrent(lake, 'after a run is gone')
})

test('publish makes the Iceberg tables of a lake that was moved again', async () => {
  const lake = await publishedLake(3)
  const folder = dirname(lake)
  const moved = join(folder, 'elsewhere')
  await rename(lake, moved)
  const { tables } = await publishCurrent(moved)
  expect(tables.filter(({ moved: again }) => again).every(({ format }) => format === 'iceberg')).toBe(true)
  await expectCurrent(moved, 'after a move')
})

test('verify names a file of current rows that is changed or missing', async () => {
  const lake = await publishedLake(3)
  const rewritten = []
  for (const name of await deltaFiles(lake, 'companies'))
    if ((await stat(join(lake, 'published/delta/companies', name))).nlink === 1) rewritten.push(name)
  const changed = `published/delta/companies/${rewritten[0]}`
  await writeFile(join(lake, changed), 'other')
  const [deletes] = (await icebergFiles(lake, 'companies')).deletes
  await rm(deletes?.path ?? '')
  const { problems } = await verify(lake)
  expect(problems.map(({ problem, path }) => [problem, join(lake, path)])).toEqual([
    ['changed', join(lake, changed)],
    ['missing', deletes?.path],
  ])
})

test('gc removes what no version needs, and leaves alone what may still come', async () => {
  const lake = await publishedLake(2)
  const folder = dirname(lake)
  const before = await deltaFiles(lake, 'companies')
  await loadSmallRun(folder, 3)
  await publishCurrent(lake)
  const root = join(lake, 'published/delta/companies')
  const current = await deltaFiles(lake, 'companies')
  const [gone] = before.filter((name) => !current.includes(name))
  // As a crash before the log leaves it.
  const stray = join(root, 'stray-0123456789abcdef.parquet')
  await writeFile(stray, '')
  const age = async (path: string): Promise<void> => utimes(path, 0, 0)
  for (const name of await readdir(root, { recursive: true }))
    if (name.endsWith('.parquet') && name !== 'stray-0123456789abcdef.parquet') await age(join(root, name))

  const first = await gc({ lake })
  expect(first.files).toEqual([])
  await age(stray)
  const swept = await gc({ lake, keep: 1 })
  expect(swept.files.filter((path) => path.startsWith('published/')).sort()).toEqual(
    [`published/delta/companies/${gone}`, 'published/delta/companies/stray-0123456789abcdef.parquet'].sort(),
  )
  await expectCurrent(lake, 'after gc')
})
