/** Ownership records of the four kinds, and roles. */

import type { ShapeOf } from '../src/contract/fields.ts'
import type { BENEFICIAL_OWNERSHIP, OWNERSHIP, ROLE } from '../src/contract/objects.ts'
import { DEFAULT_MOMENT, dayText, momentText } from './moments.ts'
import type { Random } from './random.ts'
import { ROLES } from './words.ts'

type Ownership = ShapeOf<typeof OWNERSHIP>
type BeneficialOwnership = ShapeOf<typeof BENEFICIAL_OWNERSHIP>
type Role = ShapeOf<typeof ROLE>

/** A draw that is always true where a record shall have every field. */
export type Maybe = (share: number) => boolean

const EARLIEST = Date.UTC(1995, 0, 1)
const LATEST = Date.UTC(2025, 5, 30)

/** A date-time of a record; `default` now and then, which counts as absent. */
export const recordMoment = (random: Random): string => {
  if (random.chance(0.02)) return DEFAULT_MOMENT
  const style = random.chance(0.9) ? 'plain' : random.pick(['utc', 'digits', 'offset'] as const)
  return momentText(random.between(EARLIEST, LATEST), style, random)
}

const OWNER_SHARES = [100, 50, 33.33, 66.66666666666667, 12.5, 0, 0.001] as const

export const ownership = (random: Random, maybe: Maybe): Ownership => {
  const stake = random.chance(0.5) ? random.pick(OWNER_SHARES) : Math.round(random.between(0, 10_000)) / 100
  const shares = random.whole(0, 5_000_000)
  return {
    ...(maybe(0.8) && { OwnershipStake: stake }),
    ...(maybe(0.2) && { MinOwnershipStake: 25, MaxOwnershipStake: 50 }),
    ...(maybe(0.5) && { NumberOfShares: shares }),
    ...(maybe(0.3) && { NumberOfVotes: shares * 10 + 0.5 }),
    ...(maybe(0.1) && { MinVotes: 0, MaxVotes: 33.3 }),
    ...(maybe(0.3) && { ShareClass: random.pick(['A', 'B', 'Preference']) }),
    ...(maybe(0.3) && { ProtocolDate: recordMoment(random) }),
    ...(maybe(0.7) && { InDate: recordMoment(random) }),
    ...(maybe(0.1) && { OutDate: recordMoment(random) }),
    ...(maybe(0.8) && { UpdatedAt: recordMoment(random) }),
  }
}

export const beneficialOwnership = (random: Random, maybe: Maybe): BeneficialOwnership => ({
  ...ownership(random, maybe),
  ...(maybe(0.3) && { CaseNo: `CASE-${random.whole(1, 99_999)}` }),
  ...(maybe(0.4) && { RegistrationId: `R${random.whole(1, 99_999)}` }),
  ...(maybe(0.4) && { StatusCode: 'REG' }),
  ...(maybe(0.05) && {
    SuspicionDate: dayText(random.between(EARLIEST, LATEST)),
    SuspicionLevel: 'Low',
    SuspicionCaseNo: `S-${random.whole(1, 999)}`,
    SuspicionIssueID: String(random.whole(1, 999)),
  }),
  ...(maybe(0.1) && { ProxyCompanyRegistrationNumber: '555000222', ProxyCompanyName: 'Osdora Proxy AB' }),
  ...(maybe(0.3) && { Text: 'Holds more than a quarter of the votes.' }),
})

export const role = (random: Random, maybe: Maybe): Role => {
  const { id, text, category } = random.pick(ROLES)
  return {
    Id: id,
    ...(maybe(0.95) && { Text: text }),
    ...(maybe(0.9) && { Category: category }),
    ...(maybe(0.8) && { InDate: recordMoment(random) }),
    ...(maybe(0.2) && { OutDate: recordMoment(random) }),
    ...(maybe(0.8) && { UpdatedAt: recordMoment(random) }),
  }
}
