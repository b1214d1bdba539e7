/** Which companies of a lake a search means, as SQL over the columns of `companies`. */

import type { SearchParameters } from '../../contract/requests.ts'
import { ident, literal } from '../../lake/duckdb/sql.ts'
import { COMPANY_COLUMNS } from '../../lake/tables/columns.ts'

/** Filters whose meaning the lake's columns give exactly: any of the values. */
const SCOPE_FILTERS = [
  'InternalId',
  'CountryCode',
  'OperationalStatus',
  'LegalForm',
  'CompanyType',
  'ListingType',
]

/** The column that a field of a company's part stands in. */
export const companyColumn = (part: string, field: string): string => {
  const found = COMPANY_COLUMNS.find(({ path }) => path[0] === part && path[1] === field && path.length === 2)
  if (found === undefined) throw new TypeError(`Cannot find the column of ${part}.${field}`)
  return ident(found.name)
}

/** The lake's companies that a search means; `undefined` where its columns do not show it. */
export const scopeOf = (search: SearchParameters): string | undefined => {
  const conditions: string[] = []
  for (const [name, values] of Object.entries(search)) {
    const filter = SCOPE_FILTERS.find((one) => one.toLowerCase() === name.toLowerCase())
    if (filter === undefined) return undefined
    // A service may take codes in any letter case; to find none of them here would hide what vanished.
    const texts = values.map((value) => literal(String(value).toLowerCase())).join(', ')
    conditions.push(`lower(CAST(${companyColumn('BasicDetails', filter)} AS VARCHAR)) IN (${texts})`)
  }
  return conditions.join(' AND ')
}
