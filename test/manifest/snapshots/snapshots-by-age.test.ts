import { expect, test } from 'vitest'
import { convert } from '../../../src/jobs/convert.ts'
import { gc } from '../../../src/jobs/gc.ts'
import { readRoot, snapshotAsOf } from '../../../src/manifest/snapshots/snapshots.ts'
import { fromRecords } from '../../../src/source/from-records.ts'
import { companyLine } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const DAY_MS = 86_400_000

test('gc by age keeps the snapshot that was the newest then, those after it, and at least so many', async () => {
  const lake = await temporaryFolder()
  for (const id of [1, 2, 3])
    await convert({
      from: fromRecords(`part-${id}`, [JSON.parse(companyLine(id))]),
      lake,
    })
  const times = await Promise.all([1, 2, 3].map(async (one) => Date.parse((await readRoot(lake, one)).time)))
  const [first = 0, second = 0, third = 0] = times
  const asOf = (ms: number) => snapshotAsOf(lake, new Date(ms))
  expect(await Promise.all([asOf(first - 1), asOf(second), asOf(third - 1), asOf(third)])).toEqual([
    1, 2, 2, 3,
  ])
  const collect = (now: number, keep?: number) =>
    gc({ lake, keep, keepDays: 1, dryRun: true, now: () => new Date(now) })
  expect((await collect(first)).snapshots).toEqual([])
  expect((await collect(third + DAY_MS - 1)).snapshots).toEqual([1])
  expect((await collect(third + DAY_MS)).snapshots.toSorted()).toEqual([1, 2])
  expect((await collect(third + DAY_MS, 2)).snapshots).toEqual([1])
})
