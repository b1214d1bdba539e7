/** Names that the contract does not know, and how many of them are listed one by one. */

import type { Drift } from './partition.ts'

export const UNKNOWN_LIMITS = {
  /** Most names of a record. A new release of the service brings some dozens. */
  perRecord: 1000,
  /** Most names in the drift of a snapshot. */
  names: 10_000,
} as const

export interface LineItemKey {
  readonly category: string
  readonly lineItem: string
}

/** Line items beyond the contract that a partition has. */
export interface UnknownItems {
  readonly items: readonly LineItemKey[]
  /** There are more than `items` lists; the rows of `financials` have them all. */
  readonly more: boolean
}

/** Identifies a line item. */
export const itemKey = ({ category, lineItem }: LineItemKey): string => JSON.stringify([category, lineItem])

/** Identifies a name in the drift of a lake. */
export const nameKey = (one: Readonly<Partial<Record<'content' | 'kind' | 'name', unknown>>>): string =>
  `${one.content} ${one.kind} ${one.name}`

/** The entry for names that are not listed. @param records at least so many have one of them */
export const moreDrift = (names: number, records: number): Drift => ({
  kind: 'more',
  name: `and ${names.toLocaleString('en-US')} more`,
  names,
  records,
})

/** A name in many partitions is listed in each, up to so many entries for each name that there may be. */
const ENTRIES_PER_NAME = 10

/** Chooses which drift entries of many partitions are listed. Holds a bounded number of names. */
export class DriftBudget {
  readonly #maxNames: number
  readonly #known = new Set<string>()
  #entries = 0

  constructor(maxNames: number = UNKNOWN_LIMITS.names) {
    this.#maxNames = maxNames
  }

  /** Takes a drift in as it stands. @returns whether all of it is within the bounds */
  add(drift: readonly Drift[]): boolean {
    const within = drift.map((one) => this.#admit(one))
    return within.every(Boolean)
  }

  /** The same drift, with one entry in place of all that is beyond the bounds. */
  bound(drift: readonly Drift[]): readonly Drift[] {
    const beyond: Drift[] = []
    const kept = drift.filter((one) => {
      const admitted = one.kind !== 'more' && this.#admit(one)
      if (!admitted) beyond.push(one)
      return admitted
    })
    if (beyond.every(({ kind }) => kind === 'more')) return drift
    const names = beyond.reduce((sum, one) => sum + (one.names ?? 1), 0)
    return [...kept, moreDrift(names, Math.max(...beyond.map(({ records }) => records)))]
  }

  #admit({ kind, name }: Drift): boolean {
    if (kind === 'more') return true
    const key = `${kind} ${name}`
    if (this.#entries >= this.#maxNames * ENTRIES_PER_NAME) return false
    if (!this.#known.has(key)) {
      if (this.#known.size >= this.#maxNames) return false
      this.#known.add(key)
    }
    this.#entries += 1
    return true
  }
}
