/** Searches at the cap of a cursor chain and beyond it, on the real server. */

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listGaps } from '../../src/pull/windows/close-gap.ts'
import { openBench } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  ALL_TABLES,
  COMPANIES,
  follow,
  loadCompanies,
  PAGE_SIZE,
  pullFrom,
  rowsOf,
  SEARCH,
  serving,
} from './serving.ts'

const folders: string[] = []
const newBench = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  folders.push(folder)
  return openBench(folder)
}
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

describe('with a lower cap', () => {
  let served = ''
  beforeAll(async () => {
    const bench = await newBench()
    served = bench.lake
    await loadCompanies(bench)
  })

  test('a chain that has the cap ends with its last page, and one company more ends in a refusal at the cap', async () => {
    const exact = await serving(served, { cursorCap: COMPANIES })
    expect(await follow(exact.service, SEARCH, PAGE_SIZE)).toEqual({ delivered: COMPANIES, end: 'null' })
    const fewer = await serving(served, { cursorCap: COMPANIES - 1 })
    expect(await follow(fewer.service, SEARCH, PAGE_SIZE)).toEqual({
      delivered: COMPANIES - 1,
      end: 'CURSOR_CAP',
    })
  })

  test('a window that outgrew the chain is cut in two', async () => {
    const lake = join(await temporaryFolder(), 'lake')
    const { windows } = await pullFrom(await serving(served, { cursorCap: COMPANIES - 1 }), lake)
    expect(windows).toMatchObject([{ announced: COMPANIES, received: COMPANIES }])
    const rows = await rowsOf(served, ALL_TABLES)
    const { relations, relation_entities, ...companies } = await rowsOf(lake, ALL_TABLES)
    expect([relations, relation_entities]).toEqual([[], []])
    expect(rows).toMatchObject({ companies: companies.companies, financials: companies.financials })
  })
})

test('companies without a value are found from both ends of an order', async () => {
  const bench = await newBench()
  await loadCompanies(bench)
  const { service } = await serving(bench.lake)
  const ends = (['ASC', 'DESC'] as const).map((direction) => ({
    ...{ search: SEARCH, announced: COMPANIES },
    sortBy: { column: 'InternalId', direction },
  }))
  const gap = {
    search: SEARCH,
    parameter: 'LegalForm',
    values: [1],
    records: COMPANIES,
    missing: COMPANIES - 1,
  }
  const closing = {
    steps: [{ gap: 0, by: 'InternalId', listings: ends, expected: COMPANIES - 1 }],
    ...{ missing: COMPANIES - 1, expected: COMPANIES - 1, probes: 0 },
  }
  const folder = await temporaryFolder()
  const options = { service, folder, keepLines: false, concurrency: 2 }
  const found = await listGaps({ gaps: [gap], closing }, (id) => id === 7n, options)
  expect(found).toEqual(
    Array.from({ length: COMPANIES }, (_, at) => BigInt(at + 1)).filter((id) => id !== 7n),
  )
  const down = new BigInt64Array(new Uint8Array(await readFile(join(folder, 'gap-00001.ids'))).buffer)
  expect([down[0], down.at(-1)]).toEqual([BigInt(COMPANIES), 1n])
})
