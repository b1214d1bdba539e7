/**
 * Texts of a chunk as DuckDB keeps them (its C interface, "duckdb_string_t"), so that a whole column of them crosses at
 * once: 16 bytes a text, its length and then the text itself, or its first four bytes and where the rest stands.
 */

import duckdb from '@duckdb/node-bindings'

/** 32-bit words of a text: length, and three for a short text; of a long one its beginning and its address. */
const WORDS = 4
const LONGEST_INLINE = 12
const PREFIX_BYTES = 4
/** UTF-8 bytes that a character of JavaScript's takes. */
const MOST_BYTES = 3
const TWO_32 = 0x100000000
/** More is not kept from chunk to chunk: one long text is no reason to. */
const MOST_KEPT_BYTES = 4 * 1024 ** 2
const NO_BYTES = Buffer.alloc(0)

export class TextCells {
  #words: Uint32Array<ArrayBuffer>
  #bytes: Uint8Array
  #heap = NO_BYTES
  #used = 0
  #rows = 0

  constructor(rows: number) {
    this.#words = new Uint32Array(rows * WORDS)
    this.#bytes = new Uint8Array(this.#words.buffer)
  }

  /** Forgets all texts. */
  clear(): void {
    this.#words.fill(0, 0, this.#rows * WORDS)
    this.#rows = 0
    this.#used = 0
    if (this.#heap.length > MOST_KEPT_BYTES) this.#heap = NO_BYTES
  }

  /** Sets the text of a row, whose UTF-8 bytes stand in `bytes`. Where none is set it is empty. */
  set(row: number, bytes: Buffer, from: number, to: number): void {
    const length = to - from
    if (length <= LONGEST_INLINE) {
      this.#begin(row, length, bytes, from, to)
      return
    }
    const at = this.#used
    if (this.#heap.length < at + length) this.#grow(at + length)
    bytes.copy(this.#heap, at, from, to)
    this.#point(row, at, at + length)
  }

  /** Sets a long text that stands in the heap, behind all others. */
  #point(row: number, from: number, to: number): void {
    this.#begin(row, to - from, this.#heap, from, from + PREFIX_BYTES)
    this.#words[row * WORDS + 2] = from
    this.#used = to
  }

  /** Sets the length of a text, and the bytes that stand beside it. */
  #begin(row: number, length: number, bytes: Uint8Array, from: number, to: number): void {
    this.#reach(row)
    this.#words[row * WORDS] = length
    const head = (row * WORDS + 1) * 4 - from
    for (let at = from; at < to; at++) this.#bytes[head + at] = bytes[at] ?? 0
  }

  /** Sets the text of a row. */
  setText(row: number, text: string): void {
    const most = this.#used + text.length * MOST_BYTES
    if (this.#heap.length < most) this.#grow(most)
    const from = this.#used
    const to = from + this.#heap.write(text, from)
    if (to - from > LONGEST_INLINE) this.#point(row, from, to)
    else this.set(row, this.#heap, from, to)
  }

  #reach(row: number): void {
    if (row < this.#rows) return
    this.#rows = row + 1
    if (this.#rows * WORDS <= this.#words.length) return
    const words = new Uint32Array(2 * this.#rows * WORDS)
    words.set(this.#words)
    this.#words = words
    this.#bytes = new Uint8Array(words.buffer)
  }

  #grow(size: number): void {
    const heap = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.#heap.length))
    this.#heap.copy(heap, 0, 0, this.#used)
    this.#heap = heap
  }

  /** Copies the first `rows` texts into a vector that has room for them. To be called once before `clear`. */
  copyInto(vector: duckdb.Vector, rows: number): void {
    if (rows > 0) this.#reach(rows - 1)
    if (this.#used > 0) this.#placeLong(vector, rows)
    duckdb.copy_data_to_vector(vector, 0, this.#words.buffer, 0, rows * WORDS * 4)
  }

  /** Has the vector keep all long texts as one, and lets each point to its place in it. */
  #placeLong(vector: duckdb.Vector, rows: number): void {
    duckdb.vector_assign_string_element_len(vector, 0, this.#heap.subarray(0, this.#used))
    const { buffer, byteOffset } = duckdb.vector_get_data(vector, WORDS * 4)
    const kept = new DataView(buffer, byteOffset)
    const [low, high] = [kept.getUint32(8, true), kept.getUint32(12, true)]
    const words = this.#words
    for (let word = 0; word < rows * WORDS; word += WORDS) {
      if ((words[word] ?? 0) <= LONGEST_INLINE) continue
      const place = low + (words[word + 2] ?? 0)
      words[word + 2] = place
      words[word + 3] = high + (place >= TWO_32 ? 1 : 0)
    }
  }
}
