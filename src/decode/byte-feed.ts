export type StreamFaultKind = 'truncated' | 'damaged' | 'trailing' | 'window'

/** A fault of one compressed stream. It never leaves this room: `decompress` adds the source's name and a code. */
export class StreamFault extends Error {
  override readonly name = 'StreamFault'
  readonly kind: StreamFaultKind
  /** Offset in the compressed source, in bytes. Of damage: where the decoder stood, not the damaged byte. */
  readonly offset: number
  constructor(kind: StreamFaultKind, offset: number, reason: string, cause?: unknown) {
    super(reason, { cause })
    this.kind = kind
    this.offset = offset
  }
}

/** The fault of bytes after a whole stream that are no further one. */
export const trailingAt = (offset: number, cause?: unknown): StreamFault =>
  new StreamFault('trailing', offset, 'the data continues with bytes that are no further stream', cause)

/** The fault of a source that ends at `offset`, inside a stream. */
export const truncatedAt = (offset: number, cause?: unknown): StreamFault =>
  new StreamFault('truncated', offset, 'the data ends too early', cause)

/**
 * A source of chunks from which a reader takes as much as it needs, and returns what it did not use; and what may be wrong with
 * its bytes.
 */

export interface ByteFeed {
  /** Offset in the source of the byte that comes next. */
  position(): number
  /** The next bytes, at least 1 and at most `maxBytes`; `undefined` at the end. */
  next(maxBytes?: number): Promise<Buffer | undefined>
  /** Returns the last bytes of `next`. */
  unread(rest: Buffer): void
  /** Peeks at the next bytes: `size` of them, fewer only at the end. */
  peek(size: number): Promise<Buffer>
  /** Takes exactly `size` bytes. @throws {StreamFault} `truncated` when the source ends before */
  take(size: number): Promise<Buffer>
  /** Releases the source; its files are closed afterwards. */
  close(): Promise<void>
}

export interface ByteFeedOptions {
  /** Receives the size of each chunk as it comes in. */
  readonly onInput?: ((bytes: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** Opens a feed over chunks. Holds one chunk, or what `peek` asked for. */
export const byteFeed = (chunks: AsyncIterable<Buffer>, options: ByteFeedOptions = {}): ByteFeed => {
  const source = chunks[Symbol.asyncIterator]()
  let held: Buffer = Buffer.alloc(0)
  let taken = 0
  let ended = false

  const pull = async (): Promise<Buffer | undefined> => {
    while (!ended) {
      options.signal?.throwIfAborted()
      const result = await source.next()
      if (result.done) ended = true
      else if (result.value.length > 0) {
        options.onInput?.(result.value.length)
        return result.value
      }
    }
    return undefined
  }

  const next = async (maxBytes = Number.MAX_SAFE_INTEGER) => {
    options.signal?.throwIfAborted()
    if (held.length === 0) held = (await pull()) ?? held
    if (held.length === 0) return undefined
    const piece = held.subarray(0, maxBytes)
    held = held.subarray(piece.length)
    taken += piece.length
    return piece
  }

  const unread = (rest: Buffer) => {
    held = held.length === 0 ? rest : Buffer.concat([rest, held])
    taken -= rest.length
  }

  const peek = async (size: number) => {
    if (held.length >= size) return held.subarray(0, size)
    // Copies: a chunk may be read only until the next one is asked for.
    const parts = [Buffer.from(held)]
    let bytes = held.length
    while (bytes < size) {
      const chunk = await pull()
      if (chunk === undefined) break
      parts.push(Buffer.from(chunk))
      bytes += chunk.length
    }
    held = Buffer.concat(parts, bytes)
    return held.subarray(0, size)
  }

  const take = async (size: number) => {
    const bytes = await peek(size)
    if (bytes.length < size) throw truncatedAt(taken + bytes.length)
    held = held.subarray(size)
    taken += size
    return bytes
  }

  const close = async () => {
    ended = true
    await source.return?.()
  }

  return { position: () => taken, next, unread, peek, take, close }
}
