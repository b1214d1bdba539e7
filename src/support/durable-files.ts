/**
 * Files that are on the disk when a function returns, also after the power fails. Knows nothing of lakes.
 * Errors are the system's own (`ENOENT`, `ENOSPC`, …).
 */

import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type AccessIn, FILE_FLAGS, type FolderOptions, makeFolders, openFile } from './file-modes.ts'
import { temporaryName } from './process-identity.ts'
import { sideBySide } from './side-by-side.ts'

const FOLDERS_AT_ONCE = 16

const hasCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code))

const sync = async (path: string): Promise<void> => {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Brings a file's bytes to the disk. Its name is the folder's matter. */
export const fsyncFile = sync

/** Brings a folder's names to the disk; where a system cannot (Windows), it does nothing. */
export const fsyncFolder = async (path: string): Promise<void> => {
  try {
    await sync(path)
  } catch (error) {
    if (!hasCode(error, 'EISDIR', 'EPERM', 'EINVAL')) throw error
  }
}

/** Each folder once, several at a time. */
export const fsyncFolders = async (paths: Iterable<string>): Promise<void> => {
  await sideBySide(new Set(paths), FOLDERS_AT_ONCE, fsyncFolder)
}

/** Makes folders as `makeFolders` does, and brings their names to the disk. An existing one is fine. */
export const makeFolder = async (path: string, options?: FolderOptions): Promise<void> => {
  const made = await makeFolders(path, options)
  await fsyncFolders(made.map((folder) => dirname(folder)))
}

/**
 * Removes a file or folder that is no longer needed. What cannot be removed stays for the cleanup after
 * dead processes: it must neither hide the error that came before nor spoil what was done.
 */
export const removeIfThere = (path: string): Promise<void> =>
  rm(path, { recursive: true, force: true }).catch(() => undefined)

interface FileAccess {
  /** Whether nobody may write to it. @default false */
  readonly isReadOnly?: boolean | undefined
  /** @default what the folder hands on */
  readonly access?: AccessIn | undefined
  /** Whether the bytes are brought to the disk. @default true */
  readonly syncsBytes?: boolean | undefined
  /** Whether the folder is brought to the disk with the name; else that is the caller's part. @default true */
  readonly syncsName?: boolean | undefined
}

const writeTemporary = async (
  folder: string,
  data: string | Uint8Array,
  { isReadOnly = false, access, syncsBytes = true }: FileAccess = {},
): Promise<string> => {
  const path = join(folder, temporaryName())
  const handle = await openFile(path, FILE_FLAGS.new, access)
  try {
    await handle.writeFile(data)
    if (isReadOnly) await handle.chmod((await handle.stat()).mode & ~0o222)
    if (syncsBytes && data.length > 0) await handle.sync()
  } catch (error) {
    await removeIfThere(path)
    throw error
  } finally {
    await handle.close()
  }
  return path
}

/**
 * Creates a whole file, or leaves the one that is there as it is. A reader sees all of it or none.
 *
 * @returns whether it was created by this call
 */
export const createIfAbsent = async (
  path: string,
  data: string | Uint8Array,
  { syncsName = true }: Pick<FileAccess, 'syncsName'> = {},
): Promise<boolean> => {
  const temporary = await writeTemporary(dirname(path), data)
  try {
    // `link` and never `rename`: of two at once exactly one wins, and nothing is overwritten.
    await link(temporary, path)
  } catch (error) {
    // A network file system may have made the link and lost the answer: then the file has two names.
    if (!hasCode(error, 'EEXIST')) throw error
    if ((await stat(temporary)).nlink < 2) return false
  } finally {
    await removeIfThere(temporary)
  }
  if (syncsName) await fsyncFolder(dirname(path))
  return true
}

/** Writes a file whole, over an older one where there is one. A symbolic link in its place is replaced. */
export const replaceDurably = async (
  path: string,
  data: string | Uint8Array,
  options: FileAccess = {},
): Promise<void> => {
  const temporary = await writeTemporary(dirname(path), data, options)
  try {
    await rename(temporary, path)
  } catch (error) {
    await removeIfThere(temporary)
    throw error
  }
  if (options.syncsName !== false) await fsyncFolder(dirname(path))
}

/**
 * Moves a file of the same file system, making the folders above it. Nothing is fsynced: batch that.
 *
 * @returns whether there was something to move
 */
export const moveIntoPlace = async (from: string, to: string, options?: FolderOptions): Promise<boolean> => {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await rename(from, to)
      return true
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
      // The folder may be missing: not made yet, or just removed for being empty. Or `from` is gone.
      if (attempt > 1) return false
      await makeFolders(dirname(to), options)
    }
  }
}

/** Bytes after which a file that is being written is brought to the disk so far. */
const SYNC_EVERY_BYTES = 32 * 1024 * 1024

/**
 * Brings a growing file to the disk piece by piece while it is written, so that the last sync has little left to do:
 * the disk works beside the writer instead of after it.
 */
export class EarlySync {
  readonly #handle: { readonly datasync: () => Promise<void> }
  #unsynced = 0
  #running: Promise<void> | undefined
  #failure: unknown

  constructor(handle: { readonly datasync: () => Promise<void> }) {
    this.#handle = handle
  }

  /** Called with the bytes that were written. Does not wait. */
  wrote(bytes: number): void {
    this.#unsynced += bytes
    if (this.#unsynced < SYNC_EVERY_BYTES || this.#running) return
    this.#unsynced = 0
    this.#running = this.#handle.datasync().then(
      () => {
        this.#running = undefined
      },
      (error: unknown) => {
        // A system may report a failed sync once and never again, so the last sync cannot be relied on to report it.
        this.#failure ??= error
        this.#running = undefined
      },
    )
  }

  /** To be awaited before the last sync. @throws what an earlier sync has thrown */
  async settle(): Promise<void> {
    await this.#running
    if (this.#failure !== undefined) throw this.#failure
  }
}

/** Appends lines to a file; each is on the disk before its promise is fulfilled. One writer at a time. */
export class LineAppender implements AsyncDisposable {
  #handle: FileHandle
  #last: Promise<void> = Promise.resolve()

  private constructor(handle: FileHandle) {
    this.#handle = handle
  }

  /** Opens an existing file and cuts it to `sizeBytes`, its whole lines. */
  static async open(path: string, sizeBytes: number): Promise<LineAppender> {
    const handle = await openFile(path, FILE_FLAGS.asItIs)
    try {
      if ((await handle.stat()).size > sizeBytes) {
        await handle.truncate(sizeBytes)
        await handle.sync()
      }
    } finally {
      await handle.close()
    }
    return new LineAppender(await openFile(path, FILE_FLAGS.appended))
  }

  /** Appends one line in the order of calls. After a failure every later call fails too: the file may be torn. */
  append(line: string): Promise<void> {
    this.#last = this.#last.then(async () => {
      await this.#handle.appendFile(`${line}\n`)
      await this.#handle.datasync()
    })
    return this.#last
  }

  async close(): Promise<void> {
    await this.#last.catch(() => undefined)
    await this.#handle.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
