/** Line items beyond the contract of the records of a block, as far as they are few. */

import type { LineItemKey, UnknownItems } from '../../core/unknown-names.ts'

/** Most items of a block that are listed, and most of their letters: what the journal holds of each partition. */
export const MOST_LISTED = { items: 50, letters: 4096 } as const

export class ItemLog {
  readonly #kept = new Map<string, LineItemKey>()
  #record = new Map<string, LineItemKey>()
  #letters = 0
  #more = false
  /** Whether items are listed however many they are. */
  listAll = false

  nextRecord(): void {
    if (this.#record.size > 0) this.#record = new Map()
  }

  /** @param key `itemKey` of the item */
  saw(key: string, item: LineItemKey): void {
    this.#record.set(key, item)
  }

  keepRecord(): void {
    for (const [key, item] of this.#record) {
      if (this.#more) return
      if (this.#kept.has(key)) continue
      this.#kept.set(key, item)
      this.#letters += key.length
      const few = this.#kept.size <= MOST_LISTED.items && this.#letters <= MOST_LISTED.letters
      if (few || this.listAll) continue
      this.#more = true
      this.#kept.clear()
    }
  }

  /** What was kept since the last call. */
  take(): UnknownItems {
    const taken = { items: [...this.#kept.values()], more: this.#more }
    this.#kept.clear()
    this.#letters = 0
    this.#more = false
    return taken
  }
}
