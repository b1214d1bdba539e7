import { expect, test } from 'vitest'
import { AREAS } from '../../../src/contract/authorization.ts'
import { leavingRecord, namesNobody } from '../../../src/server/persons/leaving-record.ts'
import { type KnownPersons, NOBODY } from '../../../src/server/persons/protected-parts.ts'
import { allAreasBut } from '../search/search-parts.ts'

const EVERY = new Set(AREAS)
const knownBy = (...ids: readonly string[]): KnownPersons => ({ ...NOBODY, ids: new Set(ids) })
const served = (
  record: object | string,
  areas: ReadonlySet<(typeof AREAS)[number]>,
  known: KnownPersons = NOBODY,
) => {
  const text = typeof record === 'string' ? record : JSON.stringify(record)
  return leavingRecord(Buffer.from(text), 'relations', areas, known).toString()
}
const parsed = (record: object, areas: ReadonlySet<(typeof AREAS)[number]>, known?: KnownPersons): unknown =>
  JSON.parse(served(record, areas, known))

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
/** Somebody else with the same name, born on the same day. */
const OTHER = { ...PERSON, InternalId: 8, NationalIdentificationNumber: '700101-1111' }
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
  Gender: MASK,
}

test('leavingRecord leaves a list of nothing but the mask as it came, and no other list', () => {
  const person = { ...MASKED_ALWAYS, Citizenships: [MASK], CountryOfResidences: [MASK, 'SE'], Addresses: [] }
  expect(parsed({ Parents: [person] }, EVERY)).toEqual({
    Parents: [{ ...MASKED_ALWAYS, Citizenships: [MASK] }],
  })
})

test('namesNobody holds where nobody may be protected', () => {
  const plain = { InternalId: 1, Parents: [{ ...PERSON, IsProtected: false }], More: { IsProtected: null } }
  const open = (record: unknown, known = NOBODY, isPlain = true): boolean =>
    namesNobody(Buffer.from(typeof record === 'string' ? record : JSON.stringify(record)), isPlain, known)
  expect(open(plain)).toBe(true)
  expect(open(plain, knownBy('9'))).toBe(true)
  expect(open(plain, knownBy('9'), false)).toBe(false)
  expect(open(plain, knownBy('7'))).toBe(false)
  expect(open(plain, { ...NOBODY, numbers: new Set(['7001010000']) })).toBe(false)
  for (const mark of [true, 1, 'true', 'yes', {}, 'false'])
    expect([mark, open({ Parents: [], More: { IsProtected: mark } })]).toEqual([mark, false])
  expect(open(`{"More":{"isprotected" : true}}`)).toBe(false)
  expect(open(String.raw`{"More":{"IsProtecte\u0064":true}}`)).toBe(false)
  expect(open({ Parents: [{ Citizenships: MASK }] })).toBe(false)
})

test.each([
  ['Beneficial Owner', 'BeneficialOwnerships'],
  ['Owner', 'Ownerships'],
  ['Company Structure Owner', 'CompanyStructureOwners'],
  ['Key Person', 'KeyPersonRoles'],
  ['Relations History', 'History'],
] as const)('leavingRecord leaves out what %s controls, in histories too', (area, field) => {
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

test('leavingRecord without any area leaves names and ultimate ownerships', () => {
  expect(parsed({ InternalId: 1, UBODetails: { CaseNo: '1' }, Parents: [OWNER] }, new Set())).toEqual({
    InternalId: 1,
    UBODetails: { CaseNo: '1' },
    Parents: [{ InternalId: 5, Name: 'A Company', UltimateOwnerships: [{ OwnershipStake: 3 }] }],
  })
})

test('leavingRecord masks a protected person, the name only without Hidden Person Access', () => {
  const record = {
    InternalId: 1,
    CountryCode: 'SE',
    Parents: [PERSON, { ...OTHER, IsProtected: false }],
  }
  const open = { ...OTHER, IsProtected: false }
  expect(parsed(record, EVERY)).toEqual({ ...record, Parents: [MASKED_ALWAYS, open] })
  const areas = new Set(allAreasBut('Hidden Person Access'))
  expect(parsed(record, areas)).toEqual({ ...record, Parents: [MASKED_ALL, open] })
})

test('leavingRecord adds no field that was not there', () => {
  const record = { InternalId: 1, Children: [{ InternalId: 7, IsProtected: true, Name: 'Anna' }] }
  expect(parsed(record, EVERY)).toEqual(record)
})

test.each([
  ['alone', { BirthDate: MASK }],
  ['in a list', { Citizenships: [MASK, 'SE'] }],
  ['in an address', { Addresses: [{ City: MASK }] }],
])('leavingRecord takes a mask %s as a sign of protection', (_, masked) => {
  const { IsProtected: __, ...unmarked } = PERSON
  const { IsProtected: ___, ...all } = MASKED_ALL
  const record = { InternalId: 1, Parents: [{ ...unmarked, ...masked }] }
  expect(parsed(record, new Set())).toEqual({ InternalId: 1, Parents: [all] })
})

test('leavingRecord masks a protected person in histories, also where these do not say it', () => {
  const { IsProtected: _, InternalId: __, ...earlier } = PERSON
  const record = {
    InternalId: 1,
    Parents: [
      { ...PERSON, History: [earlier, { ...OTHER, IsProtected: null }] },
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

test('leavingRecord reaches the end of a history 60 deep', () => {
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

test('leavingRecord keeps ids beyond 2^53 and numbers as they stood', () => {
  const text =
    '{"InternalId":9223372036854775807,"Parents":[{"InternalId":9007199254740993,"IsProtected":true,"Name":"x"},{"InternalId":9007199254740992,"Name":"y","UltimateOwnerships":[{"OwnershipStake":0.10}]}]}'
  expect(served(text, new Set())).toBe(text.replace('"x"', `"${MASK}"`))
})

test('leavingRecord leaves to whoever lacks an area nothing but fields of the contract, in their shape', () => {
  const secret = { Name: 'Anna Berg', NationalIdentificationNumber: '700101-0000', BirthDate: '1970-01-01' }
  const record = {
    InternalId: 1,
    Beneficiary: secret,
    UBODetails: { CaseNo: '1', Person: secret },
    Parents: [
      {
        ...OWNER,
        PersonDetails: secret,
        Ownerships: [{ OwnershipStake: 2, Holder: secret }, secret.Name],
        Citizenships: ['SE', secret],
        OrgNo: secret,
        History: [{ InternalId: 5, Was: secret }],
      },
      secret.Name,
    ],
    Children: { Person: secret },
    Name: secret,
  }
  for (const area of AREAS) {
    const text = served(record, new Set(allAreasBut(area)))
    expect([area, text]).toEqual([area, expect.not.stringMatching(/Anna|700101|1970/)])
    expect([area, text]).toEqual([area, expect.stringContaining('"CaseNo":"1"')])
  }
  expect(parsed(record, new Set(allAreasBut('Hidden Person Access')))).toMatchObject({
    Parents: [{ Name: 'A Company', Ownerships: [{ OwnershipStake: 2 }], Citizenships: ['SE'] }],
  })
  // Nobody is protected in it, and all areas are there.
  expect(parsed(record, EVERY)).toEqual(record)
})

test('leavingRecord masks whoever is protected in another record, wherever the id stands', () => {
  const { IsProtected: _, ...unmarked } = PERSON
  const isProtected = knownBy('7')
  const items = {
    BeneficialOwnerships: [{ Text: 'Anna by proxy' }],
    KeyPersonRoles: [{ Id: 1, Text: 'CEO' }],
  }
  const record = {
    InternalId: 7,
    Parents: [{ ...unmarked, ...items, OrgNo: '700101-0000' }],
    Children: [{ InternalId: 6, Name: 'A Company', History: [unmarked] }],
    Unknown: {
      deep: [{ internalId: '7', name: 'Anna Berg', birthDate: '1970-01-01', inner: { BirthDate: '1970' } }],
    },
  }
  const withAccess = served(record, EVERY, isProtected)
  expect(withAccess).not.toMatch(/1970|Umeå/)
  expect(withAccess).toContain('Anna Berg')
  const without = JSON.parse(served(record, new Set(allAreasBut('Hidden Person Access')), isProtected))
  expect(JSON.stringify(without)).not.toMatch(/1970|Umeå|Anna|700101|CEO|"F"/)
  expect(without.Parents[0]).toMatchObject({
    InternalId: 7,
    KeyPersonRoles: [{ Id: 1, Text: MASK }],
    OrgNo: MASK,
  })
  expect(without.Children[0].Name).toBe('A Company')
  const company = { InternalId: 7, IsCompany: true, OrgNo: '556000-0000' }
  expect(parsed({ Parents: [company] }, new Set(), isProtected)).toEqual({ Parents: [company] })
})

test.each([true, 1, 'true', 'yes', {}])(
  'leavingRecord takes IsProtected: %j in a field that nobody knows for a yes',
  (mark) => {
    const record = { InternalId: 1, Unknown: [{ IsProtected: mark, BirthDate: '1970-01-01', Name: 'Anna' }] }
    expect(served(record, EVERY)).not.toContain('1970')
  },
)
