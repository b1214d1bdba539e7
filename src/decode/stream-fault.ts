/** What is wrong with compressed bytes, and where. `decompress` adds the source's name and a code. */

export type StreamFaultKind = 'truncated' | 'damaged' | 'trailing' | 'window'

/** A fault of one compressed stream; never leaves this room. */
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
