/**
 * The list of what stands in a folder that was made from a snapshot (a serving index, batch files): `files.json`, with the
 * length and the SHA-256 of each file beside it and its own hash.
 */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openFilesError, systemCode } from '../../core/errors.ts'
import { createIfAbsent } from '../../support/durable-files.ts'
import { type FileHash, hashFile, seal, unseal } from '../../support/hash.ts'
import { count, type FormOf, fits, list, objectOf, sha256, textLike } from '../../support/json-form.ts'

export const LIST_FILE = 'files.json'

const NAMED_FILE = objectOf({
  // The name becomes part of a path.
  name: textLike(/^[\w-][\w.-]*$/, 'the name of a file'),
  bytes: count,
  sha256,
})
const LIST = objectOf({ files: list(NAMED_FILE) })

/** A file of a folder: its name there, its length and the SHA-256 of its bytes in hex. */
export type NamedFile = FormOf<typeof NAMED_FILE>

/** Writes the list of files that are on the disk already. No trailing newline: the hash covers every byte. */
export const writeFileList = async (folder: string, files: readonly NamedFile[]): Promise<void> => {
  await createIfAbsent(join(folder, LIST_FILE), seal(JSON.stringify({ files }, null, 2)))
}

type FileList =
  | { readonly kind: 'list'; readonly files: readonly NamedFile[] }
  | { readonly kind: 'none' }
  | { readonly kind: 'changed' | 'unreadable'; readonly reason: string }

/** Reads the list of a folder, whatever state it is in. */
export const readFileList = async (folder: string): Promise<FileList> => {
  let bytes: Buffer
  try {
    bytes = await readFile(join(folder, LIST_FILE))
  } catch (error) {
    const tooMany = openFilesError(`Cannot read "${join(folder, LIST_FILE)}"`, error)
    if (tooMany !== undefined) throw tooMany
    const code = systemCode(error)
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? { kind: 'none' }
      : { kind: 'unreadable', reason: `it cannot be read (${code})` }
  }
  const read = unseal(bytes)
  if (read.kind !== 'sealed') return { kind: 'changed', reason: 'it does not match its own hash' }
  const { value } = read
  return fits(LIST, value)
    ? { kind: 'list', files: value.files }
    : { kind: 'changed', reason: 'its form is not ours' }
}

/** Damage of a file, in the words of `verify`. */
export interface FileDamage {
  readonly problem: 'missing' | 'cut' | 'changed' | 'unreadable'
  readonly detail: string
}

/** Compares a file with its entry. */
export const damageOf = (
  { bytes, sha256 }: Pick<NamedFile, 'bytes' | 'sha256'>,
  found: Pick<FileHash, 'bytes' | 'sha256'>,
): FileDamage | null => {
  if (found.bytes !== bytes)
    return {
      problem: found.bytes < bytes ? 'cut' : 'changed',
      detail: `${found.bytes} bytes, expected ${bytes}`,
    }
  if (found.sha256 === sha256) return null
  return { problem: 'changed', detail: `its SHA-256 is ${found.sha256}, expected ${sha256}` }
}

/** Reads a file of a folder to its end. @returns what is wrong with it, or `null` */
export const checkNamedFile = async (
  folder: string,
  file: NamedFile,
  signal?: AbortSignal,
): Promise<FileDamage | null> => {
  try {
    return damageOf(file, await hashFile(join(folder, file.name), { signal }))
  } catch (error) {
    signal?.throwIfAborted()
    const tooMany = openFilesError(`Cannot read "${join(folder, file.name)}"`, error)
    if (tooMany !== undefined) throw tooMany
    return systemCode(error) === 'ENOENT'
      ? { problem: 'missing', detail: 'the file is missing' }
      : { problem: 'unreadable', detail: 'the file is unreadable' }
  }
}
