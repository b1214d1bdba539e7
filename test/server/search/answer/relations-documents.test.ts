import { expect, test } from 'vitest'
import { AREAS } from '../../../../src/contract/authorization.ts'
import { isOpen, restricted } from '../../../../src/server/search/answer/relations-documents.ts'
import { allAreasBut } from '../search-parts.ts'

const EVERY = new Set(AREAS)
const served = (record: object | string, areas: ReadonlySet<(typeof AREAS)[number]>) => {
  const text = typeof record === 'string' ? record : JSON.stringify(record)
  return restricted(Buffer.from(text), areas).toString()
}
const parsed = (record: object, areas: ReadonlySet<(typeof AREAS)[number]>): unknown =>
  JSON.parse(served(record, areas))

const OWNER = {
  InternalId: 5,
  Name: 'A Company',
  BeneficialOwnerships: [{ OwnershipStake: 1 }],
  Ownerships: [{ OwnershipStake: 2 }],
  UltimateOwnerships: [{ OwnershipStake: 3 }],
  CompanyStructureOwners: [{ OwnershipStake: 4 }],
  KeyPersonRoles: [{ Id: 1 }],
  History: [{ InternalId: 5, Name: 'Before', Ownerships: [{ OwnershipStake: 5 }] }],
}
const PERSON = {
  InternalId: 7,
  Name: 'Anna Berg',
  FirstName: 'Anna',
  LastName: 'Berg',
  BirthDate: '1970-01-01',
  NationalIdentificationNumber: '700101-0000',
  Gender: 'F',
  Citizenships: ['SE'],
  CountryOfResidences: ['SE'],
  Addresses: [{ City: 'Umeå' }],
  CountryCode: 'SE',
  IsCompany: false,
  IsProtected: true,
}
const MASK = 'Protected Identity'
const MASKED_ALWAYS = {
  ...PERSON,
  BirthDate: MASK,
  Citizenships: MASK,
  CountryOfResidences: MASK,
  Addresses: MASK,
  CountryCode: MASK,
}
const MASKED_ALL = {
  ...MASKED_ALWAYS,
  Name: MASK,
  FirstName: MASK,
  LastName: MASK,
  NationalIdentificationNumber: MASK,
}

test('restricted leaves a list of nothing but the mask as it came, and no other list', () => {
  const person = { ...MASKED_ALWAYS, Citizenships: [MASK], CountryOfResidences: [MASK, 'SE'], Addresses: [] }
  expect(parsed({ Parents: [person] }, EVERY)).toEqual({
    Parents: [{ ...MASKED_ALWAYS, Citizenships: [MASK] }],
  })
})

test('isOpen holds with all areas that open fields, where nobody is protected', () => {
  expect(isOpen(EVERY, false)).toBe(true)
  expect(isOpen(new Set(allAreasBut('Hidden Person Access')), false)).toBe(true)
  expect(isOpen(EVERY, true)).toBe(false)
  expect(isOpen(new Set(allAreasBut('Owner')), false)).toBe(false)
})

test.each([
  ['Beneficial Owner', 'BeneficialOwnerships'],
  ['Owner', 'Ownerships'],
  ['Company Structure Owner', 'CompanyStructureOwners'],
  ['Key Person', 'KeyPersonRoles'],
  ['Relations History', 'History'],
] as const)('restricted leaves out what %s controls, in histories too', (area, field) => {
  const areas = new Set(allAreasBut(area))
  const without = (entity: object) =>
    Object.fromEntries(Object.entries(entity).filter(([name]) => name !== field))
  const left = {
    ...OWNER,
    History: OWNER.History.map(without),
  }
  expect(parsed({ InternalId: 1, Parents: [OWNER], Children: [OWNER] }, areas)).toEqual({
    InternalId: 1,
    Parents: [without(left)],
    Children: [without(left)],
  })
})

test('restricted without any area leaves names and ultimate ownerships', () => {
  expect(parsed({ InternalId: 1, UBODetails: { CaseNo: '1' }, Parents: [OWNER] }, new Set())).toEqual({
    InternalId: 1,
    UBODetails: { CaseNo: '1' },
    Parents: [{ InternalId: 5, Name: 'A Company', UltimateOwnerships: [{ OwnershipStake: 3 }] }],
  })
})

test('restricted masks a protected person, the name only without Hidden Person Access', () => {
  const record = {
    InternalId: 1,
    CountryCode: 'SE',
    Parents: [PERSON, { ...PERSON, InternalId: 8, IsProtected: false }],
  }
  const open = { ...PERSON, InternalId: 8, IsProtected: false }
  expect(parsed(record, EVERY)).toEqual({ ...record, Parents: [MASKED_ALWAYS, open] })
  const areas = new Set(allAreasBut('Hidden Person Access'))
  expect(parsed(record, areas)).toEqual({ ...record, Parents: [MASKED_ALL, open] })
})

test('restricted adds no field that was not there', () => {
  const record = { InternalId: 1, Children: [{ InternalId: 7, IsProtected: true, Name: 'Anna' }] }
  expect(parsed(record, EVERY)).toEqual(record)
})

test.each([
  ['alone', { BirthDate: MASK }],
  ['in a list', { Citizenships: [MASK, 'SE'] }],
  ['in an address', { Addresses: [{ City: MASK }] }],
])('restricted takes a mask %s as a sign of protection', (_, masked) => {
  const { IsProtected: __, ...unmarked } = PERSON
  const { IsProtected: ___, ...all } = MASKED_ALL
  const record = { InternalId: 1, Parents: [{ ...unmarked, ...masked }] }
  expect(parsed(record, new Set())).toEqual({ InternalId: 1, Parents: [all] })
})

test('restricted masks a protected person in histories, also where these do not say it', () => {
  const { IsProtected: _, InternalId: __, ...earlier } = PERSON
  const record = {
    InternalId: 1,
    Parents: [
      { ...PERSON, History: [earlier, { ...earlier, InternalId: 9 }] },
      { InternalId: 6, History: [{ ...earlier, InternalId: 7 }] },
    ],
  }
  const areas = new Set(allAreasBut('Hidden Person Access'))
  expect(parsed(record, areas)).toMatchObject({
    Parents: [
      { Name: MASK, History: [{ Name: MASK }, { Name: 'Anna Berg' }] },
      { History: [{ InternalId: 7, Name: MASK, NationalIdentificationNumber: MASK }] },
    ],
  })
})

test('restricted reaches the end of a history 60 deep', () => {
  const deep = (depth: number): object => ({
    ...PERSON,
    InternalId: depth,
    Ownerships: [{ OwnershipStake: depth }],
    ...(depth < 60 && { History: [deep(depth + 1)] }),
  })
  const text = served(
    { InternalId: 1, Parents: [deep(1)] },
    new Set(allAreasBut('Owner', 'Hidden Person Access')),
  )
  expect(text.match(/"History"/g)).toHaveLength(59)
  expect(text).not.toMatch(/Ownerships|Anna|Berg|700101/)
})

test('restricted keeps ids beyond 2^53 and numbers as they stood', () => {
  const text =
    '{"InternalId":9223372036854775807,"Parents":[{"InternalId":9007199254740993,"IsProtected":true,"Name":"x"},{"InternalId":9007199254740992,"Name":"y","UltimateOwnerships":[{"OwnershipStake":0.10}]}]}'
  expect(served(text, new Set())).toBe(text.replace('"x"', `"${MASK}"`))
})
