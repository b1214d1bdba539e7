/**
 * Company records as rows of `companies`, and back as JSON. The two directions stand together: what one leaves out the
 * other cannot restore. The rows of `employees` are the checker's, `check-figures.ts`; they are nested here.
 */

import { CONSOLIDATIONS } from '../contract/dictionaries.ts'
import { BASIC_DETAILS, ENHANCED_DETAILS, LINKED_IN, META_DATA } from '../contract/objects.ts'
import { ident, literal } from '../lake/duckdb/sql.ts'
import { type FieldColumn, readType, structOf } from '../lake/tables/columns.ts'
import { mergedAll, numberText, packed, packedColumns } from '../lake/tables/json-text.ts'
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
const CONSOLIDATION_NAMES = CONSOLIDATIONS.map(({ name }) => name)

/** The member of MetaData that stands apart: a conversion of the company's figures sets another. */
const CURRENCY = 'CurrentCurrencyCode'

/**
 * Company records in pieces, one a row: `internal_id`; `currency` (JSON text of MetaData.CurrentCurrencyCode),
 * `meta` (object text of MetaData's other members), `rest` (object text of all but MetaData, figures and Score),
 * `score` (JSON text), each NULL where there is none but for `rest`.
 * Together with the figures the inverse of the three tables.
 */
export const companyPieces = (companies: string, employees: string): string => {
  const part = (name: string): FieldColumn[] =>
    COMPANY_COLUMNS.filter(({ path }) => path[0] === name && path[1] !== CURRENCY)
  const series = EMPLOYEE_SERIES.map((name, at) => ({ name, value: `series_${at}::JSON` }))
  const rest = packed([
    { name: 'BasicDetails', members: packedColumns(part('BasicDetails'), 1) },
    { name: 'EnhancedDetails', members: [...packedColumns(part('EnhancedDetails'), 1), ...series] },
    ...packedColumns(part('LinkedIn'), 0),
  ])
  return `SELECT internal_id, to_json(current_currency_code)::VARCHAR AS currency,
  ${numberText('score')} AS score,
  nullif(${mergedAll(packed(packedColumns(part('MetaData'), 1)), "json_extract(as_reported, '$.MetaData')", "json_extract(extra, '$.MetaData')")}, '{}') AS meta,
  ${mergedAll(rest, `json_merge_patch(extra, '{"MetaData":null}')`)} AS rest
FROM ${companies} LEFT JOIN (
  SELECT internal_id, ${CONSOLIDATION_NAMES.map((name, at) => `${yearsOf(name)} AS series_${at}`).join(', ')}
  FROM ${employees} GROUP BY internal_id
) USING (internal_id)`
}

/** Object text of a company's headcounts by year. */
const yearsOf = (consolidation: string): string =>
  `'{' || string_agg('"' || fiscal_year || '":' || ${numberText('employees')}, ',' ORDER BY fiscal_year) FILTER (consolidation = ${literal(consolidation)}) || '}'`
