import { expect, test } from 'vitest'
import type { ParameterListing } from '../../../src/contract/listings.ts'
import { bearer, get, openFake, SWEDISH } from './open-fake.ts'

const listing = async (content: string, token?: string): Promise<ParameterListing['SearchParameters']> => {
  const response = await get(`${await openFake()}/v2/${content}/search-parameters`, bearer(token))
  return ((await response.json()) as ParameterListing).SearchParameters
}
const named = (entries: ParameterListing['SearchParameters'], name: string) =>
  entries.find(({ ParameterName }) => ParameterName === name)

test('the listing of companies says of each parameter what it takes', async () => {
  const entries = await listing('companies')
  expect(named(entries, 'NetSales')).toEqual({
    ParameterName: 'NetSales',
    Datatype: 'number',
    Description: expect.stringContaining('at least'),
    FilterType: 'figure',
    IsSortable: true,
  })
  expect(named(entries, 'ContentUpdatedAt')).toMatchObject({ Datatype: 'date', FilterType: 'date' })
  expect(named(entries, 'DynamicSearch')).toMatchObject({ FilterType: 'text', IsSortable: false })
  expect(named(entries, 'NationalIdentificationNumber')).toBe(undefined)
})

test('the listing of companies has the values of dictionaries', async () => {
  const entries = await listing('companies')
  expect(named(entries, 'OperationalStatus')?.Values).toContainEqual({ Value: 10, Name: 'Active' })
  expect(named(entries, 'ListingType')?.Values).toContainEqual({ Value: 'Listed', Name: 'Listed' })
})

test("the listing of companies has the countries of the records that are the caller's", async () => {
  expect(named(await listing('companies'), 'CountryCode')?.Values).toEqual([
    { Value: 'NO', Name: 'Norway' },
    { Value: 'SE', Name: 'Sweden' },
  ])
  expect(named(await listing('companies', SWEDISH), 'CountryCode')?.Values).toEqual([
    { Value: 'SE', Name: 'Sweden' },
  ])
})

test('the listing of relations has three fields an entry', async () => {
  const entries = await listing('relations')
  expect(entries.map(({ ParameterName }) => ParameterName)).toContain('NationalIdentificationNumber')
  for (const entry of entries)
    expect(Object.keys(entry)).toEqual(['ParameterName', 'Datatype', 'Description'])
})
