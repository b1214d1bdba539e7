/** Names that the record at hand brings to a growing set. They join it when the record is kept, not before. */

import type { KeyTable } from '../../rows/key-table.ts'
import { codeOfPosition } from '../../rows/seen-sets.ts'
import { Rejection } from '../scan/json-scan.ts'

export const tooManyUnknown = (most: number): Rejection =>
  new Rejection('TOO_MANY_UNKNOWN', `Record has more than ${most} names that the contract does not know`)

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
