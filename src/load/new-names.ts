/** Names that the record at hand brings to a growing set. They join it when the record is kept, not before. */

import { Rejection } from './json-scan.ts'
import type { KeyTable } from './key-table.ts'

export const tooManyUnknown = (most: number): Rejection =>
  new Rejection('TOO_MANY_UNKNOWN', `Record has more than ${most} names that the contract does not know`)

export class NewNames {
  readonly #set: KeyTable
  readonly #most: number
  readonly #names: string[] = []
  readonly #indexes = new Map<string, number>()

  /** @param most names that one record may bring */
  constructor(set: KeyTable, most: number) {
    this.#set = set
    this.#most = most
  }

  /** Index of a name that the set does not hold; in the set it has the same, as far as it has room. @throws {Rejection} */
  indexOf(name: string): number {
    const known = this.#indexes.get(name)
    if (known !== undefined) return known
    if (this.#names.length >= this.#most) throw tooManyUnknown(this.#most)
    const index = this.#set.names.length + this.#names.push(name) - 1
    this.#indexes.set(name, index)
    return index
  }

  /** The name of an index, of the set's and of the record's own. */
  nameOf(index: number): string {
    return this.#set.names[index] ?? this.#names[index - this.#set.names.length] ?? ''
  }

  keep(): void {
    if (this.#names.length === 0) return
    for (const name of this.#names) this.#set.add(name)
    this.forget()
  }

  forget(): void {
    if (this.#names.length === 0) return
    this.#names.length = 0
    this.#indexes.clear()
  }
}
