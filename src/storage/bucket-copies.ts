/**
 * Copies of a bucket's files on this machine. Only a whole file with the right hash gets its final name; a copy that
 * stood there before is compared again as a folder's file is. Several processes may work in one folder.
 */

import { createHash } from 'node:crypto'
import { type FileHandle, link, open, rename, rm, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { systemCode, ToolkitError, writeError } from '../core/errors.ts'
import { makeFolders, PRIVATE_FILE } from '../support/file-modes.ts'
import { hashFile } from '../support/hash.ts'
import { statPath } from '../support/list-files.ts'
import { temporaryName } from '../support/process-identity.ts'
import { sideBySide } from '../support/side-by-side.ts'
import { filesOfThisWork, findMisfits, readMark } from './check-files.ts'
import { checkPath, nameOf, type ObjectStore } from './object-store.ts'
import { readObject } from './read-object.ts'
import type { FetchOptions, FileFacts, Storage } from './storage.ts'
import { cacheBytes, makeRoom, makeWorkFolder, markReading } from './work-folder.ts'

const FILES_AT_ONCE = 8
const LOOKS_AT_ONCE = 32
/** Fetched twice and wrong twice: the object itself is damaged, not the transfer. */
const HASH_ATTEMPTS = 2
/** How old a copy's mark of use may be before it is renewed. */
const MARK_MS = 5 * 60_000
/** Retries for copies that another process removed meanwhile. */
const PASSES = 3

/** Keeps copies of objects in a folder. */
export interface Copies extends Pick<Storage, 'fetch' | 'fetchTo' | 'examine'> {
  /** Removes a copy, or all below a folder. */
  readonly forget: (path: string) => Promise<void>
}

/** Whether a copy stands there; marks it as in use, and who knew it knows it with the new mark too. */
const hasCopy = async (
  copy: string,
  file: FileFacts,
  now: number,
  known: FetchOptions['known'],
): Promise<boolean> => {
  const found = await statPath(copy)
  if (found === null) return false
  if (found.kind !== 'file' || found.bytes !== file.bytes) {
    await rm(copy, { recursive: true, force: true })
    return false
  }
  if (now - found.changedMs < MARK_MS) return true
  try {
    const mark = await readMark(copy)
    await utimes(copy, now / 1000, now / 1000)
    if (mark && known !== 'all' && known?.knows(file, mark)) await learn(copy, file, known)
    return true
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false
    throw error
  }
}

const learn = async (copy: string, file: FileFacts, known: FetchOptions['known']): Promise<void> => {
  const mark = await readMark(copy)
  if (mark && known !== 'all') known?.learn(file, mark)
}

/** Writes an object's bytes to a file, at most one more than `mostBytes` of them. */
const save = async (
  body: Readable,
  to: string,
  mostBytes: number,
  onBytes?: (bytes: number) => void,
): Promise<{ readonly bytes: number; readonly sha256: string }> => {
  // Failures of this disk are final, those of the connection are not: they must be distinguished.
  const disk = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      throw writeError('Cannot keep a copy of an object', error)
    }
  }
  let handle: FileHandle
  try {
    handle = await disk(open(to, 'w', PRIVATE_FILE))
  } catch (error) {
    body.destroy()
    throw error
  }
  try {
    const hash = createHash('sha256')
    let bytes = 0
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes > mostBytes) break
      hash.update(chunk)
      await disk(handle.writeFile(chunk))
      onBytes?.(bytes)
    }
    await disk(handle.sync())
    return { bytes, sha256: hash.digest('hex') }
  } finally {
    await handle.close()
  }
}

const damaged = (store: ObjectStore, path: string, state: string): ToolkitError =>
  new ToolkitError('LAKE_DAMAGED', `Cannot read "${nameOf(store, path)}": ${state}`, { path })

/** Fetches one file under a temporary name and gives it its own when it is what it should be. */
const bring = async (
  store: ObjectStore,
  copy: string,
  file: FileFacts,
  signal: AbortSignal | undefined,
  onBytes: (bytes: number) => void,
): Promise<void> => {
  const temporary = join(dirname(copy), temporaryName())
  await makeFolders(dirname(copy))
  try {
    for (let attempt = 1; ; attempt += 1) {
      const saved = await readObject(
        store,
        file.path,
        ({ stream }) => save(stream, temporary, file.bytes, onBytes),
        signal,
      )
      if (saved === null) throw damaged(store, file.path, 'there is no such file')
      if (saved.bytes !== file.bytes)
        throw damaged(store, file.path, `size mismatch, expected ${file.bytes} bytes`)
      if (saved.sha256 === file.sha256) break
      if (attempt === HASH_ATTEMPTS)
        throw damaged(store, file.path, `its SHA-256 differs, expected ${file.sha256}`)
    }
    await rename(temporary, copy)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

/** Adds up how far each of some files is; a retried one begins at 0. */
const progressOf = (missing: readonly FileFacts[], onProgress: FetchOptions['onProgress']) => {
  const came = new Map<string, number>()
  const bytesTotal = missing.reduce((sum, { bytes }) => sum + bytes, 0)
  let [files, sum] = [0, 0]
  const report = (): void =>
    onProgress?.({ phase: 'fetching', files, filesTotal: missing.length, bytes: sum, bytesTotal })
  return {
    came: (path: string, bytes: number): void => {
      sum += bytes - (came.get(path) ?? 0)
      came.set(path, bytes)
      report()
    },
    whole: (): void => {
      files += 1
      report()
    },
  }
}

const isDiskFull = (error: unknown): boolean => error instanceof ToolkitError && error.code === 'DISK_FULL'

/** Another process, such as gc, has removed the folder of a copy before there was anything in it. */
const isVanished = (error: unknown): boolean =>
  systemCode(error instanceof ToolkitError ? error.cause : error) === 'ENOENT'

/**
 * @param folder where the copies stand
 * @param cache where room is made for them
 */
export const copiesOf = (store: ObjectStore, folder: string, cache = folder): Copies => {
  const placeOf = (path: string): string => join(folder, ...path.split('/'))

  const missingOf = async (
    files: readonly FileFacts[],
    { signal, known }: FetchOptions,
  ): Promise<readonly FileFacts[]> => {
    const now = Date.now()
    const has = await sideBySide(
      files,
      LOOKS_AT_ONCE,
      (file) => hasCopy(placeOf(file.path), file, now, known),
      signal,
    )
    return files.filter((_, at) => !has[at])
  }

  /** Fetches files that are missing, and again those that were deleted meanwhile. @returns whether something was fetched */
  const bringMissing = async (
    files: readonly FileFacts[],
    makeSpace: () => Promise<void>,
    options: FetchOptions,
  ): Promise<boolean> => {
    const { signal, onProgress, known } = options
    for (let pass = 0; ; pass += 1) {
      const missing = await missingOf(files, options)
      const [first] = missing
      if (first === undefined) return pass > 0
      if (pass === PASSES)
        throw new ToolkitError(
          'WRITE_FAILED',
          `Cannot keep a copy of "${nameOf(store, first.path)}": another process keeps deleting it`,
        )
      const progress = progressOf(missing, onProgress)
      try {
        await sideBySide(
          missing,
          FILES_AT_ONCE,
          async (file) => {
            await bring(store, placeOf(file.path), file, signal, (bytes) => progress.came(file.path, bytes))
            await learn(placeOf(file.path), file, known)
            progress.whole()
          },
          signal,
        )
      } catch (error) {
        if (isVanished(error)) continue
        if (!isDiskFull(error) || pass > 0) throw error
        await makeSpace()
      }
    }
  }

  /** Fetches what is missing, and what changed since it was fetched: the object takes precedence. */
  const bringChecked: typeof bringMissing = async (files, makeSpace, options) => {
    // A copy that was just fetched need not be hashed again.
    const known = options.known ?? filesOfThisWork()
    const brought = await bringMissing(files, makeSpace, { ...options, known })
    const misfits = await findMisfits(files, placeOf, { ...options, known })
    if (misfits.length === 0) return brought
    for (const { file } of misfits) await rm(placeOf(file.path), { recursive: true, force: true })
    await bringMissing(files, makeSpace, { ...options, known })
    return true
  }

  /** A copy that another reader has fetched takes no room a second time, and its removal does no harm. */
  const linkTo = async (folderTo: string, path: string): Promise<void> => {
    const place = join(folderTo, ...path.split('/'))
    await makeFolders(dirname(place))
    await link(placeOf(path), place).catch(() => undefined)
  }

  return {
    fetchTo: async (to, files, options = {}) => {
      for (const { path } of files) checkPath(store.address, path)
      await makeWorkFolder(folder)
      await sideBySide(files, LOOKS_AT_ONCE, ({ path }) => linkTo(to, path), options.signal)
      await copiesOf(store, to, folder).fetch(files, options)
      return to
    },

    fetch: async (files, options = {}) => {
      // Before anything is written: a forged path would leave the folder.
      for (const { path } of files) checkPath(store.address, path)
      const mostBytes = cacheBytes(process.env)
      const each = [...new Map(files.map((file) => [file.path, file])).values()]
      const pinned = new Set(each.map(({ path }) => placeOf(path)))
      const room = (most: number, diskIsFull: boolean): Promise<void> =>
        makeRoom(cache, most, pinned, { now: Date.now(), diskIsFull })
      try {
        await makeWorkFolder(folder)
        await markReading(cache, pinned)
        if (await bringChecked(each, () => room(0, true), options)) await room(mostBytes, false)
      } catch (error) {
        options.signal?.throwIfAborted()
        throw writeError(`Cannot copy files of "${store.address.uri}" to "${folder}"`, error)
      }
    },

    examine: async (path, { countLines = false, signal }, use) => {
      await makeWorkFolder(folder)
      const temporary = join(folder, temporaryName())
      try {
        const saved = await readObject(
          store,
          path,
          ({ stream }) => save(stream, temporary, Number.POSITIVE_INFINITY),
          signal,
        )
        if (saved === null) return null
        const hash = countLines ? await hashFile(temporary, { countLines, signal }) : { ...saved, lines: 0 }
        return await use(hash, temporary)
      } finally {
        await rm(temporary, { force: true })
      }
    },

    forget: (path) => rm(placeOf(path), { recursive: true, force: true }),
  }
}
