import { existsSync } from 'node:fs'
import { readFile, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { sendHeartbeat, stopHeartbeat } from '../../src/manifest/heartbeat.ts'
import { releaseRun, runState } from '../../src/manifest/run-lease.ts'
import { createRun, removeRun } from '../../src/manifest/runs.ts'
import { listFolder } from '../../src/support/list-files.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const HOUR_MS = 3_600_000
const NOW = new Date('2026-11-21T12:00:00Z')
/** A process that cannot be seen from here. */
const ELSEWHERE = { host: 'elsewhere', boot: 'b', namespace: 'n', pid: 7, started: '1' }

const random = (bytes: number): Buffer => Buffer.alloc(bytes, 7)

afterEach(() => vi.useRealTimers())

/** A run of another machine whose files were written two days ago. */
const oldRun = async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const lease = await createRun({ lake, plan: { at: 1 }, now: NOW, random, process: ELSEWHERE })
  const folder = join(lake, '_runs', lease.run)
  const before = new Date(NOW.getTime() - 48 * HOUR_MS)
  for (const name of ['owner-1.json', 'plan.json', 'journal.jsonl'])
    await utimes(join(folder, name), before, before)
  return { lake, lease, owner: join(folder, 'owner-1.json') }
}

const stateOf = async (lake: string, run: string) =>
  (await runState(lake, run, { now: new Date(Date.now()) }))?.state

test('a run of another machine that wrote nothing for two days counts as gone, and after a beat it does not', async () => {
  const { lake, lease, owner } = await oldRun()
  expect(await stateOf(lake, lease.run)).toBe('gone')
  const text = await readFile(owner, 'utf8')
  await sendHeartbeat(lake, lease.run, 'owner-1.json', text)
  expect(await stateOf(lake, lease.run)).toBe('unknown')
  expect(await readFile(owner, 'utf8')).toBe(text)
})

test('createRun beats every hour until the run is removed', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { lake, lease } = await oldRun()
  vi.advanceTimersByTime(HOUR_MS)
  await stopHeartbeat(lake, lease.run)
  expect(await stateOf(lake, lease.run)).toBe('unknown')
  await removeRun(lease)
  expect(vi.getTimerCount()).toBe(0)
})

test('releaseRun ends the beat', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { lease } = await oldRun()
  expect(vi.getTimerCount()).toBe(1)
  await releaseRun(lease)
  expect(vi.getTimerCount()).toBe(0)
})

test('a beat does not bring a removed run back', async () => {
  const { lake, lease, owner } = await oldRun()
  await removeRun(lease)
  await sendHeartbeat(lake, lease.run, 'owner-1.json', '{}')
  expect(existsSync(owner)).toBe(false)
  expect(await listFolder(join(lake, '_runs'))).toEqual([])
})
