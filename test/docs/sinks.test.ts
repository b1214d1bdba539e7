/** The custom sink of docs/library.md as it stands there: through the suite of all sinks, and fed from a lake. */

import { readdir, readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { DeliverySink } from '../../src/core/sink.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { deliver } from '../../src/pipeline/targets/deliver.ts'
import { companyLine, openBench } from '../pipeline/batch-bench.ts'
import { describeSink } from '../sink/describe-sink.ts'
import { columnList } from '../sink/sink-rows.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const text = await readFile(join(import.meta.dirname, '../../docs/library.md'), 'utf8')
const [, code = ''] = /```ts\n([\s\S]*?)```/.exec(text) ?? []

const loadExample = async (): Promise<(folder: string) => DeliverySink> => {
  const source = `data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(code))}`
  const { jsonFolder }: { readonly jsonFolder: (folder: string) => DeliverySink } = await import(
    /* @vite-ignore */ source
  )
  return jsonFolder
}
const jsonFolder = await loadExample()

test('the custom sink has about fifteen lines', () => {
  const lines = code.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('import '))
  expect(lines.length).toBeLessThanOrEqual(16)
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
