import { join } from 'node:path'
import { expect, test } from 'vitest'
import { compact } from '../../../src/jobs/compact.ts'
import { convert } from '../../../src/jobs/convert.ts'
import { replay } from '../../../src/jobs/replay.ts'
import { Engine } from '../../../src/lake/duckdb/engine.ts'
import { type Bench, openBench } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const bench = async (): Promise<Bench> => openBench(await temporaryFolder())

/** A company whose name and net sales say of which day of January 2026 they are. */
const company = (id: number, day: number, { stamp = true, sales = day } = {}): string =>
  JSON.stringify({
    BasicDetails: { InternalId: id, CompanyName: `of ${day}`, CountryCode: 'SE' },
    MetaData: {
      CurrentCurrencyCode: 'SEK',
      FinancialFigureScale: 'None',
      ...(stamp && { FinancialsUpdatedAt: `2026-01-${String(day).padStart(2, '0')}T00:00:00Z` }),
    },
    Financials: { ProfitAndLoss: { NetSales: { 2024: sales } } },
  })

/** Rows of a DuckDB file, attached as `db`. */
const rowsIn = async (file: string, sql: string) => {
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    await session.run(`ATTACH '${file}' AS db (READ_ONLY)`)
    return await session.rows(sql)
  } finally {
    engine.close()
  }
}

const CURRENT = 'SELECT internal_id, company_name FROM companies ORDER BY ALL'
const HISTORY = `SELECT company_name, as_of::VARCHAR, is_current FROM companies_history ORDER BY as_of, version`
const load = async (one: Bench, name: string, lines: readonly string[]): Promise<void> => {
  await one.write(name, lines)
  await one.run([name])
}

test('convert keeps the newer data of a company, in whatever order its files come', async () => {
  const one = await bench()
  await load(one, 'b', [company(1, 10), company(2, 3)])
  await load(one, 'a', [company(1, 9), company(3, 9)])
  expect(await one.query(CURRENT)).toEqual([
    [1, 'of 10'],
    [2, 'of 3'],
    [3, 'of 9'],
  ])
  // The file is of the latest day in it, also for a record that has an older stamp itself.
  expect(
    await one.query(`SELECT company_name, as_of::VARCHAR FROM companies_history WHERE internal_id = 2`),
  ).toEqual([['of 3', '2026-01-10 00:00:00+00']])
  expect((await one.verify()).problems).toEqual([])
})

test('convert takes a file of which a late block has the latest stamp as of that', async () => {
  const one = await bench()
  const padding = 'x'.repeat(400)
  const many = Array.from({ length: 40 }, (_, at) =>
    JSON.stringify({ ...JSON.parse(company(at + 2, 1)), Padding: padding }),
  )
  await load(one, 'new', [company(1, 10)])
  await one.write('blocks', [company(1, 5), ...many, company(99, 20)])
  await one.run(['blocks'], { limits: { blockBytes: 4096 } })
  const { partitions } = await one.snapshot()
  expect(partitions.length).toBeGreaterThan(3)
  expect(new Set(partitions.slice(1).map(({ asOf }) => asOf))).toEqual(new Set(['2026-01-20T00:00:00.000Z']))
  expect(await one.query(`SELECT company_name FROM companies WHERE internal_id = 1`)).toEqual([['of 5']])
})

test.each([2, 12])(
  'convert of a folder goes by the instants of its %i files, not by their names',
  async (count) => {
    const one = await bench()
    for (let day = 1; day <= count; day += 1)
      await one.write(`in/firms-${count - day}.jsonl`, [company(1, day), company(day + 1, day)])
    await one.run(['in'])
    expect(await one.query(`SELECT company_name FROM companies WHERE internal_id = 1`)).toEqual([
      [`of ${count}`],
    ])
    // What is loaded later and is older than the last of them, but newer than the others, is current for the others.
    await load(one, 'late', [
      company(1, count - 1, { sales: 100 }),
      company(2, count - 1),
      company(count + 1, count - 1),
    ])
    expect(await one.query(CURRENT)).toEqual([
      [1, `of ${count}`],
      ...Array.from({ length: count }, (_, at) => [at + 2, `of ${at === 0 ? count - 1 : at + 1}`]),
    ])
  },
)

test('files without any stamp go by their names as people number them, and by the loads', async () => {
  const one = await bench()
  for (const number of [9, 10, 100])
    await one.write(`in/${number}/c.jsonl`, [company(1, number, { stamp: false })])
  await one.run(['in'])
  expect(await one.query(CURRENT)).toEqual([[1, 'of 100']])
  await load(one, 'again', [company(1, 7, { stamp: false })])
  expect(await one.query(CURRENT)).toEqual([[1, 'of 7']])
})

test('a stamp of the future is no date; one without a time is the end of its day', async () => {
  const one = await bench()
  const dated = (stamp: string, name: string): string =>
    JSON.stringify({
      BasicDetails: { InternalId: 1, CompanyName: name, CountryCode: 'SE' },
      MetaData: {
        ContentUpdatedAt: stamp,
        OwnersUpdatedAt: '2026-01-02T00:00:00Z',
        GeneratedAt: '2026-02-02T00:00:00Z',
      },
    })
  await load(one, 'day', [dated('2026-01-09', 'end of day')])
  await load(one, 'hour', [dated('2026-01-09T15:00:00+01:00', 'in the afternoon')])
  await load(one, 'future', [dated('2999-01-01T00:00:00Z', 'of the future')])
  expect(await one.query(HISTORY)).toEqual([
    ['of the future', '2026-01-02 00:00:00+00', false],
    ['in the afternoon', '2026-01-09 14:00:00+00', false],
    ['end of day', '2026-01-09 23:59:59.999+00', true],
  ])
})

test('relations go by entities, owners and roles: an owner who is gone stays gone when an older file comes', async () => {
  const one = await bench()
  const owner = (id: number, day: number): object => ({
    ...{ InternalId: id, Name: `Owner ${id}`, UpdatedAt: '2026-01-01T00:00:00Z' },
    Ownerships: [{ Share: 10, UpdatedAt: `2026-01-${day}T00:00:00Z` }],
    KeyPersonRoles: [{ Id: 1, UpdatedAt: `2026-01-${day - 1}T00:00:00Z` }],
  })
  const record = (id: number, ...parents: object[]): string =>
    JSON.stringify({ InternalId: id, Name: `Firm ${id}`, Parents: parents })
  // Company 1 has lost the owner with the latest stamp, company 2 has none, company 3 shows of when the file is.
  await load(one, 'new', [record(1, owner(10, 11)), record(2, owner(20, 11)), record(3, owner(30, 20))])
  await load(one, 'old', [record(1, owner(10, 11), owner(11, 15)), record(2), record(4, owner(40, 15))])
  expect(await one.query('SELECT company_id, entity_id FROM relation_entities ORDER BY ALL')).toEqual([
    [1, 10],
    [2, 20],
    [3, 30],
    [4, 40],
  ])
  expect(await one.query('SELECT DISTINCT company_id FROM ownerships ORDER BY ALL')).toEqual([
    [1],
    [2],
    [3],
    [4],
  ])
})

test('history, restatements and changes go along the order; a load says what was older', async () => {
  const one = await bench()
  await load(one, 'c', [company(1, 10), company(2, 10)])
  await load(one, 'b', [company(1, 9), company(2, 9, { sales: 10 })])
  await load(one, 'd', [company(1, 11, { sales: 10 })])
  expect(
    await one.query('SELECT internal_id, old_value, new_value, is_current FROM restatements ORDER BY ALL'),
  ).toEqual([[1, 9, 10, true]])
  expect(
    await one.query(
      `SELECT internal_id, old_value, new_value FROM company_changes WHERE column_name = 'company_name' ORDER BY ALL`,
    ),
  ).toEqual([
    [1, 'of 10', 'of 11'],
    [1, 'of 9', 'of 10'],
    [2, 'of 9', 'of 10'],
  ])
  expect(
    await one.query(
      'SELECT snapshot, companies, added, restated, changed, unchanged, older FROM load_changes ORDER BY snapshot',
    ),
  ).toEqual([
    [1, 2, 2, 0, 0, 0, 0],
    [2, 2, 0, 0, 0, 0, 2],
    [3, 1, 0, 0, 1, 0, 0],
  ])
})

test('compact keeps of which instant each record is: what comes later goes by that', async () => {
  const one = await bench()
  await load(one, 'a', [company(1, 10), company(2, 10)])
  await load(one, 'b', [company(2, 20), company(3, 20)])
  await compact({ lake: one.lake })
  await load(one, 'late', [company(1, 15), company(2, 15), company(3, 15)])
  const expected = [
    [1, 'of 15'],
    [2, 'of 20'],
    [3, 'of 20'],
  ]
  expect(await one.query(CURRENT)).toEqual(expected)
  await compact({ lake: one.lake })
  expect(await one.query(CURRENT)).toEqual(expected)
  await load(one, 'later', [company(1, 14), company(2, 14)])
  await load(one, 'last', [company(3, 21)])
  expect(await one.query(CURRENT)).toEqual([
    [1, 'of 15'],
    [2, 'of 20'],
    [3, 'of 21'],
  ])
})

test('a load says by source what was older than the data of the lake, and the manifest keeps the number', async () => {
  const one = await bench()
  await load(one, 'b', [company(1, 10), company(2, 10)])
  await one.write('a', [company(1, 9), company(2, 9), company(3, 9)])
  await one.write('new', [company(1, 11)])
  const report = await convert({
    from: [`${one.folder}/a`, `${one.folder}/new`],
    lake: one.lake,
  })
  expect(report.older).toEqual([
    {
      source: expect.stringMatching(/a$/),
      asOf: '2026-01-09T00:00:00.000Z',
      content: 'companies',
      records: 3,
      older: 2,
      than: '2026-01-10T00:00:00.000Z',
      isLive: false,
    },
  ])
  expect((await one.snapshot()).partitions.map(({ older }) => older)).toEqual([undefined, 2, undefined])
  expect((await one.verify()).problems).toEqual([])
})

test('asOf says as of when files are: an instant, now, or the date in their names', async () => {
  const one = await bench()
  const convertAs = async (name: string, asOf: string, ...lines: readonly string[]) => {
    await one.write(name, lines)
    return convert({ from: `${one.folder}/${name}`, lake: one.lake, asOf })
  }
  await convertAs('firms-2026-01-15.jsonl', 'name', company(1, 1))
  await convertAs('firms_20260114.jsonl', 'name', company(1, 20))
  await convertAs('x-2026-1-16.jsonl', 'name', company(1, 2))
  expect(await one.query(HISTORY)).toEqual([
    ['of 20', '2026-01-14 23:59:59.999+00', false],
    ['of 1', '2026-01-15 23:59:59.999+00', false],
    ['of 2', '2026-01-16 23:59:59.999+00', true],
  ])
  await convertAs('instant', '2026-01-17T12:00:00Z', company(1, 3))
  const { run } = await convertAs('now', 'now', company(1, 4))
  const [last] = await one.query(
    `SELECT company_name, as_of::VARCHAR FROM companies_history WHERE is_current`,
  )
  const [, ...digits] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)/.exec(run) ?? []
  expect(last?.[0]).toBe('of 4')
  expect(String(last?.[1]).match(/\d+/g)?.slice(0, 6)).toEqual(digits)
  await expect(convertAs('c', '2999-01-01')).rejects.toMatchObject({ code: 'USAGE' })
  await expect(convertAs('c', 'yesterday')).rejects.toMatchObject({ code: 'USAGE' })
  await expect(convertAs('without-a-date', 'name', company(1, 1))).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringContaining('without-a-date'),
  })
})

test('again with another instant puts a mistaken one right, whatever had been superseded by it', async () => {
  const one = await bench()
  const database = join(one.folder, 'out.duckdb')
  const run = async (name: string, asOf?: string, again = false): Promise<void> => {
    await convert({ from: `${one.folder}/${name}`, lake: one.lake, asOf, again, sinks: [database] })
    const { problems } = await one.verify()
    expect(problems).toEqual([])
  }
  const shown = async () => ({
    lake: await one.query(CURRENT),
    figures: await one.query('SELECT internal_id, value FROM financials ORDER BY ALL'),
    database: await rowsIn(database, 'SELECT internal_id, company_name FROM db.companies ORDER BY ALL'),
  })
  await one.write('a', [company(1, 10), company(2, 10)])
  await one.write('b', [company(2, 12)])
  await one.write('old', [company(1, 9), company(2, 9), company(3, 9)])
  await run('a')
  await run('b')
  await run('old', 'now')
  const [first, second, third] = [
    [1, 'of 9'],
    [2, 'of 9'],
    [3, 'of 9'],
  ]
  expect((await shown()).lake).toEqual([first, second, third])
  await run('old', '2026-01-09', true)
  const expected = [[1, 'of 10'], [2, 'of 12'], third]
  expect(await shown()).toEqual({
    lake: expected,
    figures: [
      [1, 10],
      [2, 12],
      [3, 9],
    ],
    database: expected.map(([internal_id, company_name]) => ({
      internal_id: String(internal_id),
      company_name,
    })),
  })
  expect(await one.query('SELECT internal_id, old_value, new_value FROM restatements ORDER BY ALL')).toEqual([
    [1, 9, 10],
    [2, 9, 10],
    [2, 10, 12],
  ])
  // The other way round: what was taken for too old.
  await run('old', '2026-01-20', true)
  expect((await shown()).lake).toEqual([first, second, third])
})

test('a replayed line is as of where it came from, also of small files that shared a partition', async () => {
  const one = await bench()
  const deep = (line: string): string =>
    line.replace('"CountryCode"', `"Deep":${'['.repeat(20)}1${']'.repeat(20)},"CountryCode"`)
  // Company 1 is bad in the oldest and in the newest of nine files; its own stamps say nothing of a file's other records.
  for (let day = 1; day <= 9; day += 1)
    await one.write(`in/${day}`, [
      day === 1 || day === 9 ? deep(company(1, 1, { sales: day })) : company(day, day),
      company(100 + day, day),
    ])
  await one.run(['in'], { limits: { maxDepth: 10 }, maxQuarantined: { kind: 'count', lines: 2 } })
  await load(one, 'middle', [company(1, 5, { sales: 5 })])
  const { records } = await replay({ lake: one.lake })
  expect(records).toBe(2)
  expect(
    await one.query(
      'SELECT value, as_of::VARCHAR, is_current FROM financials_history WHERE internal_id = 1 ORDER BY as_of, version',
    ),
  ).toEqual([
    [1, '2026-01-01 00:00:00+00', false],
    [5, '2026-01-05 00:00:00+00', false],
    [9, '2026-01-09 00:00:00+00', true],
  ])
})

test('a mistaken instant that is put right moves superseded versions too: history and questions by date go by it', async () => {
  const one = await bench()
  const run = async (day: number, asOf?: number, again = false): Promise<void> => {
    await one.write(`of-${day}`, [company(1, day)])
    await one.run([`of-${day}`], { again, ...(asOf !== undefined && { asOf: `2026-01-${asOf}` }) })
  }
  const on = async (day: number) =>
    (await one.query(`SELECT value FROM figures_as_of('2026-01-${day}')`)).flat()
  // The file of the 11th is taken for one of the 20th, and superseded by that of the 25th.
  await run(11, 20)
  await run(15)
  await run(25)
  expect([await on(12), await on(15), await on(21), await on(25)]).toEqual([[], [15], [11], [25]])
  await run(11, 11, true)
  expect([await on(12), await on(15), await on(21), await on(25)]).toEqual([[11], [15], [15], [25]])
  expect(
    await one.query('SELECT DISTINCT company_name, day(as_of) FROM companies_history ORDER BY 2'),
  ).toEqual([
    ['of 11', 11],
    ['of 15', 15],
    ['of 25', 25],
  ])
  expect(await one.query('SELECT old_value, new_value FROM restatements ORDER BY 1')).toEqual([
    [11, 15],
    [15, 25],
  ])
})
