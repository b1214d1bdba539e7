import { describe, expect, test } from 'vitest'
import { canonical } from './same-record.ts'

const company = (text: string): string => canonical(`{"BasicDetails":{"InternalId":1},${text}}`, 'companies')
const relations = (text: string): string => canonical(`{"InternalId":1,${text}}`, 'relations')

describe('canonical takes as equal', () => {
  test.each([
    ['another order of keys', '{"A":1,"B":2}', '{"B":2,"A":1}'],
    ['white space and escapes', '{"A":"é"}', ' { "A" : "\\u00e9" } '],
    ['numbers written in another way', '{"A":[100,-0,1.5]}', '{"A":[1E+2,0,15e-1]}'],
    [
      'null and absence',
      '{"BasicDetails":{"InternalId":1,"OrgNo":null}}',
      '{"BasicDetails":{"InternalId":1}}',
    ],
    ['an empty object and absence', '{"LinkedIn":{},"A":1}', '{"A":1}'],
    ['an object of nulls and absence', '{"LinkedIn":{"Name":null},"A":1}', '{"A":1}'],
    ['0 where so marked and absence', '{"BasicDetails":{"LegalForm":0},"A":1}', '{"A":1}'],
    [
      'a default date-time and absence',
      '{"MetaData":{"GeneratedAt":"0001-01-01T00:00:00Z"},"A":1}',
      '{"A":1}',
    ],
    [
      'a null in a series and absence',
      '{"Financials":{"A":{"B":{"2020":null,"2021":1}}}}',
      '{"Financials":{"A":{"B":{"2021":1}}}}',
    ],
    [
      'a number in quotes',
      '{"BasicDetails":{"InternalId":"1"},"Score":"1.5"}',
      '{"BasicDetails":{"InternalId":1},"Score":1.5}',
    ],
    ['nulls in what the contract does not know', '{"A":{"B":null,"C":{}},"D":1}', '{"D":1}'],
  ])('%s', (_name, one, other) => {
    expect(canonical(one, 'companies')).toBe(canonical(other, 'companies'))
  })
})

describe('canonical tells apart', () => {
  test.each([
    ['0 where it is a figure', '"Financials":{"A":{"B":{"2020":0}}}', '"LinkedIn":{}'],
    ['a Score of 0', '"Score":0', '"LinkedIn":{}'],
    ['an empty list', '"LinkedIn":{"Keywords":[]}', '"LinkedIn":{}'],
    ['another order of a list', '"LinkedIn":{"Keywords":["a","b"]}', '"LinkedIn":{"Keywords":["b","a"]}'],
    ['a null in a list', '"LinkedIn":{"Keywords":[null]}', '"LinkedIn":{"Keywords":[]}'],
    ['false', '"BasicDetails":{"HasReportedMissingUBO":false}', '"BasicDetails":{}'],
    ['an empty text', '"LinkedIn":{"Name":""}', '"LinkedIn":{}'],
    ['a default date-time in a text', '"LinkedIn":{"Name":"0001-01-01T00:00:00"}', '"LinkedIn":{}'],
    [
      'another offset',
      '"MetaData":{"GeneratedAt":"2020-01-01T00:00:00"}',
      '"MetaData":{"GeneratedAt":"2020-01-01T00:00:00Z"}',
    ],
    [
      'ids that differ beyond 2^53',
      '"LinkedIn":{"Followers":9007199254740993}',
      '"LinkedIn":{"Followers":9007199254740992}',
    ],
    ['text and number', '"A":"1"', '"A":1'],
    ['__proto__ and absence', '"__proto__":{"A":1}', '"LinkedIn":{}'],
  ])('%s', (_name, one, other) => {
    expect(company(one)).not.toBe(company(other))
  })
})

test('canonical looks into the histories of relations', () => {
  const past = (item: string): string => relations(`"Parents":[{"InternalId":2,"History":[${item}]}]`)
  expect(past('{"InternalId":3,"UpdatedAt":"0001-01-01T00:00:00","Ownerships":[{"ShareClass":null}]}')).toBe(
    past('{"InternalId":3,"Ownerships":[{}]}'),
  )
  expect(past('{"InternalId":3,"Ownerships":[]}')).not.toBe(past('{"InternalId":3}'))
})
