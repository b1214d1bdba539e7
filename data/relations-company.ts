/** A relations line: a company with its parents and children. */

import type { RelationsCompany } from '../src/contract/objects.ts'
import { identityOf } from './identity.ts'
import type { Maybe } from './ownership.ts'
import { type Random, seededRandom } from './random.ts'
import { companyEntity, type DraftRelation, masked, personEntity, withHistory } from './relation.ts'
import { AWKWARD_STRINGS } from './words.ts'
import { WRITINGS, type Writing } from './write-line.ts'

export interface RelationsOptions {
  readonly seed: number
  /** Number of companies, among which children and parents are found. */
  readonly companies: number
  /** Share of lines made awkward. */
  readonly awkward: number
}

export interface DraftRelations {
  readonly record: Omit<RelationsCompany, 'Parents' | 'Children'> & {
    readonly Parents?: readonly DraftRelation[]
    readonly Children?: readonly DraftRelation[]
  }
  readonly writing: Writing
}

/** Some companies have no relations line at all. */
export const hasRelations = (index: number): boolean => index % 10 !== 9

const FULL_EVERY = 20
const DEEP = 40

/** Depth of the first parent's history: most have none, a few are very deep. */
const historyDepth = (index: number, random: Random): number => {
  if (index % 200 === 113) return DEEP
  if (index % 50 === 13) return random.whole(6, 8)
  return random.chance(0.12) ? random.whole(1, 3) : 0
}

const uboDetails = (random: Random, maybe: Maybe): NonNullable<RelationsCompany['UBODetails']> => ({
  HasReportedMissingUBO: random.chance(0.1),
  ...(maybe(0.4) && { CaseNo: `U-${random.whole(1, 9_999)}`, RegistrationId: `UR${random.whole(1, 9_999)}` }),
  ...(maybe(0.6) && { Status: 'Registered' }),
  ...(maybe(0.05) && { SuspicionLevel: 'Medium', SuspicionDate: '2024-02-29', SuspicionCaseNo: 'S-1' }),
  ...(maybe(0.5) && { IsUBOExcluded: random.chance(0.1) }),
})

export const relationsOf = (
  index: number,
  { seed, companies, awkward }: RelationsOptions,
): DraftRelations => {
  const random = seededRandom(seed, 'relations', index)
  const full = index % FULL_EVERY === 3
  const maybe: Maybe = (share) => full || random.chance(share)
  const { id, name, orgNo, countryCode, legalForm, status } = identityOf(seed, index)
  const company = () => companyEntity(seed, random.whole(0, companies - 1), random, maybe)
  const person = (): DraftRelation => {
    const made = personEntity(random, maybe)
    return random.chance(0.06) ? masked(made, random) : made
  }

  const parents: DraftRelation[] = [
    ...(full ? [personEntity(random, maybe), masked(personEntity(random, maybe), random)] : []),
    ...Array.from({ length: random.whole(0, 3) }, person),
    ...Array.from({ length: full ? 1 : random.whole(0, 2) }, company),
  ]
  const depth = historyDepth(index, random)
  const [first = company(), ...others] = parents
  const withPast = depth > 0 ? [withHistory(first, depth, random), ...others] : parents
  const children = Array.from({ length: random.chance(0.5) ? 0 : random.whole(1, 5) }, company)
  const odd = random.chance(awkward)
  return {
    record: {
      InternalId: id,
      Name: odd ? random.pick(AWKWARD_STRINGS) : name,
      ...(maybe(0.97) && { OrgNo: orgNo }),
      ...(countryCode !== undefined && { CountryCode: countryCode }),
      LegalForm: legalForm,
      OperationalStatus: status,
      ...(maybe(0.5) && {
        TotalNumberOfShares: random.whole(0, 1e9),
        TotalNumberOfVotes: random.whole(0, 1e10) + 0.5,
      }),
      ...((withPast.length > 0 || random.chance(0.2)) && { Parents: withPast }),
      ...((children.length > 0 || random.chance(0.2)) && { Children: children }),
      ...(maybe(0.4) && { UBODetails: uboDetails(random, maybe) }),
    },
    writing: odd ? random.pick(WRITINGS) : 'plain',
  }
}
