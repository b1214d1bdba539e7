import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { SYSTEM_TIMING } from '../../../src/source/service/timing.ts'

test('sleep does not end at once where the pause is longer than a timer can be', async () => {
  const stop = new AbortController()
  const ended = SYSTEM_TIMING.sleep(2 ** 31, stop.signal).then(
    () => 'ended',
    () => 'stopped',
  )
  await delay(20)
  stop.abort()
  expect(await ended).toBe('stopped')
})

test('now does not go back where the clock of the day is set back', () => {
  const before = SYSTEM_TIMING.now()
  expect(Math.abs(before - Date.now())).toBeLessThan(60_000)
  vi.useFakeTimers({ toFake: ['Date'], now: 0 })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  expect(Date.now()).toBe(0)
  expect(SYSTEM_TIMING.now()).toBeGreaterThanOrEqual(before)
})
