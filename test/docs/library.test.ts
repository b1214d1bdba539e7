/** The custom source and sink of docs/library.md as they stand there: the sink through the suite of all sinks. */

import { readdir, readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { DeliverySink } from '../../src/core/sink.ts'
import type { Source } from '../../src/core/source.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { defaultLimits, loadIntoLake } from '../../src/pipeline/run/load-into-lake.ts'
import type { RunPlan } from '../../src/pipeline/run/run-plan.ts'
import { withRun } from '../../src/pipeline/run/with-run.ts'
import { deliver } from '../../src/pipeline/targets/deliver.ts'
import { companyLine, openBench } from '../pipeline/batch-bench.ts'
import { describeSink } from '../sink/describe-sink.ts'
import { columnList } from '../sink/sink-rows.ts'
import { examplesIn } from '../support/page.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const [sourceCode = '', sinkCode = ''] = examplesIn('docs/library.md', 'ts')

const load = <T>(code: string): Promise<T> =>
  import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(code))}`)

const { recordSource } =
  await load<Record<'recordSource', (name: string, records: AsyncIterable<unknown>) => Source>>(sourceCode)
const { jsonFolder } = await load<Record<'jsonFolder', (folder: string) => DeliverySink>>(sinkCode)

test('the custom source loads what it is given', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const records = async function* (): AsyncGenerator<unknown> {
    for (const id of [1, 2, 3]) yield JSON.parse(companyLine(id))
  }
  const plan: RunPlan = {
    jobs: [{ kind: 'program', pipeline: 'records', inputs: ['mine'], cwd: '' }],
    again: false,
    limits: defaultLimits({}),
  }
  const { partitions } = await withRun({ lake, plan }, (run) =>
    loadIntoLake(run, plan, [{ sources: [recordSource('mine', records())] }], {
      lake,
      limit: { kind: 'count', lines: 0 },
    }),
  )
  expect(partitions.map(({ source, counts }) => [source.name, counts.records])).toEqual([['mine', 3]])
})

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
