/** What the PostgreSQL sink makes of the lake's tables, and which rows it shows. */

import { describe, expect, test } from 'vitest'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { withClient } from '../support/postgres-server.ts'
import { usePostgres } from '../support/use-postgres.ts'
import { companies, type PostgresBench, postgresBench, sales } from './postgres-bench.ts'

const server = usePostgres()

const bench = async (): Promise<PostgresBench> => postgresBench(server().url(await server().newDatabase()))

const COMPANIES = 'SELECT internal_id, name FROM firmlake.companies ORDER BY 1'
const SALES = 'SELECT internal_id, fiscal_year, value FROM firmlake.financials ORDER BY 1, 2'

describe('tables', () => {
  test('have the columns, types, keys and comments of the lake', async () => {
    const { load, ask } = await bench()
    const rowless = Object.fromEntries(
      TABLES.map(({ name, columns }) => [
        name,
        `SELECT ${columns.map((one) => `NULL::${one.type} AS "${one.name}"`).join(', ')} WHERE false`,
      ]),
    )
    await load('run-1', { 'p-0': rowless })
    const found = await ask(`SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
        coalesce((a.attnum = ANY (i.indkey))::text, 'no key'), col_description(c.oid, a.attnum)
      FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
      LEFT JOIN pg_index AS i ON i.indrelid = c.oid AND i.indisprimary
      WHERE c.relnamespace = 'firmlake'::regnamespace AND c.relkind = 'r' AND c.relname <> 'firmlake_loads'
      ORDER BY c.relname, a.attnum`)
    const types: Readonly<Record<string, string>> = {
      BIGINT: 'bigint',
      SMALLINT: 'smallint',
      INTEGER: 'integer',
      DOUBLE: 'double precision',
      BOOLEAN: 'boolean',
      VARCHAR: 'text',
      TIMESTAMPTZ: 'timestamp with time zone',
    }
    const expected = TABLES.toSorted((a, b) => (a.name < b.name ? -1 : 1)).flatMap(({ name, key, columns }) =>
      columns.map((one) => [
        name,
        one.name,
        types[one.type] ?? 'jsonb',
        String(key.includes(one.name)),
        one.unit === undefined ? one.about : `${one.about} Unit: ${one.unit}.`,
      ]),
    )
    expect(found).toEqual(expected)
    expect(await ask(`SELECT obj_description('firmlake.companies'::regclass)`)).toEqual([
      ['A row is a company. Key: internal_id.'],
    ])
  })

  test('get the further columns of a newer version, with NULL in the rows that were there', async () => {
    const { load, ask } = await bench()
    await load('run-1', { 'p-0': { companies: companies([1, 'one']) } })
    const wider = `SELECT 2::BIGINT AS internal_id, 'two' AS name, TIMESTAMPTZ '2024-01-01 00:00:00Z' AS updated_at`
    await load('run-2', { 'p-0': { companies: wider } })
    expect(await ask('SELECT internal_id, updated_at FROM firmlake.companies ORDER BY 1')).toEqual([
      ['1', null],
      ['2', '2024-01-01 00:00:00+00'],
    ])
  })

  test('with a column of another type are refused by its name, and nothing changes', async () => {
    const { load, ask } = await bench()
    await load('run-1', { 'p-0': { companies: companies([1, 'one']) } })
    const other = `SELECT 1::BIGINT AS internal_id, 5::DOUBLE AS name, 'x' AS city`
    await expect(load('run-2', { 'p-0': { companies: other } })).rejects.toMatchObject({
      code: 'TARGET_REFUSED',
      message: expect.stringContaining('"name"'),
      context: { column: 'name', type: 'text', expected: 'double precision' },
    })
    expect(await ask('SELECT * FROM firmlake.companies')).toEqual([['1', 'one']])
  })

  test.each([
    ['a table with other columns', 'CREATE TABLE firmlake.companies (id int)', 'companies'],
    ['a view', 'CREATE VIEW firmlake.companies AS SELECT 1 AS internal_id', 'companies'],
    ['a table of somebody else', 'CREATE TABLE firmlake.answer (internal_id bigint, name text)', 'answer'],
  ])('%s of the same name is left alone', async (_what, make, table) => {
    const { load, ask } = await bench()
    await ask('CREATE SCHEMA firmlake')
    await ask(make)
    await expect(load('run-1', { 'p-0': { [table]: companies([1, 'one']) } })).rejects.toMatchObject({
      code: 'TARGET_REFUSED',
    })
    expect(await ask("SELECT count(*) FROM pg_class WHERE relname = 'firmlake_loads'")).toEqual([['0']])
  })

  test('of a query are replaced whole, also by one with other columns', async () => {
    const { load, ask } = await bench()
    await load('run-1', { 'p-0': { answer: companies([1, 'one'], [2, 'two']) } })
    await load('run-2', {
      'p-0': { answer: companies([3, 'three']) },
      'p-1': { answer: companies([4, 'four']) },
    })
    expect(await ask('SELECT * FROM firmlake.answer ORDER BY 1')).toEqual([
      ['3', 'three'],
      ['4', 'four'],
    ])
    await load('run-3', { 'p-0': { answer: `SELECT 'SE' AS country, 7::HUGEINT AS n, 7 AS n` } })
    expect(await ask('SELECT country, n, n_1 FROM firmlake.answer')).toEqual([['SE', '7', '7']])
  })

  test('names that PostgreSQL would cut off are refused', async () => {
    const { load } = await bench()
    const long = `SELECT 1 AS "${'é'.repeat(32)}"`
    await expect(load('run-1', { 'p-0': { answer: long } })).rejects.toMatchObject({ code: 'TARGET_REFUSED' })
  })
})

describe('commit', () => {
  test('replaces all rows of the records that a run brings, and keeps those of others', async () => {
    const { load, ask } = await bench()
    await load('run-1', {
      'p-0': {
        companies: companies([1, 'one'], [2, 'two']),
        financials: sales([1, 2022, 10], [1, 2023, 11], [2, 2022, 20]),
      },
    })
    await load('run-2', { 'p-0': { companies: companies([1, 'uno']), financials: sales([1, 2023, 12]) } })
    expect(await ask(COMPANIES)).toEqual([
      ['1', 'uno'],
      ['2', 'two'],
    ])
    expect(await ask(SALES)).toEqual([
      ['1', '2023', '12'],
      ['2', '2022', '20'],
    ])
  })

  test('takes figures away that a run no longer brings, even without a table of figures', async () => {
    const { load, ask } = await bench()
    await load('run-1', { 'p-0': { companies: companies([1, 'one']), financials: sales([1, 2022, 10]) } })
    await load('run-2', { 'p-0': { companies: companies([1, 'one']) } })
    expect(await ask(SALES)).toEqual([])
  })

  test.each(['first', 'second'])(
    'shows the last of several partitions of a record, in the %s run',
    async (when) => {
      const { load, ask } = await bench()
      if (when === 'second') {
        await load('run-1', { 'p-9': { companies: companies([1, 'old']), financials: sales([1, 2020, 1]) } })
      }
      await load('run-2', {
        'p-0': {
          companies: companies([1, 'one'], [2, 'two']),
          financials: sales([1, 2022, 10], [2, 2022, 20]),
        },
        'p-1': { companies: companies([1, 'uno']), financials: sales([1, 2023, 11]) },
      })
      expect(await ask(COMPANIES)).toEqual([
        ['1', 'uno'],
        ['2', 'two'],
      ])
      expect(await ask(SALES)).toEqual([
        ['1', '2023', '11'],
        ['2', '2022', '20'],
      ])
    },
  )

  test('merges a dictionary by its key', async () => {
    const { load, ask } = await bench()
    const item = (name: string, unit: string): string =>
      `SELECT '${name}' AS line_item, 'ProfitAndLoss' AS category, '${unit}' AS unit, true AS scaled`
    await load('run-1', {
      line_items: { line_items: `${item('NetSales', 'unknown')} UNION ALL ${item('EBIT', 'amount')}` },
    })
    await load('run-2', { line_items: { line_items: item('NetSales', 'amount') } })
    expect(await ask('SELECT line_item, unit FROM firmlake.line_items ORDER BY 1')).toEqual([
      ['EBIT', 'amount'],
      ['NetSales', 'amount'],
    ])
  })

  test('notes the run, and does nothing when it is noted already', async () => {
    const { load, stage, sink, ask } = await bench()
    expect(await sink().deliveredRuns()).toEqual(new Set())
    await load('run-1', {
      'p-0': { companies: companies([1, 'one']) },
      'p-1': { companies: companies([2, 'two']) },
    })
    expect(await sink().deliveredRuns()).toEqual(new Set(['run-1']))
    expect(await ask('SELECT run, partitions FROM firmlake.firmlake_loads')).toEqual([['run-1', '2']])
    const again = await stage('run-1', { 'p-0': { companies: companies([1, 'changed']) } })
    await again.run.commit(again.files)
    expect(await ask(COMPANIES)).toEqual([
      ['1', 'one'],
      ['2', 'two'],
    ])
  })

  test('of two runs at once loads both, one after the other', async () => {
    const { stage, ask } = await bench()
    const runs = await Promise.all(
      [1, 2, 3].map((id) =>
        stage(`run-${id}`, {
          'p-0': { companies: companies([id, 'own'], [9, 'shared']), financials: sales([9, 2020 + id, id]) },
        }),
      ),
    )
    await Promise.all(runs.map(({ run, files }) => run.commit(files)))
    expect((await ask(COMPANIES)).map(([id]) => id)).toEqual(['1', '2', '3', '9'])
    expect(await ask(SALES)).toHaveLength(1)
  })

  test('without a staged file fails before the database is touched', async () => {
    const { stage, ask } = await bench()
    const { run, files } = await stage('run-1', { 'p-0': { companies: companies([1, 'one']) } })
    await run.abort()
    await expect(run.commit(files)).rejects.toMatchObject({ code: 'TARGET_FAILED' })
    expect(await ask(`SELECT count(*) FROM pg_namespace WHERE nspname = 'firmlake'`)).toEqual([['0']])
  })
})

describe('values', () => {
  const kept = async (sql: string, ask = 'value'): Promise<(string | null)[]> => {
    const { load, ask: query } = await bench()
    await load('run-1', { 'p-0': { answer: sql } })
    return (await query(`SELECT ${ask} FROM firmlake.answer ORDER BY id`)).map(([value]) => value ?? null)
  }

  test('doubles come exactly, those included that are no numbers', async () => {
    const values = [
      'nan',
      'inf',
      '-inf',
      '-0.0',
      '5e-324',
      '1.7976931348623157e308',
      '0.1',
      '123456789012.34567',
    ]
    const rows = values.map((value, at) => `(${at}, '${value}'::DOUBLE)`).join(', ')
    expect(await kept(`SELECT * FROM (VALUES ${rows}, (99, NULL)) AS t (id, value)`)).toEqual([
      'NaN',
      'Infinity',
      '-Infinity',
      '-0',
      '5e-324',
      '1.7976931348623157e+308',
      '0.1',
      '123456789012.34567',
      null,
    ])
  })

  test('texts come exactly, alone in their row too', async () => {
    const strings = [
      '',
      '\\.',
      '\\N',
      'NULL',
      '"',
      ',',
      'a\n\\.\nb',
      '\r',
      ' x ',
      '\ufeffx',
      "'",
      '\\',
      '😀',
      '"\\."',
    ]
    const list = strings.map((text) => `'${text.replaceAll("'", "''")}'`).join(', ')
    const { load, ask } = await bench()
    await load('run-1', {
      'p-0': {
        one: `SELECT unnest([${list}, NULL]) AS value`,
        first: `SELECT unnest([${list}, NULL]) AS value, 1 AS one`,
        last: `SELECT 1 AS one, unnest([${list}, NULL]) AS value`,
      },
    })
    const expected = [...strings, null].map((text) => [text])
    const inOrder = (rows: readonly (string | null)[][]): unknown =>
      rows.map((row) => JSON.stringify(row)).sort()
    for (const table of ['one', 'first', 'last'])
      expect(inOrder(await ask(`SELECT value FROM firmlake.${table}`))).toEqual(inOrder(expected))
  })

  test('dates and instants come as they are, before Christ and after 9999 too', async () => {
    const at = [
      '2024-01-02 03:04:05.123456Z',
      '0044-03-15 (BC) 00:00:00Z',
      '12345-01-01 00:00:00Z',
      'infinity',
      '-infinity',
    ]
    const rows = at.map((text, id) => `(${id}, TIMESTAMPTZ '${text}')`).join(', ')
    const sql = `SELECT * FROM (VALUES ${rows}) AS t (id, value)`
    expect(await kept(sql)).toEqual([
      '2024-01-02 03:04:05.123456+00',
      '0044-03-15 00:00:00+00 BC',
      '12345-01-01 00:00:00+00',
      'infinity',
      '-infinity',
    ])
    expect(await kept(`SELECT 1 AS id, DATE '0001-01-01 (BC)' AS value`)).toEqual(['0001-01-01 BC'])
  })

  test('other types come as their counterparts', async () => {
    const { load, ask } = await bench()
    await load('run-1', {
      'p-0': {
        answer: `SELECT '\\xAA\\x00'::BLOB AS blob, 1.50::DECIMAL(9,2) AS dec, 170141183460469231731687303715884105727::HUGEINT AS huge,
          TIME '01:02:03' AS time, TIMESTAMP '2024-01-01 00:00:00' AS stamp, 'b'::ENUM('a', 'b') AS enum,
          '5e09eb9f-7e5d-4b1f-9df0-3a4f3d3ea5a1'::UUID AS uuid, true AS flag, 1.5::FLOAT AS float,
          INTERVAL 3 DAY AS span, MAP {'k': [1, NULL]} AS map, 18446744073709551615::UBIGINT AS u`,
      },
    })
    expect(await ask('SELECT * FROM firmlake.answer')).toEqual([
      [
        '\\xaa00',
        '1.50',
        '170141183460469231731687303715884105727',
        '01:02:03',
        '2024-01-01 00:00:00',
        'b',
        '5e09eb9f-7e5d-4b1f-9df0-3a4f3d3ea5a1',
        't',
        '1.5',
        '3 days',
        '{"k": [1, null]}',
        '18446744073709551615',
      ],
    ])
  })

  test('U+0000 becomes U+FFFD in texts, lists and structs, and is told; a text that spells it stays', async () => {
    const { load, ask } = await bench()
    const nul = (text: string): string => `replace('${text}', '0', chr(0))`
    const run = await load('run-1', {
      'p-0': {
        answer: `SELECT ${nul('a0b00')} AS text, [${nul('000')}, '\\u0000', ${nul('\\0')}] AS list,
          {'x': ${nul('0')}} AS struct`,
      },
    })
    expect(await ask('SELECT text, list, struct FROM firmlake.answer')).toEqual([
      ['a\ufffdb\ufffd\ufffd', '["\ufffd\ufffd\ufffd", "\\\\u0000", "\\\\\ufffd"]', '{"x": "\ufffd"}'],
    ])
    expect(run.warnings).toEqual([
      'Replaced 8 characters U+0000 by U+FFFD in table "answer": text of PostgreSQL cannot hold them',
    ])
  })

  test('of a table of the lake come without a warning where nothing was replaced', async () => {
    const { load } = await bench()
    expect((await load('run-1', { 'p-0': { companies: companies([1, 'one']) } })).warnings).toEqual([])
  })
})

describe('a load that is stopped', () => {
  const ACTIVITY = `SELECT query, wait_event_type FROM pg_stat_activity
    WHERE application_name = 'firmlake' AND datname = current_database()`

  test.each([
    { what: 'copies', table: 'answers', sql: 'SELECT i, hash(i)::VARCHAR AS h FROM range(3000000) AS t (i)' },
    { what: 'waits for a lock', table: 'companies', sql: companies([1, 'new'], [2, 'two']) },
  ])('while it $what is gone as a whole, at the server too', async ({ table, sql }) => {
    const url = server().url(await server().newDatabase())
    const { load, ask, sink, stage } = await postgresBench(url)
    await load('run-1', { 'p-0': { companies: companies([1, 'one']) } })
    const { files } = await stage('run-2', { 'p-0': { [table]: sql } })
    const controller = new AbortController()
    const stopped = await sink(controller.signal).open('run-2')
    await withClient(url, async (other) => {
      if (table === 'companies') await other.query('BEGIN; LOCK TABLE firmlake.companies IN SHARE MODE')
      const settled = expect(stopped.commit(files)).rejects.toMatchObject({ code: 'INTERRUPTED' })
      await expect
        .poll(() => ask(ACTIVITY), { interval: 5, timeout: 20_000 })
        .toContainEqual(
          table === 'companies'
            ? [expect.anything(), 'Lock']
            : [expect.stringMatching(/^COPY /), expect.anything()],
        )
      controller.abort()
      await settled
      await expect.poll(() => ask(ACTIVITY), { interval: 5, timeout: 20_000 }).toEqual([])
    })
    expect(await ask(COMPANIES)).toEqual([['1', 'one']])
    const again = sink()
    expect(await again.deliveredRuns()).toEqual(new Set(['run-1']))
    await (await again.open('run-2')).commit(files)
    expect(await again.deliveredRuns()).toEqual(new Set(['run-1', 'run-2']))
  })
})
