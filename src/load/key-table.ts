/** A set of names looked up by their UTF-8 bytes in place, without making a string. It can grow. */

const SLOTS = 1024

export class KeyTable {
  readonly names: string[] = []
  readonly #bytes: Buffer[] = []
  readonly #slots: (number[] | undefined)[] = new Array(SLOTS).fill(undefined)

  constructor(names: Iterable<string>) {
    for (const name of names) this.add(name)
  }

  /** Adds a name and returns its index; a name already there keeps its index. */
  add(name: string): number {
    const bytes = Buffer.from(name)
    const found = this.find(bytes, 0, bytes.length)
    if (found >= 0) return found
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
