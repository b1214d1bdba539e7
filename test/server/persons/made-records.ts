/**
 * Records of both contents with persons anywhere: in relations and their histories, in fields that no contract has, in companies of their
 * own. Each text of a person stands nowhere else, so that a search through what leaves says whose data it is.
 */

import type { seededRandom } from '../../manifest/damage.ts'

type Random = ReturnType<typeof seededRandom>

export interface MadePerson {
  readonly id: number
  readonly isProtected: boolean
  readonly name: string
  readonly number: string
  readonly street: string
  /** What nobody may see of a protected person, and what only those with access may. */
  readonly hidden: readonly string[]
  readonly named: readonly string[]
  readonly data: Readonly<Record<string, unknown>>
}

const personOf = (id: number, isProtected: boolean): MadePerson => {
  const [first, last] = [`Fzq${id}`, `Lzq${id}`]
  const number = `19${id}-${id % 10000}`
  const street = `Szq${id}street`
  const birth = `1${String(id).slice(-3)}-0${(id % 9) + 1}-1${id % 10}`
  return {
    ...{ id, isProtected, name: `${first} ${last}`, number, street },
    hidden: [street, birth],
    named: [first, last, number],
    data: {
      ...{ Name: `${first} ${last}`, FirstName: first, LastName: last, BirthDate: birth, IsCompany: false },
      ...{ NationalIdentificationNumber: number, Addresses: [{ Street: street, City: 'Lund' }] },
    },
  }
}

const oneOf = <T>(random: Random, list: readonly T[]): T => {
  const found = list[Math.floor(random() * list.length)]
  if (found === undefined) throw new RangeError('Cannot choose from nothing')
  return found
}

/** Data of a person where the contract has it, with another way to say who it is each time. */
const entityOf = (random: Random, { id, data }: MadePerson): Record<string, unknown> => {
  const { NationalIdentificationNumber: _, ...withoutNumber } = data
  return oneOf(random, [
    { InternalId: id, ...data },
    { InternalId: id, ...data, IsProtected: null },
    { InternalId: 0, ...data },
    { ...data, NationalIdentificationNumber: String(data.NationalIdentificationNumber).replace('-', ' ') },
    { ...withoutNumber },
  ])
}

/** The same in a field that no contract has. */
const objectOf = (random: Random, person: MadePerson): object => {
  const { id, data } = person
  const { NationalIdentificationNumber: number, IsCompany: _, ...others } = data
  return oneOf(random, [
    ...[
      { InternalId: id, ...data },
      { internalid: String(id), ...data },
      { InternalId: `0${id}`, ...data },
    ],
    ...[
      { PersonId: id, ...others },
      { person_id: id, ...others },
      { Id: id, ...others },
    ],
    ...[{ PNo: number, ...others }, { ...data }, { ...others }],
    { [String(id)]: others },
    { deep: [[{ Id: id, Details: { BirthDate: data.BirthDate, Home: data.Addresses } }]] },
  ])
}

const place = (random: Random, person: MadePerson): object =>
  oneOf(random, [
    { Contact: objectOf(random, person) },
    { Board: ['x', objectOf(random, person)] },
    { Group: { Signs: [[objectOf(random, person)]] } },
  ])

export interface MadeRecords {
  readonly persons: readonly MadePerson[]
  readonly companies: readonly object[]
  readonly relations: readonly object[]
  /** Ids of companies that are persons' own. */
  readonly own: readonly number[]
  /** Open persons that stand in an object of the contract, outside of histories. */
  readonly inContract: ReadonlySet<MadePerson>
  /** Open persons that stand anywhere, all of whose data stands there. */
  readonly anywhere: ReadonlySet<MadePerson>
}

const RECORDS = 12

export const makeRecords = (random: Random): MadeRecords => {
  const persons = Array.from({ length: 8 }, (_, at) => personOf(700_101 + at * 111, at % 2 === 0))
  const inContract = new Set<MadePerson>()
  const anywhere = new Set<MadePerson>()
  const companies: object[] = []
  const relations: object[] = []
  const openOnes = persons.filter(({ isProtected }) => !isProtected)
  const hiddenOnes = persons.filter(({ isProtected }) => isProtected)
  for (let at = 0; at < RECORDS; at++) {
    const id = 11 + at
    const mine = [oneOf(random, hiddenOnes), oneOf(random, openOnes)]
    const [hidden, open] = mine
    if (hidden === undefined || open === undefined) continue
    // An open person keeps its id: without one, inside of somebody's data, it would be taken for that person's.
    const openEntity = { InternalId: open.id, ...open.data, ...(random() < 0.5 && { IsProtected: false }) }
    const entity = entityOf(random, hidden)
    const isInside = random() < 0.4
    if (isInside) entity.History = [openEntity, entityOf(random, hidden)]
    else inContract.add(open)
    anywhere.add(open)
    relations.push({
      ...{ InternalId: id, Name: `Firm ${id}`, CountryCode: 'SE' },
      Parents: [
        { ...entity, ...(random() < 0.3 && place(random, oneOf(random, hiddenOnes))) },
        ...(isInside
          ? []
          : [{ ...openEntity, KeyPersonRoles: [{ Id: 1, Text: `deputy of ${hidden.name}` }] }]),
      ],
      ...place(random, oneOf(random, hiddenOnes)),
      ...(random() < 0.5 && { Others: [{ InternalId: open.id, ...open.data }] }),
    })
    companies.push({
      BasicDetails: {
        ...{ InternalId: id, CompanyName: `Firm ${id}`, CountryCode: 'SE' },
        Signatory: `by ${hidden.name}`,
        ...(random() < 0.5 && place(random, oneOf(random, hiddenOnes))),
      },
      MetaData: { LocalCurrencyCode: 'SEK', ...(random() < 0.3 && place(random, oneOf(random, hiddenOnes))) },
      Financials: { ProfitAndLoss: { NetSales: { 2023: id } } },
      ...(random() < 0.7 && place(random, oneOf(random, hiddenOnes))),
      OpenOnes: [{ InternalId: open.id, ...open.data }],
    })
  }
  // Companies that are persons' own, by the id and by the number alone; an open one too.
  const own = persons.map(({ id }, at) => (at % 4 < 2 ? id : 9000 + at))
  for (const [at, { name, number, street }] of persons.entries())
    companies.push({
      BasicDetails: {
        ...{ InternalId: own[at], CompanyName: name, CountryCode: 'SE' },
        ...{ OrgNo: number, Address: { Street: street } },
      },
    })
  // Each is marked somewhere, once: in relations, or where no contract has persons.
  for (const [at, { id, data }] of hiddenOnes.entries()) {
    const marked = { InternalId: id, ...data, IsProtected: at % 3 === 0 ? 'yes' : true }
    if (at % 2 === 1)
      relations.push({ InternalId: 500 + at, CountryCode: 'SE', Parents: [{ ...marked, IsProtected: true }] })
    else if (at % 4 === 0) relations.push({ InternalId: 500 + at, CountryCode: 'SE', Marks: [marked] })
    else
      companies.push({ BasicDetails: { InternalId: 500 + at, CountryCode: 'SE', Marks: { deep: marked } } })
  }
  return { persons, companies, relations, own, inContract, anywhere }
}
