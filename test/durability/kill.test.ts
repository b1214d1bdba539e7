import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { removeGarbage } from '../../src/manifest/verify/remove-garbage.ts'
import { seededRandom } from '../manifest/damage.ts'
import { companyLine, hashLake, openBench, relationsLine, verify } from '../run/batch-bench.ts'
import { type Moment, type Outcome, runAndKill } from '../support/kills.ts'
import { SEED } from '../support/seed.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Batches, writeBatches } from './batches.ts'

const CHILD = new URL('child-convert.ts', import.meta.url)
/** The short form; `FIRMLAKE_KILLS=50` looks longer, and the campaign of kills much longer, at all kinds of work. */
const KILLS = Number(process.env.FIRMLAKE_KILLS ?? 4)
const BLOCK_BYTES = 60_000

/** Converts in a process of its own. */
const runChild = (lake: string, { folder, paths }: Batches, moment: Moment): Promise<Outcome> =>
  runAndKill(CHILD, [lake, String(BLOCK_BYTES), ...paths], moment, folder)

let batches: Batches
let undisturbed: { readonly hashes: Readonly<Record<string, string>> } & Pick<Outcome, 'workMs' | 'commitMs'>

beforeAll(async () => {
  batches = await writeBatches({ companies: 100, files: 2 })
  const lake = join(batches.folder, '.lake')
  const outcome = await runChild(lake, batches, 'never')
  expect(outcome).toMatchObject({ code: 0, committing: true })
  undisturbed = { hashes: await hashLake(lake), ...outcome }
})
afterAll(() => batches.remove())
afterEach(() => vi.unstubAllEnvs())

/** Kills a run at a moment, and sometimes the next try too, then lets it end. */
const killAndFinish = async (
  lake: string,
  first: Moment,
  second: Moment,
): Promise<{ kills: number; commits: number }> => {
  let [kills, commits] = [0, 0]
  for (const moment of [first, second, 'never'] as const) {
    const { killed, committing, code } = await runChild(lake, batches, moment)
    if (killed) kills += 1
    if (killed && committing) commits += 1
    if (!killed) expect(code).toBe(0)
  }
  return { kills, commits }
}

test(`a convert that is killed at ${KILLS} random moments and run again gives the lake of an undisturbed one`, {
  timeout: 60_000 + KILLS * 15_000,
}, async () => {
  const random = seededRandom(SEED)
  const { workMs, commitMs, hashes } = undisturbed
  let [kills, commits] = [0, 0]
  for (let round = 0; kills < KILLS; round += 1) {
    // Most moments are spread evenly over the run; each fourth lies in its commit.
    const share = ((round * 0.618034 + random() / KILLS) % 1) * 0.98
    const first: Moment =
      round % 4 === 3
        ? { after: 'committing', ms: random() * commitMs * 0.8 }
        : { after: 'started', ms: share * workMs }
    const second: Moment =
      random() < 0.35 && kills + 1 < KILLS ? { after: 'started', ms: random() * workMs * 0.6 } : 'never'
    const lake = join(await temporaryFolder(), 'lake')
    const done = await killAndFinish(lake, first, second)
    kills += done.kills
    commits += done.commits
    const where = `FIRMLAKE_SEED=${SEED}, round ${round}, ${JSON.stringify([first, second])}`
    expect(await hashLake(lake), where).toEqual(hashes)
    expect(await verify(lake), where).toMatchObject({ problems: [] })
    await removeGarbage({ lake, now: new Date() })
    expect(await readdir(join(lake, '_runs')).catch(() => []), where).toEqual([])
    expect(await verify(lake), where).toMatchObject({ problems: [], notes: [] })
    // A machine so slow or so fast that hardly any kill hits would show nothing.
    expect(round, where).toBeLessThan(3 * KILLS)
  }
  expect(commits).toBeGreaterThanOrEqual(Math.floor(KILLS / 12))
})

test('small files that share partitions are each loaded once, wherever the run is killed', async () => {
  const bench = openBench(await temporaryFolder())
  // Companies and relations share no partition: there are five.
  const lineOf = (id: number): string => (((id - 1) >> 3) % 2 === 0 ? companyLine(id) : relationsLine(id))
  const names = Array.from({ length: 40 }, (_, at) => `in/${String(at).padStart(2, '0')}.jsonl`)
  for (const [at, name] of names.entries())
    await bench.write(name, [...(at % 7 === 0 ? ['not JSON'] : []), lineOf(at + 1)])
  const convert = (lake: string, killAt: string): Promise<Outcome> => {
    vi.stubEnv('KILL_AT', killAt)
    return runAndKill(CHILD, [lake, String(BLOCK_BYTES), 'in'], 'never', bench.folder)
  }
  const whole = join(bench.folder, 'whole')
  expect((await convert(whole, '')).code).toBe(0)
  // In the midst of a partition, between two, and before the snapshot.
  for (const killAt of ['source:9', 'progress:3', 'committing:1'])
    expect(await convert(bench.lake, killAt), killAt).toMatchObject({ killed: true })
  expect((await convert(bench.lake, '')).code).toBe(0)
  const { partitions } = await bench.snapshot()
  expect(partitions.map(({ sources }) => sources?.length)).toEqual([8, 8, 8, 8, 8])
  const loaded = partitions.flatMap(({ source, sources }) => (sources ?? [source]).map(({ name }) => name))
  expect(loaded.sort()).toEqual(names)
  expect(await hashLake(bench.lake)).toEqual(await hashLake(whole))
  await removeGarbage({ lake: bench.lake, now: new Date() })
  expect(await verify(bench.lake)).toMatchObject({ problems: [], notes: [] })
})

test('gc after a kill leaves nothing of the dead run, and the same command starts over', async () => {
  let lake = ''
  let killed = false
  // The undisturbed run may have been slow on a busy machine: then this one is through before its kill.
  for (let share = 2; !killed && share < 1000; share *= 4) {
    lake = join(await temporaryFolder(), 'lake')
    killed = (await runChild(lake, batches, { after: 'started', ms: undisturbed.workMs / share })).killed
  }
  expect(killed).toBe(true)
  const garbage = await removeGarbage({ lake, now: new Date() })
  expect(garbage.runs).toHaveLength(1)
  expect(await readdir(join(lake, '_runs')).catch(() => [])).toEqual([])
  expect((await runChild(lake, batches, 'never')).code).toBe(0)
  expect(await hashLake(lake)).toEqual(undisturbed.hashes)
})

test('gc at every moment of a live run never harms it', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  let running = true
  const run = runChild(lake, batches, 'never').finally(() => {
    running = false
  })
  let times = 0
  while (running) {
    const garbage = await removeGarbage({ lake, now: new Date() }).catch(() => undefined)
    expect(garbage?.files ?? []).toEqual([])
    if ((garbage?.working.length ?? 0) > 0) times += 1
    await pause(5)
  }
  expect(await run).toMatchObject({ code: 0 })
  expect(times).toBeGreaterThan(5)
  expect(await hashLake(lake)).toEqual(undisturbed.hashes)
  expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
})
