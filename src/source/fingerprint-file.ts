/** What a file is, by content and by identity, so that a change under the reader's hands is noticed. */

import { stat } from 'node:fs/promises'
import { ToolkitError } from '../core/errors.ts'
import type { Fingerprint } from '../core/source.ts'
import { hashFile } from '../support/hash.ts'
import { type OpenOptions, sourceError } from './local-files.ts'

/**
 * Reads a file once and gives its length and hash.
 *
 * @throws {ToolkitError} `SOURCE_NOT_FOUND` or `SOURCE_UNREADABLE`
 */
export const fingerprintFile = async (path: string, options: OpenOptions = {}): Promise<Fingerprint> => {
  try {
    const { bytes, sha256 } = await hashFile(path, options)
    return { bytes, sha256 }
  } catch (error) {
    options.signal?.throwIfAborted()
    throw sourceError('read', path, error)
  }
}

/**
 * Size, time of change in nanoseconds and inode number of a file, as one text. Equal texts before and after
 * reading mean that nobody wrote to the file meanwhile; a cheap check beside the hash.
 *
 * @throws {ToolkitError} `SOURCE_NOT_FOUND` or `SOURCE_UNREADABLE`
 */
export const identityOf = async (path: string): Promise<string> => {
  try {
    const { size, mtimeNs, ino } = await stat(path, { bigint: true })
    return `${size}-${mtimeNs}-${ino}`
  } catch (error) {
    throw sourceError('open', path, error)
  }
}

/** Compares two results of `identityOf`. @throws {ToolkitError} `SOURCE_CHANGED` when they differ */
export const assertUnchanged = (name: string, before: string, after: string): void => {
  if (before === after) return
  throw new ToolkitError(
    'SOURCE_CHANGED',
    `Cannot trust what was read of "${name}": it is now ${after} (size, time, inode), it was ${before}`,
    { source: name, before, after },
  )
}
