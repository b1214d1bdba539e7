/**
 * Memory of blocks, used again: fresh memory for each would be cleared page by page by the system. It is shared, for threads that
 * check, and as V8 does not weigh shared memory: blocks of 33 MB would bring it to collect garbage where there is none.
 */
export class BlockMemory {
  readonly #free: Buffer[] = []

  /** A buffer of at least `size` bytes with any content. */
  take(size: number): Buffer {
    const at = this.#free.findIndex((buffer) => buffer.length >= size)
    const [found] = at < 0 ? [] : this.#free.splice(at, 1)
    return found ?? Buffer.from(new SharedArrayBuffer(size))
  }

  /** Takes a buffer back; nobody may use it any more. */
  give(buffer: Buffer): void {
    this.#free.push(buffer)
  }
}
