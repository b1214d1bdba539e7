import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { ToolkitError } from '../../src/core/errors.ts'
import { releaseRun } from '../../src/manifest/runs/run-lease.ts'
import { listRuns } from '../../src/manifest/runs/runs.ts'
import type { RunPlan } from '../../src/run/run-plan.ts'
import { startRun, withResumedRun, withRun } from '../../src/run/with-run.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const PLAN: RunPlan = { jobs: [{ kind: 'convert', inputs: ['a'], cwd: '/' }], again: false, limits: {} }
const FAILURE = new ToolkitError('SERVICE_BUSY', 'Cannot pull: wait')

const request = async () => ({ lake: join(await temporaryFolder(), 'lake'), plan: PLAN })
const runsIn = (lake: string) => listRuns(lake, { now: new Date() })

afterEach(() => vi.useRealTimers())

test('withRun holds the lease and beats while it works, and removes the run when the work succeeds', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { lake, plan } = await request()
  const result = await withRun({ lake, plan }, async () => {
    expect(vi.getTimerCount()).toBe(1)
    expect(await runsIn(lake)).toMatchObject([{ state: 'live' }])
    return 7
  })
  expect(result).toBe(7)
  expect(vi.getTimerCount()).toBe(0)
  expect(await runsIn(lake)).toEqual([])
})

test('withRun removes a new run that fails before anything is worth another attempt', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { lake, plan } = await request()
  await expect(withRun({ lake, plan }, () => Promise.reject(FAILURE))).rejects.toBe(FAILURE)
  expect(await runsIn(lake)).toEqual([])
  expect(vi.getTimerCount()).toBe(0)
})

test('withRun releases a run that is to be kept with the reason of its failure, and the next takes it up', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { lake, plan } = await request()
  const failing = withRun({ lake, plan }, async (run) => {
    run.keep()
    throw FAILURE
  })
  await expect(failing).rejects.toBe(FAILURE)
  expect(vi.getTimerCount()).toBe(0)
  const [kept] = await runsIn(lake)
  expect(kept).toMatchObject({ state: 'gone', failure: { code: 'SERVICE_BUSY', final: false } })
  // An attempt that is not the first leaves the run to others, however early it fails.
  await expect(withRun({ lake, plan }, () => Promise.reject(FAILURE))).rejects.toBe(FAILURE)
  expect(await withRun({ lake, plan }, async ({ run, number }) => [run, number])).toEqual([kept?.run, 5])
})

test('withRun begins a fresh run although one of the same plan was cut off', async () => {
  const { lake, plan } = await request()
  const first = await startRun({ lake, plan, now: new Date(), random: randomBytes })
  await releaseRun(first)
  expect(await withRun({ lake, plan, fresh: true }, async ({ run }) => run)).not.toBe(first.run)
  expect(await runsIn(lake)).toMatchObject([{ run: first.run }])
})

test('withResumedRun takes over a run by its id, but none that is at work', async () => {
  const { lake, plan } = await request()
  const { run, ...lease } = await startRun({ lake, plan, now: new Date(), random: randomBytes })
  const take = (): Promise<number> => withResumedRun(lake, run, new Date(), async ({ number }) => number)
  await expect(take()).rejects.toMatchObject({ code: 'RUN_LIVE' })
  await releaseRun({ run, ...lease })
  expect(await take()).toBe(3)
  await expect(take()).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
})
