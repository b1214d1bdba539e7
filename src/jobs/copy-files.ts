/** Data files and parts of the manifest on their way from one lake to another, each compared with its hash there. */

import { constants } from 'node:fs'
import { copyFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ToolkitError, writeError } from '../core/errors.ts'
import { PARTS_FOLDER, partPath } from '../lake/files/layout.ts'
import { filesIn, unseenEntries } from '../manifest/snapshots/listed-entries.ts'
import { readKnownRoot } from '../manifest/snapshots/snapshots.ts'
import { storageOf } from '../storage/open-storage.ts'
import type { FetchProgress, FileFacts, Storage } from '../storage/storage.ts'
import { fsyncFile, makeFolder } from '../support/durable-files.ts'
import { adoptFile } from '../support/file-modes.ts'
import { sideBySide } from '../support/side-by-side.ts'

const FILES_AT_ONCE = 4
const PARTS_AT_ONCE = 8

/** How far a copy is, of the files that were missing. */
export type CopyProgress = Omit<FetchProgress, 'phase'>

export interface Way {
  readonly lake: string
  readonly to: string
  /** Folder of this machine where files of the copy stand until they are whole. */
  readonly staging: string
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

/** The files that snapshots list, each once, and the names of all parts. */
interface ListedFiles {
  readonly files: ReadonlyMap<string, FileFacts>
  readonly parts: ReadonlySet<string>
}

/** @throws {ToolkitError} `SNAPSHOT_DAMAGED`, `LAKE_NEWER` */
export const readListed = async (lake: string, numbers: readonly number[]): Promise<ListedFiles> => {
  const parts = new Set<string>()
  const files = new Map<string, FileFacts>()
  // From the newest one back: of the older ones mostly nothing is left to read.
  for (const number of numbers.toReversed())
    for await (const listed of unseenEntries(lake, await readKnownRoot(lake, number), parts))
      for (const { path, bytes, sha256 } of filesIn(listed)) files.set(path, { path, bytes, sha256 })
  return { files, parts }
}

/** Files that a lake has not, or in another length. */
const missingFiles = async (to: string, { files }: ListedFiles): Promise<readonly FileFacts[]> => {
  const lengths = new Map<string, number>()
  for (const table of new Set([...files.keys()].map((path) => path.slice(0, path.indexOf('/')))))
    for (const { path, bytes } of await storageOf(to).list(table)) lengths.set(path, bytes)
  return [...files.values()].filter(({ path, bytes }) => lengths.get(path) !== bytes)
}

/** A file in the staging folder, its bytes as they will stand in the copy. */
const stageFile = async (from: Storage, folder: string, file: FileFacts, signal?: AbortSignal) => {
  // For a folder only the length is compared here: the copy is hashed.
  const found = await from.fetchTo(folder, [file], from.isRemote ? { signal } : { signal, known: 'all' })
  const staged = join(folder, ...file.path.split('/'))
  if (found === folder) return staged
  await makeFolder(dirname(staged))
  await copyFile(join(found, ...file.path.split('/')), staged, constants.COPYFILE_FICLONE)
  return staged
}

const bringFile = async ({ lake, to, staging, signal }: Way, file: FileFacts, at: number): Promise<void> => {
  const target = storageOf(to)
  const folder = join(staging, String(at))
  const staged = await stageFile(storageOf(lake), folder, file, signal)
  if (!(await target.isStaged(staged, file, signal)))
    throw new ToolkitError(
      'LAKE_DAMAGED',
      `Cannot copy "${file.path}" of lake "${lake}": its bytes are not what the manifest says; "firmlake verify" names all such files`,
      { lake, path: file.path },
    )
  if (!target.isRemote) await adoptFile(staged, target.local)
  await fsyncFile(staged)
  await target.stage(staged, file)
  await target.publish([{ from: staged, to: file.path }])
  await rm(folder, { recursive: true, force: true })
}

/** Copies what is missing. @returns what was copied @throws {ToolkitError} `LAKE_DAMAGED`, `DISK_FULL`, `WRITE_FAILED` */
export const bringFiles = async (
  way: Way,
  listed: ListedFiles,
): Promise<{ files: number; bytes: number }> => {
  const { lake, to, onProgress, signal } = way
  const missing = await missingFiles(to, listed)
  const bytesTotal = missing.reduce((sum, { bytes }) => sum + bytes, 0)
  let [files, bytes] = [0, 0]
  try {
    await sideBySide(
      missing,
      FILES_AT_ONCE,
      async (file, at) => {
        await bringFile(way, file, at)
        files += 1
        bytes += file.bytes
        onProgress?.({ files, filesTotal: missing.length, bytes, bytesTotal })
      },
      signal,
    )
    const folders = new Map(missing.map(({ path }) => [dirname(path), path]))
    await storageOf(to).sync([...folders.values()])
  } catch (error) {
    signal?.throwIfAborted()
    throw writeError(`Cannot copy lake "${lake}" to "${to}"`, error)
  }
  return { files, bytes }
}

/** Copies the parts that are missing, as they are. */
export const bringParts = async ({ lake, to, signal }: Way, { parts }: ListedFiles): Promise<void> => {
  const target = storageOf(to)
  const there = new Set((await target.entries(PARTS_FOLDER)).map(({ name }) => name))
  await sideBySide(
    [...parts].filter((name) => !there.has(name)),
    PARTS_AT_ONCE,
    async (name) => {
      const bytes = await storageOf(lake).read(partPath(name))
      if (bytes === null)
        throw new ToolkitError(
          'SNAPSHOT_DAMAGED',
          `Cannot read "${partPath(name)}", a part of a snapshot: it is missing`,
          {
            lake,
            path: partPath(name),
          },
        )
      await target.create(partPath(name), bytes)
    },
    signal,
  )
}
