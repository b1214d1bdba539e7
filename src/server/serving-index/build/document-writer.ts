/** Writes texts one after the other to a new file, and says how many bytes each has and what their checksums are. */

import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { PRIVATE_FILE } from '../../../support/file-modes.ts'

const BUFFER_BYTES = 1 << 20
/** Most bytes that one UTF-16 unit of a text takes in UTF-8. */
const BYTES_PER_UNIT = 3

/**
 * Synchronous on purpose: nothing else is done while an index is made, and a text goes into the buffer without a
 * copy of its own. Errors are the system's (`ENOSPC`, …).
 */
export class DocumentWriter {
  readonly #file: number
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  #used = 0
  #flushed = 0
  #crc32 = 0
  #hash = createHash('sha256')
  #open = true

  constructor(path: string) {
    this.#file = openSync(path, 'wx', PRIVATE_FILE)
  }

  /** Where the next text will stand, in bytes from the file's beginning. */
  get at(): number {
    return this.#flushed + this.#used
  }

  /** CRC-32 of what was written since the last `beginDocument`. */
  get crc32(): number {
    return this.#crc32
  }

  beginDocument(): void {
    this.#crc32 = 0
  }

  /** @returns the text's length in bytes */
  write(text: string | Uint8Array): number {
    if (typeof text !== 'string') return this.#writeBytes(text)
    if (text.length * BYTES_PER_UNIT > BUFFER_BYTES - this.#used) this.#flush()
    if (text.length * BYTES_PER_UNIT > BUFFER_BYTES) {
      const bytes = Buffer.from(text)
      this.#crc32 = crc32(bytes, this.#crc32)
      this.#writeOut(bytes)
      return bytes.length
    }
    const written = this.#buffer.write(text, this.#used)
    this.#crc32 = crc32(this.#buffer.subarray(this.#used, this.#used + written), this.#crc32)
    this.#used += written
    return written
  }

  #writeBytes(bytes: Uint8Array): number {
    this.#crc32 = crc32(bytes, this.#crc32)
    if (bytes.length > BUFFER_BYTES - this.#used) this.#flush()
    if (bytes.length > BUFFER_BYTES) this.#writeOut(bytes)
    else {
      this.#buffer.set(bytes, this.#used)
      this.#used += bytes.length
    }
    return bytes.length
  }

  /** Brings what was written to the disk and closes the file. */
  finish(): { readonly bytes: number; readonly sha256: string } {
    this.#flush()
    fsyncSync(this.#file)
    this.close()
    return { bytes: this.#flushed, sha256: this.#hash.digest('hex') }
  }

  /** Closes the file as it is. */
  close(): void {
    if (this.#open) closeSync(this.#file)
    this.#open = false
  }

  #flush(): void {
    this.#writeOut(this.#buffer.subarray(0, this.#used))
    this.#used = 0
  }

  #writeOut(bytes: Uint8Array): void {
    // One call may take only a part, also just before the disk is full.
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done)
    this.#hash.update(bytes)
    this.#flushed += bytes.length
  }
}
