/** The work folder of a bucket's lake on this machine, and how much of it copies of files may take. */

import { chmod, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { ToolkitError, writeError } from '../core/errors.ts'
import { makeFolders, PRIVATE_FILE } from '../support/file-modes.ts'
import { sha256Of } from '../support/hash.ts'
import { type FoundPath, listTree, statPath } from '../support/list-files.ts'
import { isLeftover, temporaryLiveness, temporaryName } from '../support/process-identity.ts'
import { parseSize } from '../support/quantities.ts'
import { workBase } from '../support/work-base.ts'
import type { StoreAddress } from './object-store.ts'

/**
 * The work folder of a lake on this machine, below `FIRMLAKE_WORK_DIR` or the user's cache folder. Its name shows the
 * bucket; its hash keeps apart buckets of one name at two endpoints.
 */
export const workFolder = ({ uri, source }: StoreAddress, env: NodeJS.ProcessEnv): string => {
  const readable = uri
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, 60)
  const name = `${readable}-${sha256Of(`${source}\n${uri}`).slice(0, 16)}`
  return resolve(workBase(env), name)
}

/** DuckDB opens files late and by name: a copy is opened within this time, by whoever asked for it. */
const IN_USE_MS = 60 * 60_000
const DEFAULT_CACHE_BYTES = 20e9

/** The most that copies may take, in bytes. @throws {ToolkitError} `USAGE` when it is not a number of bytes */
export const cacheBytes = (env: NodeJS.ProcessEnv): number => {
  const text = env.FIRMLAKE_CACHE_BYTES ?? ''
  if (text === '') return DEFAULT_CACHE_BYTES
  const bytes = parseSize(text)
  if (bytes !== undefined) return Math.floor(bytes)
  throw new ToolkitError(
    'USAGE',
    `Cannot use FIRMLAKE_CACHE_BYTES "${text}": expected bytes, such as 20GB or 8GiB`,
  )
}

/**
 * Makes the work folder where it is missing. Nobody else may read it or put files into it: copies are trusted.
 *
 * @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED`
 */
export const makeWorkFolder = async (folder: string): Promise<void> => {
  try {
    await makeFolders(folder)
    const { uid, mode } = await stat(folder)
    const own = process.getuid?.()
    if (own !== undefined && uid !== own) throw new Error('it belongs to another user')
    if (own !== undefined && (mode & 0o077) !== 0) await chmod(folder, 0o700)
  } catch (error) {
    throw writeError(`Cannot use work folder "${folder}"`, error)
  }
}

/** Folders and files that begin so are of runs at work, and no copies. */
const AT_WORK = /^(?:_(?!manifest)|\.)/

/** Marks of processes that read copies: empty files with temporary names, written again whenever one asks for copies. */
const READERS = '_readers'
/** Marks of this process, by folder of copies. */
const ownMarks = new Map<string, string>()
/** Absolute paths of the copies that this process asked for. */
const ownCopies = new Set<string>()

/** Says that this process reads copies from now on. @param copies absolute paths */
export const markReading = async (folder: string, copies: Iterable<string>): Promise<void> => {
  for (const copy of copies) ownCopies.add(copy)
  const mark = ownMarks.get(folder) ?? join(folder, READERS, temporaryName())
  ownMarks.set(folder, mark)
  await makeFolders(dirname(mark))
  await writeFile(mark, '', { mode: PRIVATE_FILE })
}

/** Whether another process that runs asked for copies lately. */
const hasOtherReaders = async (folder: string, now: number): Promise<boolean> =>
  (await listTree(join(folder, READERS))).some(
    ({ kind, path, changedMs }) =>
      kind === 'file' &&
      path !== ownMarks.get(folder) &&
      now - changedMs < IN_USE_MS &&
      temporaryLiveness(basename(path)) !== 'gone',
  )

/**
 * Removes the copies that were not used for longest until the rest takes at most `mostBytes`, and what killed
 * processes left. What was asked for within the last hour, by this process or by another one that runs, stays, unless
 * the disk is full.
 *
 * @param pinned absolute paths that stay in any case
 */
export const makeRoom = async (
  folder: string,
  mostBytes: number,
  pinned: ReadonlySet<string>,
  { now, diskIsFull }: { readonly now: number; readonly diskIsFull: boolean },
): Promise<void> => {
  const files = (await listTree(folder)).filter(({ kind }) => kind === 'file')
  const isTemporary = ({ path }: FoundPath): boolean => temporaryLiveness(basename(path)) !== null
  for (const { path, changedMs } of files)
    if (isLeftover(basename(path), changedMs, { now: new Date(now) })) await rm(path, { force: true })
  const copies = files.filter(
    (file) => !isTemporary(file) && !AT_WORK.test(relative(folder, file.path).split(sep)[0] ?? ''),
  )
  const mayBeOpen = async (path: string): Promise<boolean> => {
    // Checked again: another process may have asked for it since.
    const usedMs = (await statPath(path))?.changedMs ?? 0
    return now - usedMs < IN_USE_MS && (ownCopies.has(path) || (await hasOtherReaders(folder, now)))
  }
  let bytes = copies.reduce((sum, copy) => sum + copy.bytes, 0)
  for (const copy of copies.toSorted((a, b) => a.changedMs - b.changedMs)) {
    if (bytes <= mostBytes) return
    if (pinned.has(copy.path)) continue
    if (!diskIsFull && (await mayBeOpen(copy.path))) continue
    await rm(copy.path, { force: true })
    bytes -= copy.bytes
  }
}
