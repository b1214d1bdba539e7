import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PROTECTED_IDENTITY } from '../../src/contract/objects.ts'
import { type LoadedLake, Workbench } from './loaded-lake.ts'
import { canonicalAll } from './same-record.ts'

let bench: Workbench
beforeAll(async () => {
  bench = await Workbench.open()
})
afterAll(() => bench.close())

const loaded = (...lines: object[]): Promise<LoadedLake> => bench.load({ content: 'relations', lines })
const expectGivenBack = async (lake: LoadedLake, ...lines: object[]): Promise<void> => {
  const came = lines.map((line) => JSON.stringify(line))
  expect(canonicalAll(await lake.givenBack(), 'relations')).toEqual(canonicalAll(came, 'relations'))
}

test('load writes relations with their scalars, UBODetails and code names', async () => {
  const record = {
    InternalId: 5,
    Name: 'Vel AB',
    LegalForm: 1,
    OperationalStatus: 10,
    TotalNumberOfShares: 1.5,
    UBODetails: { HasReportedMissingUBO: false, IsUBOExcluded: true, Status: 'Registered' },
  }
  const columns = `name, legal_form_name, operational_status_name, total_number_of_shares, total_number_of_votes,
    ubo_has_reported_missing_ubo AS missing, ubo_is_ubo_excluded AS excluded, ubo_status, empty_lists, extra`
  expect(await (await loaded(record)).rows('relations', columns)).toEqual([
    {
      name: 'Vel AB',
      legal_form_name: 'Limited company',
      operational_status_name: 'Active',
      total_number_of_shares: 1.5,
      total_number_of_votes: null,
      missing: false,
      excluded: true,
      ubo_status: 'Registered',
      empty_lists: null,
      extra: null,
    },
  ])
})

test('load numbers entities in document order and names the one in whose history each stands', async () => {
  const record = {
    InternalId: 1,
    Parents: [
      { InternalId: 10, History: [{ InternalId: 11, History: [{ InternalId: 12 }] }, { InternalId: 13 }] },
      { InternalId: 20 },
    ],
    Children: [{ InternalId: 30, History: [{ InternalId: 31 }] }],
  }
  const lake = await loaded(record, { ...record, InternalId: 2 })
  const columns =
    'company_id::INT AS c, entity_no::INT AS no, parent_no::INT AS above, direction, entity_id::INT AS id, is_history AS past, depth'
  const rows = await lake.rows('relation_entities', columns)
  expect(rows.filter(({ c }) => c === 2)).toEqual([
    { c: 2, no: 1, above: null, direction: 'parent', id: 10, past: false, depth: 0 },
    { c: 2, no: 2, above: 1, direction: 'parent', id: 11, past: true, depth: 1 },
    { c: 2, no: 3, above: 2, direction: 'parent', id: 12, past: true, depth: 2 },
    { c: 2, no: 4, above: 1, direction: 'parent', id: 13, past: true, depth: 1 },
    { c: 2, no: 5, above: null, direction: 'parent', id: 20, past: false, depth: 0 },
    { c: 2, no: 6, above: null, direction: 'child', id: 30, past: false, depth: 0 },
    { c: 2, no: 7, above: 6, direction: 'child', id: 31, past: true, depth: 1 },
  ])
  expect(rows).toHaveLength(14)
})

test('load numbers parents before children, wherever they stand', async () => {
  const line =
    '{"Children":[{"InternalId":30,"Ownerships":[{}]}],"InternalId":1,"Parents":[{"History":[{"InternalId":11}],"InternalId":10}]}'
  const lake = await bench.load({ content: 'relations', lines: [line] })
  const columns = 'entity_no::INT AS no, parent_no::INT AS above, direction, entity_id::INT AS id'
  expect(await lake.rows('relation_entities', columns)).toEqual([
    { no: 1, above: null, direction: 'parent', id: 10 },
    { no: 2, above: 1, direction: 'parent', id: 11 },
    { no: 3, above: null, direction: 'child', id: 30 },
  ])
  expect(await lake.rows('ownerships', 'entity_no::INT AS no')).toEqual([{ no: 3 }])
})

test('load numbers ownerships by kind, also where a history stands between their lists', async () => {
  const entity =
    '{"Ownerships":[{"CaseNo":"3"}],"History":[{"Ownerships":[{}],"InternalId":8}],"InternalId":7,"BeneficialOwnerships":[{"CaseNo":"1"},{"CaseNo":"2"}]}'.replace(
      '"Ownerships":[{"CaseNo":"3"}]',
      '"Ownerships":[{"ShareClass":"3"}]',
    )
  const lake = await bench.load({ content: 'relations', lines: [`{"InternalId":1,"Parents":[${entity}]}`] })
  const columns = 'entity_no::INT AS e, no::INT AS no, kind, coalesce(case_no, share_class) AS name'
  expect(await lake.rows('ownerships', columns)).toEqual([
    { e: 1, no: 1, kind: 'Beneficial', name: '1' },
    { e: 1, no: 2, kind: 'Beneficial', name: '2' },
    { e: 1, no: 3, kind: 'Direct', name: '3' },
    { e: 2, no: 1, kind: 'Direct', name: null },
  ])
})

test('entities, ownerships and roles without members are given back', async () => {
  const lines = [
    '{"InternalId":1,"Parents":[{}]}',
    '{"InternalId":2,"Parents":[{"History":[{}]}],"Children":[{"Ownerships":[{}],"KeyPersonRoles":[{}]},{}]}',
  ]
  const lake = await bench.load({ content: 'relations', lines })
  expect(await lake.givenBack()).toEqual(lines)
})

test('load takes date-times in rare forms, and such as are none', async () => {
  const forms: Readonly<Record<string, string | null>> = {
    '2020-01-02T03:04:05.1234567+05:30': '2020-01-01 21:34:05.123456+00',
    '2020-01-02': '2020-01-02 00:00:00+00',
    '2020-01-02 03:04:05': '2020-01-02 03:04:05+00',
    '2020-01-02T03:04': '2020-01-02 03:04:00+00',
    '2020-01-02T03:04:05 Europe/Oslo': '2020-01-02 02:04:05+00',
    '2020-1-2': '2020-01-02 00:00:00+00',
    '2020-02-30T00:00:00': null,
    'so"on\\': null,
    '': null,
  }
  const record = {
    InternalId: 1,
    Parents: Object.keys(forms).map((UpdatedAt) => ({ InternalId: 2, UpdatedAt })),
  }
  const line = JSON.stringify(record).replace('2020-01-02"', '2020-01\\u002d02"')
  const lake = await bench.load({ content: 'relations', lines: [line] })
  expect(await lake.rows('relation_entities', 'updated_at::VARCHAR AS at, as_reported')).toEqual(
    Object.entries(forms).map(([UpdatedAt, at]) => ({ at, as_reported: JSON.stringify({ UpdatedAt }) })),
  )
  await expectGivenBack(lake, record)
})

test('load fills many chunks, of short texts, long ones and lists', async () => {
  const strings = ['', 'twelve bytes', 'thirteen byte', 'ø'.repeat(40), 'x'.repeat(5000)]
  const records = Array.from({ length: 700 }, (_, record) => ({
    InternalId: record + 1,
    Parents: Array.from({ length: record % 9 }, (_, at) => ({
      InternalId: at,
      Name: `${strings[(record + at) % strings.length]}${at}`,
      Citizenships: strings.slice(at % 5),
      Addresses: strings.slice(at % 5, 3).map((City) => ({ City })),
      KeyPersonRoles: [{ Id: at, Text: strings[at % 5] }],
    })),
  }))
  await expectGivenBack(await loaded(...records), ...records)
})

test('load keeps a history that is 40 deep, each with its rows', async () => {
  let history: object[] = []
  for (let depth = 40; depth > 0; depth--) {
    history = [{ InternalId: depth, KeyPersonRoles: [{ Id: depth }], History: history }]
  }
  const record = { InternalId: 1, Children: [{ InternalId: 100, History: history }] }
  const lake = await loaded(record)
  const rows = await lake.rows(
    'relation_entities',
    'entity_id::INT AS id, depth, (entity_no - parent_no)::INT AS step',
  )
  expect(rows[40]).toEqual({ id: 40, depth: 40, step: 1 })
  expect(rows).toHaveLength(41)
  expect(await lake.rows('roles', 'id::INT AS id, entity_no::INT - 1 AS depth, is_history')).toContainEqual({
    id: 40,
    depth: 40,
    is_history: true,
  })
  await expectGivenBack(lake, record)
})

test('load writes ownerships of all four kinds, numbered within the entity', async () => {
  const lake = await loaded({
    InternalId: 1,
    Parents: [
      {
        InternalId: 7,
        CompanyStructureOwners: [{ MinVotes: 1 }],
        Ownerships: [{ OwnershipStake: 50, InDate: '2020-01-01T00:00:00' }, {}],
        UltimateOwnerships: [{ ShareClass: 'A' }],
        BeneficialOwnerships: [{ CaseNo: 'C-1', OwnershipStake: 0 }],
        History: [{ InternalId: 8, Ownerships: [{ NumberOfShares: 3 }] }],
      },
    ],
  })
  const columns = `entity_no::INT AS e, no::INT AS no, kind, entity_id::INT AS id, is_history AS past, ownership_stake AS stake,
    share_class, case_no, min_votes, in_date::VARCHAR AS in_date`
  const none = { stake: null, share_class: null, case_no: null, min_votes: null, in_date: null }
  const of7 = { e: 1, id: 7, past: false, ...none }
  expect(await lake.rows('ownerships', columns)).toEqual([
    { ...of7, no: 1, kind: 'Beneficial', stake: 0, case_no: 'C-1' },
    { ...of7, no: 2, kind: 'Direct', stake: 50, in_date: '2020-01-01 00:00:00+00' },
    { ...of7, no: 3, kind: 'Direct' },
    { ...of7, no: 4, kind: 'Ultimate', share_class: 'A' },
    { ...of7, no: 5, kind: 'Structure', min_votes: 1 },
    { ...none, e: 2, id: 8, past: true, no: 1, kind: 'Direct' },
  ])
})

test('load writes roles with their instants', async () => {
  const record = {
    InternalId: 1,
    Children: [
      {
        InternalId: 7,
        KeyPersonRoles: [
          { Id: 1, Text: 'Chair', InDate: '2020-01-01T00:00:00Z' },
          { Id: 2, OutDate: '2021-01-01T00:00:00' },
        ],
      },
    ],
  }
  const lake = await loaded(record)
  const columns = `direction, no::INT AS no, id::INT AS id, text, in_date::VARCHAR AS "from", out_date::VARCHAR AS "to", as_reported`
  expect(await lake.rows('roles', columns)).toEqual([
    {
      direction: 'child',
      no: 1,
      id: 1,
      text: 'Chair',
      from: '2020-01-01 00:00:00+00',
      to: null,
      as_reported: '{"InDate":"2020-01-01T00:00:00Z"}',
    },
    {
      direction: 'child',
      no: 2,
      id: 2,
      text: null,
      from: null,
      to: '2021-01-01 00:00:00+00',
      as_reported: null,
    },
  ])
  await expectGivenBack(lake, record)
})

describe('load keeps masked persons', () => {
  const PERSONAL = [
    'Name',
    'FirstName',
    'LastName',
    'BirthDate',
    'NationalIdentificationNumber',
    'CountryCode',
  ]
  const strings = Object.fromEntries(PERSONAL.map((name) => [name, PROTECTED_IDENTITY]))
  const lists = (mask: unknown): object => ({
    Citizenships: mask,
    CountryOfResidences: mask,
    Addresses: mask,
  })
  const persons = {
    'by the text': { ...strings, ...lists(PROTECTED_IDENTITY), IsProtected: true },
    'by lists that hold the text': { ...strings, ...lists([PROTECTED_IDENTITY]), IsProtected: true },
    'by an address in which the text stands': {
      Addresses: [{ Street: PROTECTED_IDENTITY }],
      BirthDate: PROTECTED_IDENTITY,
    },
    'without IsProtected': { ...strings },
    'with IsProtected null': { ...strings, IsProtected: null },
    'with IsProtected false': { BirthDate: PROTECTED_IDENTITY, IsProtected: false },
    'in a list with other values': { Citizenships: ['SE', PROTECTED_IDENTITY], IsProtected: true },
  }
  test(`${Object.keys(persons).join(', ')}`, async () => {
    const records = Object.values(persons).map((person, at) => {
      const entity = { InternalId: 9, Gender: 'F', ...person }
      return { InternalId: at + 1, Parents: [{ ...entity, History: [entity] }], Children: [entity] }
    })
    const lake = await loaded(...records)
    const rows = await lake.rows('relation_entities')
    for (const [at, form] of Object.keys(persons).entries()) {
      const own = rows.filter(({ company_id }) => Number(company_id) === at + 1)
      expect(own, form).toHaveLength(3)
      for (const { masked, ...columns } of own) {
        expect(columns, form).toMatchObject({
          birth_date: null,
          is_protected: true,
          gender: 'F',
          entity_id: '9',
        })
        expect(JSON.stringify(columns), form).not.toContain(PROTECTED_IDENTITY)
        expect(String(masked), form).toContain(PROTECTED_IDENTITY)
      }
    }
    await expectGivenBack(lake, ...records)
  })

  test('apart from persons whose data is open', async () => {
    const open = {
      InternalId: 9,
      Name: `the "${PROTECTED_IDENTITY}" case`,
      BirthDate: '1970-01-01',
      IsProtected: false,
    }
    const record = { InternalId: 1, Parents: [open, { InternalId: 8, IsProtected: true, Name: 'N' }] }
    const lake = await loaded(record)
    expect(await lake.rows('relation_entities', 'name, birth_date, is_protected, masked')).toEqual([
      { name: open.Name, birth_date: '1970-01-01', is_protected: false, masked: null },
      { name: 'N', birth_date: null, is_protected: true, masked: null },
    ])
    await expectGivenBack(lake, record)
  })

  test('apart from those who say that they are open, of whom a part of an address is masked', async () => {
    const open = {
      InternalId: 9,
      IsProtected: false,
      Addresses: [{ Street: PROTECTED_IDENTITY, City: 'Lund' }, { City: 'Umeå' }],
    }
    const record = { InternalId: 1, Parents: [open], Children: [{ ...open, Name: PROTECTED_IDENTITY }] }
    const lake = await loaded(record)
    expect(await lake.rows('relation_entities', 'direction, is_protected')).toEqual([
      { direction: 'parent', is_protected: false },
      { direction: 'child', is_protected: true },
    ])
    await expectGivenBack(lake, record)
  })

  test('also where they hold numbers and objects that the contract does not know', async () => {
    const addresses = '[ {"City" : "Oslo", "Foo":[1.50, {"a":null}]}, "\\u0050rotected Identity" ]'
    const line = `{"InternalId":1,"Parents":[{"InternalId":2,"Addresses":${addresses}}]}`
    const lake = await bench.load({ content: 'relations', lines: [line] })
    expect(await lake.rows('relation_entities', 'addresses, is_protected, masked')).toEqual([
      {
        addresses: null,
        is_protected: true,
        masked:
          '{"Addresses":[{"City":"Oslo","Foo":[1.5,{"a":null}]},"Protected Identity"],"IsProtected":null}',
      },
    ])
  })

  test('also where the text is written with escapes', async () => {
    const line = '{"InternalId":1,"Parents":[{"InternalId":2,"BirthDate":"\\u0050rotected\\u0020Identity"}]}'
    const lake = await bench.load({ content: 'relations', lines: [line] })
    expect(await lake.rows('relation_entities', 'birth_date, is_protected')).toEqual([
      { birth_date: null, is_protected: true },
    ])
  })
})

test('load gives fields outside the contract back wherever they stand', async () => {
  const unknown = { 'Foo/~"': { a: [1, { b: null }], '': '\0' } }
  const deep = {
    InternalId: 3,
    ...unknown,
    Ownerships: [{}, { OwnershipStake: 1, ...unknown }],
    BeneficialOwnerships: [{ ...unknown }],
    UltimateOwnerships: [{ ...unknown }, { ...unknown }],
    KeyPersonRoles: [{ Id: 1 }, { Id: 2, ...unknown }],
    Addresses: [{ City: 'Oslo' }, { City: 'Bergen', ...unknown }],
  }
  const record = {
    InternalId: 1,
    ...unknown,
    '/Parents/0': { Name: 'not of a row' },
    '/': 1,
    '': 2,
    __proto__fake: 3,
    UBODetails: { HasReportedMissingUBO: true, ...unknown },
    Parents: [{ InternalId: 2 }, { InternalId: 2, History: [{ InternalId: 2, History: [deep] }] }],
    Children: [deep],
  }
  const lake = await loaded(record)
  expect(lake.rejected).toEqual([])
  await expectGivenBack(lake, record)
  const [row] = await lake.rows('relations', 'extra')
  expect(Object.keys(JSON.parse(String(row?.extra)))).toContain('/Parents/1/History/0/History/0/Ownerships/1')
  expect(lake.drift).toContainEqual({
    kind: 'field',
    name: 'Parents[].History[].History[].KeyPersonRoles[].Foo/~"',
    records: 1,
  })
})

test('load gives a member named __proto__ back', async () => {
  const line = '{"InternalId":1,"__proto__":{"x":1},"Parents":[{"InternalId":2,"__proto__":[1]}]}'
  const lake = await bench.load({ content: 'relations', lines: [line] })
  expect(canonicalAll(await lake.givenBack(), 'relations')).toEqual(canonicalAll([line], 'relations'))
  expect({}).not.toHaveProperty('x')
})

test('load tells empty lists from absent ones and from nulls', async () => {
  const lists = [
    'BeneficialOwnerships',
    'Ownerships',
    'UltimateOwnerships',
    'CompanyStructureOwners',
    'KeyPersonRoles',
    'History',
  ]
  const all = (value: unknown): object => Object.fromEntries(lists.map((name) => [name, value]))
  const records = [
    { InternalId: 1, Parents: [], Children: [] },
    { InternalId: 2, Parents: null, Children: null },
    { InternalId: 3, Parents: [{ InternalId: 1, ...all([]), Citizenships: [], Addresses: [] }] },
    {
      InternalId: 4,
      Parents: [{ InternalId: 1, ...all(null), Citizenships: null, Addresses: null, Name: null }],
    },
    { InternalId: 5 },
  ]
  const lake = await loaded(...records)
  expect((await lake.rows('relations', 'empty_lists')).map(({ empty_lists }) => empty_lists)).toEqual([
    ['Parents', 'Children'],
    null,
    null,
    null,
    null,
  ])
  expect(await lake.rows('relation_entities', 'empty_lists')).toEqual([
    { empty_lists: lists },
    { empty_lists: null },
  ])
  await expectGivenBack(lake, ...records)
})

test('load takes numbers in quotes and with exponents, and the largest ids', async () => {
  const line =
    '{"InternalId":9223372036854775807,"TotalNumberOfShares":"1e3","Parents":[{"InternalId":"-9223372036854775808","KeyPersonRoles":[{"Id":1E+2}],"Ownerships":[{"MinVotes":"1.5"}]}]}'
  const lake = await bench.load({ content: 'relations', lines: [line] })
  expect(await lake.rows('relation_entities', 'company_id, entity_id')).toEqual([
    { company_id: '9223372036854775807', entity_id: '-9223372036854775808' },
  ])
  expect(await lake.givenBack()).toEqual([
    '{"InternalId":9223372036854775807,"TotalNumberOfShares":1000,"Parents":[{"InternalId":-9223372036854775808,"Ownerships":[{"MinVotes":1.5}],"KeyPersonRoles":[{"Id":100}]}]}',
  ])
})

test('load tells the least and greatest UpdatedAt of all entities', async () => {
  const lake = await loaded({
    InternalId: 1,
    Parents: [
      {
        InternalId: 2,
        UpdatedAt: '2024-01-01T00:00:00',
        History: [{ InternalId: 2, UpdatedAt: '1999-01-01T00:00:00.5' }],
      },
    ],
  })
  expect(lake.snapshot.partitions[0]?.range.observed).toEqual({
    least: '1999-01-01T00:00:00.5Z',
    greatest: '2024-01-01T00:00:00Z',
  })
})
