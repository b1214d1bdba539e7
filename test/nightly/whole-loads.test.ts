import { expect, test } from 'vitest'
import type { PullEntry } from '../../src/core/partition.ts'
import { isWholeDue, recordsListing } from '../../src/nightly/whole-loads.ts'
import type { PullJob } from '../../src/run/run-plan.ts'

const URL_OF_SERVICE = 'https://service.example.com/api'
const JOB: PullJob = {
  ...{ kind: 'pull', url: URL_OF_SERVICE, content: 'companies', search: { CountryCode: ['SE'] } },
  ...{ pageSize: 500, cap: 100_000 },
}
/** 2026-11-01 is a Sunday. */
const at = (day: number, hour = 2): Date => new Date(Date.UTC(2026, 10, day, hour))
const entry = (day: number, more: Partial<PullEntry> = {}): PullEntry => ({
  ...{ run: 'r', content: 'companies', service: 'https://service.example.com', search: JOB.search },
  ...{ asOf: at(day).toISOString(), announced: 5, planned: 5, received: 5 },
  ...more,
})
const SUNDAY = 0
const days = { from: '2026-10-01' }

test.each([
  ['never pulled', [], at(3), true],
  ['pulled by days alone', [entry(2, days)], at(3), true],
  ['its day', [entry(1), entry(7, days)], at(8), true],
  ['its day, a second night', [entry(1)], at(1, 23), false],
  ['another day', [entry(1)], at(3), false],
  ['a week ago on another day', [entry(3)], at(10), false],
  ['its day was missed', [entry(1)], at(9), true],
  ['of other content', [entry(1), entry(8, { content: 'relations' })], at(9), true],
  ['of another service', [entry(1), entry(8, { service: 'https://other.example.com' })], at(9), true],
] as const)('isWholeDue: %s', (_, pulls, now, due) => {
  expect(isWholeDue(pulls, JOB, SUNDAY, now)).toBe(due)
})

test.each([
  ['a pull of days', [{ job: { ...JOB, since: 'last' } }], [], false],
  ['a first one', [{ job: JOB }], [], true],
  ['one that was written down five days ago', [{ job: JOB }], [entry(1)], false],
  ['one that was written down six days ago', [{ job: { ...JOB, kind: 'sync' } }], [entry(1)], true],
  ['files', [{ job: { kind: 'convert', inputs: ['a'], cwd: '/' } }], [], false],
] as const)('recordsListing: %s', (_, parts, pulls, recorded) => {
  expect(recordsListing(parts, pulls, at(recorded ? 7 : 6))).toBe(recorded)
})
