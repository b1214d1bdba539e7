/** The tables of the DuckDB file, in SQL: from the lake's current rows to what filters, sorting and ranking need. */

import { FILTER_CLASSES } from '../../../contract/requests.ts'
import { BIRTH_KEY_SQL, comparedNumberSql } from '../../../core/person-keys.ts'
import { ident, literal, NO_FOLDER_COLUMNS, pathSql } from '../../../lake/duckdb/sql.ts'
import { ALWAYS_PRESENT, snakeCase } from '../../../lake/tables/columns.ts'
import { entityMarks } from '../../persons/find-marks.ts'
import { postingsOf, termCountsOf } from '../../ranking/terms.ts'
import { INDEX_TABLES, PLACE_TYPES, UNLISTED_TABLE } from '../index-form.ts'

/** Views of the lake's current rows that the statements below read. */
export const CURRENT = {
  companies: 'current_companies',
  financials: 'current_financials',
  relations: 'current_relations',
  relation_entities: 'current_relation_entities',
} as const

const PLACE = { internal_id: 'BIGINT', ...PLACE_TYPES }

/** Places of documents, each with its columns: CSV files that the statements below read. */
export const PLACES = {
  companies: {
    ...PLACE,
    currency_at: 'INTEGER',
    figures_at: 'INTEGER',
    figures_bytes: 'INTEGER',
    score_bytes: 'INTEGER',
  },
  relations: PLACE,
  minified: PLACE,
} as const
export type PlacesOf = Readonly<Record<keyof typeof PLACES, string>>

const placesIn = (kind: keyof typeof PLACES, path: string): string =>
  `read_csv(${pathSql(path)}, ${NO_FOLDER_COLUMNS}, header = false, auto_detect = false, delim = ',', columns = {${Object.entries(
    PLACES[kind],
  )
    .map(([name, type]) => `${literal(name)}: ${literal(type)}`)
    .join(', ')}})`

/** The date columns of `company`: one for every date parameter. */
export const DATE_COLUMNS: readonly string[] = FILTER_CLASSES.date.parameters.map(snakeCase)

/** The instant in UTC, with its time of day: companies of one day are sorted by it. */
const instantOf = (column: string): string => `CAST(${column} AS TIMESTAMP) AS ${ident(column)}`

/** Makes the empty tables of a segment in the attached database `segment`. @param dimensions of the embedder's vectors, where there are any */
export const makeTables = (dimensions = 1): string[] =>
  Object.entries(INDEX_TABLES).map(([table, declared]) => {
    const columns: Record<string, string> = { ...declared }
    if (table === 'company') for (const name of DATE_COLUMNS) columns[name] = 'TIMESTAMP'
    if (table === 'embedding') columns.vector = `FLOAT[${dimensions}]`
    const list = Object.entries(columns).map(([name, type]) => `${ident(name)} ${type}`)
    return `CREATE TABLE segment.${ident(table)} (${list.join(', ')})`
  })

/** An `ORDER BY` holds in the table, also where row order is given up elsewhere. */
const insert = (table: keyof typeof INDEX_TABLES, order: string, select: string): string =>
  `INSERT INTO segment.${ident(table)} BY NAME ${select} ORDER BY ${order}`

/** The table of companies that are not listed any more. @param rows of `listings`, in SQL */
export const makeUnlisted = (rows: string): string =>
  `CREATE TABLE segment.${UNLISTED_TABLE} AS SELECT DISTINCT internal_id FROM (${rows}) ORDER BY internal_id`

/** The row that each company has in `company`. */
const COMPANY_ROWS = `SELECT internal_id, (row_number() OVER (ORDER BY internal_id) - 1)::INTEGER AS company_row FROM ${CURRENT.companies}`

export const insertPostings = (): string =>
  insert(
    'posting',
    'term, company_row',
    `SELECT term, company_row, weight FROM (${postingsOf(CURRENT.companies)}) JOIN (${COMPANY_ROWS}) USING (internal_id)`,
  )

const placeNames = Object.keys(PLACE_TYPES)

/** After the postings: they give the number of terms. */
export const insertCompanies = (places: PlacesOf): string =>
  insert(
    'company',
    'internal_id',
    `SELECT c.internal_id, country_code, ${comparedNumberSql('org_no')} AS org_no, operational_status, legal_form,
  company_type, listing_type, list_transform(industry_codes, lambda item : item.code) AS industry_codes,
  coalesce(text_terms, 0) AS text_terms, current_currency_code AS currency,
  ${[...ALWAYS_PRESENT.keys()].map((name) => `${ident(name)} IS NULL`).join(' OR ')} AS is_sparse, extra IS NULL AS is_plain,
  ${placeNames.map((name) => `p."${name}"`).join(', ')}, p.currency_at, p.figures_at, p.figures_bytes, p.score_bytes,
  ${placeNames.map((name) => `m."${name}" AS minified_${name}`).join(', ')}, ${DATE_COLUMNS.map(instantOf).join(', ')}
FROM ${CURRENT.companies} AS c
JOIN ${placesIn('companies', places.companies)} AS p USING (internal_id)
JOIN ${placesIn('minified', places.minified)} AS m USING (internal_id)
LEFT JOIN (${termCountsOf(`(SELECT * FROM segment.posting JOIN (${COMPANY_ROWS}) USING (company_row))`)}) AS t USING (internal_id)`,
  )

/** The newest years of which there are net sales, for small lines. */
const DRAWN_YEARS = 12

/** An aggregate of the one figure of a line item that lies so many years before the latest one. */
const inYear = (item: string, before: number, column: string): string =>
  `any_value(f.${column}) FILTER (f.line_item = '${item}' AND f.fiscal_year = l.fiscal_year - ${before})`

export const insertLatestSales = (): string =>
  insert(
    'latest_sales',
    'internal_id',
    `WITH own AS MATERIALIZED (
  SELECT internal_id, consolidation, line_item, fiscal_year, value, currency, months, is_preferred
  FROM ${CURRENT.financials} WHERE category = 'ProfitAndLoss' AND line_item IN ('NetSales', 'EBIT')
), latest AS (
  SELECT internal_id, unnest(arg_max({'fiscal_year': fiscal_year, 'consolidation': consolidation, 'currency': currency, 'months': months,
    'net_sales': value}, fiscal_year))
  FROM own WHERE line_item = 'NetSales' AND is_preferred GROUP BY internal_id
), yearly AS (
  SELECT f.internal_id, ${inYear('NetSales', 1, 'value')} AS before, ${inYear('NetSales', 1, 'currency')} AS currency_before,
    ${inYear('NetSales', 1, 'months')} AS months_before, ${inYear('EBIT', 0, 'value')} AS ebit,
    map_from_entries(list({'k': f.fiscal_year::INTEGER, 'v': f.value}) FILTER (f.line_item = 'NetSales')) AS sales
  FROM own AS f JOIN latest AS l ON l.internal_id = f.internal_id AND l.consolidation = f.consolidation
  WHERE f.fiscal_year BETWEEN l.fiscal_year - ${DRAWN_YEARS - 1} AND l.fiscal_year GROUP BY f.internal_id, l.fiscal_year
)
SELECT l.internal_id, l.fiscal_year, l.consolidation, l.currency, l.months, l.net_sales,
  list_transform(range(list_min(map_keys(y.sales)), l.fiscal_year + 1), lambda year: y.sales[year::INTEGER]) AS sales_by_year,
  CASE WHEN y.currency_before IS NOT DISTINCT FROM l.currency AND coalesce(y.months_before = l.months, true)
    THEN (l.net_sales - y.before) / nullif(abs(y.before), 0) END AS growth,
  CASE
    WHEN y.before IS NULL THEN NULL
    WHEN y.currency_before IS DISTINCT FROM l.currency THEN 'currency differs'
    WHEN y.months_before <> l.months THEN 'length differs'
    WHEN y.before = 0 THEN 'previous value is 0'
  END AS growth_reason,
  y.ebit / nullif(l.net_sales, 0) AS ebit_margin
FROM latest AS l JOIN yearly AS y ON y.internal_id = l.internal_id`,
  )

export const insertRelations = (places: PlacesOf): string =>
  insert(
    'relation',
    'internal_id',
    `SELECT r.internal_id, r.country_code, ${comparedNumberSql('r.org_no')} AS org_no,
  r.extra IS NULL AND r.internal_id NOT IN (SELECT company_id FROM ${CURRENT.relation_entities} WHERE coalesce(entity_id, 0) = 0) AS is_plain,
  ${placeNames.map((name) => `p."${name}"`).join(', ')}
FROM ${CURRENT.relations} AS r
JOIN ${placesIn('relations', places.relations)} AS p USING (internal_id)`,
  )

/**
 * Masked national ids are NULL in the lake: they have no row, unless the entity has no id. Who is protected in one place of a record is so in all of
 * it, as in the answers. An earlier form without an id may be a protected one's: beside any of those it counts as such.
 */
export const insertPersons = (): string =>
  insert(
    'person',
    'national_id, internal_id',
    `SELECT ${comparedNumberSql('national_identification_number')} AS national_id, e.company_id AS internal_id,
  nullif(e.entity_id, 0) AS person_id,
  coalesce(e.is_protected OR list_contains(p.ids, e.entity_id) OR (e.is_history AND coalesce(e.entity_id, 0) = 0), false)
    AND p.company_id IS NOT NULL AS is_protected,
    e.is_history, CASE WHEN coalesce(e.entity_id, 0) = 0 AND national_identification_number IS NULL THEN ${BIRTH_KEY_SQL} END AS birth
FROM ${CURRENT.relation_entities} AS e
LEFT JOIN (
  SELECT company_id, list(DISTINCT entity_id) FILTER (entity_id <> 0) AS ids
  FROM ${CURRENT.relation_entities} WHERE is_protected GROUP BY company_id
) AS p ON p.company_id = e.company_id
WHERE national_identification_number IS NOT NULL OR coalesce(e.entity_id, 0) = 0`,
  )

/** Whom relations protect. Those in fields that the contract does not know are added to them. */
export const insertProtected = (): string =>
  insert(
    'protected',
    'person_id, number',
    `SELECT DISTINCT * FROM (${entityMarks(CURRENT.relation_entities)})`,
  )
