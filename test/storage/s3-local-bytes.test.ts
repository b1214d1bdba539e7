/** How much of a lake in a bucket lies on this machine while commands read all of it: no more than they are told. */

import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { writeSample } from '../../data/sample.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Bench, s3Bench } from './s3-bench.ts'
import { elsewhere, localFiles, query, succeed } from './s3-cli.ts'
import { watchFolder } from './watch-folder.ts'

// Several commands one after the other, each a process of its own.
vi.setConfig({ testTimeout: 240_000 })

/** Four runs with files of each table. */
const load = async (): Promise<void> => {
  const content = ['companies', 'relations'] as const
  for (const seed of [3, 4, 5, 6]) {
    const folder = await temporaryFolder()
    await writeSample(folder, { companies: 60, seed, files: 1, small: true, awkward: 0, content }, 1)
    await succeed('convert', join(folder, '*.br'), '--change-currency')
  }
}

/** Runs a command on another machine, and watches the files of tables there. */
const watched = async ({ open }: Bench, ...args: readonly string[]): Promise<number> => {
  await elsewhere()
  const isOfLog = (path: string): boolean => path.includes('/delta/')
  return (
    await watchFolder(
      open().local,
      (path) => !isOfLog(path),
      () => succeed(...args),
    )
  ).mostBytes
}

/** What the files of a table take in the bucket, in bytes. */
const tableBytes = async ({ open }: Bench, table: string): Promise<number> =>
  (await open().list(table)).reduce((sum, { bytes }) => sum + bytes, 0)

test('publish keeps within --local-bytes, and leaves nothing', async (context) => {
  const bench = await s3Bench(context)
  await load()
  // One snapshot with all files, for which both formats have to read them.
  await succeed('gc', '--keep', '1')
  const most = Math.round((await tableBytes(bench, 'financials')) / 2)
  expect(await watched(bench, 'publish', 'delta', '--local-bytes', String(most))).toBeLessThanOrEqual(most)
  expect(await localFiles(bench)).toEqual([])
  expect(await watched(bench, 'publish', 'iceberg', '--local-bytes', String(most))).toBeLessThanOrEqual(most)
  expect(await localFiles(bench)).toEqual([])
})

test('compact keeps within --local-bytes, and leaves nothing', async (context) => {
  const bench = await s3Bench(context)
  const folder = await temporaryFolder()
  const sample = { companies: 800, files: 12, small: false, awkward: 0, content: ['companies'] } as const
  await writeSample(folder, { ...sample, seed: 3 }, 1)
  await succeed('convert', join(folder, '*.br'))
  const rows = `SELECT count(*) AS n, bit_xor(hash(f)) AS hash FROM financials AS f`
  const before = await query(rows)
  const [target, figures] = [1024 ** 2, await tableBytes(bench, 'financials')]
  // The table sorted at once takes more than twice its bytes, beside its copies.
  const most = Math.round(2 * target + 1.5 * figures)
  const args = ['--target-bytes', String(target), '--local-bytes', String(most)]
  expect(await watched(bench, 'compact', ...args)).toBeLessThanOrEqual(most)
  expect(await localFiles(bench)).toEqual([])
  const ranges = bench.proxy.requests.filter((one) => one.startsWith('PUT ') && one.includes('/ranges/'))
  expect(ranges.length).toBeGreaterThan(10)
  expect(await bench.open().list('_runs')).toEqual([])
  expect(await query(rows)).toEqual(before)
  await succeed('verify')
})
