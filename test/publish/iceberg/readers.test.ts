/** What others see of a lake published as Iceberg: PyIceberg and Spark against DuckDB's own views. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { FileEntry } from '../../../src/core/partition.ts'
import { Engine, type Session } from '../../../src/lake/duckdb/engine.ts'
import { ident, literal } from '../../../src/lake/duckdb/sql.ts'
import { inLake } from '../../../src/lake/files/layout.ts'
import { TABLES, type Table } from '../../../src/lake/tables/tables.ts'
import { readSnapshot } from '../../../src/manifest/snapshots/snapshots.ts'
import { hashFile } from '../../../src/support/hash.ts'
import { queryLake } from '../../run/batch-bench.ts'
import { needs } from '../../support/needs.ts'
import { openReaders, type Readers, readerMissing } from '../../support/open-readers.ts'
import { examplesIn } from '../../support/page.ts'
import { pythonMissing, sparkMissing } from '../../support/readers.ts'
import { type RestCatalog, restCatalogMissing, startRestCatalog } from '../../support/rest-catalog.ts'
import { expectSameRows } from '../../support/same-rows.ts'
import { ADDED_COLUMNS, currentRowsOf, historyOf, ownColumns } from '../history.ts'
import { commitChanged, sampleLake } from '../sample-lake.ts'
import { publishIceberg, readMetadata } from './iceberg-lake.ts'

// Spark's first query alone may take a minute on a busy machine.
vi.setConfig({ testTimeout: 240_000 })

/** Three runs, of which the later ones load companies of the first again. */
const RUNS = [
  { companies: 60, seed: 3 },
  { companies: 25, seed: 4 },
  { companies: 10, seed: 5, content: ['companies'] },
] as const

let folder: string
let lake: string
let engine: Engine
let session: Session
let catalog: RestCatalog | undefined
let readers: Readers | undefined

/** Writes a file once more, beside it, without field ids. */
const withoutFieldIds = async (file: FileEntry): Promise<FileEntry> => {
  if (!file.path.endsWith('.parquet')) return file
  const path = file.path.replace(/-0(?=\d+\.parquet$)/, '-9')
  await session.copy(
    `SELECT * FROM read_parquet(${literal(inLake(lake, file.path))}, hive_partitioning = false)`,
    inLake(lake, path),
    { kind: 'parquet' },
  )
  const { bytes, sha256 } = await hashFile(inLake(lake, path))
  return { ...file, path, bytes, sha256 }
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-iceberg-'))
  engine = await Engine.open({ memoryBytes: 512 * 1024 ** 2 })
  session = await engine.connect()
  lake = await sampleLake(folder, RUNS)
  // Snapshot 4: the first run's files without field ids, the second run gone.
  const { partitions } = await readSnapshot(lake)
  const [first, second, third] = [...new Set(partitions.map(({ run }) => run))]
  const changed = await Promise.all(
    partitions
      .filter(({ run }) => run === first)
      .map(async (partition) => ({
        ...partition,
        files: await Promise.all(partition.files.map(withoutFieldIds)),
      })),
  )
  expect(second).toBeDefined()
  if (restCatalogMissing() === undefined) catalog = await startRestCatalog()
  await publishIceberg(lake)
  if (catalog) await publishIceberg(lake, { catalog: { url: catalog.url } })
  await commitChanged(lake, () => ({
    partitions: [...changed, ...partitions.filter(({ run }) => run === third)],
  }))
  await publishIceberg(lake, { rows: ['all', 'current'] })

  const settings: Record<string, string> = {
    'spark.sql.catalog.folders': 'org.apache.iceberg.spark.SparkCatalog',
    'spark.sql.catalog.folders.type': 'hadoop',
    'spark.sql.catalog.folders.warehouse': folder,
  }
  if (catalog) {
    await publishIceberg(lake, { catalog: { url: catalog.url } })
    settings['spark.sql.catalog.rest'] = 'org.apache.iceberg.spark.SparkCatalog'
    settings['spark.sql.catalog.rest.type'] = 'rest'
    settings['spark.sql.catalog.rest.uri'] = catalog.url
    settings['spark.sql.catalog.rest.io-impl'] = 'org.apache.iceberg.hadoop.HadoopFileIO'
  }
  readers = await openReaders({ folder, sparkSettings: settings })
}, 240_000)

afterAll(async () => {
  await readers?.close()
  await catalog?.close()
  engine?.close()
  await rm(folder, { recursive: true, force: true })
})

const opened = (): Readers => {
  if (readers === undefined) throw new TypeError('The readers are not open')
  return readers
}

/** The engines that read published tables: how each writes a table, or the current rows of one, as Parquet. */
const READERS = [
  {
    name: 'PyIceberg',
    kind: 'python',
    copyTable: `
from pyiceberg.table import StaticTable
import pyarrow.parquet as pq
table = StaticTable.from_metadata(input['path'])
pq.write_table(table.scan(snapshot_id=input.get('snapshot')).to_arrow(), input['to'])
`,
    copyFromCatalog: `
from pyiceberg.catalog import load_catalog
import pyarrow.parquet as pq
catalog = load_catalog('rest', type='rest', uri=input['url'], **{'py-io-impl': 'pyiceberg.io.pyarrow.PyArrowFileIO'})
pq.write_table(catalog.load_table('firmlake.' + input['table'] + '_history').scan().to_arrow(), input['to'])
`,
  },
  {
    name: 'Spark',
    kind: 'spark',
    copyTable: `
reader = spark.read.format('iceberg')
if input.get('snapshot') is not None:
    reader = reader.option('versionAsOf', input['snapshot'])
reader.load(input['path']).coalesce(1).write.parquet(input['to'])
`,
    copyFromCatalog: `
spark.table('rest.firmlake.' + input['table'] + '_history').coalesce(1).write.parquet(input['to'])
`,
  },
] as const

/**
 * A table's columns as a reader can tell them. PyIceberg reads a list of structs that is null as an empty one
 * (apache/iceberg-python#3833).
 */
const visibleColumns = (reader: string, table: Table, added: readonly string[]): string =>
  [
    ...table.columns.map(({ name, type }) => {
      const cast = `CAST(${ident(name)} AS ${type})`
      const isLost = reader === 'PyIceberg' && type.startsWith('STRUCT') && type.endsWith('[]')
      return `${isLost ? `coalesce(${cast}, [])` : cast} AS ${ident(name)}`
    }),
    ...added,
  ].join(', ')

/** The code of a language in the page's part on Iceberg, block by block. */
const documented = (language: string): string[] =>
  examplesIn('docs/published-tables.md', language, 'Apache Iceberg')

describe.each(READERS)('$name', (reader) => {
  beforeEach((context) => needs(context, reader.name, readerMissing[reader.kind]()))

  const copied = (script: string, input: object): Promise<string> =>
    opened().copied(reader.kind, script, input)
  const expectSame = (
    seen: string,
    expected: string,
    table: Table,
    when = '',
    added: readonly string[] = ADDED_COLUMNS,
  ): Promise<void> => {
    const columns = visibleColumns(reader.name, table, added)
    const rows = `SELECT ${columns} FROM ${seen}`
    return expectSameRows(session, rows, `SELECT ${columns} FROM (${expected})`, `${table.name}${when}`)
  }

  test.each(TABLES)('sees the rows of the history of $name', async (table) => {
    const seen = await copied(reader.copyTable, { path: join(lake, table.name) })
    const expected = historyOf(await readSnapshot(lake), lake, table)
    await expectSame(seen, expected, table)
  })

  test('sees the current rows without a join', async () => {
    for (const table of TABLES.filter(({ content }) => content !== undefined)) {
      const seen = await copied(reader.copyTable, { path: join(lake, 'published/iceberg', table.name) })
      await expectSame(seen, currentRowsOf(await readSnapshot(lake), lake, table), table, ' now', [])
    }
  })

  test('sees the sums of the history', async () => {
    const sums = (from: string): string =>
      `SELECT country_code, count(*) AS n, sum(value) AS total FROM ${from} GROUP BY country_code ORDER BY country_code`
    const seen = await session.rows(sums(await copied(reader.copyTable, { path: join(lake, 'financials') })))
    const expected = await queryLake(lake, sums('financials_history'))
    expect(expected.length).toBeGreaterThan(3)
    expect(seen.map((row) => [row.country_code, Number(row.n)])).toEqual(
      expected.map(([country, n]) => [country, n]),
    )
    // Engines add doubles in different orders.
    for (const [at, [, , total]] of expected.entries())
      expect(Number(seen[at]?.total) / Number(total)).toBeCloseTo(1, 9)
  })

  test('sees at an older snapshot what the lake was at its own', async () => {
    for (const name of ['companies', 'financials', 'relation_entities']) {
      const table = TABLES.find((one) => one.name === name)
      const { snapshots = [] } = await readMetadata(lake, name)
      if (table === undefined) throw new TypeError(name)
      expect(snapshots.length).toBeGreaterThan(1)
      for (const { 'snapshot-id': id, summary } of snapshots) {
        const seen = await copied(reader.copyTable, { path: join(lake, name), snapshot: id })
        const expected = historyOf(
          await readSnapshot(lake, Number(summary['firmlake.snapshot'])),
          lake,
          table,
        )
        const isEarlier = Number(summary['firmlake.snapshot']) < 4
        await expectSame(seen, expected, table, ` at ${id}`, isEarlier ? ['load', 'version'] : ADDED_COLUMNS)
      }
    }
  })

  test('sees the same through a REST catalog', async (context) => {
    needs(context, 'an Iceberg REST catalog', restCatalogMissing())
    for (const name of ['companies', 'roles']) {
      const table = TABLES.find((one) => one.name === name)
      if (table === undefined) throw new TypeError(name)
      const seen = await copied(reader.copyFromCatalog, { url: catalog?.url, table: name })
      await expectSame(seen, historyOf(await readSnapshot(lake), lake, table), table)
    }
  })

  test('selects current versions as the document shows', async () => {
    const scripts = documented('py').filter(
      (script) => script.includes('spark.') === (reader.kind === 'spark'),
    )
    expect(scripts).toHaveLength(1)
    const table = TABLES.find(({ name }) => name === 'financials')
    if (table === undefined) throw new TypeError('financials')
    const script = scripts[0]?.replaceAll('./lake/', `${lake}/`)
    const write =
      reader.kind === 'spark'
        ? `current.coalesce(1).write.parquet(input['to'])`
        : `import pyarrow.parquet as pq\npq.write_table(current, input['to'])`
    const seen = await copied(`${script}\n${write}`, {})
    const expected = currentRowsOf(await readSnapshot(lake), lake, table)
    await expectSameRows(session, `SELECT ${ownColumns(table)} FROM ${seen}`, expected, 'financials')
  })
})

test('Spark sees a lake as a namespace of a hadoop catalog', async (context) => {
  needs(context, 'Spark', sparkMissing())
  const [[expected]] = (await queryLake(lake, 'SELECT count(*) FROM companies_history')) as [[number]]
  const script = `result = spark.sql('SELECT count(*) FROM folders.lake.companies').collect()[0][0]`
  expect(await opened().reader('spark').run(script)).toBe(expected)
})

test('PyIceberg plans no file that a filter on partitions or bounds rules out', async (context) => {
  needs(context, 'PyIceberg', pythonMissing())
  const { partitions } = await readSnapshot(lake)
  const [range] = (await queryLake(
    lake,
    "SELECT count(DISTINCT country_code), min(country_code) FROM companies_history WHERE country_code > 'A'",
  )) as [[number, string]]
  expect(range[0]).toBeGreaterThan(1)
  const script = `
from pyiceberg.table import StaticTable
table = StaticTable.from_metadata(input['path'])
result = {one: len(list(table.scan(row_filter=one).plan_files())) if one else len(list(table.scan().plan_files())) for one in input['filters']}
`
  const files = partitions.flatMap((one) => one.files).filter(({ table }) => table === 'financials')
  const run = partitions[0]?.run ?? ''
  const ofRun = files.filter(({ path }) => path.includes(run)).length
  const { version } = partitions.find((one) => one.files.some(({ table }) => table === 'financials')) ?? {}
  const filters = {
    all: '',
    load: `load = '${run}'`,
    version: `version = ${version}`,
    snapshot: 'snapshot = 1',
    loaded: "loaded_at < '2000-01-01T00:00:00+00:00'",
    below: "country_code < 'AA'",
    above: "country_code > 'ZZ'",
    number: 'internal_id < 0',
  }
  const planned = await opened()
    .reader('python')
    .run<Record<string, number>>(script, {
      path: join(lake, 'financials'),
      filters: Object.values(filters),
    })
  expect(files.length).toBeGreaterThan(1)
  expect(planned).toEqual({
    [filters.all]: files.length,
    [filters.load]: ofRun,
    [filters.version]: 1,
    [filters.snapshot]: ofRun,
    [filters.loaded]: 0,
    [filters.below]: 0,
    [filters.above]: 0,
    [filters.number]: 0,
  })
})
