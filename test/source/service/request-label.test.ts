import { expect, test } from 'vitest'
import { searchLabel } from '../../../src/source/service/page-request.ts'

test.each([
  [{ ContentUpdatedAt: ['2024-01-01', '2024-01-31'] }, 'ContentUpdatedAt=2024-01-01..2024-01-31'],
  [{ contentupdatedat: ['2024-01-01'] }, 'contentupdatedat=2024-01-01'],
  [{ CountryCode: ['SE', 'NO'], OperationalStatus: [10, 20] }, 'CountryCode=SE,NO OperationalStatus=10,20'],
  [{ OrgNo: ['5560001111'] }, 'OrgNo (1 value)'],
  [{ NationalIdentificationNumber: ['19121212-1212', 'x'] }, 'NationalIdentificationNumber (2 values)'],
  [{ DynamicSearch: ['Anna Andersson'] }, 'DynamicSearch (1 value)'],
  [{ InternalId: [1, 2, 3] }, 'InternalId (3 values)'],
  [{ CountryCode: ['19121212-1212'] }, 'CountryCode (1 value)'],
  [{ CountryCode: Array.from({ length: 9 }, () => 'SE') }, 'CountryCode (9 values)'],
  [{}, 'no parameters'],
] as const)('searchLabel shows %j as %j', (search, label) => {
  expect(searchLabel(search)).toBe(label)
})
