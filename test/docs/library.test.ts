/** The custom sink of docs/library.md as it stands there, through the suite of all sinks. */

import { readdir, readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { DeliverySink } from '../../src/core/sink.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { deliver } from '../../src/targets/deliver.ts'
import { companyLine, openBench } from '../run/batch-bench.ts'
import { describeSink } from '../sink/describe-sink.ts'
import { columnList } from '../sink/sink-rows.ts'
import { examplesIn } from '../support/page.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const sinkCode =
  examplesIn('docs/library.md', 'ts').find((code) => code.includes('export const jsonFolder')) ?? ''

const load = <T>(code: string): Promise<T> =>
  import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(code))}`)

const { jsonFolder } = await load<Record<'jsonFolder', (folder: string) => DeliverySink>>(sinkCode)

test('the custom sink has at most twenty lines', () => {
  const lines = sinkCode.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('import '))
  expect(lines.length).toBeLessThanOrEqual(20)
})

const filesOf = async (folder: string, table: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries
    .filter((entry) => entry.name.startsWith(`${table}.`) && !entry.parentPath.includes('.staged'))
    .map((entry) => join(entry.parentPath, entry.name))
}

describeSink('the custom sink of docs/library.md', {
  keepsFiles: false,
  make: (directory, session) => ({
    sink: () => jsonFolder(directory),
    rows: async (table) => {
      const paths = await filesOf(directory, table)
      if (paths.length === 0) return []
      return session.rows(
        `SELECT * FROM read_ndjson([${paths.map(literal).join(', ')}], columns = ${columnList()}, auto_detect = false, records = true)`,
      )
    },
  }),
})

test('deliver feeds the custom sink with each run once', async () => {
  const bench = openBench(await temporaryFolder())
  const out = join(bench.folder, 'out')
  await bench.write('a.jsonl', [companyLine(1), companyLine(2)])
  const { summary } = await bench.run(['a.jsonl'])
  expect(await deliver({ lake: bench.lake, sinks: [jsonFolder(out)] })).toMatchObject([
    { runs: [summary.run] },
  ])
  expect(await deliver({ lake: bench.lake, sinks: [jsonFolder(out)] })).toMatchObject([{ runs: [] }])
  const [file = ''] = await filesOf(out, 'companies')
  expect((await readFile(file, 'utf8')).trim().split('\n')).toHaveLength(2)
})
