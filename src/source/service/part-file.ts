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

/** The file, and the version of it, that the bytes are of. */
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

export interface PartFile {
  /** Bytes in hand. */
  readonly bytes: number
  readonly version: PartVersion
  /** SHA-256 of the bytes in hand, in hex. */
  readonly sha256: () => string
  /** Drops all bytes, and takes those that come as of this version. */
  readonly restart: (version: PartVersion) => Promise<void>
  readonly write: (chunk: Buffer) => Promise<void>
  /** Gives the file its name; it is on the disk afterwards. */
  readonly finish: () => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * Resumes from what an earlier run left of the same source, else begins at 0.
 *
 * @param source identifies the file: address and id
 */
export const openPartFile = async (path: string, source: string, signal?: AbortSignal): Promise<PartFile> => {
  await makeFolder(dirname(path))
  const { source: of, boot, ...saved } = await readSaved(`${path}.part.json`)
  // Bytes of before a restart of the machine may never have reached the disk.
  const isKnown = of === source && boot === thisProcess().boot && saved.etag !== undefined
  const handle = await openFile(`${path}.part`, isKnown ? FILE_FLAGS.appended : FILE_FLAGS.emptied)
  let version: PartVersion = isKnown ? saved : {}
  let { hash, bytes } = await hashStart(handle, signal).catch(async (error: unknown) => {
    await handle.close()
    throw error
  })
  return {
    get bytes() {
      return bytes
    },
    get version() {
      return version
    },
    sha256: () => hash.copy().digest('hex'),

    restart: async (next) => {
      await handle.truncate(0)
      hash = createHash('sha256')
      bytes = 0
      version = next
      const text: Saved = { source, boot: thisProcess().boot, ...next }
      await replaceDurably(`${path}.part.json`, `${JSON.stringify(text)}\n`)
    },

    write: async (chunk) => {
      let done = 0
      // Opened to append or at its start, and written only here: the position is always `bytes`.
      while (done < chunk.length) {
        const { bytesWritten } = await handle.write(chunk, done, chunk.length - done, bytes + done)
        done += bytesWritten
      }
      hash.update(chunk)
      bytes += chunk.length
    },

    finish: async () => {
      await handle.sync()
      await rename(`${path}.part`, path)
      await rm(`${path}.part.json`, { force: true })
      await fsyncFolder(dirname(path))
    },

    close: () => handle.close(),
  }
}
