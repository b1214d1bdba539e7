import { cp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compact } from '../../src/jobs/compact.ts'
import { convertFiles } from '../../src/jobs/convert.ts'
import { removeGarbage } from '../../src/manifest/gc/remove-garbage.ts'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { seededRandom } from '../manifest/damage.ts'
import { hashLake, verify } from '../run/batch-bench.ts'
import { type Moment, type Outcome, runAndKill } from '../support/kills.ts'
import { SEED } from '../support/seed.ts'
import { leaveRoom, smallDisk } from '../support/small-disk.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Batches, writeBatches } from './batches.ts'

const CHILD = new URL('child-compacts.ts', import.meta.url)
const KILLS = Number(process.env.FIRMLAKE_COMPACT_KILLS ?? 4)
const TARGET_BYTES = 16_384
const KIB = 1024
const HALF = { kind: 'share', share: 0.5 } as const

const runChild = (lake: string, moment: Moment): Promise<Outcome> =>
  runAndKill(CHILD, [lake, String(TARGET_BYTES)], moment)

let batches: Batches
/** A lake of two loads that overlap, and what its current views give. */
let base = ''
let hashes: object
let undisturbed: Pick<Outcome, 'workMs' | 'commitMs'>

const load = async (lake: string, paths: readonly string[], again = false): Promise<void> => {
  const plan = { inputs: paths, cwd: batches.folder, again, limits: {} }
  await convertFiles(plan, { lake, maxQuarantined: HALF })
}

const currentHashes = async (lake: string): Promise<object> =>
  Object.fromEntries(Object.entries(await hashLake(lake)).filter(([name]) => !name.endsWith('_history')))

beforeAll(async () => {
  batches = await writeBatches({ companies: 60, files: 2 })
  base = join(batches.folder, '.base')
  await load(base, batches.paths)
  await load(base, batches.paths.slice(0, 1), true)
  hashes = await currentHashes(base)
  const lake = join(batches.folder, '.undisturbed')
  await cp(base, lake, { recursive: true })
  undisturbed = await runChild(lake, 'never')
  expect(undisturbed).toMatchObject({ code: 0, committing: true })
}, 240_000)
afterAll(() => batches.remove())

test(`a compaction killed at ${KILLS} random moments leaves the lake as it was or whole, and the next one completes`, {
  timeout: 120_000 + KILLS * 30_000,
}, async () => {
  const random = seededRandom(SEED)
  const { workMs, commitMs } = undisturbed
  let kills = 0
  for (let round = 0; kills < KILLS; round += 1) {
    const moment: Moment =
      round % 2 === 1
        ? { after: 'committing', ms: random() * commitMs }
        : { after: 'started', ms: random() * workMs }
    const lake = join(await temporaryFolder(), 'lake')
    await cp(base, lake, { recursive: true })
    const { killed } = await runChild(lake, moment)
    if (killed) kills += 1
    const where = `FIRMLAKE_SEED=${SEED}, round ${round}, ${JSON.stringify(moment)}`
    expect(await currentHashes(lake), where).toEqual(hashes)
    expect((await verify(lake)).problems, where).toEqual([])
    // Each second time gc clears the dead one away, else the next compaction does it.
    if (round % 4 < 2) {
      await removeGarbage({ lake, now: new Date() })
      expect(await readdir(join(lake, '_runs')), where).toEqual([])
      expect(await verify(lake), where).toMatchObject({ problems: [], notes: [] })
    }
    const last = (await readSnapshot(lake)).snapshot
    expect((await compact({ lake, targetBytes: TARGET_BYTES })).snapshot, where).toBe(3)
    expect([2, 3], where).toContain(last)
    expect(await readdir(join(lake, '_runs')), where).toEqual([])
    await load(lake, batches.paths)
    expect((await readSnapshot(lake)).snapshot, where).toBe(3)
    expect(await currentHashes(lake), where).toEqual(hashes)
    expect(await verify(lake), where).toMatchObject({ problems: [], notes: [] })
    expect(round, where).toBeLessThan(4 * KILLS)
  }
})

test.for([0, 50, 100])(
  'compact onto a disk with %i KiB of room ends with DISK_FULL, harms nothing, and completes once there is more',
  { timeout: 120_000 },
  async (kib, context) => {
    const disk = await smallDisk(context, 64 * KIB * KIB)
    const lake = join(disk, 'lake')
    await cp(base, lake, { recursive: true })
    const filler = await leaveRoom(disk, kib * KIB)
    const before = await hashLake(lake)
    await expect(compact({ lake, targetBytes: TARGET_BYTES })).rejects.toMatchObject({
      code: 'DISK_FULL',
    })
    expect(await hashLake(lake)).toEqual(before)
    expect((await verify(lake)).problems).toEqual([])
    await rm(filler)
    expect((await compact({ lake, targetBytes: TARGET_BYTES })).kind).toBe('compacted')
    expect(await currentHashes(lake)).toEqual(hashes)
    expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
    expect(await readdir(join(lake, '_runs'))).toEqual([])
  },
)
