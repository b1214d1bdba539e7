/** The SELECTs of the hand-tuned contender: typed columns, closed sets as ENUM, one scan of a block for each table. */

import { COUNTRIES } from '../data/words.ts'
import { CONSOLIDATIONS, FIGURE_SCALE } from '../src/contract/dictionaries.ts'
import { CATEGORIES, LINE_ITEMS } from '../src/contract/line-items.ts'
import { BASIC_DETAILS, ENHANCED_DETAILS, LINKED_IN, META_DATA } from '../src/contract/objects.ts'
import { snakeCase, structOf } from './contract-columns.ts'

/** Scaled items first, then other money, so that one comparison of the ENUM's number tells whether scale and currency apply. */
const SCALED = LINE_ITEMS.filter(({ scaled }) => scaled)
const UNSCALED_MONEY = LINE_ITEMS.filter(({ isMoney, scaled }) => isMoney && !scaled)
const NO_MONEY = LINE_ITEMS.filter(({ isMoney }) => !isMoney)
const MONEY_ITEMS = SCALED.length + UNSCALED_MONEY.length

export const ENUMS = {
  category_enum: CATEGORIES,
  item_enum: [...SCALED, ...UNSCALED_MONEY, ...NO_MONEY].map(({ lineItem }) => lineItem),
  consolidation_enum: CONSOLIDATIONS.map(({ name }) => name),
  country_enum: new Set(COUNTRIES.map(({ code }) => code)),
  currency_enum: new Set(COUNTRIES.map(({ currency }) => currency)),
  scale_enum: Object.keys(FIGURE_SCALE),
} as const

const CLOSED = {
  CountryCode: 'country_enum',
  CurrentCurrencyCode: 'currency_enum',
  FinancialFigureScale: 'scale_enum',
} as const
const FIGURES = 'MAP(category_enum, MAP(item_enum, MAP(SMALLINT, DOUBLE)))'
const SERIES = ['Employees', 'EmployeesUnconsolidated']

const scan = (file: string, columns: Readonly<Record<string, string>>): string =>
  `read_ndjson('${file}', auto_detect=false, records=true, columns={${Object.entries(columns)
    .map(([name, type]) => `"${name}": '${type}'`)
    .join(', ')}})`

const WHO = structOf(BASIC_DETAILS, ['InternalId', 'CountryCode'], CLOSED)

const companiesOf = (file: string): string => {
  const enhanced = Object.keys(ENHANCED_DETAILS.fields).filter((name) => !SERIES.includes(name))
  const parts = [
    ['BasicDetails', Object.keys(BASIC_DETAILS.fields), ''],
    ['EnhancedDetails', enhanced, 'enhanced_'],
    ['MetaData', Object.keys(META_DATA.fields), ''],
  ] as const
  const columns = parts.flatMap(([part, names, prefix]) =>
    names.map((name) => `${part}."${name}" AS ${prefix}${snakeCase(name)}`),
  )
  return `SELECT ${columns.join(', ')}, LinkedIn AS linkedin FROM ${scan(file, {
    BasicDetails: structOf(BASIC_DETAILS, Object.keys(BASIC_DETAILS.fields), CLOSED),
    EnhancedDetails: structOf(ENHANCED_DETAILS, enhanced),
    MetaData: structOf(META_DATA, Object.keys(META_DATA.fields), CLOSED),
    LinkedIn: structOf(LINKED_IN, Object.keys(LINKED_IN.fields)),
  })}`
}

const financialsOf = (file: string): string => `
  WITH company AS (
    SELECT BasicDetails.InternalId AS internal_id, BasicDetails.CountryCode AS country_code,
      MetaData.CurrentCurrencyCode AS currency,
      CASE MetaData.FinancialFigureScale ${Object.entries(FIGURE_SCALE)
        .map(([scale, factor]) => `WHEN '${scale}' THEN ${factor}::DOUBLE`)
        .join(' ')} END AS factor,
      unnest([
        ${CONSOLIDATIONS.map(({ name, field }) => `{name: '${name}'::consolidation_enum, figures: ${field}}`).join(', ')}
      ]) AS statement
    FROM ${scan(file, {
      BasicDetails: WHO,
      MetaData: structOf(META_DATA, ['CurrentCurrencyCode', 'FinancialFigureScale'], CLOSED),
      Financials: FIGURES,
      UnconsolidatedFinancials: FIGURES,
    })}),
  category AS (
    SELECT * EXCLUDE statement, statement.name AS consolidation, unnest(map_entries(statement.figures)) AS c
    FROM company),
  line AS (
    SELECT * EXCLUDE c, c.key AS category, unnest(map_entries(c.value)) AS l FROM category),
  year AS (
    SELECT * EXCLUDE (l, factor, currency), l.key AS line_item,
      CASE WHEN enum_code(l.key) < ${SCALED.length} THEN factor ELSE 1 END AS factor,
      CASE WHEN enum_code(l.key) < ${MONEY_ITEMS} THEN currency END AS currency,
      unnest(map_entries(l.value)) AS y
    FROM line)
  SELECT internal_id, country_code, consolidation, category, line_item, y.key AS fiscal_year,
    y.value * factor AS value, currency
  FROM year WHERE y.value IS NOT NULL`

const employeesOf = (file: string): string => `
  WITH company AS (
    SELECT BasicDetails.InternalId AS internal_id, BasicDetails.CountryCode AS country_code,
      unnest([
        ${CONSOLIDATIONS.map(({ name, employees }) => `{name: '${name}'::consolidation_enum, years: EnhancedDetails.${employees}}`).join(', ')}
      ]) AS s
    FROM ${scan(file, { BasicDetails: WHO, EnhancedDetails: structOf(ENHANCED_DETAILS, SERIES) })}),
  year AS (SELECT * EXCLUDE s, s.name AS consolidation, unnest(map_entries(s.years)) AS y FROM company)
  SELECT internal_id, country_code, consolidation, y.key AS fiscal_year, y.value AS employees
  FROM year WHERE y.value IS NOT NULL`

export const TABLES = { financials: financialsOf, companies: companiesOf, employees: employeesOf } as const
