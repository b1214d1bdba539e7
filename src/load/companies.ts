/**
 * Company records as rows of `companies`. The way back, which restores what this leaves in columns, is `restore/profile-texts.ts`;
 * the rows of `employees` are the checker's, `check-figures.ts`.
 */

import { BASIC_DETAILS, ENHANCED_DETAILS, LINKED_IN, META_DATA } from '../contract/objects.ts'
import { ident } from '../lake/duckdb/sql.ts'
import { type FieldColumn, readType, structOf } from '../lake/tables/columns.ts'
import { COMPANY_COLUMNS } from '../lake/tables/record-columns.ts'
import { objectRows } from './field-values.ts'

/** How a block is read: builds `read_ndjson(…)` with the given columns. */
export type Scan = (columns: Readonly<Record<string, string>>) => string

const fieldsOf = (columns: readonly FieldColumn[], part: string): string[] =>
  columns.filter(({ path }) => path[0] === part).map(({ path }) => path[1] ?? '')

const READ_COLUMNS = {
  BasicDetails: structOf(BASIC_DETAILS, readType),
  EnhancedDetails: structOf(
    ENHANCED_DETAILS,
    readType,
    undefined,
    fieldsOf(COMPANY_COLUMNS, 'EnhancedDetails'),
  ),
  MetaData: structOf(META_DATA, readType),
  LinkedIn: structOf(LINKED_IN, readType),
  Score: 'DOUBLE',
}

const wire = (path: readonly string[]): string => path.map(ident).join('.')

/** Rows of `companies`. @param extras a relation of `id`, `extra`, where a record has fields unknown to us */
export const companiesOf = (scan: Scan, extras: string | undefined): string => `
SELECT company.* REPLACE ('{"MetaData":' || as_reported || '}' AS as_reported), ${extras ? 'extra' : 'NULL::VARCHAR AS extra'}
FROM (${objectRows(COMPANY_COLUMNS, wire, `${scan(READ_COLUMNS)} AS block`)}) AS company
${extras ? `LEFT JOIN ${extras} AS extras ON extras.id = company.internal_id` : ''}`

/** The series of consolidated and of unconsolidated headcounts, in the order of `CONSOLIDATIONS`. */
export const EMPLOYEE_SERIES = ['Employees', 'EmployeesUnconsolidated']
