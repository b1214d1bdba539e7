import { expect, test } from 'vitest'
import { isRunId, newRunId } from '../../src/support/run-ids.ts'

const bytes = () => Uint8Array.of(0x1f, 0x9a, 0x2c)

test('newRunId gives time and random bits', () => {
  expect(newRunId(new Date('2026-11-21T09:45:00.123Z'), bytes)).toBe('20261121T094500123Z-1f9a2c')
})

test('newRunId sorts by time', () => {
  const times = [0, 1, 999, 1000, 86_400_000, 1.8e12].map((ms) => newRunId(new Date(ms), bytes))
  expect(times.toSorted()).toEqual(times)
})

test('isRunId takes what newRunId gives and nothing that leads out of a folder', () => {
  expect(isRunId(newRunId(new Date(), bytes))).toBe(true)
  for (const text of ['', '..', '20261121T094500123Z-1f9a2c/..', '20261121T094500123Z-1F9A2C', '.tmp-1'])
    expect(isRunId(text)).toBe(false)
})
