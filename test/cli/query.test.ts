import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { definitionNames } from '../../src/analysis/definitions.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { tableViews } from '../../src/lake/views/comments.ts'
import { copyLake } from '../support/lakes.ts'
import {
  type CliResult,
  type CommandOptions,
  MAIN,
  runCommand,
  runCommandJson,
} from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { errorCode, SAMPLE_COMPANIES } from './run-cli.ts'

/** As `query --json` prints it. */
interface ListedEntry {
  readonly name: string
  readonly kind: string
  readonly rows: number | null
  readonly historyRows: number
  readonly columns: readonly object[]
}

let folder = ''
let lake = ''

/** A lake that holds one file of the sample twice. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  lake = await copyLake('twice', join(folder, 'lake'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const query = (args: readonly string[], options?: CommandOptions): Promise<CliResult> =>
  runCommand(['query', '--lake', lake, ...args], options)

describe('query', () => {
  test('prints an aligned table; NULL is empty', async () => {
    const sql = "SELECT 'a' AS name, 1 AS n UNION ALL SELECT NULL, 20 ORDER BY n"
    expect(await query([sql])).toEqual({
      code: 0,
      stdout: 'name   n\n────  ──\na      1\n      20\n',
      stderr: '',
    })
  })

  test('--format json is one array of row objects, and --json the same', async () => {
    const sql = 'SELECT 1 AS a, NULL AS b, [1, 2] AS c UNION ALL SELECT 2, NULL, [] ORDER BY a'
    const { stdout } = await query([sql, '--format', 'json'])
    expect(JSON.parse(stdout)).toEqual([
      { a: 1, b: null, c: [1, 2] },
      { a: 2, b: null, c: [] },
    ])
    expect((await query([sql, '--json'])).stdout).toBe(stdout)
  })

  test('--format json of no rows is an empty array', async () => {
    expect((await query(['SELECT 1 AS a WHERE false', '--json'])).stdout).toBe('[]\n')
  })

  test('--format csv quotes as RFC 4180 does, and tells NULL from an empty text', async () => {
    const sql = `SELECT 'x,y' AS a, 'say "hi"' AS b, '' AS c, NULL AS d, 'two' || chr(10) || 'lines' AS e`
    const { stdout } = await query([sql, '--format', 'csv'])
    expect(stdout).toBe('a,b,c,d,e\r\n"x,y","say ""hi""","",,"two\nlines"\r\n')
  })

  test('--format csv has no texts that a spreadsheet takes for formulas, unless told so', async () => {
    const sql = `SELECT '=1+1' AS "@a", '''-x' AS b, 'a=b' AS c, -5 AS d, -1.5::DECIMAL(9,2) AS e, '' AS f, NULL AS g`
    const { stdout } = await query([sql, '--format', 'csv'])
    expect(stdout).toBe(`'@a,b,c,d,e,f,g\r\n'=1+1,''-x,a=b,-5,-1.50,"",\r\n`)
    const plain = await query([sql, '--format', 'csv', '--no-neutralise'])
    expect(plain.stdout).toBe(`@a,b,c,d,e,f,g\r\n=1+1,'-x,a=b,-5,-1.50,"",\r\n`)
  })

  test.each(['UTC', 'Asia/Tokyo', 'America/St_Johns'])(
    'prints date-times in UTC where the zone of the machine is %s',
    async (TZ) => {
      const sql = `SELECT TIMESTAMPTZ '2026-07-02 03:04:05+02' AS a, [a] AS b, a::VARCHAR AS c, hour(a) AS d`
      const { stdout } = await query([sql, '--json'], { env: { TZ } })
      expect(JSON.parse(stdout)).toEqual([
        { a: '2026-07-02T01:04:05.000Z', b: ['2026-07-02T01:04:05.000Z'], c: '2026-07-02 01:04:05+00', d: 1 },
      ])
      const csv = await query([sql, '--format', 'csv'], { env: { TZ } })
      expect(csv.stdout.split('\r\n')[1]).toMatch(/^2026-07-02T01:04:05\.000Z,/)
    },
  )

  test('--format json tells a number by its SQL type, with all its digits', async () => {
    const cases = [
      ['1::BIGINT', '1'],
      ['9223372036854775807', '9223372036854775807'],
      ['170141183460469231731687303715884105727::HUGEINT', '170141183460469231731687303715884105727'],
      ['18446744073709551615::UBIGINT', '18446744073709551615'],
      ['1.10::DECIMAL(10,2)', '1.10'],
      ['-0.000000000000000000000000000000000001::DECIMAL(38,36)', '-0.000000000000000000000000000000000001'],
      ["'123456789012345678901234567890'::BIGNUM", '123456789012345678901234567890'],
      ['0.1::DOUBLE', '0.1'],
      ['-0.0::DOUBLE', '-0'],
      ["'nan'::DOUBLE", 'null'],
      ["'-inf'::FLOAT", 'null'],
      ["'9223372036854775807'", '"9223372036854775807"'],
      ['[9223372036854775807, NULL]', '[9223372036854775807,null]'],
      ["{'10': 1.50, '9': [2.5]}", '{"10":1.50,"9":[2.5]}'],
      ["MAP {'k': 9007199254740993}", '[{"key":"k","value":9007199254740993}]'],
      ['union_value(n := 1.5::DECIMAL(3,1))', '{"tag":"n","value":1.5}'],
      ["INTERVAL '1' DAY", '{"months":0,"days":1,"micros":0}'],
      ["'[1]'::JSON", '"[1]"'],
    ] as const
    const sql = `SELECT ${cases.map(([one], at) => `${one} AS c${at}`).join(', ')}`
    const { stdout } = await query([sql, '--json'])
    expect(stdout).toBe(`[\n{${cases.map(([, json], at) => `"c${at}":${json}`).join(',')}}\n]\n`)
  })

  test('--width cuts a table and says so; without a terminal nothing is cut', async () => {
    const sql = "SELECT 'Alfa' AS name, repeat('x', 50) AS text, 7 AS n, repeat('y', 9) AS last"
    const { stdout, stderr } = await query([sql, '--width', '30'])
    expect(stdout.split('\n')[2]).toBe(`Alfa  ${'x'.repeat(17)}…  7  …`)
    expect(stderr).toBe(
      'Cut to a width of 30: 1 column shortened, 1 of 4 columns left out; --format csv or json shows all.\n',
    )
    const whole = await query([sql])
    expect([whole.stdout.includes('x'.repeat(50)), whole.stderr]).toEqual([true, ''])
  })

  test('--format markdown prints a table of Markdown, with all its rows', async () => {
    const sql = "SELECT 'a|b' AS name, i AS n FROM range(1200) AS t (i) ORDER BY i"
    const { stdout } = await query([sql, '--format', 'markdown'])
    expect(stdout.split('\n').slice(0, 3)).toEqual(['| name | n |', '| --- | --: |', '| a\\|b | 0 |'])
    expect(stdout.trimEnd().split('\n')).toHaveLength(2 + 1200)
    expect(
      (await query([sql, '--format', 'markdown', '--limit', '2'])).stdout.trimEnd().split('\n'),
    ).toHaveLength(4)
  })

  test('--format parquet prints a Parquet file of the rows in their order, and leaves nothing', async () => {
    const temporary = await mkdtemp(join(folder, 'temporary-'))
    const file = join(folder, 'answer.parquet')
    const sql = 'SELECT i AS id, i / 4 AS quarter FROM range(300000) AS t (i) ORDER BY i DESC'
    const child = spawn(
      'sh',
      [
        '-c',
        '"$@" > "$0"',
        file,
        process.execPath,
        MAIN,
        'query',
        '--lake',
        lake,
        sql,
        '--format',
        'parquet',
      ],
      { env: { ...process.env, TMPDIR: temporary } },
    )
    expect(await once(child, 'close')).toEqual([0, null])
    expect(await readdir(temporary)).toEqual([])
    const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
    try {
      const rows = await (await engine.connect()).rows(
        `SELECT count(*)::INTEGER AS n, max(quarter) AS most, list(id ORDER BY file_row_number)[1:2]::VARCHAR AS first
FROM read_parquet('${file}', file_row_number = true)`,
      )
      expect(rows).toEqual([{ n: 300_000, most: 299_999 / 4, first: '[299999, 299998]' }])
    } finally {
      engine.close()
    }
  })

  test('--format parquet says why a statement failed, and takes no list of tables', async () => {
    const failed = await query(["SELECT error('no') AS x", '--format', 'parquet'])
    expect([failed.code, failed.stdout]).toEqual([1, ''])
    expect(failed.stderr).toContain('QUERY_FAILED')
    expect((await query(['--format', 'parquet'])).code).toBe(2)
  })

  test('reads the statement from standard input', async () => {
    const { stdout } = await query(['-', '--format', 'csv'], { stdin: 'SELECT count(*) AS n FROM companies' })
    expect(stdout).toBe('n\r\n300\r\n')
  })

  test('shows current versions, all versions in the history, and earlier snapshots', async () => {
    const sql =
      'SELECT (SELECT count(*) FROM companies) AS now, (SELECT count(*) FROM companies_history) AS "all"'
    expect((await query([sql, '--format', 'csv'])).stdout).toBe('now,all\r\n300,600\r\n')
    expect((await query([sql, '--format', 'csv', '--snapshot', '1'])).stdout).toBe('now,all\r\n300,300\r\n')
  })

  test('takes the lake of FIRMLAKE_LAKE where none is given, and says so in its help', async () => {
    const env = { FIRMLAKE_LAKE: lake }
    const args = ['query', 'SELECT count(*) AS n FROM companies', '--format', 'csv']
    expect((await runCommand(args, { env })).stdout).toBe('n\r\n300\r\n')
    const other = await runCommand([...args, '--lake', join(folder, 'no')], { env })
    expect(other.code).toBe(1)
    expect(other.stderr).toContain('LAKE_NOT_FOUND')
    const cwd = await temporaryFolder()
    expect((await runCommand(args, { env: { FIRMLAKE_LAKE: '' }, cwd })).code).toBe(2)
    for (const command of ['query', 'convert', 'status', 'pull', 'gc', 'plan', 'demo'])
      expect([command, (await runCommand([command, '--help'])).stdout]).toEqual([
        command,
        expect.stringContaining('FIRMLAKE_LAKE'),
      ])
  })

  test('prints 1000 rows of a table at most, or as many as --limit says', async () => {
    const whole = await query(['SELECT * FROM financials'])
    expect(whole.stdout.split('\n')).toHaveLength(1003)
    expect(whole.stderr).toContain('There are more than 1,000 rows')
    const two = await query(['SELECT internal_id FROM companies', '--format', 'csv', '--limit', '2'])
    expect(two.stdout.split('\r\n')).toHaveLength(4)
  })

  test('without SQL lists tables with row counts, current ones of companies, and views and macros by subject, on one screen', async () => {
    const { code, stdout } = await query(['--width', '80'])
    expect(code).toBe(0)
    const lines = stdout.trimEnd().split('\n')
    expect(lines.length).toBeLessThanOrEqual(73)
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(stdout).toMatch(/^tables +companies +300 rows, each a company$/m)
    expect(stdout).toMatch(/^figures +figures +The figures that count/m)
    const listed = lines
      .slice(2, lines.indexOf(''))
      .flatMap((line) => /^(\w+)? +(\w+)(\(…\))? /.exec(line)?.[2] ?? [])
    const rules = [...definitionNames()].filter((name) => name.startsWith('quality_'))
    const byDate = [...definitionNames()].filter((name) =>
      /^(companies|relations)_as_|^instant_of$/.test(name),
    )
    expect(new Set([...listed, ...rules, ...byDate])).toEqual(
      new Set([
        ...TABLES.map(({ name }) => name),
        ...definitionNames(),
        'quarantine',
        'listings',
        'companies_all',
      ]),
    )
    expect(stdout).toMatch(/financials +[\d,]+ rows of versions, each/)
    expect(stdout).toContain('SELECT count(*) FROM financials')
    expect(stdout).toContain('--describe growth')
    const first = await query(['--snapshot', '1'])
    expect(first.stdout).toMatch(/^tables +companies +300 rows, each a company$/m)
  })

  test('without SQL and with --json gives all that there is, with columns, units and row counts', async () => {
    const entries: ListedEntry[] = JSON.parse((await query(['--json'])).stdout)
    const tables = entries.filter(({ kind }) => kind === 'table')
    expect(new Set(entries.map(({ name }) => name))).toEqual(
      new Set([...tableViews().map(({ name }) => name), ...definitionNames()]),
    )
    expect(tables.map(({ name }) => name)).toEqual(TABLES.map(({ name }) => name))
    const employees = { name: 'employees', type: 'DOUBLE', unit: 'persons', about: 'Headcount.' }
    expect(tables.find(({ name }) => name === 'employees')?.columns).toContainEqual(employees)
    expect(entries.find(({ name }) => name === 'growth')).toMatchObject({
      ...{ kind: 'table macro', subject: 'figures', signature: 'growth(item)' },
      parameters: [{ name: 'item', about: 'line item, such as NetSales' }],
    })
    expect(tables.find(({ name }) => name === 'companies')).toMatchObject({ rows: 300, historyRows: 600 })
    expect(tables.find(({ name }) => name === 'relations')).toMatchObject({ rows: 0, historyRows: 0 })
  })

  test.each([
    [
      'growth',
      /^growth\(item\), a macro that gives a table: Growth of a line item against the year before\.$/m,
      /^ {2}previous_value {2,}figure of the year before, of the same consolidation$/m,
    ],
    ['latest_figures', /^latest_figures, a view: The latest figure/m, /^ {2}internal_id {2}/m],
    [
      'employees',
      /^employees, a table: [\d,]+ rows of versions\. /m,
      /^ {2}employees +DOUBLE +persons +Headcount\.$/m,
    ],
    ['companies_history', /^companies_history, a view: All versions\./m, /^ {2}is_current +BOOLEAN /m],
    ['quality_balance', /^quality_balance, a view: Balance sheets/m, /^ {2}FROM quality_balance ORDER BY/m],
  ])('--describe %s prints what it is with all its columns', async (name, what, column) => {
    const { code, stdout } = await query(['--describe', name])
    expect([code, stdout]).toEqual([0, expect.stringMatching(what)])
    expect(stdout).toMatch(column)
    expect(JSON.parse((await query(['--describe', name, '--json'])).stdout)).toMatchObject({ name })
  })

  test('--describe refuses a name that there is not, and says which is meant', async () => {
    const { code, stderr } = await query(['--describe', 'growht'])
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('no such table, view or macro, did you mean "growth"?'),
    ])
    expect((await query(['--describe', 'growth', 'SELECT 1'])).code).toBe(2)
  })

  test('without SQL, and for DESCRIBE, reads no data: the files may be gone', async () => {
    const gone = join(folder, 'gone')
    await cp(lake, gone, { recursive: true })
    for (const name of await readdir(gone))
      if (!name.startsWith('_')) await rm(join(gone, name), { recursive: true })
    const of = (args: readonly string[]): Promise<CliResult> => runCommand(['query', '--lake', gone, ...args])
    expect((await of([])).stdout).toBe((await query([])).stdout)
    for (const sql of ['DESCRIBE companies', 'DESCRIBE SELECT * FROM financials_history', 'SHOW TABLES']) {
      const described = await of([sql, '--format', 'csv'])
      expect([sql, described.code, described.stdout]).toEqual([
        sql,
        0,
        (await query([sql, '--format', 'csv'])).stdout,
      ])
    }
    expect((await of(['SUMMARIZE companies'])).code).toBe(1)
  })

  test.each([
    ['SELECT 1; SELECT 2', 'QUERY_REFUSED'],
    ['CREATE TABLE x AS SELECT 1', 'QUERY_REFUSED'],
    ['SELECT nothing FROM companies', 'QUERY_FAILED'],
  ])('%s ends with 1 and %s', async (sql, code) => {
    const result = await query([sql, '--json'])
    expect([result.code, errorCode(result)]).toEqual([1, code])
  })

  test('an empty statement and an unknown format are wrong usage', async () => {
    expect((await query([' '])).code).toBe(2)
    expect((await query(['SELECT 1', '--format', 'xml'])).code).toBe(2)
  })

  test.each(['csv', 'json'])('ends quietly with 0 when nobody reads its %s any more', async (format) => {
    const sql = 'SELECT * FROM financials'
    const args = [MAIN, 'query', '--lake', lake, sql, '--format', format]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let stderr = ''
    child.stderr.on('data', (text: Buffer) => {
      stderr += text
    })
    child.stdout.once('data', () => child.stdout.destroy())
    const [code] = await once(child, 'exit')
    expect([code, stderr]).toEqual([0, ''])
  })
})

test('query says since when the history is whole when it reads all versions of a lake that dropped some, and only then', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  await runCommandJson(['convert', SAMPLE_COMPANIES, '--lake', lake])
  const ask = (sql: string, ...more: readonly string[]) => runCommand(['query', '--lake', lake, sql, ...more])
  expect((await ask('SELECT count(*) FROM restatements')).stderr).toBe('')
  await runCommandJson(['compact', '--lake', lake, '--drop-history'])
  const { code, stderr } = await ask('SELECT count(*) FROM restatements')
  expect([code, stderr]).toEqual([0, expect.stringContaining('the history is whole since 2')])
  expect((await ask('SELECT count(*) FROM companies')).stderr).toBe('')
  expect((await ask('SELECT count(*) FROM restatements', '--snapshot', '1')).stderr).toBe('')
})
