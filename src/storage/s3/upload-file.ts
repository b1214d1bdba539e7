/** Sends large objects in parts, a few parts in memory at a time, and files with a check of what arrived. */

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import type { HeadObjectCommandOutput, PutObjectCommandInput } from '@aws-sdk/client-s3'
import { ToolkitError, writeError } from '../../core/errors.ts'
import type { FileFacts } from '../storage.ts'
import type { S3 } from './s3-connection.ts'

const PART_BYTES = 8 * 1024 ** 2
const PARTS_AT_ONCE = 3
/** The most that S3 takes. */
const MOST_PARTS = 10_000

const partBytesOf = (bytes: number): number => Math.max(PART_BYTES, Math.ceil(bytes / MOST_PARTS))

/**
 * Sends a body in parts, or at once where it is one part. After a failure the parts that arrived are removed, as far
 * as the endpoint can be reached.
 */
export const uploadParts = async (
  { client }: S3,
  params: Omit<PutObjectCommandInput, 'Body'>,
  body: Buffer | Readable,
  bytes: number,
): Promise<void> => {
  const { Upload } = await import('@aws-sdk/lib-storage')
  const upload = new Upload({
    client,
    params: { ...params, Body: body, ContentLength: bytes },
    partSize: partBytesOf(bytes),
    queueSize: PARTS_AT_ONCE,
  })
  await upload.done()
}

/** CRC-32 of a file as a whole and of its parts, as S3 writes them: base64, the most significant byte first. */
class Checksums {
  readonly #partBytes: number
  readonly #parts: number[] = []
  #whole = 0
  #part = 0
  #partSize = 0

  constructor(partBytes: number) {
    this.#partBytes = partBytes
  }

  update(chunk: Buffer): void {
    this.#whole = crc32(chunk, this.#whole)
    for (let from = 0; from < chunk.length; ) {
      if (this.#partSize === this.#partBytes) this.#endPart()
      const some = chunk.subarray(from, from + this.#partBytes - this.#partSize)
      this.#part = crc32(some, this.#part)
      this.#partSize += some.length
      from += some.length
    }
  }

  #endPart(): void {
    this.#parts.push(this.#part)
    this.#part = 0
    this.#partSize = 0
  }

  static #bytes(...checksums: readonly number[]): Buffer {
    const bytes = Buffer.alloc(4 * checksums.length)
    for (const [at, checksum] of checksums.entries()) bytes.writeUInt32BE(checksum, 4 * at)
    return bytes
  }

  /** Whether they are those that the storage reports; where it reports none, only the length can be compared. */
  agree({ ChecksumCRC32, ChecksumType }: HeadObjectCommandOutput): boolean {
    if (ChecksumCRC32 === undefined) return true
    if (ChecksumType !== 'COMPOSITE')
      return ChecksumCRC32 === Checksums.#bytes(this.#whole).toString('base64')
    const parts = this.#partSize > 0 ? [...this.#parts, this.#part] : this.#parts
    const ofParts = crc32(Checksums.#bytes(...parts))
    return ChecksumCRC32 === `${Checksums.#bytes(ofParts).toString('base64')}-${parts.length}`
  }
}

/**
 * Sends a local file and sees that it arrived whole: each part under a CRC-32, the file's SHA-256 compared while it is
 * read, then length and CRC-32 of the object as the storage reports them.
 *
 * @param name the object in messages
 * @throws {ToolkitError} `WRITE_FAILED` where the local file is not what it should be, `STORAGE_FAILED` where what
 * arrived is not; else the SDK's or the system's errors
 */
export const uploadFile = async (
  s3: S3,
  at: { readonly Bucket: string; readonly Key: string },
  from: string,
  { bytes, sha256 }: FileFacts,
  name: string,
): Promise<void> => {
  const checksums = new Checksums(partBytesOf(bytes))
  const read = async function* (): AsyncGenerator<Buffer> {
    const hash = createHash('sha256')
    let length = 0
    try {
      for await (const chunk of createReadStream(from, { highWaterMark: 1 << 20 })) {
        length += chunk.length
        hash.update(chunk)
        checksums.update(chunk)
        yield chunk
      }
    } catch (error) {
      throw writeError(`Cannot store "${name}"`, error)
    }
    // Before the end of the stream: without that end nothing appears under the key.
    if (length !== bytes || hash.digest('hex') !== sha256)
      throw new ToolkitError(
        'WRITE_FAILED',
        `Cannot store "${name}": the staged file changed since it was written`,
      )
  }
  await uploadParts(s3, at, Readable.from(read(), { objectMode: false }), bytes)
  const { sdk, client } = s3
  const head = await client.send(new sdk.HeadObjectCommand({ ...at, ChecksumMode: 'ENABLED' }))
  if (head.ContentLength !== bytes || !checksums.agree(head))
    throw new ToolkitError(
      'STORAGE_FAILED',
      `Cannot store "${name}": what arrived there is not what was sent, expected ${bytes} bytes with its checksum`,
      { bytes },
    )
}
