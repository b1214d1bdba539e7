/** Figures in the requested currency, in SQL: a bound list of factors by currency and fiscal year does the conversion. */

import { LINE_ITEMS } from '../../../contract/line-items.ts'
import type { Session } from '../../../lake/duckdb/engine.ts'
import { figureNamed } from '../../serving-index/index-form.ts'
import type { ServingIndex } from '../../serving-index/serving-index.ts'
import type { SearchParts } from '../shared/answer.ts'
import type { Binder } from '../shared/bound-values.ts'
import { type RecentValues, recentOf, remembered } from '../shared/recent-values.ts'

/** Line items that are money, whether scaled or not. */
const MONEY: ReadonlySet<string> = new Set(
  LINE_ITEMS.filter(({ unit }) => unit === 'amount' || unit === 'per share').map(({ lineItem }) => lineItem),
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
    const rows = await session.rows(
      `SELECT DISTINCT currency, fiscal_year FROM copy.figure WHERE line_item = ${figureNamed(lineItem)} AND currency IS NOT NULL`,
    )
    return rows.map((row) => ({ currency: String(row.currency), fiscalYear: Number(row.fiscal_year) }))
  })

/** Factors of money line items into one currency, as JSON text, by line item; nothing for other figures. */
export type FactorTexts = ReadonlyMap<string, string>

/** Works out the factors that the figures of a statement need. */
export const factorTexts = async (
  { index, rates }: SearchParts,
  session: Session,
  figures: readonly string[],
  currency: string,
): Promise<FactorTexts> => {
  const texts = new Map<string, string>()
  for (const lineItem of new Set(figures.filter((name) => MONEY.has(name)))) {
    const factors = (await currencyYears(index, session, lineItem)).flatMap((pair) => {
      const factor = rates.factor(pair.currency.toUpperCase(), currency, pair.fiscalYear)
      return factor === undefined ? [] : [{ c: pair.currency, y: pair.fiscalYear, f: factor }]
    })
    texts.set(lineItem, JSON.stringify(factors))
  }
  return texts
}

/**
 * Companies with their figure: `internal_id, value`, money in the requested currency. Money in a currency without a
 * rate is left out, and what is too large for a number in the requested one. A SELECT to stand in brackets.
 * @param year `null` for the latest year that has a value
 */
export const figureValues = (
  name: string,
  year: number | null,
  factors: FactorTexts,
  binder: Binder,
): string => {
  const which = `line_item = ${figureNamed(name)} AND ${year === null ? 'latest' : `fiscal_year = ${binder.bind(year, 'SMALLINT')}`}`
  const text = factors.get(name)
  if (text === undefined) return `SELECT internal_id, value FROM copy.figure WHERE ${which}`
  const list = `from_json(${binder.bind(text, 'JSON')}, '[{"c":"VARCHAR","y":"SMALLINT","f":"DOUBLE"}]')`
  return `SELECT internal_id, value * f AS value
    FROM copy.figure JOIN (SELECT unnest(${list}, recursive := true)) ON currency = c AND fiscal_year = y
    WHERE ${which} AND isfinite(value * f)`
}
