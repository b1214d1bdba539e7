import { expect, test } from 'vitest'
import { namesPersons, recordedSearch } from '../../../src/manifest/form/sources.ts'

const NUMBER = '19500101-1234'

test('recordedSearch keeps of numbers of persons how many there are, and all else as it is', () => {
  const search = { nationalIdentificationNumber: [NUMBER, 77], CountryCode: ['SE'], NetSales: [5] }
  expect(recordedSearch(search)).toEqual({
    nationalIdentificationNumber: ['2 values'],
    CountryCode: ['SE'],
    NetSales: [5],
  })
})

test('namesPersons knows the parameter in any letter case', () => {
  expect(namesPersons({ nationalidentificationnumber: [NUMBER] })).toBe(true)
  expect(namesPersons({ CountryCode: ['SE'] })).toBe(false)
})
