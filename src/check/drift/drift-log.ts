/** Counts names and line items that records have beyond the contract. A rejected record is not counted. */

import type { Drift } from '../../core/partition.ts'
import { type LineItemKey, moreDrift, UNKNOWN_LIMITS, type UnknownItems } from '../../core/unknown-names.ts'
import type { KeyTable } from '../../rows/key-table.ts'
import { codeOfPosition } from '../../rows/seen-sets.ts'
import { Rejection } from '../scan/json-scan.ts'

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

  /** The names kept since the last call, most frequent first; at the end how many there were beyond them. */
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

export const tooManyUnknown = (most: number): Rejection =>
  new Rejection('TOO_MANY_UNKNOWN', `Record has more than ${most} names that the contract does not know`)

/** Names that the record at hand brings to a growing set. They join it when the record is kept, not before. */
export class NewNames {
  readonly #set: KeyTable
  readonly #most: number
  /** Names of the set when the record began. */
  #before: number
  readonly #names: string[] = []
  readonly #positions: number[] = []
  readonly #indexes = new Map<string, number>()

  /** @param most names that one record may bring */
  constructor(set: KeyTable, most: number) {
    this.#set = set
    this.#most = most
    this.#before = set.names.length
  }

  startRecord(): void {
    this.#before = this.#set.names.length
    if (this.#names.length === 0) return
    this.#names.length = 0
    this.#positions.length = 0
    this.#indexes.clear()
  }

  /**
   * Index of a name that the set does not hold; in the set it has the same, as far as it has room.
   * @param position where the name stands in the buffer, behind its quote
   * @throws {Rejection} TOO_MANY_UNKNOWN
   */
  indexOf(name: string, position: number): number {
    const known = this.#indexes.get(name)
    if (known !== undefined) return known
    if (this.#names.length >= this.#most) throw tooManyUnknown(this.#most)
    const index = this.#before + this.#names.push(name) - 1
    this.#positions.push(position)
    this.#indexes.set(name, index)
    return index
  }

  /** The name of an index, of the set's and of the record's own. */
  nameOf(index: number): string {
    return this.#names[index - this.#before] ?? this.#set.names[index] ?? ''
  }

  /** Lets the record's names join the set. @returns whether it had no room for some */
  keep(): boolean {
    for (const name of this.#names) this.#set.add(name)
    return this.#set.names.length < this.#before + this.#names.length
  }

  /** The code of an index, once the names were kept. */
  codeOf(index: number): number {
    return index < this.#set.names.length ? index : codeOfPosition(this.#positions[index - this.#before] ?? 0)
  }
}

/** Most items of a block that are listed, and most of their letters: what the journal holds of each partition. */
export const MOST_LISTED = { items: 50, letters: 4096 } as const

/** Line items beyond the contract of the records of a block, as far as they are few. */
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

  /** The items kept since the last call. */
  take(): UnknownItems {
    const taken = { items: [...this.#kept.values()], more: this.#more }
    this.#kept.clear()
    this.#letters = 0
    this.#more = false
    return taken
  }
}
