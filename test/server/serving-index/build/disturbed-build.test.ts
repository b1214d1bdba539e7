import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { indexFolder } from '../../../../src/server/serving-index/build/build-index.ts'
import { DisturbedChild } from '../../../campaign/disturbed-child.ts'
import { DisturbedWork } from '../../../campaign/disturbed-work.ts'
import { killWork } from '../../../campaign/kills-campaign.ts'
import { WRITE_OPERATIONS } from '../../../campaign/write-operations.ts'
import { seededRandom } from '../../../manifest/damage.ts'
import { openFailingWrites } from '../../../support/failing-writes.ts'
import { needs } from '../../../support/needs.ts'
import { SEED } from '../../../support/seed.ts'

const WORK = 'serving index'

test(`a build that uses segments of an earlier index is killed at any moment: both indexes are whole, and the next build is right (seed ${SEED})`, {
  timeout: 600_000,
}, async (context) => {
  const faults = openFailingWrites()
  if ('missing' in faults) return needs(context, 'a library that kills at a writing call', faults.missing)
  faults.remove()
  const { wrong } = await killWork({ cases: 5, random: seededRandom(SEED), log: () => undefined }, [WORK])
  expect(wrong).toEqual([])
})

test('a build copies the segments of an earlier index where their files cannot get a second name', async (context) => {
  const faults = openFailingWrites()
  if ('missing' in faults) return needs(context, 'a library that refuses hard links', faults.missing)
  faults.remove()
  await using work = await DisturbedWork.open(seededRandom(1), [WORK])
  const lake = await work.lakeFor(WORK)
  const child = new DisturbedChild()
  const task = work.task(WORK, { kind: 'EIO', once: true, nth: 0, noNames: true }, lake)
  expect(await child.run(task)).toMatchObject({ code: 'done' })
  await child.end()
  expect(await WRITE_OPERATIONS[WORK].state(lake)).toEqual(work.ground(WORK).after)
  const [first, second] = [indexFolder(lake, 1), indexFolder(lake, 2)]
  const own = await readdir(first)
  const both = (await readdir(second)).filter((name) => own.includes(name) && !name.endsWith('.json'))
  expect(both).toHaveLength(4)
  for (const name of both)
    for (const folder of [first, second]) expect((await stat(join(folder, name))).nlink).toBe(1)
  await work.judge(WORK, lake, true, (problem) => work.wrong.push(problem))
  expect(work.wrong).toEqual([])
})
