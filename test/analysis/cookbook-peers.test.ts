import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { needs } from '../support/needs.ts'
import { askDuckdbCli, duckdbCliMissing, duckdbPython } from '../support/readers.ts'
import { cellText, questions } from './cookbook.ts'
import { loadSampleLake } from './sample-lake.ts'

/** Answers every question twice: as rows, and as a data frame of pandas. */
const SCRIPT = `
import duckdb, json, sys
asked = json.load(sys.stdin)
lake = duckdb.connect(asked['file'], read_only=True)
lake.execute('SET enable_progress_bar = false')
def cell(value):
    if value is None or value != value: return ''
    if isinstance(value, str): return value
    if type(value).__name__ in ('bool', 'bool_'): return str(value).lower()
    number = float(value)
    return str(int(number)) if number.is_integer() else repr(number)
answers = []
for sql in asked['questions']:
    rows = [[cell(value) for value in row] for row in lake.execute(sql).fetchall()]
    frame = lake.sql(sql).df()
    framed = [[cell(value) for value in row] for row in frame.astype(object).where(frame.notna(), None).values.tolist()]
    answers.append({'columns': list(frame.columns), 'rows': rows, 'framed': framed})
json.dump({'version': duckdb.__version__, 'answers': answers}, sys.stdout)
`

interface Answered {
  readonly version: string
  readonly answers: readonly {
    readonly columns: readonly string[]
    readonly rows: readonly (readonly string[])[]
    readonly framed: readonly (readonly string[])[]
  }[]
}

let folder: string
let lake: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  lake = join(folder, 'lake')
  await loadSampleLake(lake)
}, 120_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

const plain = (cell: string): string => (/^-?\d+(\.\d+)?$/.test(cell) ? String(Number(cell)) : cell)
const asNumbers = (rows: readonly (readonly string[])[]): string[][] => rows.map((row) => row.map(plain))

for (const [release, version] of [
  ['older', /^1\.3\./],
  ['newer', /^2\./],
] as const)
  test(`DuckDB of a release ${release} than ours gives the answers of the page, as rows and in pandas`, (context) => {
    const { python, missing } = duckdbPython(release)
    needs(context, `DuckDB of an ${release} release in Python`, missing)
    const asked = { file: join(lake, 'lake.duckdb'), questions: questions().map(({ sql }) => sql) }
    const { status, stdout, stderr } = spawnSync(python, ['-c', SCRIPT], {
      input: JSON.stringify(asked),
      encoding: 'utf8',
      maxBuffer: 64 * 1024 ** 2,
    })
    expect([status, stderr]).toEqual([0, ''])
    const answered: Answered = JSON.parse(stdout)
    expect(answered.version).toMatch(version)
    for (const [at, { title, columns, rows }] of questions().entries()) {
      const answer = answered.answers[at]
      expect([title, answer?.columns]).toEqual([title, columns])
      expect([title, asNumbers(answer?.rows ?? [])]).toEqual([title, asNumbers(rows)])
      expect([title, asNumbers(answer?.framed ?? [])]).toEqual([title, asNumbers(rows)])
    }
  })

test("DuckDB's command line gives the answers of the page on lake.duckdb", (context) => {
  needs(context, "DuckDB's command line", duckdbCliMissing())
  const asked = questions()
  const answers = askDuckdbCli(
    join(lake, 'lake.duckdb'),
    asked.map(({ sql }) => sql),
  )
  expect(answers).toHaveLength(asked.length)
  for (const [at, { title, columns, rows }] of asked.entries()) {
    const found = answers[at] ?? []
    expect([title, Object.keys(found[0] ?? {})]).toEqual([title, columns])
    expect([title, asNumbers(found.map((row) => Object.values(row).map(cellText)))]).toEqual([
      title,
      asNumbers(rows),
    ])
  }
})
