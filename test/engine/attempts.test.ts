import { expect, test } from 'vitest'
import {
  type AttemptEnd,
  type Attempts,
  afterAttempt,
  NO_ATTEMPTS,
} from '../../src/engine/temporal/attempts.ts'

/** Pauses between attempts that all end alike, in seconds, until there is to be none. */
const pausesOf = (end: AttemptEnd, maxWaitMs = 0, most = 30): number[] => {
  const pauses: number[] = []
  let attempts: Attempts = NO_ATTEMPTS
  for (;;) {
    const next = afterAttempt(attempts, end, maxWaitMs)
    if (next === null || pauses.length === most) return pauses
    pauses.push(next.pauseMs / 1000)
    attempts = next.attempts
  }
}
const exit = (code: number | null): AttemptEnd => ({ kind: 'exit', code })

test('afterAttempt gives five attempts to what fails or is killed, with longer and longer pauses', () => {
  expect(pausesOf(exit(1))).toEqual([1, 2, 4, 8])
  expect(pausesOf(exit(null))).toEqual([1, 2, 4, 8])
})

test.each([2, 3, 4])('afterAttempt never tries exit code %d again', (code) => {
  expect(pausesOf(exit(code), 1e9)).toEqual([])
})

test('afterAttempt waits for what is to come later as long as allowed, and no longer', () => {
  expect(pausesOf(exit(75), 10_000)).toEqual([1, 2, 4, 3])
  expect(pausesOf(exit(75), 200_000)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 17])
  expect(pausesOf(exit(75), 0)).toEqual([])
})

test('afterAttempt gives workers that vanish more attempts, and those that are stopped any number', () => {
  expect(pausesOf({ kind: 'lost' })).toHaveLength(19)
  expect(pausesOf(exit(143))).toHaveLength(30)
  expect(pausesOf(exit(130))).toHaveLength(30)
})

test('afterAttempt counts each kind of failure for itself', () => {
  let attempts: Attempts = NO_ATTEMPTS
  for (const end of [exit(1), exit(75), { kind: 'lost' } as const, exit(143), exit(1)])
    attempts = afterAttempt(attempts, end, 60_000)?.attempts ?? attempts
  expect(attempts).toEqual({ failed: 2, lost: 1, later: 1, waitedMs: 1000 })
})
