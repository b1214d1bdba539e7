/**
 * Company records as rows of `companies` and `employees`, and back as JSON. The two directions stand together:
 * what one leaves out the other cannot give back.
 */

import { CONSOLIDATIONS } from '../contract/dictionaries.ts'
import { BASIC_DETAILS, ENHANCED_DETAILS, LINKED_IN, META_DATA } from '../contract/objects.ts'
import { type FieldColumn, readType, snakeCase, structOf } from '../lake/columns.ts'
import { member, merged, nested, numberText, objectText, valueText } from '../lake/json-text.ts'
import { COMPANY_COLUMNS } from '../lake/record-columns.ts'
import { ident, literal } from '../lake/sql.ts'
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

/** Rows of `employees`: one a company, consolidation and year. */
export const employeesOf = (scan: Scan): string => {
  const series = structOf(ENHANCED_DETAILS, readType, undefined, EMPLOYEE_SERIES)
  const from = scan({
    BasicDetails: 'STRUCT("InternalId" BIGINT, "CountryCode" country)',
    EnhancedDetails: series,
  })
  return `WITH statement AS (
  SELECT BasicDetails.InternalId AS internal_id, BasicDetails.CountryCode AS country_code,
    unnest([${CONSOLIDATIONS_SQL}]::consolidation[]) AS consolidation,
    unnest([${EMPLOYEE_SERIES.map((name) => `EnhancedDetails.${ident(name)}`).join(', ')}]) AS years
  FROM ${from}
), headcount AS (
  SELECT internal_id, country_code, consolidation,
    unnest(map_keys(years)) AS fiscal_year, unnest(map_values(years)) AS employees
  FROM statement
)
SELECT * FROM headcount WHERE employees IS NOT NULL`
}

/** The series of consolidated and of unconsolidated headcounts, in the order of `CONSOLIDATIONS`. */
const EMPLOYEE_SERIES = ['Employees', 'EmployeesUnconsolidated']
const CONSOLIDATION_NAMES = CONSOLIDATIONS.map(({ name }) => name)
const CONSOLIDATIONS_SQL = CONSOLIDATION_NAMES.map(literal).join(', ')

/**
 * Company records as JSON text, one a row (`internal_id`, `record`): the inverse of the three tables.
 * @param financials a relation of `internal_id`, `consolidation`, `figures` (JSON text)
 */
export const companyRecords = (companies: string, employees: string, financials: string): string => {
  const part = (name: string, more: readonly string[] = []): string =>
    objectText([
      ...nested(
        COMPANY_COLUMNS.filter(({ path }) => path[0] === name),
        1,
      ),
      ...more,
    ])
  const [consolidated, unconsolidated] = CONSOLIDATION_NAMES.map(literal)
  const whole = objectText([
    member('BasicDetails', part('BasicDetails')),
    member(
      'EnhancedDetails',
      part(
        'EnhancedDetails',
        EMPLOYEE_SERIES.map((name, at) => member(name, `series_${at}`)),
      ),
    ),
    member('Financials', 'figures_0'),
    member('UnconsolidatedFinancials', 'figures_1'),
    member('MetaData', part('MetaData')),
    member(
      'LinkedIn',
      objectText(
        Object.entries(LINKED_IN.fields).map(([name, field]) =>
          member(name, valueText(field, `linkedin.${ident(snakeCase(name))}`)),
        ),
      ),
    ),
    member('Score', numberText('score')),
  ])
  return `WITH series AS (
  SELECT internal_id, consolidation, '{' || string_agg('"' || fiscal_year || '":' || ${numberText('employees')}, ',' ORDER BY fiscal_year) || '}' AS years
  FROM ${employees} GROUP BY ALL
)
SELECT internal_id, ${merged(merged('record', 'as_reported'), 'extra')} AS record FROM (
  SELECT c.internal_id, c.as_reported, c.extra, ${whole} AS record
  FROM ${companies} AS c
  LEFT JOIN (SELECT internal_id, years AS series_0 FROM series WHERE consolidation = ${consolidated}) AS s0 USING (internal_id)
  LEFT JOIN (SELECT internal_id, years AS series_1 FROM series WHERE consolidation = ${unconsolidated}) AS s1 USING (internal_id)
  LEFT JOIN (SELECT internal_id, figures AS figures_0 FROM ${financials} WHERE consolidation = ${consolidated}) AS f0 USING (internal_id)
  LEFT JOIN (SELECT internal_id, figures AS figures_1 FROM ${financials} WHERE consolidation = ${unconsolidated}) AS f1 USING (internal_id)
)`
}
