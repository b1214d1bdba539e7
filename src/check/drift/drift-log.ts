/** Counts what records have beyond the contract. A rejected record is not counted. */

import type { Drift } from '../../core/partition.ts'
import { moreDrift, UNKNOWN_LIMITS } from '../../core/unknown-names.ts'
import { tooManyUnknown } from './new-names.ts'

export interface UnknownLimits {
  /** Most names of a record that the contract does not know. @default 1000 */
  readonly maxUnknownPerRecord?: number | undefined
  /** Most of them that are counted one by one. @default 10,000 */
  readonly maxUnknownNames?: number | undefined
}

/** Names beyond those counted one by one are kept distinct up to so many. */
const MOST_DISTINCT = 100_000
/** Longest name that is recorded, in UTF-16 units. */
const LONGEST_NAME = 256

/** A copy: a mere slice would keep the whole name in memory. */
const cut = (name: string): string =>
  name.length <= LONGEST_NAME ? name : `${Buffer.from(name.slice(0, LONGEST_NAME - 1)).toString()}…`

export class DriftLog {
  readonly #maxPerRecord: number
  readonly #maxNames: number
  readonly #kept = new Map<string, { kind: Drift['kind']; name: string; records: number }>()
  readonly #beyond = new Set<string>()
  #recordsBeyond = 0
  #record = new Map<string, { kind: Drift['kind']; name: string }>()

  constructor({ maxUnknownPerRecord, maxUnknownNames }: UnknownLimits = {}) {
    this.#maxPerRecord = maxUnknownPerRecord ?? UNKNOWN_LIMITS.perRecord
    this.#maxNames = maxUnknownNames ?? UNKNOWN_LIMITS.names
  }

  /** Drops what was seen in a record that was not kept. */
  nextRecord(): void {
    if (this.#record.size > 0) this.#record = new Map()
  }

  /** @throws {Rejection} TOO_MANY_UNKNOWN */
  saw(kind: Drift['kind'], name: string): void {
    const short = cut(name)
    this.#record.set(`${kind} ${short}`, { kind, name: short })
    if (this.#record.size > this.#maxPerRecord) throw tooManyUnknown(this.#maxPerRecord)
  }

  keepRecord(): void {
    let beyond = false
    for (const [key, { kind, name }] of this.#record) {
      const counted = this.#kept.get(key)
      if (counted) counted.records++
      else if (this.#kept.size < this.#maxNames) this.#kept.set(key, { kind, name, records: 1 })
      else {
        beyond = true
        if (this.#beyond.size < MOST_DISTINCT) this.#beyond.add(key)
      }
    }
    if (beyond) this.#recordsBeyond++
  }

  /** What was kept since the last call, most frequent first; at the end how much there was beyond it. */
  take(): Drift[] {
    const drift: Drift[] = [...this.#kept.values()].sort(
      (a, b) => b.records - a.records || (a.name < b.name ? -1 : 1),
    )
    if (this.#beyond.size > 0) drift.push(moreDrift(this.#beyond.size, this.#recordsBeyond))
    this.#kept.clear()
    this.#beyond.clear()
    this.#recordsBeyond = 0
    return drift
  }
}
