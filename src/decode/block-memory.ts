/**
 * Memory of blocks, reused. Fresh memory for each block would be cleared page by page by the system and
 * bring the garbage collector to work for every few of them.
 */
export class BlockMemory {
  readonly #free: Buffer[] = []

  /** A buffer of at least `size` bytes with any content. */
  take(size: number): Buffer {
    const at = this.#free.findIndex((buffer) => buffer.length >= size)
    return at < 0
      ? Buffer.allocUnsafeSlow(size)
      : (this.#free.splice(at, 1)[0] ?? Buffer.allocUnsafeSlow(size))
  }

  /** Takes a buffer back; nobody may use it any more. */
  give(buffer: Buffer): void {
    this.#free.push(buffer)
  }
}
