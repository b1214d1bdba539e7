/** Files of a lake whose footers DuckDB can read. Of a bucket's files nothing else is fetched. */

import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type PlaceOf, withFiles } from '../../lake/files/fetch-tables.ts'
import { storageOf } from '../../storage/open-storage.ts'
import type { FileFacts, Storage } from '../../storage/storage.ts'
import { sideBySide } from '../../support/side-by-side.ts'

const FETCHED_AT_ONCE = 8
/** Most footers are shorter. */
const END_BYTES = 64 * 1024
/** The length of the footer in four bytes, and `PAR1`. */
const TAIL_BYTES = 8

type ReadEnd = NonNullable<Storage['readEnd']>

/** The end of a Parquet file from its footer on. */
const footerOf = async (readEnd: ReadEnd, file: FileFacts): Promise<Buffer> => {
  const end = await readEnd(file, Math.min(END_BYTES, file.bytes))
  const needed = Math.min(file.bytes, end.readUInt32LE(end.length - TAIL_BYTES) + TAIL_BYTES)
  return needed <= end.length ? end : readEnd(file, needed)
}

/** Writes a file that has a length and an end, and in between nothing that takes room on a disk. */
const writeEnd = async (path: string, bytes: number, end: Buffer): Promise<void> => {
  const handle = await open(path, 'w', 0o600)
  try {
    await handle.truncate(bytes)
    await handle.write(end, 0, end.length, bytes - end.length)
  } finally {
    await handle.close()
  }
}

/**
 * Lets DuckDB read the footers of files for as long as `use` runs.
 *
 * @param folder of this machine, in which nobody else writes
 * @throws {ToolkitError} `LAKE_DAMAGED`, `STORAGE_REFUSED`, `STORAGE_FAILED`
 */
export const withFooters = async <T>(
  lake: string,
  files: readonly FileFacts[],
  folder: string,
  use: (placeOf: PlaceOf) => Promise<T>,
): Promise<T> => {
  const { readEnd } = storageOf(lake)
  // Lengths are compared: hashes are verify's matter.
  if (readEnd === undefined) return withFiles(lake, files, join(folder, 'none'), { known: 'all' }, use)
  const places = new Map(files.map(({ path }, at) => [path, join(folder, `footer-${at}.parquet`)]))
  const placeOf: PlaceOf = (path) => places.get(path) ?? path
  try {
    await sideBySide(files, FETCHED_AT_ONCE, async (file) =>
      writeEnd(placeOf(file.path), file.bytes, await footerOf(readEnd, file)),
    )
    return await use(placeOf)
  } finally {
    for (const path of places.values()) await rm(path, { force: true })
  }
}
