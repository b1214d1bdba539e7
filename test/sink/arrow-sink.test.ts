/** The suite of sinks for Arrow files and streams, and what both keep of every value. */

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync } from 'node:zlib'
import { tableFromIPC } from 'apache-arrow'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Engine, type Row, type Session } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { inLake } from '../../src/lake/files/layout.ts'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { filesOf, readTable } from '../../src/lake/views/current-versions.ts'
import { arrow, writeArrowFile, writeArrowStream } from '../../src/sink/arrow/arrow-sink.ts'
import { type LoadedLake, Workbench } from '../load/loaded-lake.ts'
import { needs } from '../support/needs.ts'
import { openPython, pythonMissing } from '../support/readers.ts'
import { expectSameRows } from '../support/same-rows.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { arrowRows, engineValue, type Value, valueText } from './arrow-rows.ts'
import { belowAFile, describeSink, type Target } from './describe-sink.ts'
import { columnList, HOSTILE_STRINGS } from './sink-rows.ts'

const MEMORY_BYTES = 256 * 1024 ** 2

const filesBelow = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/** Rows of the suite as DuckDB gives them: through JSON, with instants as the text that they came as. */
const throughEngine = async (
  session: Session,
  folder: string,
  rows: readonly Readonly<Record<string, Value>>[],
): Promise<readonly Row[]> => {
  if (rows.length === 0) return []
  const path = join(folder, '..', `read-${Math.abs(Number(process.hrtime.bigint() % 1_000_000_000n))}.jsonl`)
  const lines = rows.map((row) => {
    const at =
      typeof row.at === 'bigint' ? `${new Date(Number(row.at / 1_000_000n) * 1000).toISOString()}` : null
    const micros = typeof row.at === 'bigint' ? String(row.at % 1_000_000n).padStart(6, '0') : ''
    return JSON.stringify({ ...row, at: at?.replace('.000Z', `.${micros}Z`) ?? null }, (_, value: unknown) =>
      typeof value === 'bigint' ? Number(value) : value,
    )
  })
  await writeFile(path, lines.join('\n'))
  return session.rows(`SELECT * FROM read_ndjson(${literal(path)}, columns = ${columnList()}, auto_detect = false,
    records = true)`)
}

const arrowTarget =
  (kind: 'file' | 'stream') =>
  (directory: string, session: Session): Target => ({
    sink: () => arrow(directory, { kind }),
    rows: async (table) => {
      const paths = await filesBelow(join(directory, table))
      const files = await Promise.all(paths.map((path) => readFile(path)))
      return throughEngine(session, directory, files.flatMap(arrowRows))
    },
    files: {
      place: ({ path }) => inLake(directory, path),
      all: async () => (await filesBelow(directory)).sort(),
      unwritable: async () => arrow(await belowAFile(directory), { kind }),
    },
  })

describeSink('arrow of files', { keepsFiles: true, make: arrowTarget('file') })
describeSink('arrow of streams', { keepsFiles: true, make: arrowTarget('stream') })

const openSession = async (): Promise<Session> => {
  const engine = await Engine.open({ memoryBytes: MEMORY_BYTES })
  onTestFinished(() => engine.close())
  return engine.connect()
}

/** A query's rows in an Arrow file's bytes. */
const written = async (session: Session, sql: string, table?: string): Promise<Buffer> => {
  const path = join(await temporaryFolder(), 'x.arrow')
  await writeArrowFile(path, session.relation(sql), { kind: 'file', table })
  return readFile(path)
}

const strings = (rows: readonly Readonly<Record<string, Value>>[]): string[] => rows.map(valueText).sort()

/** The rows that DuckDB gives, in the form of `arrowRows`. Its package drops a byte order mark that starts a text. */
const expected = async (session: Session, sql: string): Promise<string[]> => {
  const names = (await session.describe(sql)).map(({ name }) => name)
  const rows: string[] = []
  for await (const columns of session.streamColumns(sql)) {
    for (let row = 0; row < (columns[0]?.length ?? 0); row++) {
      rows.push(
        valueText(Object.fromEntries(names.map((name, at) => [name, engineValue(columns[at]?.[row])]))),
      )
    }
  }
  return rows.sort()
}

describe('writeArrowFile', () => {
  test.each([
    ['whole numbers', `SELECT unnest([-9223372036854775808, 9223372036854775807, 0, NULL]::BIGINT[]) AS a`],
    [
      'small numbers',
      `SELECT unnest([-32768, 32767, NULL]::SMALLINT[]) AS a, 7::UTINYINT AS b, 1::UINTEGER AS c`,
    ],
    ['doubles', `SELECT unnest(['NaN', 'Infinity', '-Infinity', '-0', '5e-324', NULL]::DOUBLE[]) AS a`],
    ['booleans', `SELECT unnest([true, false, NULL, true, true, false, NULL, NULL, true]) AS a`],
    [
      'instants',
      `SELECT unnest(['2020-01-02 03:04:05.123456+05:30', '0001-01-01', NULL]::TIMESTAMPTZ[]) AS a`,
    ],
    ['local times and days', `SELECT TIMESTAMP '1969-12-31 23:59:59.999999' AS a, DATE '1900-01-01' AS b`],
    [
      'lists',
      `SELECT unnest([['a', NULL, ''], [], NULL, ['a text of many bytes']]) AS a, [[1], NULL, []] AS b`,
    ],
    ['structs', `SELECT unnest([{a: 1, b: ['x', NULL]}, {a: NULL, b: []}, NULL]) AS s`],
    [
      'lists of structs',
      `SELECT unnest([[{a: 'long enough to stand elsewhere', b: true}, NULL], [], NULL]) AS s`,
    ],
    [
      'an ENUM',
      `SELECT (CASE i % 3 WHEN 0 THEN 'b' WHEN 1 THEN 'a' END)::ENUM('a', 'b', 'c') AS e FROM range(9) t(i)`,
    ],
    [
      'a dictionary',
      `SELECT [NULL, 'EUR', 'a longer currency', ''][i % 4 + 1] AS currency FROM range(20) t(i)`,
    ],
    ['a dictionary without values', `SELECT NULL::VARCHAR AS currency FROM range(3)`],
    [
      'columns of NULLs',
      `SELECT NULL::VARCHAR AS a, NULL::BIGINT AS b, NULL::BOOLEAN AS c, NULL::VARCHAR[] AS d`,
    ],
    ['no rows', `SELECT 'x' AS currency, 1 AS a, ['y'] AS b WHERE false`],
    ['a column with a name that SQL needs quotes for', `SELECT 1 AS "a ""b"" c", 2 AS "__proto__x"`],
  ])('keeps %s', async (_what, sql) => {
    const session = await openSession()
    expect(strings(arrowRows(await written(session, sql)))).toEqual(await expected(session, sql))
  })

  test.each(['a', 'currency'])('keeps hostile texts byte by byte in column "%s"', async (column) => {
    const session = await openSession()
    const list = HOSTILE_STRINGS.map((text) => literal(text)).join(', ')
    const rows = arrowRows(await written(session, `SELECT unnest([${list}]) AS ${column}`))
    expect(rows.map((row) => row[column]).sort()).toEqual(HOSTILE_STRINGS.toSorted())
  })

  test('keeps many rows over several batches, with NULLs and texts of every length', async () => {
    const session = await openSession()
    const sql = `SELECT i AS id, CASE WHEN i % 7 <> 0 THEN repeat('ab', (i % 40)::INTEGER) END AS text,
      ['EUR', 'USD', NULL][i % 3 + 1] AS currency, CASE WHEN i % 5 = 0 THEN i / 2 END AS value,
      i % 2 = 0 AS flag, range(i % 4) AS list FROM range(300_000) t(i)`
    const bytes = await written(session, sql)
    expect(tableFromIPC(bytes).batches.length).toBeGreaterThan(2)
    const [found, wanted] = [strings(arrowRows(bytes)), await expected(session, sql)]
    expect(found.length).toBe(300_000)
    expect(found.findIndex((text, at) => text !== wanted[at])).toBe(-1)
  })

  test('keeps random tables as DuckDB says they are', async () => {
    const session = await openSession()
    const sql = 'SELECT * FROM random_rows'
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 30 }), fc.constantFrom('a', 'b', null))
    const row = fc.record({
      a: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
      b: fc.option(fc.double()),
      c: fc.option(fc.boolean()),
      currency: text,
      name: text,
      list: fc.option(fc.array(text, { maxLength: 4 })),
    })
    const sqlText = (value: string | null): string => (value === null ? 'NULL' : literal(value))
    const sqlOf = ({
      a,
      b,
      c,
      currency,
      name,
      list,
    }: typeof row extends fc.Arbitrary<infer R> ? R : never): string =>
      `(${a === null ? 'NULL' : `'${a}'`}, ${b === null ? 'NULL' : `'${Object.is(b, -0) ? '-0' : b}'`}, ${String(c)},
        ${sqlText(currency)}, ${sqlText(name)}, ${list === null ? 'NULL' : `[${list.map(sqlText).join(', ')}]`})`
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 40 }), async (rows) => {
        await session.run(`CREATE OR REPLACE TABLE random_rows
          (a BIGINT, b DOUBLE, c BOOLEAN, currency VARCHAR, name VARCHAR, list VARCHAR[])`)
        if (rows.length > 0) await session.run(`INSERT INTO random_rows VALUES ${rows.map(sqlOf).join(', ')}`)
        const found = arrowRows(await written(session, sql))
        const wanted = await expected(session, sql)
        const withoutMark = (value: string): string => value.replaceAll('"\ufeff', '"')
        expect(strings(found).map(withoutMark).sort()).toEqual(wanted.map(withoutMark).sort())
      }),
      { numRuns: 40 },
    )
  }, 240_000)

  test('writes codes and line items as dictionaries, and says what columns mean', async () => {
    const session = await openSession()
    const sql = `SELECT 1::BIGINT AS internal_id, 'DE' AS country_code, 'NetSales' AS line_item, 1.5::DOUBLE AS value`
    const { schema } = tableFromIPC(await written(session, sql, 'financials'))
    expect(schema.fields.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'internal_id Int64',
      'country_code Dictionary<Int16, Utf8>',
      'line_item Dictionary<Int16, Utf8>',
      'value Float64',
    ])
    expect(schema.metadata.get('row')).toBe('one reported figure')
    expect(schema.fields[3]?.metadata.get('comment')).toBe(
      'The figure, scale applied to amounts: the double nearest to the exact product. Do not add several currencies or both consolidations: the macro figures_in has one figure a company.',
    )
    expect(schema.fields[3]?.metadata.get('unit')).toBe('of the line item; amounts: whole currency')
  })

  test('writes texts of more values than a dictionary is good for as they are', async () => {
    const session = await openSession()
    const sql = `SELECT 'c' || i AS currency FROM range(5000) t(i)`
    const bytes = await written(session, sql)
    expect(String(tableFromIPC(bytes).schema.fields[0]?.type)).toBe('Utf8')
    expect(strings(arrowRows(bytes))).toEqual(await expected(session, sql))
  })

  test('refuses a type that it does not write, names the column and leaves nothing', async () => {
    const session = await openSession()
    const folder = await temporaryFolder()
    const rows = session.relation('SELECT 1.5 AS a, {b: 1::HUGEINT} AS s')
    await expect(writeArrowFile(join(folder, 'x.arrow'), rows, { kind: 'file' })).rejects.toMatchObject({
      code: 'TARGET_REFUSED',
      context: { column: 'a' },
    })
    expect(await readdir(folder)).toEqual([])
  })

  test('refuses a query that gives other values when it is read again', async () => {
    const session = await openSession()
    await session.run('CREATE SEQUENCE numbers')
    const rows = session.relation(`SELECT 'c' || nextval('numbers') AS currency FROM range(3)`)
    const path = join(await temporaryFolder(), 'x.arrow')
    await expect(writeArrowFile(path, rows, { kind: 'file' })).rejects.toMatchObject({
      code: 'TARGET_REFUSED',
      context: { column: 'currency' },
    })
  })

  test('leaves the older file when it fails, and nothing else', async () => {
    const session = await openSession()
    const folder = await temporaryFolder()
    const path = join(folder, 'x.arrow')
    await writeFile(path, 'older')
    const rows = session.relation(`SELECT (CASE WHEN i = 200_000 THEN 'x' ELSE '1' END)::BIGINT AS a
      FROM range(400_000) t(i)`)
    await expect(writeArrowFile(path, rows, { kind: 'file' })).rejects.toMatchObject({
      code: 'ENGINE_FAILED',
    })
    expect(await readdir(folder)).toEqual(['x.arrow'])
    expect(await readFile(path, 'utf8')).toBe('older')
  })

  test('stops when it is told to, and leaves nothing', async () => {
    const session = await openSession()
    const folder = await temporaryFolder()
    const stop = new AbortController()
    const rows = session.relation('SELECT i AS a FROM range(1_000_000) t(i)')
    const options = {
      kind: 'file',
      signal: stop.signal,
      onRows: () => stop.abort(new Error('enough')),
    } as const
    await expect(writeArrowFile(join(folder, 'x.arrow'), rows, options)).rejects.toThrow('enough')
    expect(await readdir(folder)).toEqual([])
    expect(await session.rows('SELECT 1 AS one')).toEqual([{ one: 1 }])
  })
})

describe('writeArrowStream', () => {
  test.each(['file', 'stream'] as const)('writes a %s to a writable, and leaves it open', async (kind) => {
    const session = await openSession()
    const sql = `SELECT i AS a, ['EUR', 'USD'][i % 2 + 1] AS currency FROM range(200_000) t(i)`
    const target = new PassThrough()
    const bytes = buffer(target)
    expect(await writeArrowStream(target, session.relation(sql), { kind })).toBe(200_000)
    expect(target.writable).toBe(true)
    target.end()
    const rows = arrowRows(await bytes)
    expect(new Set(rows.map(({ a }) => a)).size).toBe(200_000)
    expect(rows.every(({ a, currency }) => currency === (Number(a) % 2 === 0 ? 'EUR' : 'USD'))).toBe(true)
  })

  test('waits for a slow reader: no more than two batches are made ahead of it', async () => {
    const session = await openSession()
    let batches = 0
    const held: (() => void)[] = []
    const target = new Writable({
      highWaterMark: 1,
      write: (_chunk, _encoding, done) => held.push(done),
      writev: (_chunks, done) => held.push(done),
    })
    const rows = session.relation('SELECT i AS a FROM range(3_000_000) t(i)')
    const writing = writeArrowStream(target, rows, { kind: 'stream', onRows: () => (batches += 1) })
    // Everything it can do without the reader is done when DuckDB answers another session of questions.
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(batches).toBeLessThanOrEqual(2)
    const release = setInterval(() => {
      for (const done of held.splice(0)) done()
    }, 0)
    onTestFinished(() => clearInterval(release))
    expect(await writing).toBe(3_000_000)
  })

  test('fails with the error of a writable that breaks', async () => {
    const session = await openSession()
    const target = new Writable({ write: (_chunk, _encoding, done) => done(new Error('broken pipe')) })
    target.on('error', () => undefined)
    const rows = session.relation('SELECT i AS a FROM range(1_000_000) t(i)')
    await expect(writeArrowStream(target, rows, { kind: 'stream' })).rejects.toThrow('broken pipe')
  })
})

describe('the tables of the sample lake', () => {
  let bench: Workbench
  let lake: LoadedLake
  beforeAll(async () => {
    const lines = (name: string): Buffer => brotliDecompressSync(readSample.get(name) ?? Buffer.alloc(0))
    const readSample = new Map<string, Buffer>()
    for (const name of ['companies-0001', 'relations-0001']) {
      readSample.set(name, await readFile(new URL(`../../data/sample/${name}.jsonl.br`, import.meta.url)))
    }
    bench = await Workbench.open()
    lake = await bench.load(
      { content: 'companies', lines: lines('companies-0001') },
      { content: 'relations', lines: lines('relations-0001') },
    )
  }, 240_000)
  afterAll(() => bench.close())

  const sqlOf = (name: string): string => {
    const table = TABLES.find((one) => one.name === name)
    if (table === undefined) throw new TypeError(`no table "${name}"`)
    return readTable(table, filesOf(lake.snapshot, lake.lake, name))
  }

  test.each(TABLES.map(({ name }) => name))('%s is read back as DuckDB has it', async (name) => {
    const session = await openSession()
    const sql = sqlOf(name)
    const found = strings(arrowRows(await written(session, sql, name)))
    const wanted = await expected(session, sql)
    expect(found.length).toBeGreaterThan(0)
    expect(found.length).toBe(wanted.length)
    expect(found.findIndex((text, at) => text !== wanted[at])).toBe(-1)
  })

  test('every table is read by pyarrow as DuckDB has it, and is valid to it', async (context) => {
    needs(context, 'Python with pyarrow', pythonMissing())
    const session = await openSession()
    const folder = await temporaryFolder()
    const python = await openPython()
    onTestFinished(() => python.close())
    for (const { name } of TABLES) {
      for (const kind of ['file', 'stream'] as const) {
        const sql = sqlOf(name)
        const path = join(folder, `${name}.${kind}`)
        const { rows } = await writeArrowFile(path, session.relation(sql), { kind, table: name })
        // pyarrow's own Parquet writer takes the table back to DuckDB, which then compares the rows.
        const parquet = `${path}.parquet`
        const found = await python.run<number>(READ_ARROW, { path, parquet, kind })
        expect(found).toBe(rows)
        const back = `SELECT * FROM read_parquet(${literal(parquet)})`
        await expectSameRows(session, sql, back, `${name}, ${kind}`)
      }
    }
  }, 240_000)
})

const READ_ARROW = `
import pyarrow as pa, pyarrow.parquet as pq
opened = pa.ipc.open_file if input['kind'] == 'file' else pa.ipc.open_stream
with pa.OSFile(input['path']) as source:
    table = opened(source).read_all()
table.validate(full=True)
pq.write_table(table, input['parquet'])
result = table.num_rows
`
