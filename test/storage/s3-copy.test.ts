/** Copies between a folder and a bucket, and what a bucket that fails leaves of one. */

import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { copyLake } from '../../src/jobs/copy.ts'
import { cli, cliJson, SAMPLE_COMPANIES } from '../cli/run-cli.ts'
import { hashLake } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { s3Error } from './loopback-proxy.ts'
import { LAKE, s3Bench } from './s3-bench.ts'
import { elsewhere, RELATIONS, succeed } from './s3-cli.ts'

vi.setConfig({ testTimeout: 240_000 })

const run = async (...args: readonly string[]): Promise<void> => {
  const { code, stderr } = await cli(args)
  expect(code === 0 ? '' : `${args.join(' ')}: ${stderr}`).toBe('')
}

test('a folder is copied into a bucket, on into another prefix and back into a folder, each time what is new', async (context) => {
  let refused = 0
  const bench = await s3Bench(context, ({ method, url }) => {
    // Once: a table's file is not taken.
    if (refused === 0 && method === 'PUT' && url.includes('/financials/')) {
      refused += 1
      return s3Error(403, 'AccessDenied')
    }
    return undefined
  })
  const folder = await temporaryFolder()
  const [lake, back] = [join(folder, 'lake'), join(folder, 'back')]
  await run('convert', SAMPLE_COMPANIES, '--lake', lake)
  await expect(copyLake({ lake, to: LAKE })).rejects.toMatchObject({ code: 'STORAGE_REFUSED' })
  expect(refused).toBe(1)
  await expect(cliJson(['status', '--lake', LAKE])).resolves.toMatchObject({ snapshot: null })
  await copyLake({ lake, to: LAKE })
  await run('convert', RELATIONS, '--lake', lake)
  expect(await cliJson(['copy', lake, LAKE, '--snapshots', 'all'])).toMatchObject({
    kind: 'copied',
    snapshots: [2],
  })
  await succeed('verify')
  await elsewhere()
  const other = 's3://lakes/other'
  expect(await copyLake({ lake: LAKE, to: other, snapshots: 'all' })).toMatchObject({ snapshots: [1, 2] })
  expect(await copyLake({ lake: other, to: back })).toMatchObject({ oldest: 2, newest: 2 })
  expect(await copyLake({ lake: other, to: back })).toMatchObject({ kind: 'nothing' })
  await run('verify', '--lake', back)
  expect(await hashLake(back)).toEqual(await hashLake(lake))
  expect((await bench.open().list('_runs')).map(({ path }) => path)).toEqual([])
})
