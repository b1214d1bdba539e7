/** Commits of many processes, and of one that is killed at any moment. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { RUNS_FOLDER } from '../../src/lake/files/layout.ts'
import { removeGarbage } from '../../src/manifest/gc/remove-garbage.ts'
import { listSnapshots, readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { verifyLake } from '../../src/manifest/verify/verify-lake.ts'
import { seededRandom } from '../manifest/damage.ts'
import { countLines } from '../manifest/small-lake.ts'
import { startChild } from '../support/children.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const CHILD = new URL('child-commits.ts', import.meta.url)

const expectWhole = async (lake: string): Promise<void> => {
  const { problems, notes } = await verifyLake({ lake, countRows: countLines })
  expect({ problems, notes }).toEqual({ problems: [], notes: [] })
}

const sourcesOf = async (lake: string): Promise<string[]> =>
  (await readSnapshot(lake)).partitions.map(({ source }) => source.name)

test('commitPartitions lands every run of eight processes at once', async () => {
  const lake = await temporaryFolder()
  const names = Array.from({ length: 8 }, (_, n) => `p${n}`)
  const children = names.map((name) => startChild(CHILD, lake, name, '4'))
  expect(await Promise.all(children.map((child) => child.ended()))).toEqual(names.map(() => 0))
  expect(await listSnapshots(lake)).toEqual(Array.from({ length: 32 }, (_, n) => n + 1))
  const wanted = names.flatMap((name) =>
    [0, 1, 2, 3].flatMap((run) => [`${name}-${run}-a`, `${name}-${run}-b`]),
  )
  expect((await sourcesOf(lake)).sort()).toEqual(wanted.map((one) => `${one}.jsonl`).sort())
  expect(await readdir(join(lake, RUNS_FOLDER))).toEqual([])
  await expectWhole(lake)
})

test('a process killed at any moment leaves a whole lake behind', async () => {
  const random = seededRandom(7)
  const lake = await temporaryFolder()
  const printed: string[] = []
  for (let round = 0; round < 8; round += 1) {
    const child = startChild(CHILD, lake, `round${round}`, '1000')
    const lines = Math.floor(random() * 4)
    for (let line = 0; line <= lines; line += 1) printed.push((await child.nextLine()) ?? '')
    await new Promise((resolve) => setTimeout(resolve, random() * 15))
    await child.kill()
    const before = await verifyLake({ lake, countRows: countLines })
    expect(before.problems).toEqual([])
    await removeGarbage({ lake, now: new Date() })
    expect(await readdir(join(lake, RUNS_FOLDER))).toEqual([])
    await expectWhole(lake)
  }
  const runs = new Set((await readSnapshot(lake)).partitions.map(({ run }) => run))
  expect(printed.filter((run) => !runs.has(run))).toEqual([])
})
