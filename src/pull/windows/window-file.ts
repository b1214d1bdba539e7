/**
 * A window's records on the disk: a file of JSON Lines that grows page by page, and beside it a checkpoint that
 * says how far it is valid. Knows files and pages, not the service.
 */

import { createHash, type Hash } from 'node:crypto'
import { type FileHandle, readFile, rm } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { SearchParameters } from '../../contract/requests.ts'
import { systemCode, ToolkitError, writeError } from '../../core/errors.ts'
import type { Fingerprint } from '../../core/source.ts'
import { crc32Of } from '../../support/crc32.ts'
import { replaceDurably } from '../../support/durable-files.ts'
import { FILE_FLAGS, openFile } from '../../support/file-modes.ts'
import { hashFile, seal, unseal } from '../../support/hash.ts'
import { anyText, anything, finiteNumber, fits, list, objectOf } from '../../support/json-form.ts'
import { statPath } from '../../support/list-files.ts'
import type { GapsToList } from './gap-steps.ts'
import { ID_BYTES, openIds, writeIds } from './id-set.ts'

/** How much of a window there is. */
interface Extent {
  readonly bytes: number
  readonly records: number
  /** Pages with records. */
  readonly pages: number
  /** Sum of the greatest `TotalCount` of each chain, or of what was counted at its end if fewer came, and what the parts of a window that was cut again leave out. */
  readonly announced: number
  /** Ids in the file beside it; absent where there is none. */
  readonly ids?: number
}

/** State of a window after a page. */
export interface Checkpoint extends Extent {
  /** Searches pulled one after the other; more than one where the window was cut again. */
  readonly chains: readonly SearchParameters[]
  /** The records that the parts of a window that was cut again leave out, until they are found. */
  readonly gaps?: readonly GapsToList[]
  /** The first of the chains that bring it; absent where there are none. */
  readonly closingFrom?: number
  /** The chain at work, from 0; the number of chains when all are done. */
  readonly chain: number
  /** The extent before that chain, for when it begins again. */
  readonly before: Extent
  /** The cursor of the next request. */
  readonly cursor: string
  /** Greatest `InternalId` of the chain so far, and a hash of those of its last page. */
  readonly lastId: string | null
  readonly lastIds: string | null
  /** How often this process began the chain again because its cursor was refused. */
  readonly restarts: number
  /** When the window's first page came, by the service's clock. */
  readonly asOf: string | null
  /** As of when the data of its last page is. */
  readonly lastAsOf: string | null
  /** CRC-32 of what the file has so far: unlike a hash it can be continued by another process. */
  readonly crc32?: number
  /** The hash of the whole file, once it is whole. */
  readonly sha256?: string
}

export const NOTHING: Extent = { bytes: 0, records: 0, pages: 0, announced: 0 }

const checkpointPath = (path: string): string => path.replace(/\.jsonl$/, '.json')

const STORED = objectOf({
  ...{
    bytes: finiteNumber,
    records: finiteNumber,
    pages: finiteNumber,
    announced: finiteNumber,
    chain: finiteNumber,
    restarts: finiteNumber,
  },
  ...{ chains: list(anything), before: anything, cursor: anyText },
})
const isCheckpoint = (value: unknown): value is Checkpoint => fits(STORED, value)

/**
 * The checkpoint of a window; `undefined` where it has not begun.
 *
 * @throws {ToolkitError} RUN_NOT_RESUMABLE when it is damaged: what was loaded of the window is counted by it
 */
export const readCheckpoint = async (path: string): Promise<Checkpoint | undefined> => {
  try {
    const read = unseal(await readFile(checkpointPath(path)))
    if (read.kind !== 'damaged' && isCheckpoint(read.value)) return read.value
    throw new ToolkitError(
      'RUN_NOT_RESUMABLE',
      `Cannot resume "${path}": its checkpoint is damaged, "firmlake gc" removes the run`,
    )
  } catch (error) {
    if (error instanceof ToolkitError) throw error
    if (systemCode(error) === 'ENOENT') return undefined
    throw new ToolkitError('SOURCE_UNREADABLE', `Cannot read "${checkpointPath(path)}"`, {}, error)
  }
}

/** Whether a window's file still begins with what its checkpoint counts. */
export const holds = async (path: string, { bytes, crc32: sum }: Checkpoint): Promise<boolean> => {
  if (bytes === 0) return true
  if (((await statPath(path))?.bytes ?? 0) < bytes) return false
  return sum === undefined || (await crc32Of(path, bytes)) === sum
}

/** Whether the file of a window that was whole still is. */
export const isWholeWindow = async (path: string, { bytes, sha256 }: Checkpoint): Promise<boolean> =>
  (await statPath(path))?.bytes === bytes && (await hashFile(path)).sha256 === sha256

const writeCheckpoint = (path: string, checkpoint: Checkpoint): Promise<void> =>
  replaceDurably(checkpointPath(path), seal(JSON.stringify(checkpoint)))

/** A window's file, open for its next page. One writer at a time. */
export class WindowFile {
  readonly #path: string
  readonly #file: FileHandle
  readonly #ids: FileHandle | undefined
  #hash: Hash | undefined
  #bytes: number
  #crc32: number

  private constructor(
    path: string,
    file: FileHandle,
    bytes: number,
    sum: number,
    ids: FileHandle | undefined,
  ) {
    this.#path = path
    this.#file = file
    this.#ids = ids
    this.#bytes = bytes
    this.#crc32 = sum
    // The bytes of an earlier process are hashed at the end: a hash cannot be kept half done.
    if (bytes === 0) this.#hash = createHash('sha256')
  }

  /**
   * Opens the file and cuts it to what its checkpoint says.
   *
   * @param ids how many are kept beside it so far; absent: none are to be kept
   * @throws {ToolkitError} DISK_FULL, WRITE_FAILED
   */
  static async open(path: string, bytes: number, ids?: number): Promise<WindowFile> {
    try {
      const file = await openFile(path, bytes === 0 ? FILE_FLAGS.emptied : FILE_FLAGS.asItIs)
      await file.truncate(bytes)
      const kept = ids === undefined ? undefined : await openIds(path, ids)
      return new WindowFile(path, file, bytes, await crc32Of(path, bytes), kept)
    } catch (error) {
      throw writeError(`Cannot open "${path}"`, error)
    }
  }

  /** Appends a page's lines and brings them to the disk, then the checkpoint that counts them. */
  async append(lines: Buffer, ids: BigInt64Array, after: Checkpoint): Promise<void> {
    try {
      // Not synced: an id that is lost here only fetches its company again.
      if (this.#ids) await writeIds(this.#ids, ids, (after.ids ?? 0) - ids.length)
      for (let at = 0; at < lines.length; ) {
        const { bytesWritten } = await this.#file.write(lines, at, lines.length - at, this.#bytes + at)
        at += bytesWritten
      }
      if (lines.length > 0) await this.#file.datasync()
      this.#hash?.update(lines)
      this.#crc32 = crc32(lines, this.#crc32)
      this.#bytes += lines.length
      await this.#checkpoint(after)
    } catch (error) {
      throw writeError(`Cannot write "${this.#path}"`, error)
    }
  }

  /** Cuts the file to what a checkpoint counts, when a chain begins again. */
  async cutTo(checkpoint: Checkpoint): Promise<void> {
    try {
      this.#crc32 = await crc32Of(this.#path, checkpoint.bytes)
      // First what is true of the shorter file too, then the file.
      await this.#checkpoint(checkpoint)
      await this.#file.truncate(checkpoint.bytes)
      await this.#ids?.truncate((checkpoint.ids ?? 0) * ID_BYTES)
      this.#bytes = checkpoint.bytes
      this.#hash = checkpoint.bytes === 0 ? createHash('sha256') : undefined
    } catch (error) {
      throw writeError(`Cannot cut "${this.#path}"`, error)
    }
  }

  async #checkpoint(checkpoint: Checkpoint): Promise<void> {
    await writeCheckpoint(this.#path, { ...checkpoint, crc32: this.#crc32 })
  }

  /** Writes the last checkpoint, with the hash of the whole file. */
  async finish(checkpoint: Checkpoint): Promise<Checkpoint> {
    const sha256 = this.#hash?.digest('hex') ?? (await hashFile(this.#path)).sha256
    const whole = { ...checkpoint, sha256 }
    try {
      await this.#checkpoint(whole)
    } catch (error) {
      throw writeError(`Cannot write the checkpoint of "${this.#path}"`, error)
    }
    return whole
  }

  async close(): Promise<void> {
    await this.#ids?.close()
    await this.#file.close()
  }
}

/** Length and hash of a window that is whole. */
export const fingerprintOf = (path: string, { bytes, sha256 }: Checkpoint): Fingerprint => {
  if (sha256 === undefined) throw new TypeError(`Cannot give the hash of "${path}": it is not whole`)
  return { bytes, sha256 }
}

/** Removes the file with its checkpoint: the window is begun again. */
export const forgetWindow = async (path: string): Promise<void> => {
  await rm(checkpointPath(path), { force: true })
  await removeWindowFile(path)
}

/** Removes the file; its checkpoint stays, so that a resumed run knows that the window was pulled. */
export const removeWindowFile = (path: string): Promise<void> => rm(path, { force: true })
