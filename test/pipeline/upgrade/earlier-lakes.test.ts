/** Lakes of every earlier format are read, served, loaded into, verified, compacted, published and copied without an upgrade. */

import { expect, test } from 'vitest'
import { pull } from '../../../src/jobs/pull.ts'
import { records } from '../../../src/jobs/records.ts'
import { serve } from '../../../src/jobs/serve.ts'
import { readFormat } from '../../../src/manifest/snapshots.ts'
import { compactLake } from '../../../src/pipeline/compact/compact.ts'
import { copyLake } from '../../../src/pipeline/copy/copy-lake.ts'
import { publish } from '../../../src/pipeline/targets/publish.ts'
import { openService as service } from '../../../src/source/service/service.ts'
import { hashLake, verify } from '../batch-bench.ts'
import { EARLIER_LAKES, EARLIER_NAMES, openEarlier } from './earlier-lake.ts'

/** The newest version of a company, and figures of two versions of one. */
const NAMES = 'SELECT count(*)::INT, sum(internal_id)::INT FROM companies WHERE internal_id < 10'
const FIGURES = `
  SELECT fiscal_year::INT, value FROM financials WHERE internal_id = 2 ORDER BY ALL`
const BAD = 'SELECT count(*)::INT FROM quarantine'

const readRecords = async (lake: string, content: 'companies' | 'relations'): Promise<number[]> => {
  const ids: number[] = []
  for await (const text of records({ lake, content })) {
    const { BasicDetails: company, ...relations } = JSON.parse(text)
    ids.push(Number((company ?? relations).InternalId))
  }
  return ids.sort((a, b) => a - b)
}

test.for(EARLIER_NAMES)('a lake of %s is read and served as it is', async (name) => {
  const one = await openEarlier(name)
  const { companies, snapshots } = EARLIER_LAKES[name]
  expect(await one.query(NAMES)).toEqual([[5, 15]])
  expect(await one.query(FIGURES)).toEqual([
    [2023, 22.2],
    [2024, 2.7],
    [2025, 3.1],
  ])
  expect(await one.query(BAD)).toEqual([[1]])
  expect(await readRecords(one.lake, 'companies')).toHaveLength(companies)
  expect(await readRecords(one.lake, 'relations')).toEqual([1, 3])
  expect((await one.verify()).problems).toEqual([])
  const server = await serve({ lake: one.lake, port: 0, token: 'a-token' })
  try {
    const from = service({ url: server.url, token: 'a-token' })
    const search = { CountryCode: ['NO'] }
    const pulled = await pull({ from, lake: `${one.folder}/pulled`, content: 'companies', search })
    expect(pulled.records).toBe(2)
  } finally {
    await server.close()
  }
  expect(server.snapshot).toBe(snapshots)
})

test.for(EARLIER_NAMES)('a lake of %s is loaded into, compacted, published and copied', async (name) => {
  const one = await openEarlier(name)
  const { format, snapshots } = EARLIER_LAKES[name]
  expect((await one.run(['first.jsonl'])).summary.skipped).toHaveLength(1)
  await one.write('more.jsonl', ['{"BasicDetails":{"InternalId":9,"CompanyName":"More","CountryCode":"SE"}}'])
  await one.run(['more.jsonl'])
  expect([await readFormat(one.lake, snapshots), await readFormat(one.lake, snapshots + 1)]).toEqual([
    format,
    3,
  ])
  expect(await one.query(NAMES)).toEqual([[6, 24]])
  await compactLake({ lake: one.lake })
  expect(await one.query(NAMES)).toEqual([[6, 24]])
  expect(await one.query(BAD)).toEqual([[1]])
  await publish({ lake: one.lake, formats: ['delta'] })
  expect((await one.verify()).problems).toEqual([])
  const to = `${one.folder}/copy`
  await copyLake({ lake: one.lake, to })
  expect(await hashLake(to)).toEqual(await hashLake(one.lake))
  expect(await verify(to)).toMatchObject({ problems: [] })
})
