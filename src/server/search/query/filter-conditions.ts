/** From filters to conditions in SQL ("Search filters" of the open points). Every value is bound. */

import type { Content } from '../../../contract/objects.ts'
import { FILTER_CLASSES } from '../../../contract/requests.ts'
import { ident } from '../../../lake/duckdb/sql.ts'
import { snakeCase } from '../../../lake/tables/columns.ts'
import type { Caller } from '../../access/caller.ts'
import type { Filter } from '../request/read-filters.ts'
import { type Binder, boundStrings, inNumbers, inStrings } from '../shared/bound-values.ts'
import { hasArea, isVisible } from '../shared/visible-records.ts'
import { type FactorStrings, figureValues, hasYear, valueOfYear } from './figure-values.ts'

/** Alias of a record's row in the statements. */
export const ROW = 'r'

/** The column of a parameter that has one. */
export const columnOf = (name: string): string => `${ROW}.${ident(snakeCase(name))}`

/** Up to so many beginnings, comparing them with every code takes less time than finding the codes that have them. */
const FEW_BEGINNINGS = 8

/** Industry codes are what is matched by its beginning: any code of the company's list. */
const byBeginning = (values: readonly string[], binder: Binder): string => {
  const column = `${ROW}.industry_codes`
  if (values.length <= FEW_BEGINNINGS) {
    const begins = values.map((value) => `starts_with(code, ${binder.bind(value, 'VARCHAR')})`)
    return `len(list_filter(${column}, lambda code : ${begins.join(' OR ')})) > 0`
  }
  return `list_has_any(${column}, (
    SELECT list(DISTINCT code)
    FROM (SELECT DISTINCT unnest(industry_codes) AS code FROM serving.company) AS known,
      (SELECT unnest(${boundStrings(values, binder)}) AS beginning)
    WHERE starts_with(code, beginning)))`
}

/**
 * Records with a person of a national id. A protected person is found only with Hidden Person Access, one that stands
 * in histories alone only with Relations History: that a record is found would reveal as much as the field itself.
 * Who is protected in one record is so in all, by the id or by the national id itself.
 */
const withPerson = (
  values: readonly string[],
  caller: Caller,
  binder: Binder,
): string => `${ROW}.internal_id IN (
    SELECT p.internal_id
    FROM (
      SELECT internal_id, national_id, bool_and(is_history) AS is_history,
        bool_or(bool_or(is_protected OR coalesce(person_id IN (FROM persons.id), false) OR upper(national_id) IN (FROM persons.number)))
          OVER (PARTITION BY national_id) AS is_protected
      FROM serving.person WHERE ${inStrings('national_id', values, binder)}
      GROUP BY internal_id, national_id
    ) AS p JOIN serving.relation AS o USING (internal_id)
    WHERE (NOT p.is_protected OR ${hasArea(caller, 'Hidden Person Access', 'o.country_code', binder)})
      AND (NOT p.is_history OR ${hasArea(caller, 'Relations History', 'o.country_code', binder)}))`

/**
 * Companies that are a protected person's own are found by what is masked of them, their number and words, only with Hidden Person
 * Access.
 */
const unmasked = (caller: Caller, binder: Binder): string =>
  `(${ROW}.internal_id NOT IN (FROM persons.company) OR ${hasArea(caller, 'Hidden Person Access', `${ROW}.country_code`, binder)})`

const isOneOf = (names: readonly string[], name: string): boolean => names.includes(name)

const stringsCondition = (
  { name, values }: Extract<Filter, { kind: 'strings' }>,
  caller: Caller,
  binder: Binder,
): string => {
  if (name === 'NationalIdentificationNumber') return withPerson(values, caller, binder)
  if (isOneOf(FILTER_CLASSES.identifier.byPrefix, name)) return byBeginning(values, binder)
  if (name === 'CountryCode') return inStrings(`upper(${columnOf(name)})`, values, binder)
  const found = inStrings(columnOf(name), values, binder)
  return name === 'OrgNo' ? `(${found} AND ${unmasked(caller, binder)})` : found
}

type FilterOf<K extends Filter['kind']> = Extract<Filter, { kind: K }>

const withinFigures = (sql: string, { from, to }: FilterOf<'figure'>, { bind }: Binder): string =>
  to === null
    ? `${sql} >= ${bind(from, 'DOUBLE')}`
    : `${sql} BETWEEN ${bind(from, 'DOUBLE')} AND ${bind(to, 'DOUBLE')}`

/** Instants of days from their first moment to before the next day's. */
const withinDays = (sql: string, { from, to }: FilterOf<'date'>, { bind }: Binder): string =>
  [
    `${sql} >= ${bind(from, 'DATE')}`,
    ...(to === null ? [] : [`${sql} < ${bind(to, 'DATE')} + INTERVAL 1 DAY`]),
  ].join(' AND ')

const conditionOf = (filter: Filter, caller: Caller, factors: FactorStrings, binder: Binder): string => {
  switch (filter.kind) {
    case 'numbers':
      return inNumbers(columnOf(filter.name), filter.values, binder)
    case 'strings':
      return stringsCondition(filter, caller, binder)
    case 'date':
      return withinDays(columnOf(filter.name), filter, binder)
    case 'figure': {
      const values = figureValues(filter.name, filter.year, factors, binder)
      return `${ROW}.internal_id IN (SELECT internal_id FROM (${values}) WHERE ${withinFigures('value', filter, binder)})`
    }
    case 'search':
      return unmasked(caller, binder) // what is searched is a join of its own: it also gives the score
  }
}

/** Relations have the dates of their companies: these are looked for only where they are asked for. */
export const tableOf = (content: Content, filters: readonly Filter[]): string => {
  if (content === 'companies') return `serving.company AS ${ROW}`
  return `${filters.some(({ kind }) => kind === 'date') ? 'serving.dated_relation' : 'serving.relation'} AS ${ROW}`
}

/** Up to so many figure filters are quicker one by one. */
const FEW_FIGURES = 4
const isFigure = (filter: Filter): filter is FigureFilter => filter.kind === 'figure'

/** The filters and what the caller may see, joined with AND. */
export const filterConditions = (
  filters: readonly Filter[],
  caller: Caller,
  factors: FactorStrings,
  binder: Binder,
): string => {
  const figures = filters.filter(isFigure)
  const isMany = figures.length > FEW_FIGURES
  const single = isMany ? filters.filter((filter) => !isFigure(filter)) : filters
  return [
    isVisible(caller, `${ROW}.country_code`, binder),
    ...single.map((filter) => conditionOf(filter, caller, factors, binder)),
    ...(isMany ? [`${ROW}.internal_id IN (${passingAll(figures, factors, binder)})`] : []),
  ].join('\n  AND ')
}

// Many figure filters become one condition: DuckDB takes ten seconds to plan a hundred subqueries, however small the index,
// and no time limit ends the planning. A few filters are quicker one by one.

export type FigureFilter = Extract<Filter, { kind: 'figure' }>

const ASKED = '[{"n":"VARCHAR","y":"SMALLINT","lo":"DOUBLE","hi":"DOUBLE","m":"BOOLEAN"}]'
const FACTORS = '"MAP(VARCHAR, STRUCT(c VARCHAR, y SMALLINT, f DOUBLE)[])"'

/**
 * Companies that pass all filters: `internal_id`. A SELECT to stand in brackets. A company has one figure of a name and
 * year, and one latest of a name: as many rows as filters mean that it passes each.
 */
export const passingAll = (
  filters: readonly FigureFilter[],
  factors: FactorStrings,
  { bind }: Binder,
): string => {
  const asked = JSON.stringify(
    filters.map(({ name, year, from, to }) => ({ n: name, y: year, lo: from, hi: to, m: factors.has(name) })),
  )
  const factorStrings = `{${[...factors].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
  const hits = (value: string, year: string, which: string): string => `
    SELECT internal_id, line_item::VARCHAR AS n, ${year} AS y, currency AS c, ${value} AS value, a.lo, a.hi, a.m
    FROM serving.figure JOIN asked AS a ON line_item::VARCHAR = a.n AND ${which}`
  return `
  WITH asked AS MATERIALIZED (SELECT unnest(from_json(${bind(asked, 'JSON')}, '${ASKED}'), recursive := true)),
  factor AS MATERIALIZED (
    SELECT one.key AS n, unnest(one.value, recursive := true)
    FROM (SELECT unnest(map_entries(from_json(${bind(factorStrings, 'JSON')}, '${FACTORS}'))) AS one)
  )
  SELECT internal_id
  FROM (${hits(valueOfYear('a.y'), 'a.y', hasYear('a.y'))} UNION ALL ${hits('value', 'fiscal_year', 'a.y IS NULL AND latest')}) AS hit
  LEFT JOIN factor USING (n, c, y)
  WHERE CASE WHEN m THEN value * f ELSE value END BETWEEN lo AND coalesce(hi, ${Number.MAX_VALUE})
  GROUP BY internal_id
  HAVING count(*) = ${bind(filters.length, 'BIGINT')}`
}
