/** What Polars sees of the current rows: in both formats, and through its own plans alone; and of all versions. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { queryLake } from '../run/batch-bench.ts'
import { needs } from '../support/needs.ts'
import { openPython, type PythonSession, pythonMissing } from '../support/readers.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { publishCurrent } from './current-lake.ts'
import { sampleLake, smallLake } from './sample-lake.ts'

let python: PythonSession | undefined
beforeAll(async () => {
  if (pythonMissing() === undefined) python = await openPython()
})
afterAll(() => python?.close())

const SCRIPT = `
import polars
table, lake = input['table'], input['lake']
folder = lake + '/published/iceberg/' + table + '/metadata/'
metadata = folder + 'v' + open(folder + 'version-hint.text').read() + '.metadata.json'
result = {}
for name, rows in {
    'delta': polars.scan_delta(lake + '/published/delta/' + table),
    'iceberg': polars.scan_iceberg(metadata),
}.items():
    counted = rows.select(polars.len()).collect().item()
    assert rows.collect().height == counted
    result[name] = counted
`

test('Polars counts the current rows', async (context) => {
  needs(context, 'Polars', pythonMissing())
  const folder = await temporaryFolder()
  const lake = await sampleLake(folder, [
    { companies: 40, seed: 3 },
    { companies: 15, seed: 4 },
  ])
  await publishCurrent(lake)
  for (const { name } of TABLES) {
    const [[rows]] = (await queryLake(lake, `SELECT count(*) FROM ${name}`)) as [[number]]
    expect(await python?.run(SCRIPT, { lake, table: name }), name).toEqual({ delta: rows, iceberg: rows })
  }
})

const HISTORY = `
import polars
table, lake = input['table'], input['lake']
folder = lake + '/' + table + '/metadata/'
metadata = folder + 'v' + open(folder + 'version-hint.text').read() + '.metadata.json'
columns = ['load', 'version', 'snapshot', 'run', 'loaded_at']
result = {
    name: [int(rows.select(polars.col(column).is_null().sum()).collect().item()) for column in columns]
    for name, rows in {
        'delta': polars.scan_delta(lake + '/' + table),
        'iceberg': polars.scan_iceberg(metadata),
    }.items()
}
result['rows'] = polars.scan_iceberg(metadata).select(polars.len()).collect().item()
`

test('Polars knows the loads of all versions by Iceberg; by Delta they are NULL, as the document says', async (context) => {
  needs(context, 'Polars', pythonMissing())
  const lake = await smallLake(await temporaryFolder(), 2)
  await publishCurrent(lake, { rows: ['all'] })
  const seen = await python?.run<Record<string, number[]>>(HISTORY, { lake, table: 'companies' })
  expect(seen).toEqual({ rows: 4, iceberg: [0, 0, 0, 0, 0], delta: [0, 4, 4, 4, 4] })
})
