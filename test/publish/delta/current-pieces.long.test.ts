/** Pieces that a Delta table of current rows consists of, and which of them a night writes again. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeSample } from '../../../data/sample.ts'
import { Engine } from '../../../src/lake/duckdb/engine.ts'
import { literal } from '../../../src/lake/duckdb/sql.ts'
import { TABLES } from '../../../src/lake/tables/tables.ts'
import { readSnapshot } from '../../../src/manifest/snapshots/snapshots.ts'
import { parsePiece } from '../../../src/publish/delta/current-changes.ts'
import { runIn } from '../../run/batch-bench.ts'
import { compareRows } from '../../support/same-rows.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { deltaFiles, publishCurrent, shownRows } from '../current-lake.ts'
import { currentRowsOf } from '../history.ts'

const MEBIBYTE = 1024 ** 2

const sample = { seed: 3, files: 1, small: false, awkward: 0, content: ['companies'] } as const

test('a night of one company writes the pieces again that hold it, and no other', async () => {
  const folder = await temporaryFolder()
  const lake = join(folder, 'lake')
  await mkdir(join(folder, 'first'))
  await writeSample(join(folder, 'first'), { ...sample, companies: 900 }, 1)
  await runIn(join(folder, 'first'), lake, ['companies-0001.jsonl.br'])
  await publishCurrent(lake)
  const before = await deltaFiles(lake, 'financials')
  const bySource = Map.groupBy(before.map(parsePiece), ({ source }) => source)
  expect(bySource.size).toBeLessThan(before.length)
  for (const pieces of bySource.values()) {
    const ranges = pieces.flatMap(({ ids }) => ids ?? []).sort((a, b) => (a.first < b.first ? -1 : 1))
    expect(ranges).toHaveLength(pieces.length)
    for (const [at, { first }] of ranges.slice(1).entries()) expect(ranges[at]?.last).toBeLessThan(first)
  }

  await mkdir(join(folder, 'night'))
  await writeSample(join(folder, 'night'), { ...sample, companies: 1, seed: 4 }, 1)
  await runIn(join(folder, 'night'), lake, ['companies-0001.jsonl.br'], { changeCurrency: true, asOf: 'now' })
  const { tables } = await publishCurrent(lake)
  const after = await deltaFiles(lake, 'financials')
  // The piece of the company, without its rows; and those rows.
  expect(after.filter((name) => !before.includes(name))).toHaveLength(2)
  expect(before.filter((name) => !after.includes(name))).toHaveLength(1)
  expect(tables.find(({ table, format }) => table === 'financials' && format === 'delta')).toMatchObject({
    added: 2,
    removed: 1,
  })

  const engine = await Engine.open({ memoryBytes: 256 * MEBIBYTE })
  const session = await engine.connect()
  for (const table of TABLES.filter(({ name }) => ['companies', 'financials', 'employees'].includes(name))) {
    const expected = currentRowsOf(await readSnapshot(lake), lake, table)
    const { delta } = await shownRows(lake, table)
    expect(await compareRows(session, expected, delta)).toMatchObject({ missing: 0, more: 0 })
    for (const name of await deltaFiles(lake, table.name)) {
      const path = join(lake, 'published/delta', table.name, name)
      const columns = await session.describe(`FROM read_parquet(${literal(path)}, hive_partitioning = false)`)
      expect(columns.map((column) => column.name)).toEqual(table.columns.map((column) => column.name))
    }
  }
  session.close()
  engine.close()
})
