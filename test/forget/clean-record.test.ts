import { expect, test } from 'vitest'
import { identifiersOf } from '../../src/core/identifiers.ts'
import { withoutForgotten } from '../../src/forget/clean-record.ts'
import { seededRandom } from '../manifest/damage.ts'

const PERSON = 902
const LONG = 42108151
const NATIONAL = '19500101-1234'
const NAME = 'Ann Larsson'

const identifiers = identifiersOf({ names: [NAME, 'Bo'], nationalIds: [NATIONAL] }, [
  BigInt(PERSON),
  BigInt(LONG),
])
const isEntity = (id: bigint): boolean => id === BigInt(PERSON) || id === BigInt(LONG)
const forgotten = { isEntity, identifiers }

/** What is left of a company's unknown fields. */
const leftOf = (unknown: object): object => {
  const record = { BasicDetails: { InternalId: 1, CompanyName: NAME, ...unknown }, MetaData: {} }
  const { text, isStripped, isChanged } = withoutForgotten('companies', JSON.stringify(record), forgotten)
  const { InternalId, CompanyName, ...rest } = JSON.parse(text).BasicDetails
  // Fields of the contract stay.
  expect([InternalId, CompanyName, isStripped]).toEqual([1, NAME, isChanged])
  return rest
}

test.each<[string, object]>([
  ['an InternalId', { A: { InternalId: PERSON, Note: 'x' } }],
  ['an id as a text', { A: { Code: `${PERSON}` } }],
  ['an id in a list', { Ids: [901, PERSON] }],
  ['an id in a text', { Note: `See ${LONG}` }],
  ['an id as the name of a member', { People: { [LONG]: 'chair' } }],
  ['a national id without hyphen', { A: { X: '195001011234' } }],
  ['a national id with spaces', { A: { X: '19500101 1234' } }],
  ['a national id as a number', { A: { X: 195001011234 } }],
  ['a national id in a longer text', { Note: `Signed by ${NATIONAL}, 2024` }],
  ['a name in capitals', { A: { Name: 'ANN LARSSON' } }],
  ['a name in other order of words', { Note: 'Larsson, Ann (chair)' }],
  ['a name in two members', { A: { FirstName: 'Ann', LastName: 'Larsson', Phone: '1' } }],
  ['a name in the name of a member', { [`Loan to ${NAME}`]: 1 }],
  ['a name of one short word', { Call: 'bo!' }],
  ['a name of somebody else with an id', { A: { InternalId: 3, Name: NAME } }],
])('withoutForgotten takes all unknown fields for %s', (_, unknown) => {
  expect(leftOf({ Kept: { of: 'no matter what' }, ...unknown })).toEqual({})
})

test.each<[string, object]>([
  ['a part of a name', { A: { Note: 'Ann' }, B: 'Larssons' }],
  ['a part of a word', { A: { Note: 'Anna Larssons väg', X: 'Bobo' }, Code: `${PERSON}1` }],
  ['an id behind zeros', { Code: `00${PERSON}` }],
  ['a number that runs on', { N: 1950010112345 }],
  ['a national id in two values', { A: '19500101', B: '1234' }],
])('withoutForgotten leaves all unknown fields for %s', (_, unknown) => {
  expect(leftOf(unknown)).toEqual(unknown)
})

test('withoutForgotten takes unknown line items whose names mention somebody, and not for their figures', () => {
  const record = (figures: object): string =>
    JSON.stringify({
      BasicDetails: { InternalId: 1 },
      Financials: {
        ProfitAndLoss: { NetSales: { 2024: 1 }, ...figures },
        BalanceSheet: { TotalAssets: { 2024: PERSON } },
      },
    })
  const other = record({ Other: { 2024: PERSON } })
  expect(withoutForgotten('companies', other, forgotten)).toEqual({
    text: other,
    isChanged: false,
    isStripped: false,
  })
  const told = withoutForgotten(
    'companies',
    record({ Other: { 2024: 1 }, [`Loan to ${NAME}`]: { 2024: 1 } }),
    forgotten,
  )
  expect(told).toEqual({ text: record({}), isChanged: true, isStripped: true })
})

test('withoutForgotten takes entities of theirs, and leaves what they alone said', () => {
  const theirs = { InternalId: PERSON, Note: NAME, More: { X: 1 } }
  const other = { InternalId: 3, Name: 'Eva', Extra: 1 }
  const record = { InternalId: 1, Parents: [theirs, { ...other, History: [theirs, other] }], Kept: { X: 1 } }
  expect(withoutForgotten('relations', JSON.stringify(record), forgotten)).toEqual({
    text: JSON.stringify({ ...record, Parents: [{ ...other, History: [other] }] }),
    isChanged: true,
    isStripped: false,
  })
})

test('withoutForgotten gives a record back byte by byte where nothing goes', () => {
  const text = '{ "BasicDetails" : {"InternalId":1, "Big": 12345678901234567890, "e": "\\u00e9"} }'
  expect(withoutForgotten('companies', text, forgotten)).toEqual({
    text,
    isChanged: false,
    isStripped: false,
  })
})

/** Values by what they say of somebody: something, half a name each, nothing. */
const TELLING = [
  PERSON,
  `${LONG}`,
  { InternalId: PERSON },
  ['x', NATIONAL],
  { By: 'larsson ANN' },
  { deep: [{ [NATIONAL]: 1 }] },
]
const HALVES = ['Ann', { LastName: ['LARSSON'] }] as const
const SILENT = [
  1,
  'Eva Larssonsdotter',
  { InternalId: 901 },
  [],
  {},
  null,
  ['Annie', `${NATIONAL}5`],
  { a: { b: [true, 9021] } },
]

const SEED = 54

test(`withoutForgotten takes all unknown fields of a record or none (seed ${SEED})`, () => {
  const random = seededRandom(SEED)
  const below = (end: number): number => Math.floor(random() * end)
  for (let round = 0; round < 500; round++) {
    let telling = 0
    const halves = new Set<number>()
    /** Unknown members of one object, by names that no other has. */
    const more = (): object => {
      const members: [string, unknown][] = []
      for (let count = below(3); count > 0; count--) {
        const kind = below(40)
        const half = below(2)
        if (kind === 0) telling += 1
        if (kind === 1) halves.add(half)
        const value =
          kind === 0
            ? TELLING[below(TELLING.length)]
            : kind === 1
              ? HALVES[half]
              : SILENT[below(SILENT.length)]
        members.push([`More${count}`, value])
      }
      return Object.fromEntries(members)
    }
    /** The same record with unknown fields and without. */
    const made = (): readonly [object, object] => {
      const build = (unknown: () => object): object => ({
        InternalId: 1,
        ...unknown(),
        Name: NAME,
        Parents: [
          {
            ...{ InternalId: 3, Name: NAME, ...unknown() },
            Ownerships: [{ OwnershipStake: PERSON, ...unknown() }, { ShareClass: NAME }],
            KeyPersonRoles: [{ Id: PERSON, ...unknown() }],
            History: [{ InternalId: 3, ...unknown() }],
          },
        ],
        UBODetails: { HasReportedMissingUBO: true, ...unknown() },
      })
      return [build(more), build(() => ({}))]
    }
    const [record, bare] = made()
    const isTold = telling > 0 || halves.size === 2
    const text = JSON.stringify(record)
    const left = withoutForgotten('relations', text, forgotten)
    expect(left).toEqual({
      text: isTold ? JSON.stringify(bare) : text,
      isChanged: isTold,
      isStripped: isTold,
    })
  }
})
