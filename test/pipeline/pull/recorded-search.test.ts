import { expect, test } from 'vitest'
import { recordedSearch } from '../../../src/pipeline/pull/recorded-search.ts'

test('recordedSearch keeps no number of a person, and all else as it is', () => {
  const search = { nationalIdentificationNumber: ['19500101-1234', 77], CountryCode: ['SE'], NetSales: [5] }
  const recorded = recordedSearch(search)
  expect(JSON.stringify(recorded)).not.toMatch(/1234|77"/)
  expect(recorded).toMatchObject({ CountryCode: ['SE'], NetSales: [5] })
  expect(recorded.nationalIdentificationNumber).toHaveLength(2)
})

test('recordedSearch gives the same for the same number, also of what is recorded already', () => {
  const recorded = recordedSearch({ NationalIdentificationNumber: ['19500101-1234'] })
  expect(recordedSearch(recorded)).toEqual(recorded)
  expect(recordedSearch({ NationalIdentificationNumber: ['19500101-1234'] })).toEqual(recorded)
  expect(recordedSearch({ NationalIdentificationNumber: ['19500101-1235'] })).not.toEqual(recorded)
})
