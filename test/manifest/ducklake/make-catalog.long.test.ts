/** Catalogs of lakes whose computed columns change, and whose lists of superseded rows somebody else wrote. */

import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { convert } from '../../../src/jobs/convert.ts'
import { verify } from '../../../src/jobs/verify.ts'
import { writeLakeFiles } from '../../../src/manifest/lake-file/lake-file.ts'
import { fromRecords } from '../../../src/source/from-records.ts'
import { copyLake, firm } from '../../support/lakes.ts'
import { ask, inCatalog, listedDeletes, load, newLake } from './catalog-rows.ts'

beforeEach(() => {
  vi.stubEnv('FIRMLAKE_DUCKDB', 'false')
})

test('the views of a snapshot have the computed columns that the lake had then, and its version of the schema is its own', async () => {
  const lake = await copyLake('three', await newLake())
  const declared = [
    { 'companies.shout': 'upper(company_name)' },
    { 'companies.shout': 'lower(company_name)' },
  ]
  for (const compute of declared)
    await convert({
      from: fromRecords('crm', [firm(1, 1)]),
      ...{ lake, again: true, take: { compute }, changeTaken: true },
    })
  await load(lake, firm(2, 2))
  const shown = `SELECT s.snapshot_id::INTEGER AS snapshot, s.schema_version::INTEGER AS version,
  regexp_extract(v.sql, '(upper|lower).company_name', 1) AS computes
FROM ducklake_snapshot AS s JOIN ducklake_view AS v
  ON v.begin_snapshot <= s.snapshot_id AND coalesce(v.end_snapshot > s.snapshot_id, true)
WHERE v.view_name = 'companies' AND v.schema_id = 0 ORDER BY 1`
  expect(await ask(lake, shown)).toEqual([
    { snapshot: 1, version: 1, computes: '' },
    { snapshot: 2, version: 2, computes: 'upper' },
    { snapshot: 3, version: 3, computes: 'lower' },
    { snapshot: 4, version: 3, computes: 'lower' },
  ])
})

test('a list of superseded rows that names others is not continued: the next one is of the rows', async () => {
  const lake = await copyLake('three', await newLake())
  await load(lake, firm(1, 8))
  await writeLakeFiles(lake, { mostInlined: 0 })
  const [path = ''] = await listedDeletes(lake)
  const before = new Map(
    await Promise.all(
      ['lake.ducklake', 'lake.ducklake.sha256'].map(
        async (name) => [name, await readFile(join(lake, name))] as const,
      ),
    ),
  )
  // Company 1, which is superseded, is the first row of the first file; now the list says the third.
  await inCatalog(lake, (session) =>
    session.run(`COPY (SELECT * REPLACE (2 AS pos) FROM '${path}') TO '${path}' (FORMAT parquet)`),
  )
  await load(lake, firm(2, 60))
  for (const [name, bytes] of before) {
    await rm(join(lake, name))
    await writeFile(join(lake, name), bytes)
  }
  await writeLakeFiles(lake, { mostInlined: 0, anew: false })
  const [list = ''] = await listedDeletes(lake)
  expect(
    await inCatalog(lake, (session) => session.rows(`SELECT pos::INTEGER AS pos FROM '${list}' ORDER BY 1`)),
  ).toEqual([{ pos: 0 }, { pos: 1 }])
  expect((await verify({ lake })).problems).toEqual([])
})
