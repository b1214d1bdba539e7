import { expect, test } from 'vitest'
import { identifiersOf } from '../../../src/core/identifiers.ts'
import { withoutForgotten } from '../../../src/jobs/forget/clean-record.ts'

const PERSON = 902
const LONG = 42108151
const NATIONAL = '19500101-1234'
const NAME = 'Ann Larsson'

const identifiers = identifiersOf({ names: [NAME, 'Bo'], nationalIds: [NATIONAL, '55123'] }, [
  BigInt(PERSON),
  BigInt(LONG),
])
const isEntity = (id: bigint): boolean => id === BigInt(PERSON) || id === BigInt(LONG)

/** What is left of a company's unknown fields. */
const leftOf = (unknown: object) => {
  const record = { BasicDetails: { InternalId: 1, CompanyName: NAME, ...unknown }, MetaData: {} }
  const { text, left } = withoutForgotten('companies', JSON.stringify(record), { isEntity, identifiers })
  const { InternalId, CompanyName, ...rest } = JSON.parse(text).BasicDetails
  // Fields of the contract stay.
  expect([InternalId, CompanyName]).toEqual([1, NAME])
  return { rest, left }
}

test.each<[string, object, object]>([
  ['an InternalId', { A: { InternalId: PERSON, Note: 'x' } }, {}],
  ['an id as a text', { A: { PersonId: `${PERSON}` } }, {}],
  ['a long id of any name', { A: { Id: LONG } }, {}],
  ['a national id without hyphen', { A: { X: '195001011234' } }, {}],
  ['a national id with spaces', { A: { X: '19500101 1234' } }, {}],
  ['a national id as a number', { A: { X: 195001011234 } }, {}],
  ['a national id in a longer text', { A: { X: `Signed by ${NATIONAL}, 2024` } }, {}],
  ['a name in capitals', { A: { Name: 'ANN LARSSON' } }, {}],
  ['a name in other order of words', { A: { Note: 'Ann  Larsson' } }, {}],
  ['a name in two members', { A: { FirstName: 'Ann', LastName: 'Larsson', Phone: '1' } }, {}],
  ['a short name where a member says it is one', { A: { Name: 'Bo', Phone: '1' } }, {}],
])('withoutForgotten takes out an object with %s', (_, unknown, rest) => {
  expect(leftOf(unknown)).toEqual({ rest, left: 0 })
})

test('withoutForgotten takes out the smallest object, and the element of a list', () => {
  const theirs = { InternalId: PERSON, Name: NAME }
  const other = { InternalId: 3, Name: 'Eva' }
  expect(leftOf({ Outer: { kept: 1, list: [other, theirs, { deep: [theirs], kept: 2 }] } })).toEqual({
    rest: { Outer: { kept: 1, list: [other, { deep: [], kept: 2 }] } },
    left: 0,
  })
})

test('withoutForgotten takes out a bare national id, elements of ids, and a member that is named by one', () => {
  const unknown = {
    Signed: NATIONAL,
    PersonIds: [901, PERSON],
    [NATIONAL]: { a: 1 },
    [NAME]: 'chair',
    Kept: 1,
  }
  expect(leftOf(unknown)).toEqual({ rest: { PersonIds: [901], Kept: 1 }, left: 0 })
})

test.each<[string, object]>([
  ['a bare text that has a name', { Note: `${NAME} has signed` }],
  ['a bare name', { Contact: NAME }],
  ['a name in a list', { Contacts: ['Eva Ek', NAME] }],
  ['a text of an object that has a name', { A: { Note: `Call ${NAME}` } }],
  ['a number that may be anything', { Count: PERSON }],
  ['a short id that may be a code', { A: { RoleId: PERSON } }],
  ['a long id in a text', { Note: `See ${LONG}` }],
  ['a bare text that has a national id', { Note: `By ${NATIONAL}` }],
  ['a short number of a register', { Note: '55123' }],
  ['a name in the name of a member', { [`Loan to ${NAME}`]: 1 }],
  ['a name in an object of somebody else', { A: { InternalId: 3, Ceo: NAME } }],
])('withoutForgotten leaves and counts %s', (_, unknown) => {
  expect(leftOf(unknown)).toEqual({ rest: unknown, left: 1 })
})

test.each<[string, object]>([
  ['a namesake', { A: { InternalId: 3, Name: NAME } }],
  ['a part of a word', { A: { Note: 'Ann Larssons väg' }, Code: `${PERSON}1` }],
  ['a short number in a text', { Note: `Flat ${PERSON}` }],
  ['a word that is also a short name', { Code: 'BO', Flag: true }],
  ['a number that runs on', { N: 1950010112345 }],
])('withoutForgotten leaves %s', (_, unknown) => {
  expect(leftOf(unknown)).toEqual({ rest: unknown, left: 0 })
})

test('withoutForgotten looks at unknown fields of entities, ownerships, roles and histories', () => {
  const theirs = { X: { PersonId: PERSON } }
  const record = {
    InternalId: 1,
    Parents: [
      {
        InternalId: 3,
        ...theirs,
        Ownerships: [{ OwnershipStake: 1, ...theirs }],
        KeyPersonRoles: [{ Id: PERSON, ...theirs }],
        Addresses: [{ City: 'Ystad', ...theirs }],
        History: [{ InternalId: 3, ...theirs }, { InternalId: PERSON }],
      },
    ],
    UBODetails: { HasReportedMissingUBO: true, ...theirs },
  }
  const { text, left, isChanged } = withoutForgotten('relations', JSON.stringify(record), {
    isEntity,
    identifiers,
  })
  expect([JSON.parse(text), left, isChanged]).toEqual([
    {
      InternalId: 1,
      Parents: [
        {
          InternalId: 3,
          Ownerships: [{ OwnershipStake: 1 }],
          KeyPersonRoles: [{ Id: PERSON }],
          Addresses: [{ City: 'Ystad' }],
          History: [{ InternalId: 3 }],
        },
      ],
      UBODetails: { HasReportedMissingUBO: true },
    },
    0,
    true,
  ])
})

test('withoutForgotten gives a record back byte by byte where nothing goes', () => {
  const text = '{ "BasicDetails" : {"InternalId":1, "Big": 12345678901234567890, "e": "\\u00e9"} }'
  const same = withoutForgotten('companies', text, { isEntity, identifiers })
  expect(same).toEqual({ text, isChanged: false, left: 0 })
})
