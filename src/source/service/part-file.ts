/**
 * A download that is not finished: `<path>.part` with its bytes, and `<path>.part.json` beside it that says of
 * which version of which file they are. Knows files and hashes, not HTTP.
 */

import { createHash, type Hash } from 'node:crypto'
import { type FileHandle, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fsyncFolder, makeFolder, replaceDurably } from '../../support/durable-files.ts'
import { FILE_FLAGS, openFile } from '../../support/file-modes.ts'
import { isObject } from '../../support/json-form.ts'
import { thisProcess } from '../../support/process-identity.ts'

/** Which version of which file the bytes are of. */
export interface PartVersion {
  readonly etag?: string
  /** Whole length in bytes. */
  readonly sizeBytes?: number
  /** SHA-256 of the whole file in hex. */
  readonly sha256?: string
}

const CHUNK_BYTES = 1 << 20

interface Saved extends PartVersion {
  readonly source: string
  readonly boot: string
}

const readSaved = async (path: string): Promise<Partial<Saved>> => {
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'))
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** Hash and length of what is in a file. */
const hashStart = async (
  handle: FileHandle,
  signal?: AbortSignal,
): Promise<{ hash: Hash; bytes: number }> => {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
  let bytes = 0
  for (;;) {
    signal?.throwIfAborted()
    const { bytesRead } = await handle.read(buffer, 0, CHUNK_BYTES, bytes)
    if (bytesRead === 0) return { hash, bytes }
    hash.update(buffer.subarray(0, bytesRead))
    bytes += bytesRead
  }
}

export class PartFile {
  readonly #path: string
  readonly #source: string
  readonly #handle: FileHandle
  #hash: Hash
  #bytes: number
  #version: PartVersion

  private constructor(
    path: string,
    source: string,
    handle: FileHandle,
    start: { hash: Hash; bytes: number },
  ) {
    this.#path = path
    this.#source = source
    this.#handle = handle
    this.#hash = start.hash
    this.#bytes = start.bytes
    this.#version = {}
  }

  /**
   * Resumes from what an earlier run left of the same source, else begins at 0.
   *
   * @param source identifies the file: address and id
   */
  static async open(path: string, source: string, signal?: AbortSignal): Promise<PartFile> {
    await makeFolder(dirname(path))
    const { source: of, boot, ...version } = await readSaved(`${path}.part.json`)
    // Bytes of before a restart of the machine may never have reached the disk.
    const known = of === source && boot === thisProcess().boot && version.etag !== undefined
    const handle = await openFile(`${path}.part`, known ? FILE_FLAGS.appended : FILE_FLAGS.emptied)
    try {
      const part = new PartFile(path, source, handle, await hashStart(handle, signal))
      if (known) part.#version = version
      return part
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** Bytes in hand. */
  get bytes(): number {
    return this.#bytes
  }
  get version(): PartVersion {
    return this.#version
  }

  /** Drops all bytes, and takes those that come as of this version. */
  async restart(version: PartVersion): Promise<void> {
    await this.#handle.truncate(0)
    this.#hash = createHash('sha256')
    this.#bytes = 0
    this.#version = version
    const saved: Saved = { source: this.#source, boot: thisProcess().boot, ...version }
    await replaceDurably(`${this.#path}.part.json`, `${JSON.stringify(saved)}\n`)
  }

  async write(chunk: Buffer): Promise<void> {
    let done = 0
    // Opened to append or at its start, and written only here: the position is always `#bytes`.
    while (done < chunk.length) {
      const { bytesWritten } = await this.#handle.write(chunk, done, chunk.length - done, this.#bytes + done)
      done += bytesWritten
    }
    this.#hash.update(chunk)
    this.#bytes += chunk.length
  }

  /** SHA-256 of the bytes in hand, in hex. */
  sha256(): string {
    return this.#hash.copy().digest('hex')
  }

  /** Gives the file its name; it is on the disk afterwards. */
  async finish(): Promise<void> {
    await this.#handle.sync()
    await rename(`${this.#path}.part`, this.#path)
    await rm(`${this.#path}.part.json`, { force: true })
    await fsyncFolder(dirname(this.#path))
  }

  close(): Promise<void> {
    return this.#handle.close()
  }
}
