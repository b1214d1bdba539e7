/** Compares files of this machine with what the manifest says of them, before anybody reads them. */

import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { openFilesError, systemCode, ToolkitError } from '../core/errors.ts'
import { hashAside } from '../support/hash.ts'
import { sideBySide } from '../support/side-by-side.ts'
import type { FetchOptions, FetchProgress, FileFacts, FileMark, KnownFiles } from './storage.ts'

const LOOKS_AT_ONCE = 32
/** As many as two cores can do. */
const HASHES_AT_ONCE = 2
/** The clock of a file system is coarse: a file that was changed so lately may be changed again without a trace. */
const SETTLED_NS = 2_000_000_000n

/** Files found to be right by one piece of work, so that none is hashed twice for it. */
export const filesOfThisWork = (): KnownFiles => {
  const found = new Map<string, { readonly sha256: string; readonly mark: FileMark }>()
  return {
    knows: ({ path, sha256 }, mark) => {
      const known = found.get(path)
      return known !== undefined && known.sha256 === sha256 && isSameMark(known.mark, mark)
    },
    learn: ({ path, sha256 }, mark) => {
      found.set(path, { sha256, mark })
    },
  }
}

export const isSameMark = (a: FileMark, b: FileMark): boolean =>
  a.bytes === b.bytes && a.inode === b.inode && a.modified === b.modified && a.changed === b.changed

const markOf = ({ size, dev, ino, mtimeNs, ctimeNs }: BigIntStats): FileMark => ({
  bytes: Number(size),
  inode: `${dev}:${ino}`,
  modified: String(mtimeNs),
  changed: String(ctimeNs),
})

/** The mark of a file; `null` where there is none. @throws the system's error of `stat` */
export const readMark = async (path: string): Promise<FileMark | null> => {
  try {
    const found = await stat(path, { bigint: true })
    return found.isFile() ? markOf(found) : null
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return null
    throw error
  }
}

const isSettled = ({ changed }: FileMark, nowMs: number): boolean =>
  BigInt(Math.floor(nowMs)) * 1_000_000n - BigInt(changed) > SETTLED_NS

/** A file that is not what it should be, and in what. */
export interface Misfit {
  readonly file: FileFacts
  readonly state: string
}

export const damagedFile = ({ file: { path }, state }: Misfit, name = path): ToolkitError =>
  new ToolkitError('LAKE_DAMAGED', `Cannot read "${name}": ${state}`, { path })

const lengthMisfit = (file: FileFacts, mark: FileMark | null): Misfit | null => {
  if (mark === null) return { file, state: `there is no such file, expected ${file.bytes} bytes` }
  return mark.bytes === file.bytes
    ? null
    : { file, state: `it has ${mark.bytes} bytes, expected ${file.bytes}` }
}

const progressOf = (files: readonly FileFacts[], onProgress: FetchOptions['onProgress']) => {
  const bytesTotal = files.reduce((sum, { bytes }) => sum + bytes, 0)
  let [done, bytes] = [0, 0]
  const report = (): void =>
    onProgress?.({
      phase: 'checking',
      files: done,
      filesTotal: files.length,
      bytes,
      bytesTotal,
    } satisfies FetchProgress)
  report()
  return {
    came: (more: number): void => {
      bytes += more
      report()
    },
    whole: (): void => {
      done += 1
      report()
    },
  }
}

/**
 * Compares lengths, then hashes of the files that are not known. Hashes none where a length differs.
 *
 * @param placeOf where a path stands on this machine
 * @returns every file of another length, or else the files of another hash
 * @throws {ToolkitError} `LAKE_DAMAGED` when one cannot be read, `OPEN_FILES_LIMIT`
 */
export const findMisfits = async (
  files: readonly FileFacts[],
  placeOf: (path: string) => string,
  { known, signal, onProgress }: FetchOptions,
): Promise<readonly Misfit[]> => {
  const each = [...new Map(files.map((file) => [file.path, file])).values()]
  const readable = async <T>(file: FileFacts, work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      signal?.throwIfAborted()
      const action = `Cannot read "${file.path}"`
      const reason = systemCode(error) ?? 'it cannot be read'
      throw (
        openFilesError(action, error) ??
        new ToolkitError('LAKE_DAMAGED', `${action}: ${reason}`, { path: file.path }, error)
      )
    }
  }
  const looked = await sideBySide(
    each,
    LOOKS_AT_ONCE,
    async (file) => ({ file, mark: await readable(file, readMark(placeOf(file.path))) }),
    signal,
  )
  const wrongLength = looked.flatMap(({ file, mark }) => lengthMisfit(file, mark) ?? [])
  if (wrongLength.length > 0 || known === 'all') return wrongLength
  const unknown = looked.flatMap(({ file, mark }) =>
    mark !== null && known?.knows(file, mark) ? [] : [file],
  )
  if (unknown.length === 0) return []
  const progress = progressOf(unknown, onProgress)
  const misfits = await sideBySide(
    unknown,
    HASHES_AT_ONCE,
    async (file): Promise<Misfit | null> => {
      const place = placeOf(file.path)
      const before = await readable(file, readMark(place))
      const options = { signal, onBytes: progress.came }
      const { bytes, sha256 } = await readable(file, hashAside(place, file.bytes, options))
      progress.whole()
      if (bytes !== file.bytes) return { file, state: `it has ${bytes} bytes, expected ${file.bytes}` }
      if (sha256 !== file.sha256) return { file, state: `its SHA-256 is ${sha256}, expected ${file.sha256}` }
      if (before !== null && isSettled(before, Date.now())) known?.learn(file, before)
      return null
    },
    signal,
  )
  return misfits.filter((one) => one !== null)
}

/** Whether one file is there and what it should be. What cannot be read is not. */
export const isWhole = async (place: string, file: FileFacts, signal?: AbortSignal): Promise<boolean> => {
  try {
    return (await findMisfits([file], () => place, { signal })).length === 0
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof ToolkitError && error.code === 'LAKE_DAMAGED') return false
    throw error
  }
}
