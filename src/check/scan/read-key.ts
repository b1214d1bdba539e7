/**
 * Keys of JSON objects, looked up where they stand; those in compact JSON are compared four bytes at once, and guessed by the
 * key before.
 */

import type { KeyTable } from '../../rows/key-table.ts'
import type { JsonScan } from './json-scan.ts'

/** So many bytes before the end of a buffer no key is compared: a word of it may end beyond its own end. */
export const KEY_SLACK = 64

export class KeyWords {
  /** The first word of each key in `#words`. */
  readonly #first: Int32Array
  readonly #words: Int32Array
  /** Mask of the bits that a key fills in its last word. */
  readonly #lastMask: Int32Array
  readonly #lengths: Uint8Array

  /** @param keys names with what follows them in JSON, their opening quotes left out */
  constructor(keys: readonly Buffer[]) {
    this.#lengths = Uint8Array.from(keys, ({ length }) => length)
    const words = keys.map((key) => Math.ceil(key.length / 4))
    this.#first = Int32Array.from([...words.keys(), words.length], (at) =>
      words.slice(0, at).reduce((sum, count) => sum + count, 0),
    )
    this.#lastMask = Int32Array.from(keys, ({ length }) => -1 >>> ((4 - (length % 4 || 4)) * 8))
    this.#words = new Int32Array(this.#first.at(-1) ?? 0)
    for (const [at, key] of keys.entries())
      for (let byte = 0; byte < key.length; byte++)
        this.#words[this.#first[at]! + (byte >> 2)]! |= key[byte]! << ((byte & 3) * 8)
  }

  /** Bytes of a key with what follows it. */
  lengthOf(key: number): number {
    return this.#lengths[key]!
  }

  /** Whether the key stands at `at`, behind its opening quote. */
  isAt(view: DataView, at: number, key: number): boolean {
    const last = this.#first[key + 1]! - 1
    let word = this.#first[key]!
    for (; word < last; word++, at += 4) if (view.getInt32(at, true) !== this.#words[word]) return false
    return ((view.getInt32(at, true) ^ this.#words[word]!) & this.#lastMask[key]!) === 0
  }
}

/** The keys of an object, and which of them mostly follows which. */
export class KeyOrder {
  readonly #words: KeyWords
  /** The key that followed each key the last time, one place on; at 0 the first key of an object. */
  readonly #next: Uint8Array

  constructor(names: readonly string[]) {
    this.#words = new KeyWords(names.map((name) => Buffer.from(`${name}":`)))
    this.#next = new Uint8Array(names.length + 1)
  }

  /** The key that stands at `at`, behind its opening quote, if it is the one that followed `before` the last time; else -1. */
  guess(view: DataView, at: number, before: number): number {
    const key = this.#next[before + 1]!
    return this.#words.isAt(view, at, key) ? key : -1
  }

  learn(before: number, key: number): void {
    this.#next[before + 1] = key
  }

  /** Bytes of a key with its closing quote and colon. */
  lengthOf(key: number): number {
    return this.#words.lengthOf(key)
  }
}

/**
 * Steps over the next key and its colon; afterwards its text stands from `scan.keyStart` to `scan.keyEnd`.
 * @returns the index of its name in `keys`, or -1
 */
export const readKey = (scan: JsonScan, keys: KeyTable): number => {
  const escaped = scan.skipKey()
  return findName(scan, keys, escaped, scan.keyStart, scan.keyEnd)
}

/** Index of the name that stands between two quotes, or -1. */
export const findName = (
  scan: JsonScan,
  names: KeyTable,
  escaped: boolean,
  start: number,
  end: number,
): number => {
  if (!escaped) return names.find(scan.buffer, start, end)
  const name = Buffer.from(scan.textOf(start, end))
  return names.find(name, 0, name.length)
}
