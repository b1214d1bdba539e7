/** Four workers and one machine load the same files. */

import { expect, test } from 'vitest'
import {
  type Bench,
  companyLine,
  companyLines,
  hashLake,
  openBench,
  relationsLine,
} from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Steps, stepsOf } from './shared-bench.ts'

interface SharedBench extends Bench, Steps {}

const openShared = async (): Promise<SharedBench> => {
  const one = openBench(await temporaryFolder())
  return { ...one, ...stepsOf(one.folder, one.lake) }
}

test('four workers load many files to the rows that one machine loads', async () => {
  const [one, whole] = [await openShared(), await openShared()]
  for (const bench of [one, whole]) {
    for (let at = 0; at < 14; at += 1)
      await bench.write(`in/${String(at).padStart(3, '0')}.jsonl`, companyLines(3, at * 3 + 1), 'gzip')
    await bench.write('in/relations.jsonl', [relationsLine(1), relationsLine(2)])
    // Newer versions of companies of other files, with a name that the contract does not know.
    await bench.write(
      'in/zz.jsonl',
      [1, 20, 40].map((id) => companyLine(id, { Strange: 1 }, 9)),
    )
  }
  await whole.run(['in'])
  const { run, units } = await one.plan(['in'], { unitBytes: 700 })
  expect(units).toBeGreaterThan(5)
  const shards = [0, 1, 2, 3].map((index) => one.work(run ?? '', { shard: { index, of: 4 } }))
  const done = (await Promise.all(shards)).flatMap((worked) => worked.units)
  expect(done.map(({ kind }) => kind)).toEqual(Array.from({ length: units }, () => 'done'))
  expect(await one.commit(run ?? '')).toMatchObject({
    kind: 'committed',
    summary: { snapshot: { snapshot: 1 } },
  })
  expect(await hashLake(one.lake)).toEqual(await hashLake(whole.lake))
  expect(await one.verify()).toMatchObject({ problems: [], notes: [] })
})
