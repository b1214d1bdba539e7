import { expect, test } from 'vitest'
import { lastLookedFor, unlookedSince } from '../../src/core/last-listings.ts'
import type { PullEntry } from '../../src/core/partition.ts'

const entry = (day: number, search: PullEntry['search'], more: Partial<PullEntry> = {}): PullEntry => ({
  ...{ run: `run-${day}`, content: 'companies', service: 'https://service.example.com', search },
  asOf: `2026-11-${String(day).padStart(2, '0')}T02:00:00Z`,
  ...{ announced: 5, planned: 5, received: 5 },
  ...more,
})
const SE = { CountryCode: ['SE'] }
const days = { from: '2026-11-01' }
const dayOf = (instant: string | undefined): number | undefined =>
  instant === undefined ? undefined : Number(instant.slice(8, 10))

test.each([
  ['no pull at all', [], undefined],
  ['relations alone', [entry(1, SE, { content: 'relations' })], undefined],
  ['the last whole one', [entry(1, SE), entry(4, SE)], 4],
  ['days of a search find nobody that left', [entry(1, SE), entry(4, SE, days)], 1],
  ['one that lacks records has not looked', [entry(1, SE), entry(4, SE, { received: 4, gapLeft: 1 })], 1],
  ['a search that a lake cannot evaluate', [entry(1, SE), entry(4, { Name: ['A'] })], 1],
  ['days alone: since the first of them', [entry(2, SE, days), entry(4, SE, days)], 2],
  [
    'of two that go on the older one',
    [entry(1, SE), entry(2, { CountryCode: ['NO'] }), entry(5, SE, days)],
    1,
  ],
  ['one that was pulled once does not count', [entry(1, { InternalId: [7] }), entry(6, SE)], 6],
  [
    'a wider search looks for it too',
    [entry(1, SE), entry(2, SE, days), entry(6, { countrycode: ['no', 'se'] })],
    6,
  ],
  ['a narrower one does not', [entry(1, SE), entry(2, SE, days), entry(6, { ...SE, LegalForm: [3] })], 1],
] as const)('unlookedSince: %s', (_, pulls, day) => {
  expect(dayOf(unlookedSince(pulls))).toBe(day)
})

test('lastLookedFor is about one search of one service', () => {
  const pulls = [
    entry(1, SE),
    entry(3, { CountryCode: ['NO'] }),
    entry(4, SE, { service: 'https://other.example.com' }),
  ]
  const asked = { service: 'https://service.example.com', search: SE }
  expect(dayOf(lastLookedFor(pulls, asked))).toBe(1)
  expect(lastLookedFor(pulls, { ...asked, search: { CountryCode: ['FI'] } })).toBeUndefined()
})
