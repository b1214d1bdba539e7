/** What others see of a published lake: delta-rs and Spark against DuckDB's own views. */

import { cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { compact } from '../../../src/jobs/compact.ts'
import { Engine, type Session } from '../../../src/lake/duckdb/engine.ts'
import { ident } from '../../../src/lake/duckdb/sql.ts'
import { TABLES, type Table } from '../../../src/lake/tables/tables.ts'
import { filesOf, readTable } from '../../../src/lake/views/current-versions.ts'
import { readSnapshot } from '../../../src/manifest/snapshots/snapshots.ts'
import { companyLine, openBench, queryLake } from '../../run/batch-bench.ts'
import { needs } from '../../support/needs.ts'
import { openReaders, type Readers, readerMissing } from '../../support/open-readers.ts'
import { examplesIn } from '../../support/page.ts'
import { SPARK_WITH_DELTA } from '../../support/readers.ts'
import { expectSameRows } from '../../support/same-rows.ts'
import { ADDED_COLUMNS, historyOf, ownColumns } from '../history.ts'
import { commitChanged, logPath, publishDelta, readCommit, sampleLake, smallLake } from '../sample-lake.ts'

/** Three runs, of which the later ones load companies of the first again, and a fourth snapshot without the second. */
const RUNS = [
  { companies: 60, seed: 3 },
  { companies: 25, seed: 4 },
  { companies: 10, seed: 5, content: ['companies'] },
] as const

let folder: string
let lake: string
/** Twelve versions; of two tables those before the checkpoint are gone. */
let checkpointed: string
/** The same lake after a compaction. */
let compacted: string
/** Three runs of one country and one day each. */
let countries: string
let engine: Engine
let session: Session
let readers: Readers | undefined

const COUNTRIES = ['DK', 'NO', 'SE'] as const

const countryLake = async (below: string): Promise<string> => {
  const bench = openBench(below)
  for (const [at, country] of COUNTRIES.entries()) {
    const basic = { InternalId: at, CompanyName: country, CountryCode: country }
    await bench.write(`${country}.jsonl`, [companyLine(at, { BasicDetails: basic }, at + 1)])
    await bench.run([`${country}.jsonl`])
  }
  return bench.lake
}

const newFolder = async (name: string): Promise<string> => {
  await mkdir(join(folder, name))
  return join(folder, name)
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-readers-'))
  const made = await sampleLake(folder, RUNS)
  await commitChanged(made, ({ partitions }) => ({
    partitions: partitions.filter(({ run }) => run !== partitions[2]?.run),
  }))
  await publishDelta(made, { rows: ['all', 'current'] })
  // A published lake may be moved.
  lake = join(await newFolder('moved'), 'lake')
  await rename(made, lake)

  compacted = join(await newFolder('compacted'), 'lake')
  await cp(lake, compacted, { recursive: true })
  await compact({ lake: compacted })
  await publishDelta(compacted, { rows: ['all', 'current'] })

  checkpointed = await smallLake(await newFolder('small'), 12)
  await publishDelta(checkpointed)
  for (const table of ['companies', 'financials'])
    for (let version = 0; version < 10; version += 1) await rm(logPath(checkpointed, table, version))

  countries = await countryLake(await newFolder('countries'))
  await publishDelta(countries)

  engine = await Engine.open({ memoryBytes: 512 * 1024 ** 2 })
  session = await engine.connect()
  const settings = { ...SPARK_WITH_DELTA, 'spark.sql.adaptive.enabled': 'false' }
  readers = await openReaders({ folder, sparkSettings: settings })
}, 300_000)

afterAll(async () => {
  await readers?.close()
  engine?.close()
  await rm(folder, { recursive: true, force: true })
}, 300_000)

const opened = (): Readers => {
  if (readers === undefined) throw new TypeError('The readers are not open')
  return readers
}

/** The engines that read published tables: how each writes a table, or the rows of a query, as Parquet. */
const READERS = [
  {
    name: 'delta-rs',
    kind: 'python',
    copyTable: `
from deltalake import DeltaTable
import pyarrow.parquet as pq
pq.write_table(DeltaTable(input['path'], version=input.get('version')).to_pyarrow_table(), input['to'])
`,
    copyQuery: `
from deltalake import DeltaTable, QueryBuilder
import pyarrow, pyarrow.parquet as pq
tables = QueryBuilder()
for name in ['companies', 'financials', 'relations', 'roles']:
    tables = tables.register(name, DeltaTable(input['lake'] + '/' + name))
def plain(type):
    if pyarrow.types.is_string_view(type):
        return pyarrow.string()
    if pyarrow.types.is_list(type):
        return pyarrow.list_(plain(type.value_type))
    if pyarrow.types.is_struct(type):
        return pyarrow.struct([(field.name, plain(field.type)) for field in type])
    return type
rows = pyarrow.table(tables.execute(input['sql']).read_all())
# Parquet is not written from views of texts.
schema = pyarrow.schema([(field.name, plain(field.type)) for field in rows.schema])
pq.write_table(pyarrow.Table.from_pylist(rows.to_pylist(), schema=schema), input['to'])
`,
    countFiles: `
from deltalake import DeltaTable
from pyarrow.dataset import field
from datetime import datetime, timezone
kept = {
    'version': field('version') == input['version'],
    'load': field('load') == input['load'],
    'snapshot': field('snapshot') == 2,
    'loaded': field('loaded_at') < datetime(2000, 1, 1, tzinfo=timezone.utc),
    'country': field('country_code') == 'NO',
    'none': field('country_code') == 'FI',
    'instant': field('content_updated_at') > datetime(2025, 1, 2, 12, tzinfo=timezone.utc),
}
dataset = DeltaTable(input['path']).to_pyarrow_dataset()
result = {name: len(list(dataset.get_fragments(filter=kept[name]))) for name in input['filters']}
`,
  },
  {
    name: 'Spark',
    kind: 'spark',
    copyTable: `
reader = spark.read.format('delta')
if input.get('version') is not None:
    reader = reader.option('versionAsOf', input['version'])
reader.load(input['path']).coalesce(1).write.parquet(input['to'])
`,
    copyQuery: `
for name in ['companies', 'financials', 'relations', 'roles']:
    spark.read.format('delta').load(input['lake'] + '/' + name).createOrReplaceTempView(name)
spark.sql(input['sql']).coalesce(1).write.parquet(input['to'])
`,
    countFiles: `
kept = {
    'version': 'version = ' + str(input['version']),
    'load': "load = '" + input['load'] + "'",
    'snapshot': 'snapshot = 2',
    'loaded': "loaded_at < timestamp '2000-01-01 00:00:00'",
    'country': "country_code = 'NO'",
    'none': "country_code = 'FI'",
    'instant': "content_updated_at > timestamp '2025-01-02 12:00:00'",
}
result = {}
for name in input['filters']:
    rows = spark.read.format('delta').load(input['path']).filter(kept[name])
    rows.collect()
    leaves = rows._jdf.queryExecution().executedPlan().collectLeaves()
    metrics = leaves.apply(0).metrics()
    result[name] = metrics.apply('numFiles').value() if metrics.contains('numFiles') else 0
`,
  },
] as const

const withAdded = (table: Table): string => [ownColumns(table), ...ADDED_COLUMNS].join(', ')

/** The Delta version that shows a snapshot of a table, by the log. */
const versionOf = async (table: string, snapshot: number): Promise<number> => {
  let found = -1
  for (let version = 0; ; version += 1) {
    const actions = await readCommit(lake, table, version).catch(() => undefined)
    const txn = actions?.find((action) => action.txn)?.txn
    if (txn === undefined || Number(txn.version) > snapshot) return found
    found = version
  }
}

/** The code of a language in the page on published tables, block by block. */
const documented = (language: string): string[] => examplesIn('docs/published-tables.md', language)

// Spark takes a while to start, and longer where others are at work.
describe.each(READERS)('$name', { timeout: 300_000 }, (reader) => {
  beforeEach((context) => needs(context, reader.name, readerMissing[reader.kind]()))

  const copyTable = (path: string, version?: number): Promise<string> =>
    opened().copied(reader.kind, reader.copyTable, { path, ...(version !== undefined && { version }) })
  const copyQuery = (sql: string): Promise<string> =>
    opened().copied(reader.kind, reader.copyQuery, { lake, sql })

  test.each(TABLES)('sees the rows of the history of $name', async (table) => {
    const seen = `SELECT ${withAdded(table)} FROM ${await copyTable(join(lake, table.name))}`
    await expectSameRows(session, seen, historyOf(await readSnapshot(lake), lake, table), table.name)
  })

  test('sees the sums of the history', async () => {
    const sums = (from: string): string =>
      `SELECT country_code, count(*) AS n, sum(value) AS total, min(fiscal_year) AS oldest, max(fiscal_year) AS newest
FROM ${from} GROUP BY country_code ORDER BY country_code`
    const seen = await session.rows(
      `SELECT * FROM ${await copyQuery(sums('financials'))} ORDER BY country_code`,
    )
    const expected = await queryLake(lake, sums('financials_history'))
    expect(expected.length).toBeGreaterThan(3)
    expect(seen).toHaveLength(expected.length)
    for (const [at, [country, n, total, oldest, newest]] of expected.entries()) {
      const row = seen[at]
      expect([row?.country_code, Number(row?.n), row?.oldest, row?.newest]).toEqual([
        country,
        n,
        oldest,
        newest,
      ])
      // Engines add doubles in different orders.
      expect(Number(row?.total) / Number(total)).toBeCloseTo(1, 9)
    }
  })

  test('sees at an older version what the lake is at its snapshot', async () => {
    const financials = TABLES.filter(({ name }) => name === 'financials')
    const moments = [
      TABLES.map((table) => ({ table, at: 2 })),
      [1, 3].map((at) => financials.map((table) => ({ table, at }))),
    ]
    for (const { table, at } of moments.flat(2)) {
      const seen = await copyTable(join(lake, table.name), await versionOf(table.name, at))
      const expected = historyOf(await readSnapshot(lake, at), lake, table)
      const text = `${table.name} at ${at}`
      await expectSameRows(session, `SELECT ${withAdded(table)} FROM ${seen}`, expected, text)
    }
  })

  test('selects current versions by the documented lines', async () => {
    const lines = documented('sql')[0]?.trim().split('\n') ?? []
    expect(lines).toHaveLength(3)
    const views = TABLES.filter(({ name }) => ['financials', 'companies', 'roles'].includes(name))
    for (const line of lines) {
      const table = views.find(({ name }) => line.includes(`FROM ${name} f`))
      if (table === undefined) throw new TypeError(`No table in "${line}"`)
      const seen = `SELECT ${ownColumns(table)} FROM ${await copyQuery(line)}`
      await expectSameRows(session, seen, await currentOf(table), line)
    }
  })

  test('sees the current rows without a join, before and after compact', async () => {
    for (const where of [lake, compacted])
      for (const table of TABLES.filter(({ content }) => content !== undefined)) {
        const path = join(where, 'published/delta', table.name)
        const seen = `SELECT ${ownColumns(table)} FROM ${await copyTable(path)}`
        await expectSameRows(session, seen, await currentOf(table), table.name)
      }
  })

  test('sees the current rows alone right after compact', async () => {
    for (const table of TABLES.filter(({ content }) => content !== undefined)) {
      const seen = `SELECT ${ownColumns(table)} FROM ${await copyTable(join(compacted, table.name))}`
      await expectSameRows(session, seen, await currentOf(table), table.name)
    }
  })

  test('reads a table from its checkpoint', async () => {
    for (const table of TABLES.filter(({ name }) => ['companies', 'financials'].includes(name))) {
      const seen = `SELECT ${withAdded(table)} FROM ${await copyTable(join(checkpointed, table.name))}`
      await expectSameRows(
        session,
        seen,
        historyOf(await readSnapshot(checkpointed), checkpointed, table),
        table.name,
      )
      const older = `SELECT ${withAdded(table)} FROM ${await copyTable(join(checkpointed, table.name), 10)}`
      await expectSameRows(
        session,
        older,
        historyOf(await readSnapshot(checkpointed, 11), checkpointed, table),
        table.name,
      )
    }
  })

  test('opens no file that a filter on partitions or statistics rules out', async () => {
    const { run, partitions } = await readSnapshot(countries, 2)
    const { version } = partitions[0] ?? {}
    const count = (table: string, filters: readonly string[]) =>
      opened()
        .reader(reader.kind)
        .run(reader.countFiles, { path: join(countries, table), load: run, version, filters })
    expect(await count('financials', ['version', 'load', 'snapshot', 'loaded', 'country', 'none'])).toEqual({
      version: 1,
      load: 1,
      snapshot: 1,
      loaded: 0,
      country: 1,
      none: 0,
    })
    expect(await count('companies', ['country', 'instant'])).toEqual({ country: 1, instant: 1 })
  })

  test('runs what the document shows', async () => {
    const scripts = documented('python').filter(
      (script) => /delta/i.test(script) && script.includes('spark.') === (reader.kind === 'spark'),
    )
    expect(scripts).toHaveLength(1)
    const [[expected]] = (await queryLake(lake, 'SELECT count(*) FROM financials')) as [[number]]
    const text = scripts[0]?.replaceAll('./lake/', `${lake}/`)
    expect(await opened().reader(reader.kind).run(`${text}\nresult = rows`)).toBe(expected)
  })
})

/** The current rows of a table by the lake's own view, put into the session. */
const currentOf = async (table: Table): Promise<string> => {
  const snapshot = await readSnapshot(lake)
  const main = TABLES.find(({ name }) => name === table.content) ?? table
  const owners = readTable(main, filesOf(snapshot, lake, main.name), 'with-version')
  const rows = readTable(table, filesOf(snapshot, lake, table.name), 'with-version')
  const [[count]] = (await queryLake(lake, `SELECT count(*) FROM ${table.name}`)) as [[number]]
  const sql = `SELECT ${ownColumns(table)} FROM (${rows}) AS r WHERE version =
  (SELECT max(version) FROM (${owners}) AS o WHERE o.internal_id = r.${ident(table.owner ?? '')})`
  const [own] = await session.rows(`SELECT count(*) AS n FROM (${sql})`)
  expect(Number(own?.n), 'rows of the view').toBe(count)
  return sql
}
