import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Caller } from '../../../src/server/access/caller.ts'
import { searchRelations } from '../../../src/server/search/search-relations.ts'
import type { SearchParts } from '../../../src/server/search/shared/answer.ts'
import { Workbench } from '../../load/loaded-lake.ts'
import { allAreasBut, callerOf, EVERYTHING, messagesOf, pageOf, searchedLake } from './search-parts.ts'

const person = (InternalId: number, NationalIdentificationNumber: string, more: object = {}) => ({
  InternalId,
  Name: `Person ${InternalId}`,
  NationalIdentificationNumber,
  IsCompany: false,
  ...more,
})
const PROTECTED = { IsProtected: true }
const LARGE = '9223372036854775807'

const RELATIONS = [
  {
    InternalId: 1,
    OrgNo: '55 60-1',
    CountryCode: 'SE',
    Parents: [person(101, '700101-0001', { Ownerships: [{ OwnershipStake: 50 }] })],
  },
  { InternalId: 2, CountryCode: 'SE', Parents: [person(102, '700101-0002', PROTECTED)] },
  {
    InternalId: 3,
    CountryCode: 'NO',
    Children: [{ InternalId: 103, Name: 'Owner', History: [person(104, '700101-0001')] }],
  },
  { InternalId: 4, Parents: [person(101, '700101-0001')] },
  `{"InternalId":${LARGE},"CountryCode":"NO","Parents":[{"InternalId":9007199254740993,"Name":"x","IsProtected":true}]}`,
  // Marked in one place alone; the earlier form of a protected person has no id of its own.
  {
    InternalId: 5,
    CountryCode: 'SE',
    Parents: [{ InternalId: 105, ...PROTECTED, History: [person(0, '700101-0006')] }],
    Children: [person(105, '700101-0005'), person(106, '700101-0007')],
  },
  // Protected by records 2 and 5 alone, and named once more where nobody knows.
  {
    InternalId: 6,
    CountryCode: 'DK',
    Parents: [person(105, '700101-0005', { BirthDate: '1970-01-01' }), person(0, '700101-0002')],
    Beneficiary: { InternalId: 105, Name: 'Person 105', BirthDate: '1970-01-01' },
  },
]
const COMPANIES = [
  { BasicDetails: { InternalId: 1 }, MetaData: { RelationsUpdatedAt: '2024-05-01T12:00:00' } },
  { BasicDetails: { InternalId: 2 }, MetaData: { RelationsUpdatedAt: '2024-05-03T12:00:00' } },
]

let bench: Workbench
let parts: SearchParts
beforeAll(async () => {
  bench = await Workbench.open()
  parts = await searchedLake(
    bench,
    { content: 'relations', lines: RELATIONS },
    { content: 'companies', lines: COMPANIES },
  )
}, 240_000)
afterAll(async () => {
  await parts.index.close()
  await bench.close()
})

const signal = new AbortController().signal
const ask = async (body: unknown, caller: Caller = EVERYTHING, more: Partial<SearchParts> = {}) =>
  pageOf(await searchRelations({ ...parts, ...more }, caller, body, signal))
/** Ids as texts: JavaScript has no number for the last one. */
const idsIn = (text: string): string[] =>
  JSON.parse(text.replace(/:(\d{16,})/g, ':"$1"')).Relations.map(({ InternalId }: { InternalId: unknown }) =>
    String(InternalId),
  )
const found = async (SearchParameters: object, caller: Caller = EVERYTHING) =>
  idsIn((await ask({ SearchParameters }, caller)).text)

const ALL = { InternalId: [1, 2, 3, 4, LARGE] }

describe('searchRelations filters by', () => {
  test.each<[string, object, string[]]>([
    ['ids', { internalid: [LARGE, 3] }, ['3', LARGE]],
    ['organisation number', { OrgNo: ['5560 1'] }, ['1']],
    ['country', { CountryCode: ['no'] }, ['3', LARGE]],
    ["the company's date", { RelationsUpdatedAt: ['2024-05-02'] }, ['2']],
    ["the company's dates, from and to", { RelationsUpdatedAt: ['2024-05-01', '2024-05-03'] }, ['1', '2']],
    ['a date that no company has', { ContentUpdatedAt: ['2000-01-01'] }, []],
    [
      'the national id of a person, histories too',
      { NationalIdentificationNumber: ['7001010001'], CountryCode: ['SE', 'NO'] },
      ['1', '3'],
    ],
    [
      'the national id of a protected person',
      { NationalIdentificationNumber: ['700101 0002', 'x'], CountryCode: ['SE'] },
      ['2'],
    ],
  ])('%s', async (_, parameters, ids) => {
    expect(await found(parameters)).toEqual(ids)
  })
})

test('searchRelations does not find a protected person without Hidden Person Access to that country', async () => {
  const search = { NationalIdentificationNumber: ['7001010001', '7001010002'], CountryCode: ['SE'] }
  const caller = callerOf({ SE: allAreasBut('Hidden Person Access'), NO: allAreasBut() })
  expect(await found(search, caller)).toEqual(['1'])
})

test('searchRelations finds who is masked in one place of a record in no other place of it either', async () => {
  const search = (number: string) => ({ NationalIdentificationNumber: [number], CountryCode: ['SE'] })
  const caller = callerOf({ SE: allAreasBut('Hidden Person Access') })
  expect(await found(search('7001010005'), caller)).toEqual([])
  expect(await found(search('7001010006'), caller)).toEqual([])
  expect(await found(search('7001010007'), caller)).toEqual(['5'])
  expect(await found(search('7001010005'), callerOf({ SE: allAreasBut() }))).toEqual(['5'])
})

test('searchRelations protects who is protected in any record of the lake, in all of them and in every search', async () => {
  const body = { SearchParameters: { InternalId: [6] } }
  const some = callerOf({ DK: allAreasBut('Hidden Person Access') })
  const all = callerOf({ DK: allAreasBut() })
  const { text } = await ask(body, some)
  expect(text).not.toMatch(/Person 105|700101-0005|1970|Beneficiary/)
  const shown = (await ask(body, all)).text
  expect(shown).not.toContain('1970')
  expect(shown).toContain('"Beneficiary":{"InternalId":105,"Name":"Person 105"')
  const search = (number: string) => ({ NationalIdentificationNumber: [number], CountryCode: ['DK'] })
  // By the id, and by the national id of somebody without an id.
  for (const number of ['7001010005', '7001010002']) {
    expect(await found(search(number), some)).toEqual([])
    expect((await ask({ SearchParameters: search(number) }, some)).pagination.TotalCount).toBe(0)
    expect(await found(search(number), all)).toEqual(['6'])
  }
})

test('searchRelations leaves out fields that the contract does not know where an area is missing', async () => {
  const body = { SearchParameters: { InternalId: [6] } }
  expect((await ask(body, callerOf({ DK: allAreasBut('Owner') }))).text).not.toContain('Beneficiary')
  expect((await ask(body)).text).toContain('Beneficiary')
})

test('searchRelations does not find a person of a history without Relations History in that country', async () => {
  const search = { NationalIdentificationNumber: ['7001010001'], CountryCode: ['SE', 'NO'] }
  const caller = callerOf({ SE: allAreasBut(), NO: allAreasBut('Relations History') })
  expect(await found(search, caller)).toEqual(['1'])
})

test('searchRelations leaves out by country what the caller has no area for', async () => {
  const caller = callerOf({ SE: allAreasBut('Owner'), NO: allAreasBut() })
  const { text } = await ask({ SearchParameters: { InternalId: [1, 3, 4] } }, caller)
  expect(idsIn(text)).toEqual(['1', '3'])
  expect(text).not.toContain('Ownerships')
  expect(text).toContain('History')
})

test('searchRelations shows records without a country only to who may see them', async () => {
  expect(await found(ALL, callerOf({ '': [] }))).toEqual(['4'])
  expect(await found({ InternalId: [4] }, callerOf({ SE: [] }))).toEqual([])
})

test('searchRelations masks protected persons and keeps ids beyond 2^53', async () => {
  const search = { SearchParameters: { InternalId: [LARGE] } }
  expect((await ask(search)).text).toContain(`{"InternalId":9007199254740993,"Name":"x"`)
  const { text } = await ask(search, callerOf({ NO: allAreasBut('Hidden Person Access') }))
  expect(text).toContain(`{"InternalId":${LARGE},`)
  expect(text).toContain('{"InternalId":9007199254740993,"Name":"Protected Identity"')
})

test('searchRelations gives a cursor without being asked for one, and null with the last page', async () => {
  const pages: string[][] = []
  let Cursor: string | null | undefined
  do {
    const { pagination, text } = await ask({ SearchParameters: ALL, PageSize: 2, Cursor })
    pages.push(idsIn(text))
    expect(pagination).toMatchObject({ TotalCount: 5, PageSize: 2, TotalPages: 3 })
    expect(Object.keys(pagination)).not.toContain('CurrentPage')
    Cursor = pagination.Cursor
  } while (typeof Cursor === 'string')
  expect(Cursor).toBeNull()
  expect(pages).toEqual([['1', '2'], ['3', '4'], [LARGE]])
})

test('searchRelations ends a chain exactly at the cap', async () => {
  const body = { SearchParameters: ALL, PageSize: 2 }
  const capped = { cursorCap: 3 }
  const first = await ask(body, EVERYTHING, capped)
  const second = await ask({ ...body, Cursor: first.pagination.Cursor }, EVERYTHING, capped)
  expect([first.pagination.Count, second.pagination.Count]).toEqual([2, 1])
  const third = { ...body, Cursor: second.pagination.Cursor }
  expect(messagesOf(await searchRelations({ ...parts, ...capped }, EVERYTHING, third, signal))).toEqual([
    'You are not allowed to iterate more than 100000 via cursor.',
  ])
})

test('searchRelations answers an empty list where nothing matches', async () => {
  const { pagination, text } = await ask({ SearchParameters: { OrgNo: ['0'] } })
  expect(text).toBe('{"Relations":[]}')
  expect(pagination).toEqual({ Count: 0, TotalCount: 0, PageSize: 10, TotalPages: 0, Cursor: null })
})
