/** Figures in the requested currency, in SQL: a bound list of factors by currency and fiscal year does the conversion. */

import { LINE_ITEMS } from '../../../contract/line-items.ts'
import type { Session } from '../../../lake/duckdb/engine.ts'
import { figureNamed } from '../../serving-index/index-form.ts'
import type { ServingIndex } from '../../serving-index/session-pool.ts'
import type { SearchParts } from '../shared/answer.ts'
import type { Binder } from '../shared/bound-values.ts'
import { type RecentValues, recentOf, remembered } from '../shared/recent-values.ts'

const MONEY: ReadonlySet<string> = new Set(
  LINE_ITEMS.filter(({ isMoney }) => isMoney).map(({ lineItem }) => lineItem),
)

interface CurrencyYear {
  readonly currency: string
  readonly fiscalYear: number
}

/** An index never changes: each line item's currencies and years are queried once. */
const asked = new WeakMap<ServingIndex, RecentValues<readonly CurrencyYear[]>>()

const currencyYears = (
  index: ServingIndex,
  session: Session,
  lineItem: string,
): Promise<readonly CurrencyYear[]> =>
  remembered(recentOf(asked, index), LINE_ITEMS.length, lineItem, async () => {
    // Years without a figure may be among them: a factor too many changes no answer.
    const rows = await session.rows(`
      SELECT DISTINCT currency, unnest(range(first, last + 1))::INTEGER AS fiscal_year
      FROM (
        SELECT DISTINCT currency, fiscal_year - len(earlier) AS first, fiscal_year AS last
        FROM serving.figure WHERE line_item = ${figureNamed(lineItem)} AND currency IS NOT NULL
      )`)
    return rows.map((row) => ({ currency: String(row.currency), fiscalYear: Number(row.fiscal_year) }))
  })

/** Factors of money line items into one currency, as JSON text, by line item; nothing for other figures. */
export type FactorStrings = ReadonlyMap<string, string>

/** Works out the factors that the figures of a statement need. */
export const factorStrings = async (
  { index, rates }: SearchParts,
  session: Session,
  figures: readonly string[],
  currency: string,
): Promise<FactorStrings> => {
  const strings = new Map<string, string>()
  for (const lineItem of new Set(figures.filter((name) => MONEY.has(name)))) {
    const factors = (await currencyYears(index, session, lineItem)).flatMap((pair) => {
      const factor = rates.factor(pair.currency.toUpperCase(), currency, pair.fiscalYear)
      return factor === undefined ? [] : [{ c: pair.currency, y: pair.fiscalYear, f: factor }]
    })
    strings.set(lineItem, JSON.stringify(factors))
  }
  return strings
}

/**
 * Companies with their figure: `internal_id, value`, money in the requested currency. Money in a currency without a
 * rate is left out, and what is too large for a number in the requested one. A SELECT to stand in brackets.
 * @param year `null` for the latest year that has a value
 */
export const figureValues = (
  name: string,
  year: number | null,
  factors: FactorStrings,
  binder: Binder,
): string => {
  const row = `line_item = ${figureNamed(name)}`
  const figures =
    year === null
      ? `SELECT internal_id, currency, fiscal_year AS y, value FROM serving.figure WHERE ${row} AND latest`
      : `SELECT internal_id, currency, y, ${valueOfYear('y')} AS value
      FROM serving.figure, (SELECT ${binder.bind(year, 'SMALLINT')} AS y) WHERE ${row} AND ${hasYear('y')}`
  const text = factors.get(name)
  if (text === undefined) return `SELECT internal_id, value FROM (${figures}) WHERE value IS NOT NULL`
  const list = `from_json(${binder.bind(text, 'JSON')}, '[{"c":"VARCHAR","y":"SMALLINT","f":"DOUBLE"}]')`
  return `SELECT internal_id, value * f AS value
    FROM (${figures}) AS g JOIN (SELECT unnest(${list}, recursive := true)) AS factor ON g.currency = factor.c AND g.y = factor.y
    WHERE isfinite(value * f)`
}

/** Whether a row of `figure` reaches to a year, and the year's value: NULL where it has none. @param year of SMALLINT */
export const hasYear = (year: string): string => `${year} BETWEEN fiscal_year - len(earlier) AND fiscal_year`
export const valueOfYear = (year: string): string =>
  `CASE WHEN fiscal_year = ${year} THEN value ELSE earlier[fiscal_year::INTEGER - ${year}] END`
