import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { cli, cliJson } from '../cli/run-cli.ts'
import { hashLake, queryLake, verify } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Batches, writeBatches } from './batches.ts'

let batches: Batches
beforeAll(async () => {
  batches = await writeBatches({ companies: 80, files: 4 })
})
afterAll(() => batches.remove())

const newLake = async (): Promise<string> => join(await temporaryFolder(), 'lake')
const convert = (lake: string, ...paths: string[]): Promise<{ snapshot: number | null; records: number }> =>
  cliJson(['convert', ...paths, '--lake', lake, '--max-quarantined', '50%'])

test('8 processes that convert different files into one lake at once all land', async () => {
  const [lake, alone] = [await newLake(), await newLake()]
  expect(batches.paths).toHaveLength(8)
  const reports = await Promise.all(batches.paths.map((path) => convert(lake, path)))
  expect(reports.map(({ snapshot }) => snapshot).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  const { partitions } = await readSnapshot(lake)
  expect(new Set(partitions.map(({ source }) => source.sha256)).size).toBe(8)
  const records = reports.reduce((sum, report) => sum + report.records, 0)
  const counts = 'SELECT (SELECT count(*) FROM companies_history) + (SELECT count(*) FROM relations_history)'
  expect(await queryLake(lake, counts)).toEqual([[records]])
  expect(await verify(lake)).toMatchObject({ problems: [], notes: [], snapshots: 8 })
  expect(await readdir(join(lake, '_runs'))).toEqual([])

  await convert(alone, ...batches.paths)
  // Each run writes its dictionary.
  const ofRecords = ({ line_items_history: _, ...hashes }: Readonly<Record<string, string>>): object => hashes
  expect(ofRecords(await hashLake(lake))).toEqual(ofRecords(await hashLake(alone)))
})

test('two processes that convert the same file at once load it once', async () => {
  const lake = await newLake()
  const [path = ''] = batches.paths
  const reports = await Promise.all([convert(lake, path), convert(lake, path), convert(lake, path)])
  expect(reports.filter(({ snapshot }) => snapshot !== null)).toHaveLength(1)
  const records = reports.reduce((sum, report) => sum + report.records, 0)
  expect(await queryLake(lake, 'SELECT count(*) FROM companies_history')).toEqual([[records]])
  expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
  expect((await cli(['gc', '--lake', lake])).code).toBe(0)
  expect(await readdir(join(lake, '_runs')).catch(() => [])).toEqual([])
})
