/** What Polars sees of the current rows: in both formats, and through its own plans alone. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { queryLake } from '../pipeline/batch-bench.ts'
import { needs } from '../support/needs.ts'
import { openPython, type PythonSession, pythonMissing } from '../support/readers.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { publishCurrent } from './current-lake.ts'
import { sampleLake } from './sample-lake.ts'

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
