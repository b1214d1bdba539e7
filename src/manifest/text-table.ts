/**
 * Texts of which there may be millions, such as paths, with what is said of each: 25 bytes for each place, of which at
 * least a quarter is taken. Texts are known by 106 bits: no two of a lake are taken for the same.
 */

import { hashOfText } from './path-set.ts'

const FIRST_PLACES = 1024
const SECOND_SEED = 0x9e3779b9

interface Places {
  readonly first: Float64Array
  readonly second: Float64Array
  readonly said: Float64Array
  readonly marks: Uint8Array
}

const placesFor = (count: number): Places => ({
  first: new Float64Array(count),
  second: new Float64Array(count),
  said: new Float64Array(count),
  marks: new Uint8Array(count),
})

export class TextTable {
  #places = placesFor(FIRST_PLACES)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Takes a text in. @returns whether it is new, and if it is not, whether the same was said of it */
  add(text: string, said = ''): 'new' | 'same' | 'other' {
    const at = this.#find(text)
    const { first, second, said: all } = this.#places
    const hash = hashOfText(said)
    if (first[at] !== 0) return all[at] === hash ? 'same' : 'other'
    first[at] = firstOf(text)
    second[at] = hashOfText(text, SECOND_SEED)
    all[at] = hash
    this.#size += 1
    if (2 * this.#size > first.length) this.#grow()
    return 'new'
  }

  has(text: string): boolean {
    return this.#places.first[this.#find(text)] !== 0
  }

  /** Marks a text that is there. @returns whether it was not marked before; of one that is not there `true` */
  mark(text: string): boolean {
    const at = this.#find(text)
    const isFirst = this.#places.marks[at] === 0
    if (this.#places.first[at] !== 0) this.#places.marks[at] = 1
    return isFirst
  }

  /** The place of a text, or the free one where it belongs. */
  #find(text: string): number {
    return placeOf(this.#places, firstOf(text), hashOfText(text, SECOND_SEED))
  }

  #grow(): void {
    const before = this.#places
    const after = placesFor(2 * before.first.length)
    for (const [at, first] of before.first.entries()) {
      if (first === 0) continue
      const second = before.second[at] ?? 0
      const to = placeOf(after, first, second)
      after.first[to] = first
      after.second[to] = second
      after.said[to] = before.said[at] ?? 0
      after.marks[to] = before.marks[at] ?? 0
    }
    this.#places = after
  }
}

/** Zero stands for a free place. */
const firstOf = (text: string): number => hashOfText(text) || 1

const placeOf = ({ first, second }: Places, wanted: number, wantedSecond: number): number => {
  const mask = first.length - 1
  for (let at = (wanted >>> 0) & mask; ; at = (at + 1) & mask)
    if (first[at] === 0 || (first[at] === wanted && second[at] === wantedSecond)) return at
}
