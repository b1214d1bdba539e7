/** Memory that is used again: bytes written one after the other, and chunks of a stream of node:zlib. */

const FIRST_BYTES = 1 << 16
/** Shorter pieces are copied byte by byte: a call would cost more. */
const CALLED_BYTES = 48

/** Writes bytes one after the other into memory that grows. */
export class ByteWriter {
  /** The bytes before `length` are written. Another buffer after `reserve`. */
  bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  /** The same memory, to write words anywhere in it. */
  words = new DataView(this.bytes.buffer)
  length = 0

  /** Makes room for so many bytes more. */
  reserve(room: number): void {
    if (this.length + room <= this.bytes.length) return
    const larger = Buffer.allocUnsafeSlow(2 * (this.bytes.length + room))
    this.bytes.copy(larger, 0, 0, this.length)
    this.bytes = larger
    this.words = new DataView(larger.buffer)
  }

  byte(value: number): void {
    this.reserve(1)
    this.bytes[this.length++] = value
  }

  append(source: Uint8Array, start = 0, end = source.length): void {
    const size = end - start
    this.reserve(size)
    const { bytes, length } = this
    if (size > CALLED_BYTES) bytes.set(source.subarray(start, end), length)
    else for (let at = 0; at < size; at++) bytes[length + at] = source[start + at] ?? 0
    this.length = length + size
  }

  /** A text of ASCII characters. */
  ascii(text: string): void {
    this.reserve(text.length)
    const { bytes } = this
    for (let at = 0; at < text.length; at++) bytes[this.length++] = text.charCodeAt(at)
  }

  clear(): void {
    this.length = 0
  }

  /** The written bytes, until the next write. */
  written(): Buffer {
    return this.bytes.subarray(0, this.length)
  }

  text(): string {
    return this.bytes.toString('utf8', 0, this.length)
  }
}

/**
 * Frees the memory of a chunk that has been used. Left to the garbage collector, chunks that are outside of its heap bring it to
 * work for every few of them, on a heap that has hardly any garbage. A stream fills the rest of the memory of a chunk:
 * only when a chunk reaches to its end, the next one has other memory.
 *
 * @param chunkBytes the stream's `chunkSize`
 */
export const freeChunk = ({ buffer, byteOffset, byteLength }: Buffer, chunkBytes: number): void => {
  if (
    buffer instanceof ArrayBuffer &&
    buffer.byteLength === chunkBytes &&
    byteOffset + byteLength === chunkBytes
  )
    buffer.transfer(0)
}
