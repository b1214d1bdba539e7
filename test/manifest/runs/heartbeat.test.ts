import { existsSync } from 'node:fs'
import { readFile, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { sendHeartbeat, startHeartbeat } from '../../../src/manifest/runs/heartbeat.ts'
import { runState } from '../../../src/manifest/runs/run-lease.ts'
import { createRun, removeRun } from '../../../src/manifest/runs/runs.ts'
import { listFolder } from '../../../src/support/list-files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

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
  await sendHeartbeat(lease, ELSEWHERE)
  expect(await stateOf(lake, lease.run)).toBe('unknown')
  expect(await readFile(owner, 'utf8')).toBe(text)
})

test('startHeartbeat beats every five minutes until it is stopped, and stop waits for the beat under way', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { lake, lease, owner } = await oldRun()
  const before = await stat(owner)
  const heartbeat = startHeartbeat(lease)
  vi.advanceTimersByTime(5 * 60_000)
  await heartbeat.stop()
  expect((await stat(owner)).mtimeMs).toBeGreaterThan(before.mtimeMs)
  expect(await stateOf(lake, lease.run)).toBe('live')
  expect(vi.getTimerCount()).toBe(0)
})

test('a beat does not bring a removed run back', async () => {
  const { lake, lease, owner } = await oldRun()
  await removeRun(lease)
  await sendHeartbeat(lease)
  expect(existsSync(owner)).toBe(false)
  expect(await listFolder(join(lake, '_runs'))).toEqual([])
})
