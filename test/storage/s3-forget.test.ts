/** A lake in a bucket that forgets: its objects, and what stands of them on this machine. */

import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { copyLake } from '../../src/jobs/copy.ts'
import { forget } from '../../src/jobs/forget.ts'
import { companyMarks, marksBelow, personMarks, plantLake } from '../forget/planted-lake.ts'
import { openBench } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { LAKE, s3Bench } from './s3-bench.ts'
import { cliAnew, cliJsonAnew } from './s3-cli.ts'

vi.setConfig({ testTimeout: 240_000 })

test('forget erases all marks from the objects of a bucket and from the copies on this machine', async (context) => {
  const { server, open } = await s3Bench(context)
  const bench = openBench(await temporaryFolder())
  await plantLake(bench)
  await copyLake({ lake: bench.lake, to: LAKE, snapshots: 'all' })
  expect(await cliAnew(['publish', 'iceberg', '--lake', LAKE])).toMatchObject({ code: 0 })
  // Copies of all tables come to the work folder.
  expect(await cliAnew(['records', '--lake', LAKE])).toMatchObject({ code: 0 })
  const gone = [...companyMarks(2), ...personMarks(902)]
  const places = [join(server.folder, LAKE.slice('s3://'.length)), open().local]
  const found = await Promise.all(places.map((place) => marksBelow(place, gone)))
  expect(found.map(({ size }) => size > 0)).toEqual([true, true])
  expect(await forget({ lake: LAKE, companies: [2], persons: [902] })).toMatchObject({
    kind: 'forgotten',
    snapshots: [1, 2],
    published: ['iceberg all', 'iceberg current'],
  })
  for (const place of places) expect([...(await marksBelow(place, gone))]).toEqual([])
  expect((await marksBelow(places[0] ?? '', companyMarks(3))).size).toBe(companyMarks(3).length)
  expect(await cliJsonAnew(['verify', '--lake', LAKE])).toMatchObject({ problems: [] })
})
