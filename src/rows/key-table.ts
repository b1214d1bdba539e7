/** A set of names looked up by their UTF-8 bytes in place, without making a string. It can grow, up to a bound. */

const SLOTS = 1024

export interface KeyTableBounds {
  /** Most names, and most bytes of all names together. */
  readonly names: number
  readonly bytes: number
}

export class KeyTable {
  readonly names: string[] = []
  readonly #most: KeyTableBounds | undefined
  #sizeBytes = 0
  #full = false
  readonly #bytes: Buffer[] = []
  readonly #slots: (number[] | undefined)[] = new Array(SLOTS).fill(undefined)

  /** @param most bounds of the set; without them it takes every name */
  constructor(names: Iterable<string>, most?: KeyTableBounds) {
    for (const name of names) this.add(name)
    this.#most = most
  }

  /** Whether names were left out for lack of room: a name that is not found may have been seen all the same. */
  get full(): boolean {
    return this.#full
  }

  /** Adds a name and returns its index; a name already there keeps its index. -1 where there is no room for it. */
  add(name: string): number {
    const bytes = Buffer.from(name)
    const found = this.find(bytes, 0, bytes.length)
    if (found >= 0) return found
    this.#sizeBytes += bytes.length
    this.#full ||=
      this.#most !== undefined &&
      (this.names.length >= this.#most.names || this.#sizeBytes > this.#most.bytes)
    if (this.#full) return -1
    const index = this.names.push(name) - 1
    this.#bytes.push(bytes)
    const slot = hash(bytes, 0, bytes.length)
    const chain = this.#slots[slot]
    if (chain) chain.push(index)
    else this.#slots[slot] = [index]
    return index
  }

  /** Index of the name that stands in `buffer` from `start` to `end`, or -1. */
  find(buffer: Buffer, start: number, end: number): number {
    const chain = this.#slots[hash(buffer, start, end)]
    if (chain === undefined) return -1
    for (let i = 0; i < chain.length; i++) {
      const index = chain[i]!
      if (equal(this.#bytes[index]!, buffer, start, end)) return index
    }
    return -1
  }
}

const equal = (name: Buffer, buffer: Buffer, start: number, end: number): boolean => {
  const { length } = name
  if (length !== end - start) return false
  for (let i = 0; i < length; i++) if (buffer[start + i] !== name[i]) return false
  return true
}

const hash = (buffer: Buffer, start: number, end: number): number => {
  const length = end - start
  if (length === 0) return 0
  const middle = buffer[start + (length >> 1)]!
  return (length * 37 + buffer[start]! * 5 + buffer[end - 1]! * 131 + middle * 17) & (SLOTS - 1)
}
