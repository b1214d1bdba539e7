/**
 * Memory of blocks, reused. Fresh memory for each block would be cleared page by page by the system and
 * bring the garbage collector to work for every few of them.
 */
export class BlockMemory {
  readonly #free: Buffer[] = []
  readonly #shared: boolean

  /** @param shared whether other threads read the blocks too @default false */
  constructor(shared = false) {
    this.#shared = shared
  }

  /** A buffer of at least `size` bytes with any content. */
  take(size: number): Buffer {
    const at = this.#free.findIndex((buffer) => buffer.length >= size)
    const [found] = at < 0 ? [] : this.#free.splice(at, 1)
    if (found !== undefined) return found
    return this.#shared ? Buffer.from(new SharedArrayBuffer(size)) : Buffer.allocUnsafeSlow(size)
  }

  /** Takes a buffer back; nobody may use it any more. */
  give(buffer: Buffer): void {
    this.#free.push(buffer)
  }
}
