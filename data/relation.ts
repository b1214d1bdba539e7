/** One entity of a relations record: a company or an invented person, its history, and its mask. */

import { PROTECTED_IDENTITY, RELATION, type Relation } from '../src/contract/objects.ts'
import { identityOf } from './identity.ts'
import { beneficialOwnership, type Maybe, ownership, recordMoment, role } from './ownership.ts'
import type { Random } from './random.ts'
import { CITIES, COUNTRIES, FIRST_NAMES, LAST_NAMES, STREETS } from './words.ts'

type Mask = typeof PROTECTED_IDENTITY | readonly (typeof PROTECTED_IDENTITY)[]
/** As it is written: personal fields of a protected person hold the mask, lists of them too. */
export type DraftRelation = {
  readonly [K in Exclude<keyof Relation, 'History'>]?: Relation[K] | Mask
} & {
  readonly IsProtected?: boolean
  readonly BeneficialOwnerships?: Relation['BeneficialOwnerships']
  readonly Ownerships?: Relation['Ownerships']
  readonly UltimateOwnerships?: Relation['UltimateOwnerships']
  readonly CompanyStructureOwners?: Relation['CompanyStructureOwners']
  readonly KeyPersonRoles?: Relation['KeyPersonRoles']
  readonly History?: readonly DraftRelation[]
}

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)

const address = (random: Random, maybe: Maybe) => ({
  ...(maybe(0.9) && { Street: `${random.pick(STREETS)} ${random.whole(1, 99)}` }),
  ...(maybe(0.9) && { ZipCode: String(random.whole(10_000, 99_999)) }),
  City: random.pick(CITIES),
  ...(maybe(0.7) && { CountryCode: random.pick(COUNTRIES).code }),
})

/** Every kind of ownership, roles and dates, as companies and persons share them. */
const ties = (random: Random, maybe: Maybe, isCompany: boolean) => ({
  ...(maybe(0.3) && {
    BeneficialOwnerships: times(random.whole(1, 2), () => beneficialOwnership(random, maybe)),
  }),
  ...(maybe(0.6) && { Ownerships: times(random.whole(1, 3), () => ownership(random, maybe)) }),
  ...(maybe(0.2) && { UltimateOwnerships: [ownership(random, maybe)] }),
  ...(maybe(0.2) && { CompanyStructureOwners: [ownership(random, maybe)] }),
  ...(maybe(isCompany ? 0.05 : 0.7) && {
    KeyPersonRoles: times(random.whole(1, 3), () => role(random, maybe)),
  }),
  ...(maybe(0.8) && { UpdatedAt: recordMoment(random) }),
})

export const companyEntity = (seed: number, index: number, random: Random, maybe: Maybe): Relation => {
  const { id, name, orgNo, countryCode } = identityOf(seed, index)
  return {
    InternalId: id,
    Name: name,
    ...(maybe(0.9) && { OrgNo: orgNo }),
    ...(maybe(0.4) && { Addresses: [address(random, maybe)] }),
    ...(countryCode !== undefined && { CountryCode: countryCode }),
    ...(maybe(0.95) && { IsCompany: true }),
    ...(maybe(0.8) && { IsSearchableEntity: random.chance(0.9) }),
    ...(maybe(0.5) && { RegistrationDate: recordMoment(random) }),
    ...ties(random, maybe, true),
  }
}

const FIRST_PERSON = 20_000_000_000

export const personEntity = (random: Random, maybe: Maybe): Relation => {
  const [first, last] = [random.pick(FIRST_NAMES), random.pick(LAST_NAMES)]
  const home = random.pick(COUNTRIES).code
  return {
    InternalId: FIRST_PERSON + random.whole(0, 3_000_000),
    Name: `${first} ${last}`,
    ...(maybe(0.9) && { FirstName: first, LastName: last }),
    ...(maybe(0.8) && {
      BirthDate: `19${random.whole(40, 99)}-0${random.whole(1, 9)}-1${random.whole(0, 9)}`,
    }),
    ...(maybe(0.3) && { NationalIdentificationNumber: `${random.whole(100_000, 999_999)}-5550` }),
    ...(maybe(0.6) && { Gender: random.pick(['Female', 'Male', 'Unknown']) }),
    ...(maybe(0.4) && { Citizenships: random.chance(0.1) ? [] : [home] }),
    ...(maybe(0.4) && { CountryOfResidences: [home, random.pick(COUNTRIES).code] }),
    ...(maybe(0.5) && { Addresses: times(random.whole(0, 2), () => address(random, maybe)) }),
    ...(maybe(0.8) && { CountryCode: home }),
    IsCompany: false,
    ...(maybe(0.5) && { IsSearchableEntity: false }),
    ...(maybe(0.3) && { IsProtected: false }),
    ...ties(random, maybe, false),
  }
}

/** Names and the national id, which a caller with Hidden Person Access sees. */
const HIDDEN_UNLESS_ALLOWED: ReadonlySet<string> = new Set([
  'Name',
  'FirstName',
  'LastName',
  'NationalIdentificationNumber',
])

/** A protected person: personal fields masked, lists by the text itself or by a list of it. */
export const masked = (person: Relation, random: Random): DraftRelation => {
  const hidden = random.chance(0.7)
  const asList = random.chance(0.5)
  const masks = Object.entries(RELATION.fields)
    .filter(([name, field]) => {
      const personal = 'masked' in field && name in person
      return personal && (hidden || !HIDDEN_UNLESS_ALLOWED.has(name))
    })
    .map(([name, { kind }]): [string, Mask] => [
      name,
      kind !== 'text' && asList ? [PROTECTED_IDENTITY] : PROTECTED_IDENTITY,
    ])
  return { ...person, ...Object.fromEntries(masks), IsProtected: true }
}

/** Earlier states of an entity, each holding the one before it, `depth` deep. */
export const withHistory = (entity: DraftRelation, depth: number, random: Random): DraftRelation => {
  const lean: Maybe = (share) => random.chance(share * 0.4)
  const { InternalId = 0, Name = '' } = entity
  let history: readonly DraftRelation[] = []
  for (let level = depth; level > 0; level--) {
    const older: DraftRelation = {
      InternalId,
      Name,
      ...(entity.IsProtected === true && { IsProtected: true }),
      Ownerships: [ownership(random, lean)],
      ...(lean(0.5) && { KeyPersonRoles: [role(random, lean)] }),
      UpdatedAt: recordMoment(random),
      ...(history.length > 0 && { History: history }),
    }
    history =
      level > 1 && random.chance(0.1)
        ? [older, { InternalId, Name, UpdatedAt: recordMoment(random) }]
        : [older]
  }
  return { ...entity, History: history }
}
