/** Memory of chunks that a stream of node:zlib gives, given back at once. */

/**
 * Frees the memory of a chunk that has been used. Left to the garbage collector, chunks that are outside of its heap bring it to
 * work for every few of them, on a heap that has hardly any garbage. A stream goes on in what a chunk leaves of its memory: only
 * when a chunk reaches to the end, the next one has other memory.
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
