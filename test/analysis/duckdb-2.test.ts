/** DuckDB 2.0 reads every view of `lake.duckdb`, and the data files of published tables, as ours does. */

import { spawnSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openQuery } from '../../src/jobs/query.ts'
import { pathsSql } from '../../src/lake/duckdb/sql.ts'
import { publish } from '../../src/targets/publish.ts'
import { needs } from '../support/needs.ts'
import { duckdbPython } from '../support/readers.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { loadSampleLake } from './sample-lake.ts'

const SCRIPT = `
import duckdb, json, sys
asked = json.load(sys.stdin)
lake = duckdb.connect(asked['file'], read_only=True)
lake.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")
if asked['statements'] is None:
    views = lake.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal AND schema_name = 'main' ORDER BY ALL").fetchall()
    asked['statements'] = {name: f'FROM "{name}"' for name, in views}
def answer(sql):
    rows = [str(row) for row, in lake.execute(f'SELECT to_json(t)::VARCHAR FROM ({sql}) AS t').fetchall()]
    return sorted(rows)
json.dump({'version': duckdb.__version__, 'answers': {name: answer(sql) for name, sql in asked['statements'].items()}}, sys.stdout)
`

type Answers = Readonly<Record<string, readonly string[]>>

const { python, missing } = duckdbPython('newer')

const ask = (file: string, statements: Readonly<Record<string, string>> | null): Answers => {
  const { status, stdout, stderr } = spawnSync(python, ['-c', SCRIPT], {
    input: JSON.stringify({ file, statements }),
    encoding: 'utf8',
    maxBuffer: 512 * 1024 ** 2,
  })
  expect([status, stderr]).toEqual([0, ''])
  const { version, answers } = JSON.parse(stdout)
  expect(version).toMatch(/^2\./)
  return answers
}

/** Files of the newest version of a Delta table, after its log. */
const deltaFiles = async (table: string): Promise<readonly string[]> => {
  const log = join(table, '_delta_log')
  const files = new Set<string>()
  for (const name of (await readdir(log)).filter((one) => /^\d+\.json$/.test(one)).sort())
    for (const line of (await readFile(join(log, name), 'utf8')).split('\n').filter(Boolean)) {
      const { add, remove } = JSON.parse(line)
      if (add) files.add(join(table, decodeURIComponent(add.path)))
      if (remove) files.delete(join(table, decodeURIComponent(remove.path)))
    }
  return [...files]
}

test('DuckDB 2.0 gives the rows of ours, of every view and of published tables', async (context) => {
  needs(context, 'DuckDB 2.0 in Python', missing)
  const lake = join(await temporaryFolder(), 'lake')
  await loadSampleLake(lake)
  await publish({ lake, formats: ['delta'] })
  const views = ask(join(lake, 'lake.duckdb'), null)
  expect(Object.keys(views).length).toBeGreaterThan(40)
  const own = await openQuery({ lake })
  try {
    const ours = async (sql: string): Promise<readonly string[]> => {
      const rows: string[] = []
      const answer = await own.run(`SELECT to_json(t)::VARCHAR FROM (${sql}) AS t`)
      for await (const chunk of answer.rows) for (const [row] of chunk) rows.push(String(row))
      return rows.sort()
    }
    for (const [name, rows] of Object.entries(views))
      expect([name, rows]).toEqual([name, await ours(`FROM "${name}"`)])
    const tables = ['companies', 'financials', 'ownerships'] as const
    const statements: Record<string, string> = {}
    for (const table of tables)
      statements[table] =
        `FROM read_parquet(${pathsSql(await deltaFiles(join(lake, 'published/delta', table)))}, hive_partitioning = false)`
    for (const [table, rows] of Object.entries(ask(join(lake, 'lake.duckdb'), statements)))
      expect([table, rows]).toEqual([table, await ours(`FROM ${table}`)])
  } finally {
    own.close()
  }
})
