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

const company = (record: object, areas: ReadonlySet<(typeof AREAS)[number]>, known = NOBODY): unknown =>
  JSON.parse(leavingRecord(Buffer.from(JSON.stringify(record)), 'companies', areas, known).toString())

test('leavingRecord leaves the open ones in the history of a protected person as they are', () => {
  const addresses = { Addresses: [{ Street: 'Main 1', City: 'Lund', CountryCode: 'SE' }], CountryCode: 'SE' }
  const history = [
    { InternalId: 11, Name: 'Open AB', OrgNo: '556000-0011', IsCompany: true, ...addresses },
    { InternalId: 12, Name: 'Olle Open', IsProtected: false, BirthDate: '1960-01-01', ...addresses },
    { Name: 'Idle AB', IsCompany: true, ...addresses },
  ]
  const record = { InternalId: 1, Parents: [{ InternalId: 900, IsProtected: true, History: history }] }
  for (const areas of [EVERY, new Set(allAreasBut('Hidden Person Access'))])
    expect(parsed(record, areas)).toEqual(record)
})

test('leavingRecord takes a mask in an address for no sign of protection where the person says no', () => {
  const open = { ...PERSON, IsProtected: false, Addresses: [{ Street: MASK, City: 'Lund' }] }
  const record = { InternalId: 1, Parents: [open] }
  expect(parsed(record, new Set(allAreasBut('Hidden Person Access')))).toEqual(record)
  // Data that is masked as a whole is of a person whom another record protects.
  expect(served({ Parents: [{ ...open, BirthDate: MASK }] }, new Set())).not.toContain('Anna')
})

test.each<[string, object]>([
  ['InternalId in a text', { InternalId: '07' }],
  ['PersonId', { PersonId: 7 }],
  ['person_id', { person_id: 7 }],
  ['Id', { Id: 7 }],
  ['the national id', { PNo: '700101 0000' }],
  ['the name beside the date of birth', { Name: 'Berg, Anna' }],
])('leavingRecord knows a protected person in a record of a company by %s', (_, by) => {
  const { InternalId: id, NationalIdentificationNumber: number, IsProtected: __, ...others } = PERSON
  const known = {
    ids: new Set([String(id)]),
    numbers: new Set([number.replace('-', '')]),
    births: new Set(['anna berg|19700101']),
  }
  const record = {
    BasicDetails: { InternalId: 1, Board: [[{ ...others, ...by }]] },
    OpenOnes: [{ ...others, Id: 8 }],
  }
  expect(company(record, EVERY, known)).toMatchObject({
    BasicDetails: { Board: [[{ BirthDate: MASK, Addresses: MASK, CountryCode: MASK }]] },
    OpenOnes: [{ Id: 8, BirthDate: '1970-01-01' }],
  })
  expect(company(record, new Set(), known)).toEqual({ BasicDetails: { InternalId: 1 } })
})

test.each([
  ['by its id', { InternalId: 7, OrgNo: '556000-0000' }],
  ['by its number', { InternalId: 1, OrgNo: '700101-0000' }],
])('leavingRecord leaves out who owns a company that is a protected person’s own, found %s', (_, by) => {
  const known = { ...knownBy('7'), numbers: new Set(['7001010000']) }
  const kept = { InternalId: by.InternalId, CountryCode: 'SE', LegalForm: 3 }
  const names = { CompanyName: 'Anna Berg', OrgNo: by.OrgNo, Signatory: 'Anna Berg' }
  const details = { ...kept, ...names, Address: { Street: 'Storgatan 1' }, Phone: '070-1', Nick: 'Annie' }
  const figures = { ProfitAndLoss: { NetSales: { 2023: 1 } } }
  const record = { BasicDetails: details, Financials: figures }
  expect(company(record, EVERY, known)).toEqual({
    BasicDetails: { ...kept, ...names, Nick: MASK },
    Financials: figures,
  })
  expect(company(record, new Set(), known)).toEqual({ BasicDetails: kept, Financials: figures })
})

test('leavingRecord leaves figures to whoever lacks an area, and nothing else that is in their place', () => {
  const figures = { ProfitAndLoss: { NetSales: { 2023: 1 } }, BalanceSheet: {} }
  const record = {
    BasicDetails: { InternalId: 1 },
    EnhancedDetails: { Employees: { 2023: 4, who: { Name: 'Anna' } } },
    Financials: { ...figures, Notes: { Text: { 2023: 'Anna' } }, Signer: 'Anna' },
    Unknown: 'Anna',
  }
  expect(company(record, new Set())).toEqual({
    BasicDetails: { InternalId: 1 },
    EnhancedDetails: { Employees: { 2023: 4 } },
    Financials: { ...figures, Notes: { Text: {} } },
  })
})
