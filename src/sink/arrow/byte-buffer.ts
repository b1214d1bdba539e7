/** Bytes that grow at their end, and may be taken again and again. */

const FIRST_BYTES = 4096
const NOTHING = new Uint8Array(0)

/** Whether memory that was taken is used again when it has been taken once more. */
export type Memory = 'fresh' | 'in-turn'

export class ByteBuffer {
  #bytes = NOTHING
  #other = NOTHING
  #size = 0
  readonly #inTurn: boolean
  /** @param memory fresh whenever it was taken, or two memories in turn: large ones cost much to make and to collect */
  constructor(memory: Memory) {
    this.#inTurn = memory === 'in-turn'
  }

  /** Bytes in it. */
  get size(): number {
    return this.#size
  }

  /** Makes room for more bytes. @returns the memory, and where they are to be put */
  grow(more: number): { readonly bytes: Uint8Array<ArrayBuffer>; readonly at: number } {
    const at = this.#size
    this.#size += more
    if (this.#size > this.#bytes.length) {
      const larger = new Uint8Array(Math.max(this.#size, this.#bytes.length * 2, FIRST_BYTES))
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    return { bytes: this.#bytes, at }
  }

  append(source: Uint8Array, start: number, end: number): void {
    const { bytes, at } = this.grow(end - start)
    // Short texts are most: a view of each would cost more than its bytes.
    if (end - start > 64) bytes.set(source.subarray(start, end), at)
    else for (let from = start; from < end; from++) bytes[at + from - start] = source[from] ?? 0
  }

  /** Its bytes; it is empty afterwards. In turn with another they stay as they are until it was taken once more. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = this.#bytes.subarray(0, this.#size)
    const other = this.#inTurn ? this.#other : NOTHING
    this.#other = this.#bytes
    this.#bytes = other.length >= this.#bytes.length ? other : new Uint8Array(this.#bytes.length)
    this.#size = 0
    return taken
  }
}
