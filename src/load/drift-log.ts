/** Counts what records have beyond the contract. A record that is rejected counts for nothing. */

import type { Drift } from '../core/partition.ts'

export class DriftLog {
  readonly #kept = new Map<string, { kind: Drift['kind']; name: string; records: number }>()
  #record = new Map<string, { kind: Drift['kind']; name: string }>()

  /** Forgets what was seen in a record that was not kept. */
  nextRecord(): void {
    if (this.#record.size > 0) this.#record = new Map()
  }

  saw(kind: Drift['kind'], name: string): void {
    this.#record.set(`${kind} ${name}`, { kind, name })
  }

  keepRecord(): void {
    for (const [key, { kind, name }] of this.#record) {
      const counted = this.#kept.get(key)
      if (counted) counted.records++
      else this.#kept.set(key, { kind, name, records: 1 })
    }
  }

  /** What was kept since the last call, most frequent first. */
  take(): Drift[] {
    const drift = [...this.#kept.values()].sort((a, b) => b.records - a.records || (a.name < b.name ? -1 : 1))
    this.#kept.clear()
    return drift
  }
}
