import { spawnSync } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Engine, type Session } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { inLake } from '../../src/lake/files/layout.ts'
import { CSV_FORMAT, csv, csvRelation } from '../../src/sink/csv.ts'
import { needs } from '../support/needs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { parseCsv, undoNeutralised } from './csv-text.ts'
import { belowAFile, describeSink, type Target } from './describe-sink.ts'
import { columnList } from './sink-rows.ts'

const filesBelow = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

const NESTED = ['strings', 'nested']

/** The records of a file as JSON Lines for a reader with types. */
const jsonLinesOf = (text: string): string => {
  const [header = [], ...records] = parseCsv(text)
  const names = header.map((cell) => cell.text)
  const lines = records.map((record) => {
    const members = record.map((cell, at): [string, unknown] => {
      const name = names[at] ?? ''
      if (cell.text === '' && !cell.quoted) return [name, null]
      if (NESTED.includes(name)) return [name, JSON.parse(cell.text)]
      return [name, name === 'text' ? undoNeutralised(cell.text) : cell.text]
    })
    return `${JSON.stringify(Object.fromEntries(members))}\n`
  })
  return lines.join('')
}

const target = (directory: string, session: Session): Target => ({
  sink: () => csv(directory),
  rows: async (table) => {
    const paths = await filesBelow(join(directory, table))
    const strings = await Promise.all(paths.map((path) => readFile(path, 'utf8')))
    const path = `${directory}-read.jsonl`
    await writeFile(path, strings.map(jsonLinesOf).join(''))
    return session.rows(
      `SELECT * FROM read_ndjson(${literal(path)}, columns = ${columnList()}, auto_detect = false, records = true)`,
    )
  },
  files: {
    place: ({ path }) => inLake(directory, path),
    all: async () => (await filesBelow(directory)).sort(),
    unwritable: async () => csv(await belowAFile(directory)),
  },
})

describeSink('csv', { keepsFiles: true, make: target })

/** The text that is written for the rows of a statement. */
const csvOf = async (sql: string, options: { readonly neutralise?: boolean } = {}): Promise<string> => {
  const path = join(await temporaryFolder(), 'out.csv')
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  onTestFinished(() => engine.close())
  const session = await engine.connect()
  await (await csvRelation(session.relation(sql), options)).copyTo(path, CSV_FORMAT)
  return readFile(path, 'utf8')
}

const cellOf = async (value: string, options?: { readonly neutralise?: boolean }): Promise<string> =>
  (await csvOf(`SELECT 1 AS a, ${value} AS v`, options)).slice('a,v\r\n1,'.length, -'\r\n'.length)

test('a file is a header and records that end with CRLF, without a byte order mark', async () => {
  expect(await csvOf("SELECT 1 AS id, 'Åby' AS name UNION ALL SELECT 2, NULL ORDER BY id")).toBe(
    'id,name\r\n1,Åby\r\n2,\r\n',
  )
})

test('a file of no rows is its header', async () => {
  expect(await csvOf('SELECT 1 AS id, 2 AS b WHERE false')).toBe('id,b\r\n')
})

test.each([
  ["'plain'", 'plain'],
  ["' two words '", ' two words '],
  ["'a;b|c#d\te\\f'", 'a;b|c#d\te\\f'],
  ["'a,b'", '"a,b"'],
  [`'say "hi"'`, '"say ""hi"""'],
  ["'two' || chr(10) || 'lines'", '"two\nlines"'],
  ["'end' || chr(13)", '"end\r"'],
  ["''", '""'],
  ['NULL::VARCHAR', ''],
  ["'NULL'", 'NULL'],
])('the text %s is the cell %s: quotes only where needed', async (value, cell) => {
  expect(await cellOf(value)).toBe(cell)
})

test.each([
  ["'=1+1'", "'=1+1"],
  ["'+49 30'", "'+49 30"],
  ["'-'", "'-"],
  ["'@sum'", "'@sum"],
  ["chr(9) || '=1'", "\t'=1"],
  ["chr(13) || '=1'", `"\r'=1"`],
  ["'  =1'", "'  =1"],
  ["'a;=1; -2;b'", "a;'=1;' -2;b"],
  ["'a' || chr(9) || '+1'", "a\t'+1"],
  ["'a' || chr(10) || '@sum'", `"a\n'@sum"`],
  ["['a;=1', '=2']", `"[""a\\u003b=1"",""=2""]"`],
  ["'＝1'", "'＝1"],
  ["'＋1'", "'＋1"],
  ["'－1'", "'－1"],
  ["'＠x'", "'＠x"],
  [`'=HYPERLINK("http://x","y")'`, `"'=HYPERLINK(""http://x"",""y"")"`],
  ["'''=1'", "''=1"],
  ["'''s-Hertogenbosch'", "'s-Hertogenbosch"],
  ["'a=1'", 'a=1'],
  ["'=1'::ENUM('=1')", "'=1"],
])('the text %s is neutralised to %s', async (value, cell) => {
  expect(await cellOf(value)).toBe(cell)
})

test('taking one apostrophe away gives every text back', async () => {
  const starts = [
    '=1',
    "'=1",
    "''=1",
    "'",
    "''",
    "'a",
    '-',
    "'-",
    '@',
    '\t',
    '',
    '＝',
    "'＝",
    " '=",
    "' =",
    '= =',
  ]
  const strings = starts.flatMap((one) => [one, `a;${one}`, `${one}\t${one}`, `;\r\n${one};b`])
  const sql = strings.map((text, at) => `(${at}, ${literal(text)})`).join(', ')
  const [, ...records] = parseCsv(await csvOf(`SELECT * FROM (VALUES ${sql}) AS t (id, text) ORDER BY id`))
  expect(records.map(([, cell]) => undoNeutralised(cell?.text ?? ''))).toEqual(strings)
})

test('a column name that is a formula is neutralised too', async () => {
  expect(await csvOf('SELECT 1 AS "=x", 2 AS "a,b", 3 AS "say ""hi"""')).toBe(
    `'=x,"a,b","say ""hi"""\r\n1,2,3\r\n`,
  )
})

test('neutralise: false leaves texts as they are', async () => {
  expect(await cellOf("'=1+1'", { neutralise: false })).toBe('=1+1')
  expect(await cellOf("'''=1'", { neutralise: false })).toBe("'=1")
})

test.each([
  ['-5', '-5'],
  ['-0.1::DOUBLE', '-0.1'],
  ['(1/3)::DOUBLE', '0.3333333333333333'],
  ['5e-324::DOUBLE', '5e-324'],
  ['-12.50::DECIMAL(10,2)', '-12.50'],
  ['9223372036854775807', '9223372036854775807'],
  ['true', 'true'],
  ["DATE '2026-01-02'", '2026-01-02'],
  ["TIMESTAMPTZ '2026-01-02 05:04:05+02'", '2026-01-02T03:04:05.000Z'],
  ["TIMESTAMPTZ '2026-01-02 03:04:05.123456+00'", '2026-01-02T03:04:05.123456Z'],
  ["TIMESTAMP '2026-01-02 03:04:05.5'", '2026-01-02T03:04:05.500'],
  ["['a', NULL, '=1']", '"[""a"",null,""=1""]"'],
  ["{'n': -1}", '"{""n"":-1}"'],
  ['[]::VARCHAR[]', '[]'],
])('%s is the cell %s', async (value, cell) => {
  expect(await cellOf(value)).toBe(cell)
})

test('every double comes back from its text', async () => {
  const text = await csvOf(
    'SELECT i AS id, (sin(i) * pow(10, i % 600 - 300))::DOUBLE AS v FROM range(5000) AS t (i)',
  )
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  onTestFinished(() => engine.close())
  const session = await engine.connect()
  const path = join(await temporaryFolder(), 'in.jsonl')
  const [, ...records] = parseCsv(text)
  await writeFile(path, records.map(([id, v]) => `{"id":${id?.text},"v":${v?.text}}\n`).join(''))
  const differing = `SELECT count(*) AS n FROM read_ndjson(${literal(path)}, columns = {id: 'BIGINT', v: 'DOUBLE'})
    WHERE v IS DISTINCT FROM (sin(id) * pow(10, id % 600 - 300))::DOUBLE`
  expect(await session.rows(differing)).toEqual([{ n: '0' }])
})

test("Python's csv module reads the records", async (context) => {
  const folder = await temporaryFolder()
  const path = join(folder, 'in.csv')
  await writeFile(path, await csvOf(`SELECT 1 AS id, 'a "b",' || chr(13) || chr(10) || 'c' AS text`))
  const script =
    'import csv,json,sys; print(json.dumps(list(csv.reader(open(sys.argv[1], newline=""), strict=True))))'
  const read = spawnSync('python3', ['-c', script, path], { encoding: 'utf8' })
  needs(context, 'python3', read.error?.message)
  expect(JSON.parse(read.stdout)).toEqual([
    ['id', 'text'],
    ['1', 'a "b",\r\nc'],
  ])
})
