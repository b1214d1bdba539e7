import { existsSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DeliverySink } from '../../src/core/sink.ts'
import { compact } from '../../src/jobs/compact.ts'
import { Engine, type Row } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { csv } from '../../src/sink/csv.ts'
import { duckdbFile } from '../../src/sink/duckdb-file.ts'
import { jsonLines, jsonlFormat } from '../../src/sink/json-lines.ts'
import { type DeliverProgress, deliver } from '../../src/targets/deliver.ts'
import { type ExportProgress, exportTables } from '../../src/targets/export/export-tables.ts'
import { chooseSink, readAddress, refuseLakeAsTarget } from '../../src/targets/open-sink.ts'
import { type Bench, companyLine, openBench, relationsLine } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

interface DeliverBench extends Bench {
  readonly database: DeliverySink
  readonly csv: DeliverySink
  readonly json: DeliverySink
  readonly jsonFolder: string
  /** What the database shows. */
  readonly ask: (sql: string) => Promise<readonly Row[]>
}

const bench = async (at?: string): Promise<DeliverBench> => {
  const one = openBench(at ?? (await temporaryFolder()))
  const file = join(one.folder, 'out.duckdb')
  const jsonFolder = join(one.folder, 'json')
  return {
    ...one,
    database: duckdbFile(file),
    jsonFolder,
    csv: csv(join(one.folder, 'csv')),
    json: jsonLines(jsonFolder),
    ask: async (sql) => {
      const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
      try {
        const session = await engine.connect()
        await session.run(`ATTACH ${literal(file)} AS db (READ_ONLY)`)
        return await session.rows(sql)
      } finally {
        engine.close()
      }
    },
  }
}

/** Loads a file of its own. @returns the run */
const load = async (one: Bench, name: string, lines: readonly string[]): Promise<string> => {
  await one.write(name, lines)
  return (await one.run([name])).summary.run
}

/** A folder with a lake of company 1, and the run that loaded it. */
let prepared: { readonly folder: string; readonly first: string }
beforeAll(async () => {
  const one = openBench(await mkdtemp(join(tmpdir(), 'firmlake-')))
  prepared = { folder: one.folder, first: await load(one, 'a', [companyLine(1)]) }
})
afterAll(() => rm(prepared.folder, { recursive: true, force: true }))

/** A copy of it. */
const loaded = async (): Promise<DeliverBench & { readonly first: string }> => {
  const folder = await temporaryFolder()
  await cp(prepared.folder, folder, { recursive: true })
  return { ...(await bench(folder)), first: prepared.first }
}

const renamed = (id: number, name: string): string =>
  companyLine(id, { BasicDetails: { InternalId: id, CompanyName: name, CountryCode: 'SE' } })

const NAMES = 'SELECT company_name AS name FROM db.companies ORDER BY internal_id'

test('deliver brings a database to the current versions of the lake', async () => {
  const one = await bench()
  await load(one, 'a', [companyLine(1), companyLine(2), companyLine(3)])
  await one.write('b', [renamed(2, 'Two'), companyLine(4, { Financials: {} })])
  await one.write('c', [relationsLine(1)])
  await one.run(['b', 'c'])
  await deliver({ lake: one.lake, sinks: [one.database] })
  expect(await one.ask(NAMES)).toEqual(
    ['Company 1', 'Two', 'Company 3', 'Company 4'].map((name) => ({ name })),
  )
  const tables = ['companies', 'financials', 'relations', 'relation_entities', 'line_items']
  const counts = (from: string): string =>
    tables
      .map((table) => `SELECT '${table}' AS name, count(*)::INTEGER AS n FROM ${from}${table}`)
      .join(' UNION ALL ')
  const shown = (await one.ask(counts('db.'))).map(({ name, n }) => [name, n])
  expect(shown.toSorted()).toEqual((await one.query(counts(''))).toSorted())
})

test('deliver brings a database nothing that was older than the data of the lake when it came', async () => {
  const one = await bench()
  const of = (id: number, day: number): string =>
    companyLine(id, { BasicDetails: { InternalId: id, CompanyName: `of ${day}`, CountryCode: 'SE' } }, day)
  const shows = async (...names: readonly string[]): Promise<void> => {
    await deliver({ lake: one.lake, sinks: [one.database] })
    expect(await one.ask(NAMES)).toEqual(names.map((name) => ({ name })))
    // Each of them has two figures.
    expect(await one.ask('SELECT count(*)::INTEGER AS n FROM db.financials')).toEqual([
      { n: 2 * names.length },
    ])
  }
  await load(one, 'a', [of(1, 10)])
  await shows('of 10')
  await load(one, 'b', [of(1, 9), of(2, 9)])
  await shows('of 10', 'of 9')
  // Several files in one run, the newest first by name.
  await one.write('in/1', [of(1, 12), of(2, 12)])
  await one.write('in/2', [of(1, 11), of(3, 11)])
  await one.run(['in'])
  await load(one, 'c', [of(1, 8), of(3, 8)])
  await load(one, 'd', [of(2, 20)])
  await shows('of 12', 'of 20', 'of 11')
})

test('deliver gives each sink the runs that it lacks, in the order of commits, and nothing twice', async () => {
  const one = await loaded()
  const first = one.first
  expect(await deliver({ lake: one.lake, sinks: [one.csv] })).toMatchObject([{ sink: 'csv', runs: [first] }])
  const second = await load(one, 'b', [renamed(1, 'new')])
  const third = await load(one, 'c', [companyLine(2)])
  expect(await deliver({ lake: one.lake, sinks: [one.csv, one.json] })).toMatchObject([
    { sink: 'csv', runs: [second, third] },
    { sink: 'json-lines', runs: [first, second, third] },
  ])
  expect(await deliver({ lake: one.lake, sinks: [one.csv, one.json] })).toEqual([
    { sink: 'csv', runs: [], rows: 0, warnings: [] },
    { sink: 'json-lines', runs: [], rows: 0, warnings: [] },
  ])
  expect(await readdir(join(one.jsonFolder, 'companies'))).toEqual(
    [first, second, third].map((run) => `load=${run}`).sort(),
  )
})

test('deliver leaves the quarantine to the lake', async () => {
  const one = await bench()
  await one.write('a', [companyLine(1), '{"BasicDetails": {}}'])
  await one.run(['a'], { maxQuarantined: { kind: 'count', lines: 1 } })
  await deliver({ lake: one.lake, sinks: [one.json] })
  expect((await readdir(one.jsonFolder)).filter((name) => /^[a-z]/.test(name))).toEqual([
    'companies',
    'employees',
    'financials',
    'line_items',
  ])
})

test('deliver to a lake without a snapshot does nothing', async () => {
  const one = await loaded()
  await rm(join(one.lake, '_manifest'), { recursive: true })
  await expect(deliver({ lake: one.lake, sinks: [one.json] })).rejects.toMatchObject({
    code: 'LAKE_NOT_FOUND',
  })
  expect(await deliver({ lake: one.lake, sinks: [] })).toEqual([])
})

test('deliver refuses a sink without loaded before any sink gets anything', async () => {
  const one = await loaded()
  const silent = jsonlFormat.folder(join(one.folder, 'silent'))
  // @ts-expect-error: the type says so too.
  const delivering = deliver({ lake: one.lake, sinks: [one.json, silent] })
  await expect(delivering).rejects.toThrow(
    /^Cannot deliver runs to sink "json-lines": it has no method "deliveredRuns", expected/,
  )
  expect(existsSync(one.jsonFolder)).toBe(false)
})

/** A sink whose commit fails for one run, until it is mended. */
const failingFor = (
  sink: DeliverySink,
  run: string,
): DeliverySink & { mend: () => void; readonly aborted: () => boolean } => {
  let [broken, aborted] = [true, false]
  return {
    ...sink,
    name: 'failing',
    open: async (id) => {
      const opened = await sink.open(id)
      return {
        ...opened,
        commit: async (files) => {
          if (broken && id === run) throw new Error('out of order')
          await opened.commit(files)
        },
        abort: async () => {
          aborted = true
          await opened.abort()
        },
      }
    },
    mend: () => {
      broken = false
    },
    aborted: () => aborted,
  }
}

test('a sink that fails gets no later run, keeps no other from theirs, and goes on the next time', async () => {
  const one = await bench()
  const runs = [
    await load(one, 'a', [companyLine(1)]),
    await load(one, 'b', [renamed(1, 'second')]),
    await load(one, 'c', [renamed(1, 'third')]),
  ]
  const failing = failingFor(one.csv, runs[1] ?? '')
  const sinks = [failing, one.json]
  const error = await deliver({ lake: one.lake, sinks }).catch((failure: unknown) => failure)
  expect(error).toMatchObject({ code: 'TARGET_FAILED', context: { sinks: 'failing' } })
  expect(String(error)).toMatch(
    /run ".*" to sink "failing".* lake itself is committed; run the same command again to resume/,
  )
  expect(failing.aborted()).toBe(true)
  expect(await one.json.deliveredRuns()).toEqual(new Set(runs))
  expect(await one.csv.deliveredRuns()).toEqual(new Set(runs.slice(0, 1)))
  failing.mend()
  expect(await deliver({ lake: one.lake, sinks })).toMatchObject([{ runs: runs.slice(1) }, { runs: [] }])
  expect(await one.csv.deliveredRuns()).toEqual(new Set(runs))
  expect((await one.verify()).problems).toEqual([])
})

test('deliver keeps the code of what failed', async () => {
  const one = await loaded()
  await writeFile(one.jsonFolder, 'a file in the way')
  await expect(deliver({ lake: one.lake, sinks: [one.json] })).rejects.toMatchObject({ code: 'WRITE_FAILED' })
})

test('deliver that is stopped takes back the open run, and goes on the next time', async () => {
  const one = await loaded()
  const first = one.first
  const second = await load(one, 'b', [companyLine(2)])
  const controller = new AbortController()
  const stopping = deliver({
    lake: one.lake,
    sinks: [one.json],
    signal: controller.signal,
    onProgress: ({ run, rows }) => {
      if (run === second && rows > 3) controller.abort()
    },
  })
  await expect(stopping).rejects.toMatchObject({ code: 'INTERRUPTED' })
  expect(await one.json.deliveredRuns()).toEqual(new Set([first]))
  expect(await readdir(join(one.jsonFolder, 'companies'))).toEqual([`load=${first}`])
  expect(await deliver({ lake: one.lake, sinks: [one.json] })).toMatchObject([{ runs: [second] }])
})

test('deliver that is stopped while a database loads leaves the database without the run, and nothing staged', async () => {
  const one = await loaded()
  const run = one.first
  const controller = new AbortController()
  const address = join(one.folder, 'out.duckdb')
  const stopping = deliver({
    lake: one.lake,
    sinks: [address],
    signal: controller.signal,
    onProgress: ({ loading }) => loading && controller.abort(),
  })
  await expect(stopping).rejects.toMatchObject({ code: 'INTERRUPTED' })
  expect(await readdir(join(one.lake, '_runs'))).toEqual([])
  expect(await one.database.deliveredRuns()).toEqual(new Set())
  expect(await deliver({ lake: one.lake, sinks: [one.database] })).toMatchObject([{ runs: [run] }])
})

test('deliver and exportTables tell when a database loads what was written', async () => {
  const one = await loaded()
  const delivered: DeliverProgress[] = []
  const onProgress = (progress: DeliverProgress): void => void delivered.push(progress)
  const [{ rows } = { rows: 0 }] = await deliver({ lake: one.lake, sinks: [one.database], onProgress })
  expect(delivered.filter(({ loading }) => loading)).toEqual([delivered.at(-1)])
  expect(delivered.at(-1)).toMatchObject({ sink: 'duckdb', rows })
  const exported: ExportProgress[] = []
  await exportTables({
    lake: one.lake,
    to: { kind: 'database', database: 'duckdb', at: join(one.folder, 'export.duckdb') },
    tables: ['companies'],
    memoryBytes: 256 * 1024 ** 2,
    onProgress: (progress) => exported.push(progress),
  })
  expect(exported.at(-1)).toMatchObject({ loading: true, tablesDone: 1, tables: 1, rows: 1 })
})

test('a compaction brings nothing to a sink that shows all of it, and everything to another', async () => {
  const one = await bench()
  await load(one, 'a', [companyLine(1), companyLine(2)])
  await load(one, 'b', [renamed(1, 'new')])
  await deliver({ lake: one.lake, sinks: [one.json] })
  await compact({ lake: one.lake })
  const later = await load(one, 'c', [renamed(2, 'later')])
  const deliveries = await deliver({ lake: one.lake, sinks: [one.json, one.database] })
  expect(deliveries[0]?.runs).toEqual([later])
  expect(deliveries[1]?.runs).toHaveLength(2)
  expect(await one.ask(NAMES)).toEqual([{ name: 'new' }, { name: 'later' }])
})

test('a compaction of what a sink got as a compaction and later runs brings nothing', async () => {
  const one = await loaded()
  await load(one, 'b', [companyLine(2)])
  await compact({ lake: one.lake })
  await deliver({ lake: one.lake, sinks: [one.json] })
  await load(one, 'c', [renamed(1, 'later')])
  await deliver({ lake: one.lake, sinks: [one.json] })
  await compact({ lake: one.lake })
  expect(await deliver({ lake: one.lake, sinks: [one.json] })).toMatchObject([{ runs: [] }])
})

test('a merge of the newest partitions brings nothing to a sink that shows their loads, and all rows to another', async () => {
  const one = await bench()
  const companies = Array.from({ length: 200 }, (_, at) => companyLine(at + 1))
  await load(one, 'base', companies)
  for (let night = 1; night <= 12; night += 1)
    await load(one, `night-${night}`, [renamed(night % 5 === 0 ? 1 : night, `night ${night}`)])
  await deliver({ lake: one.lake, sinks: [one.json] })
  expect(await compact({ lake: one.lake, auto: true })).toMatchObject({ kind: 'compacted', partitions: 12 })
  const deliveries = await deliver({ lake: one.lake, sinks: [one.json, one.database] })
  expect(deliveries).toMatchObject([{ runs: [] }, { runs: { length: 2 } }])
  const names = await one.ask(NAMES)
  expect(names).toHaveLength(200)
  expect(names.slice(0, 6).map(({ name }) => name)).toEqual([
    ...['night 10', 'night 2', 'night 3', 'night 4', 'Company 5', 'night 6'],
  ])
})

test('a lake is no target for runs: its files stay as they are', async () => {
  const one = await loaded()
  const sink = await chooseSink(readAddress(`parquet:${one.lake}`))
  await expect(deliver({ lake: one.lake, sinks: [sink] })).rejects.toMatchObject({ code: 'TARGET_REFUSED' })
  expect((await one.verify()).problems).toEqual([])
})

test("refuseLakeAsTarget refuses the run's own lake before there is one, and any other lake", async () => {
  const one = await loaded()
  const later = join(one.folder, 'later')
  const refused = { code: 'TARGET_REFUSED' }
  const refuse = (to: string, lake: string) => refuseLakeAsTarget(readAddress(to), lake)
  await expect(refuse(`jsonl:${later}/`, later)).rejects.toMatchObject(refused)
  await expect(refuse(`parquet:${one.lake}`, later)).rejects.toMatchObject(refused)
  await expect(refuse(`parquet:${later}`, one.lake)).resolves.toBeUndefined()
})

test.each([
  ['csv', 'parquet'],
  ['arrow', 'arrows'],
])('a folder of the format %s takes no runs in %s', async (...formats) => {
  const one = await loaded()
  const run = one.first
  const directory = join(one.folder, 'out')
  const sinks = await Promise.all(formats.map((format) => chooseSink(readAddress(`${format}:${directory}`))))
  await expect(deliver({ lake: one.lake, sinks })).rejects.toMatchObject({
    code: 'TARGET_REFUSED',
    context: { sinks: formats[1] },
  })
  expect(await sinks[0]?.deliveredRuns()).toEqual(new Set([run]))
})

test.each(['csv', 'jsonl', 'parquet', 'arrow', 'arrows'])(
  'the folder %s:DIR gets a file for each table of a run',
  async (format) => {
    const one = await loaded()
    const run = one.first
    const directory = join(one.folder, format)
    const sink = await chooseSink(readAddress(`${format}:${directory}`))
    await deliver({ lake: one.lake, sinks: [sink] })
    const [file = ''] = await readdir(join(directory, 'companies', `load=${run}`))
    expect(file).toMatch(new RegExp(`\\.${format}$`))
    expect((await readFile(join(directory, 'companies', `load=${run}`, file))).length).toBeGreaterThan(10)
    expect(await sink.deliveredRuns()).toEqual(new Set([run]))
  },
)

test.each(['out.csv', 'out.parquet'])('a single file such as %s cannot take runs', async (path) => {
  await expect(chooseSink(readAddress(path))).rejects.toThrow(/^Cannot deliver runs to the file/)
})

test.each([
  '',
  'out',
  'out.xml',
  'xml:out',
  's3://bucket/out.csv',
  'mysql://user:secret@host/db',
  'mysql://user:sec/secret@more@host/db',
  'postgres:user:secret@host/db',
  'csv:https://user:secret@host/out',
])('%j is no target, and no password is told', (address) => {
  let message = ''
  try {
    readAddress(address)
  } catch (error) {
    expect(error).toMatchObject({ code: 'TARGET_REFUSED' })
    message = String(error)
  }
  expect(message).toContain('Cannot use')
  expect(message).not.toContain('secret')
})
