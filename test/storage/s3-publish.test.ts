/** A lake published in a bucket, as other engines read it there: delta-rs and PyIceberg straight from the server. */

import { join } from 'node:path'
import { expect, type TestContext, test, vi } from 'vitest'
import { writeSample } from '../../data/sample.ts'
import { Engine, type Session } from '../../src/lake/duckdb/engine.ts'
import { ident, literal } from '../../src/lake/duckdb/sql.ts'
import { TABLES, type Table } from '../../src/lake/tables/tables.ts'
import { cli } from '../cli/run-cli.ts'
import { needs } from '../support/needs.ts'
import { openPython, type PythonSession, pythonMissing } from '../support/readers.ts'
import { expectSameRows } from '../support/same-rows.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Fate, type Passing, s3Error } from './loopback-proxy.ts'
import { type Bench, LAKE, s3Bench } from './s3-bench.ts'
import { cliJsonAnew, elsewhere, succeed } from './s3-cli.ts'

// Several commands one after the other, each a process of its own, and Python.
vi.setConfig({ testTimeout: 240_000 })

/** Two runs, of which the second one loads companies of the first again. */
const load = async (): Promise<void> => {
  const folder = await temporaryFolder()
  for (const [companies, seed] of [
    [60, 3],
    [25, 4],
  ] as const) {
    const content = ['companies', 'relations'] as const
    await writeSample(folder, { companies, seed, files: 1, small: true, awkward: 0, content }, 1)
    // Another seed gives a company other currencies too.
    await succeed('convert', join(folder, '*.br'), '--change-currency')
  }
}

/** What each format's reader is told of the server. */
const DELTA_OPTIONS = `
options = {
    'AWS_ENDPOINT_URL': input['endpoint'], 'AWS_ALLOW_HTTP': 'true', 'AWS_REGION': 'us-east-1',
    'AWS_ACCESS_KEY_ID': input['accessKey'], 'AWS_SECRET_ACCESS_KEY': input['secretKey'],
}`
const ICEBERG_OPTIONS = `
options = {
    'py-io-impl': 'pyiceberg.io.pyarrow.PyArrowFileIO',
    's3.endpoint': input['endpoint'], 's3.region': 'us-east-1',
    's3.access-key-id': input['accessKey'], 's3.secret-access-key': input['secretKey'],
}`

const READERS = {
  delta: `${DELTA_OPTIONS}
from deltalake import DeltaTable
import pyarrow.parquet as pq
for table in input['tables']:
    opened = DeltaTable(input['lake'] + '/' + table, storage_options=options)
    pq.write_table(opened.to_pyarrow_table(), input['to'] + '/' + table + '.parquet')
`,
  iceberg: `${ICEBERG_OPTIONS}
from pyiceberg.table import StaticTable
import pyarrow.parquet as pq
for table in input['tables']:
    opened = StaticTable.from_metadata(input['lake'] + '/' + table, properties=options)
    pq.write_table(opened.scan().to_arrow(), input['to'] + '/' + table + '.parquet')
`,
} as const
type Format = keyof typeof READERS
/** Each test publishes one lake in all of them: to load it takes longer than to publish it. */
const FORMATS = ['delta', 'iceberg'] as const satisfies readonly Format[]

/** Columns that the readers return whole: PyIceberg loses an empty list of structs. */
const columnsOf = ({ columns }: Table): string =>
  columns
    .filter(({ type }) => !(type.startsWith('STRUCT') && type.endsWith('[]')))
    .map(({ name, type }) => `CAST(${ident(name)} AS ${type}) AS ${ident(name)}`)
    .join(', ')

interface Tools {
  readonly python: PythonSession
  readonly session: Session
}

const withTools = async (context: TestContext, use: (tools: Tools) => Promise<void>): Promise<void> => {
  needs(context, 'Python with delta-rs and PyIceberg', pythonMissing())
  const [python, engine] = [await openPython(), await Engine.open({ memoryBytes: 512 * 1024 ** 2 })]
  try {
    await use({ python, session: await engine.connect() })
  } finally {
    engine.close()
    await python.close()
  }
}

/** Expects that other engines see in the bucket the rows of `<table>_history`, of every table, in every format. */
/** @param rows of an export: all versions, or behind a compaction the current ones */
const expectPublished = async (bench: Bench, tools: Tools, rows: 'all' | 'current'): Promise<void> => {
  const wanted = join(await temporaryFolder(), 'out')
  await succeed('export', ...(rows === 'all' ? ['--history'] : []), '--to', `parquet:${wanted}`)
  const end = rows === 'all' ? '_history.parquet' : '.parquet'
  for (const format of FORMATS) await expectRows(bench, format, tools, { wanted, end })
}

const expectRows = async (
  { server }: Bench,
  format: Format,
  tools: Tools,
  { wanted, end }: { readonly wanted: string; readonly end: string },
): Promise<void> => {
  const seen = await temporaryFolder()
  const { endpoint, accessKey, secretKey } = server
  const tables = TABLES.map(({ name }) => name)
  await tools.python.run(READERS[format], { endpoint, accessKey, secretKey, tables, lake: LAKE, to: seen })
  for (const table of TABLES) {
    const rowsOf = (...path: readonly string[]): string =>
      `SELECT ${columnsOf(table)} FROM read_parquet(${literal(join(...path))})`
    const [one, other] = [rowsOf(seen, `${table.name}.parquet`), rowsOf(wanted, `${table.name}${end}`)]
    await expectSameRows(tools.session, one, other, `${table.name} of ${format}`)
  }
}

/** Tables that a publication changed. */
const published = async (format: Format): Promise<readonly unknown[]> => {
  const { tables } = await cliJsonAnew<{ tables: readonly { versions: number }[] }>([
    'publish',
    format,
    '--lake',
    LAKE,
  ])
  return tables.filter(({ versions }) => versions > 0)
}

test('publish shows other engines the histories, after a compaction the current rows', (context) =>
  withTools(context, async (tools) => {
    const bench = await s3Bench(context)
    await load()
    // All versions of each table, and the current rows of each.
    for (const format of FORMATS) expect(await published(format)).toHaveLength(2 * TABLES.length)
    await expectPublished(bench, tools, 'all')
    // Another machine finds what is published and adds only what is new.
    await elsewhere()
    for (const format of FORMATS) expect(await published(format)).toEqual([])
    await succeed('compact', ...FORMATS.flatMap((format) => ['--publish', format]))
    await expectPublished(bench, tools, 'current')
    await succeed('verify')
  }))

const isVersion = ({ method, url }: Passing): boolean =>
  method === 'PUT' && /_delta_log\/\d+\.json|metadata\/v\d+\.metadata\.json/.test(url)

test('two at once publish once: each version is created only where there is none', (context) =>
  withTools(context, async (tools) => {
    const conditions: unknown[] = []
    const bench = await s3Bench(context, (passing) => {
      if (isVersion(passing)) conditions.push(passing.headers['if-none-match'])
      return undefined
    })
    await load()
    for (const format of FORMATS) {
      const both = await Promise.all([1, 2].map(() => cli(['publish', format, '--lake', LAKE])))
      expect(both.map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual([0, 0])
      expect(await published(format)).toEqual([])
    }
    expect(new Set(conditions)).toEqual(new Set(['*']))
    await expectPublished(bench, tools, 'all')
  }))

test('a publish that the server leaves in the midst is ended by the same command', (context) =>
  withTools(context, async (tools) => {
    let [versions, refusing] = [0, false]
    const decide = (passing: Passing): Fate => {
      if (isVersion(passing)) versions += 1
      // From the third version on the server fails in all that is asked of it.
      return refusing && versions > 2 ? s3Error(500, 'InternalError') : undefined
    }
    const bench = await s3Bench(context, decide, { AWS_MAX_ATTEMPTS: '1' })
    await load()
    for (const format of FORMATS) {
      ;[versions, refusing] = [0, true]
      const failed = await cli(['publish', format, '--lake', LAKE])
      expect(failed.code).toBe(1)
      expect(failed.stderr).toContain('error STORAGE_FAILED: ')
      refusing = false
      await succeed('publish', format)
    }
    await expectPublished(bench, tools, 'all')
  }))
