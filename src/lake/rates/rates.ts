/** Rates by currency and year as data, and the factors that follow from them. Reads and writes no file. */

/** The currency in which all rates are given. */
export const BASE_CURRENCY = 'USD'

/** Currency → year → units of the currency for one US dollar. */
export type RateTable = ReadonlyMap<string, ReadonlyMap<number, number>>

/** Tables laid over each other: a later one adds to and replaces an earlier one, by currency and year. */
export const mergedTables = (...tables: readonly RateTable[]): RateTable => {
  const merged = new Map<string, Map<number, number>>()
  for (const table of tables) {
    for (const [currency, rates] of table) {
      const years = merged.get(currency) ?? new Map<number, number>()
      merged.set(currency, years)
      for (const [year, unitsPerUsd] of rates) years.set(year, unitsPerUsd)
    }
  }
  return merged
}

/** A currency's rates, the earliest year first. */
type Series = readonly (readonly [year: number, unitsPerUsd: number])[]

/** The rate of the last year that is not after the fiscal year; before the first year, that of the first. */
const unitsPerUsd = (series: Series, fiscalYear: number): number | undefined =>
  (series.findLast(([year]) => year <= fiscalYear) ?? series[0])?.[1]

/** Rates of a table. A year missing between two others has the rate of the year before it. */
export const ratesOf = (table: RateTable): Rates => {
  const all = new Map<string, Series>([[BASE_CURRENCY, [[0, 1]]]])
  for (const [currency, rates] of table) {
    if (rates.size > 0)
      all.set(
        currency,
        [...rates].toSorted(([a], [b]) => a - b),
      )
  }
  return {
    currencies: [...all.keys()].toSorted(),
    has: (currency) => all.has(currency),
    years: (currency) => [...(table.get(currency)?.keys() ?? [])].toSorted((a, b) => a - b),
    unitsPerUsd: (currency, year) => table.get(currency)?.get(year),
    factor: (from, to, fiscalYear) => {
      const source = all.get(from)
      const target = all.get(to)
      if (source === undefined || target === undefined) return undefined
      if (from === to) return 1
      const [before, after] = [unitsPerUsd(source, fiscalYear), unitsPerUsd(target, fiscalYear)]
      return before === undefined || after === undefined ? undefined : after / before
    },
  }
}

/** Annual average exchange rates: the built-in ones, with those that a person loaded into the lake above them. */
export interface Rates {
  /** Whether figures can be converted to and from a currency. */
  has(currency: string): boolean
  readonly currencies: readonly string[]
  /** The years that a currency has a rate of its own for, the earliest first; none of an unknown one and of the dollar. */
  years(currency: string): readonly number[]
  /** Units of the currency for one US dollar in one of its years. */
  unitsPerUsd(currency: string, year: number): number | undefined
  /**
   * The factor from `from` to `to` for an amount of a fiscal year; `undefined` where either has no rate.
   * The latest year of a currency stands in for later ones, its first year for earlier ones.
   */
  factor(from: string, to: string, fiscalYear: number): number | undefined
}
