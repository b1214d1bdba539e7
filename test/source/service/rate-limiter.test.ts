/** The pace against services with limits of several kinds, on a clock of its own; the figures are printed. */

import { expect, test } from 'vitest'
import { rateLimiter } from '../../../src/source/service/rate-limiter.ts'
import { jumpingTiming } from './answering-server.ts'
import { type Figures, fixedWindow, gcra, type ServerLimit, simulate } from './simulated-limit.ts'

const percent = (part: number): string => `${(part * 100).toFixed(2)} %`
const print = (what: string, { used, refused, rate }: Figures): void => {
  console.log(`${what}: ${percent(used)} used, ${percent(refused)} answers 429, at last ${rate.toFixed(2)}/s`)
}

const LIMITS: readonly [string, () => ServerLimit][] = [
  ['20 in each second', () => fixedWindow(20, 1000)],
  ['20 in each second, begun elsewhere', () => fixedWindow(20, 1000, 370)],
  ['20 a second and 20 at once', () => gcra(20, 20)],
  ['20 a second and 4 at once', () => gcra(20, 4)],
  ['20 a second and 2 at once', () => gcra(20, 2)],
]

test.each(LIMITS)('told the limit, a minute of "%s" is used without a 429', async (what, limit) => {
  const figures = await simulate(limit(), { perSecond: 20, seconds: 60, told: 20 })
  print(`told 20, ${what}`, figures)
  expect(figures.used).toBeGreaterThan(0.95)
  expect(figures.refused).toBe(0)
  expect(figures.mostInASecond).toBeLessThanOrEqual(20)
})

test.each(
  LIMITS.flatMap(([what, limit]) => [true, false].map((saysWhen) => [what, saysWhen, limit] as const)),
)('told nothing, five minutes of "%s" are used (Retry-After: %s)', async (what, saysWhen, limit) => {
  for (const seed of [1, 2, 3]) {
    const figures = await simulate(limit(), { perSecond: 20, seconds: 300, saysWhen, seed })
    if (seed === 1) print(`told nothing, ${what}, ${saysWhen ? 'with' : 'without'} Retry-After`, figures)
    expect(figures.used).toBeGreaterThan(0.95)
    expect(figures.refused).toBeLessThan(0.02)
  }
})

test('told nothing, a limit by the minute is used', async () => {
  const figures = await simulate(fixedWindow(1200, 60_000), { perSecond: 20, seconds: 300 })
  print('told nothing, 1200 in each minute', figures)
  expect(figures.used).toBeGreaterThan(0.95)
  expect(figures.refused).toBeLessThan(0.02)
})

test('told too much, the limit is learnt', async () => {
  const figures = await simulate(fixedWindow(20, 1000), { perSecond: 20, seconds: 300, told: 100 })
  print('told 100, 20 in each second', figures)
  expect(figures.used).toBeGreaterThan(0.95)
  expect(figures.refused).toBeLessThan(0.02)
})

test('a slow service is not stormed: one request a second', async () => {
  const figures = await simulate(fixedWindow(1, 1000), { perSecond: 1, seconds: 600 })
  print('told nothing, 1 in each second', figures)
  expect(figures.used).toBeGreaterThan(0.8)
  expect(figures.refused).toBeLessThan(0.05)
})

test('a limit that is raised is found', async () => {
  const [low, high] = [gcra(10, 5), gcra(40, 5)]
  const figures = await simulate((at) => (at < 120_000 ? low(at) : high(at)), { perSecond: 40, seconds: 600 })
  print('10 a second, after two minutes 40', figures)
  expect(figures.rate).toBeGreaterThan(36)
})

test('without a limit the rate grows to what the requests need and no further', async () => {
  const figures = await simulate(() => true, { perSecond: 60, seconds: 120, concurrency: 8 })
  expect(figures.used).toBeGreaterThan(0.9)
  expect(figures.rate).toBeLessThan(200)
})

test('take spaces requests evenly, in the order of calls', async () => {
  const timing = jumpingTiming()
  const limiter = rateLimiter(timing, 20)
  const start = timing.at
  const order: number[] = []
  const takes = Array.from({ length: 5 }, (_, i) => limiter.take(0).then((at) => order.push(i) && at - start))
  const times = await Promise.all(takes)
  expect(order).toEqual([0, 1, 2, 3, 4])
  expect(times.map(Math.round)).toEqual([0, 51, 102, 152, 203])
})

test('take lets nothing go during a pause', async () => {
  const timing = jumpingTiming()
  const limiter = rateLimiter(timing, 1000)
  const start = timing.at
  limiter.pause(5000)
  limiter.pause(2000)
  const times = await Promise.all([limiter.take(6000), limiter.take(6000)])
  expect(times[0] - start).toBe(5000)
  expect(times[1] - start).toBeGreaterThan(5000)
})

test('take refuses to wait for a pause that is too long', async () => {
  const limiter = rateLimiter(jumpingTiming(), 10)
  limiter.pause(10_000)
  await expect(limiter.take(9999)).rejects.toMatchObject({
    code: 'SERVICE_BUSY',
    context: { waitMs: 10_000 },
  })
  await expect(limiter.take(10_000)).resolves.toBeGreaterThan(0)
})

test('a 429 halves the rate once for all requests that were under way', () => {
  const timing = jumpingTiming()
  const limiter = rateLimiter(timing, 100)
  const before = limiter.rate()
  const sentAt = timing.at
  timing.at += 100
  for (let i = 0; i < 50; i++) limiter.accepted(sentAt)
  for (let i = 0; i < 8; i++) limiter.throttled(sentAt)
  expect(limiter.rate()).toBeLessThanOrEqual(before / 2)
  expect(limiter.rate()).toBeGreaterThan(before / 5)
})

test('a take that is stopped gives its reason, and the next one goes on', async () => {
  const limiter = rateLimiter(jumpingTiming(), 10)
  const stopped = limiter.take(0, AbortSignal.abort(new Error('stopped')))
  await expect(stopped).rejects.toThrow('stopped')
  await expect(limiter.take(0)).resolves.toBeGreaterThan(0)
})
