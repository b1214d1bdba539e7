import { expect, test } from 'vitest'
import {
  answeredAt,
  refuseEarlier,
  refuseFuture,
  type ServiceClock,
} from '../../../src/source/service/service-clock.ts'

const HERE = '2026-11-28T04:00:00.000Z'
const clock = (trusted = false): ServiceClock => ({ now: () => new Date(HERE), trusted })
const from = (date: string, trusted?: boolean): string =>
  new Date(answeredAt('Cannot ask', { date }, clock(trusted))).toISOString()

test.each([
  ['Sat, 28 Nov 2026 04:00:05 GMT', '2026-11-28T04:00:05.000Z'],
  ['Sun, 29 Nov 2026 04:00:00 GMT', '2026-11-29T04:00:00.000Z'],
  ['Fri, 27 Nov 2026 04:00:00 GMT', '2026-11-27T04:00:00.000Z'],
  ['soon', HERE],
])('answeredAt takes the date %s for %s', (date, at) => {
  expect(from(date)).toBe(at)
})

test.each([
  ['Tue, 01 Jan 2036 00:00:00 GMT', '2036-01-01T00:00:00.000Z'],
  ['Sun, 29 Nov 2026 04:00:01 GMT', '2026-11-29T04:00:01.000Z'],
  ['Fri, 27 Nov 2026 03:59:59 GMT', '2026-11-27T03:59:59.000Z'],
  ['Thu, 01 Jan 1970 00:00:00 GMT', '1970-01-01T00:00:00.000Z'],
])('answeredAt refuses the date %s with both instants, unless it is trusted', (date, at) => {
  expect(() => from(date)).toThrow(
    `Cannot ask: the clock of the service says ${at}, that of this machine ${HERE}, expected less than a day between them; ` +
      "--trust-clock takes the service's instants as they are",
  )
  expect(from(date, true)).toBe(at)
})

test('refuseFuture lets through what was made at any time before, or at none', () => {
  const refused = (made: string, trusted?: boolean) => () =>
    refuseFuture('Cannot load', Date.parse(made), clock(trusted))
  for (const made of ['1999-01-01', '2026-11-29T04:00:00Z', '', 'yesterday'])
    expect(refused(made)).not.toThrow()
  expect(refused('2026-11-29T04:00:01Z')).toThrow(
    `made at 2026-11-29T04:00:01.000Z, the clock of this machine says ${HERE}`,
  )
  expect(refused('2036-01-01', true)).not.toThrow()
})

test('refuseEarlier lets a clock go back by a day and no further', () => {
  const refused = (asOf: string, trusted?: boolean) => () =>
    refuseEarlier('Cannot pull', asOf, HERE, clock(trusted))
  expect(refused('2026-11-27T04:00:00.000Z')).not.toThrow()
  expect(refused('2026-11-27T03:59:59.000Z')).toThrow(
    `the clock of the service says 2026-11-27T03:59:59.000Z, the last pull from it was at ${HERE}`,
  )
  expect(refused('1999-01-01T00:00:00.000Z', true)).not.toThrow()
})
