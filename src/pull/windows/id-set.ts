/** Ids of companies on the disk, eight bytes each, beside the files that hold the records; and as a set in memory. */

import { constants, type FileHandle, open, readFile } from 'node:fs/promises'
import { systemCode, ToolkitError } from '../../core/errors.ts'
import { replaceDurably } from '../../support/durable-files.ts'

export const ID_BYTES = BigInt64Array.BYTES_PER_ELEMENT

/** The file of ids beside one of JSON Lines. */
export const idsPath = (path: string): string => path.replace(/\.jsonl$/, '.ids')

const bytesOf = (ids: BigInt64Array): Buffer => Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength)

/** Opens the file beside a window's, cut to so many ids. */
export const openIds = async (path: string, ids: number): Promise<FileHandle> => {
  const file = await open(idsPath(path), constants.O_RDWR | constants.O_CREAT)
  await file.truncate(ids * ID_BYTES)
  return file
}

/** Writes ids behind the first so many of a file. */
export const writeIds = async (file: FileHandle, ids: BigInt64Array, behind: number): Promise<void> => {
  if (ids.length > 0) await file.write(bytesOf(ids), 0, ids.byteLength, behind * ID_BYTES)
}

/** Writes a whole file of ids, in place of one that is there. */
export const writeIdsFile = (path: string, pages: readonly BigInt64Array[]): Promise<void> =>
  replaceDurably(path, Buffer.concat(pages.map(bytesOf)))

/** Ids as they stand in a file. */
export const idsIn = (bytes: Buffer): BigInt64Array => {
  // A view of 64 bits needs its bytes at a multiple of eight; a torn last id is none.
  const ids = new BigInt64Array(Math.floor(bytes.length / ID_BYTES))
  bytesOf(ids).set(bytes.subarray(0, ids.byteLength))
  return ids
}

/** The ids of a file; none where there is no such file. @throws {ToolkitError} SOURCE_UNREADABLE */
export const readIds = async (path: string): Promise<BigInt64Array | undefined> => {
  try {
    return idsIn(await readFile(path))
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw new ToolkitError('SOURCE_UNREADABLE', `Cannot read "${path}"`, {}, error)
  }
}

/** Ids to look up, in eight bytes each: a search may have millions. */
export class IdSet {
  readonly #sorted: BigInt64Array

  private constructor(sorted: BigInt64Array) {
    this.#sorted = sorted
  }

  /** The ids of several files; those that are missing hold none. */
  static async read(paths: readonly string[]): Promise<IdSet> {
    const parts: BigInt64Array[] = []
    for (const path of paths) parts.push((await readIds(path)) ?? new BigInt64Array())
    return IdSet.of(parts)
  }

  static of(parts: readonly BigInt64Array[]): IdSet {
    const all = new BigInt64Array(parts.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const part of parts) {
      all.set(part, at)
      at += part.length
    }
    return new IdSet(all.sort())
  }

  has(id: bigint): boolean {
    let [low, high] = [0, this.#sorted.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#sorted[middle] ?? 0n) < id) low = middle + 1
      else high = middle
    }
    return this.#sorted[low] === id
  }
}
