/** Annual average exchange rates: a built-in table, and what a person loaded into the lake above it. */

export interface Rates {
  /** Whether figures can be converted to and from a currency. */
  has(currency: string): boolean
  readonly currencies: readonly string[]
  /** The years that a currency has a rate of its own for, the earliest first; none of an unknown one and of the dollar. */
  years(currency: string): readonly number[]
  /** Units of the currency for one US dollar in one of its years. */
  unitsPerUsd(currency: string, year: number): number | undefined
  /**
   * What an amount of a fiscal year in `from` is multiplied by to be in `to`; `undefined` where either has no rate.
   * The latest year of a currency stands in for later ones, its first year for earlier ones.
   */
  factor(from: string, to: string, fiscalYear: number): number | undefined
}
