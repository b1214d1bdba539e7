/**
 * Whether a path is one of millions: eight bytes for each. Two paths may be taken for the same, in one of a billion
 * lookups; so it may say yes of a path that is not in it, never no of one that is.
 */

const FIRST_LENGTH = 1024

/** 53 bits that depend on every character. @param seed another one gives bits of their own */
export const hashOfText = (path: string, seed = 0): number => {
  let [high, low] = [0xdeadbeef ^ seed, 0x41c6ce57 ^ seed]
  for (let at = 0; at < path.length; at += 1) {
    const code = path.charCodeAt(at)
    high = Math.imul(high ^ code, 2654435761)
    low = Math.imul(low ^ code, 1597334677)
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909)
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909)
  return 4294967296 * (low & 0x1fffff) + (high >>> 0)
}

export class PathSet {
  #hashes = new Float64Array(FIRST_LENGTH)
  #length = 0
  #sorted = true

  add(path: string): void {
    if (this.#length === this.#hashes.length) {
      const longer = new Float64Array(this.#length * 2)
      longer.set(this.#hashes)
      this.#hashes = longer
    }
    this.#hashes[this.#length] = hashOfText(path)
    this.#length += 1
    this.#sorted = false
  }

  has(path: string): boolean {
    if (!this.#sorted) this.#hashes.subarray(0, this.#length).sort()
    this.#sorted = true
    const wanted = hashOfText(path)
    let [low, high] = [0, this.#length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#hashes[middle] ?? 0) < wanted) low = middle + 1
      else high = middle
    }
    return low < this.#length && this.#hashes[low] === wanted
  }
}
