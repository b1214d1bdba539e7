import { expect, test } from 'vitest'
import { identifiersOf } from '../../src/core/identifiers.ts'
import { cleanSearch } from '../../src/forget/clean-entries.ts'

test('cleanSearch takes ids and names of the forgotten out of a recorded search, and leaves how many numbers it had', () => {
  const identifiers = identifiersOf({ names: ['Anna Berg'], nationalIds: [] }, [700_123n])
  const search = {
    NationalIdentificationNumber: ['2 values'],
    InternalId: [700_123, 700_124],
    DynamicSearch: ['Anna Berg'],
    CountryCode: ['SE'],
  }
  expect(cleanSearch(search, identifiers)).toEqual({
    ...search,
    InternalId: ['forgotten', 700_124],
    DynamicSearch: ['forgotten'],
  })
})
