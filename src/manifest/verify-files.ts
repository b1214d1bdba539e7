/** Checks one data file of a lake against what the manifest says of it. */

import { systemCode } from '../core/errors.ts'
import type { FileEntry } from '../core/partition.ts'
import { inLake } from '../lake/layout.ts'
import { type FileHash, hashFile } from '../support/hash.ts'
import { look } from '../support/list-files.ts'
import type { Problem, ProblemKind } from './verify-manifest.ts'

/** Counts the rows of a file that is not JSON Lines. Throws when it cannot be read. */
export type CountRows = (table: string, absolutePath: string) => Promise<number>

type Hashed = { readonly kind: 'hash'; readonly hash: FileHash } | { readonly kind: 'missing' | 'unreadable' }

const hashOrNot = async (path: string, countLines: boolean, signal?: AbortSignal): Promise<Hashed> => {
  try {
    return { kind: 'hash', hash: await hashFile(path, { countLines, signal }) }
  } catch (error) {
    signal?.throwIfAborted()
    if (systemCode(error) === undefined) throw error
    return { kind: systemCode(error) === 'ENOENT' ? 'missing' : 'unreadable' }
  }
}

const rowsOf = async (table: string, path: string, countRows: CountRows): Promise<number | string> => {
  try {
    return await countRows(table, path)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** What is wrong with a file, or `null`. Reads it once to its end, and once more to count its rows. */
export const checkFile = async (
  lake: string,
  { table, path, rows, bytes, sha256 }: FileEntry,
  countRows: CountRows,
  signal?: AbortSignal,
): Promise<Problem | null> => {
  const absolute = inLake(lake, path)
  const problem = (kind: ProblemKind, detail: string): Problem => ({ path, problem: kind, detail })
  const found = await look(absolute).catch(() => 'unreadable' as const)
  if (found === 'unreadable') return problem('unreadable', 'its folder is unreadable')
  if (!found) return problem('missing', 'the file is missing')
  if (found.kind === 'folder') return problem('unreadable', 'it is a folder')
  if (found.bytes < bytes) return problem('cut', `${found.bytes} bytes, expected ${bytes}`)
  if (found.bytes > bytes) return problem('changed', `${found.bytes} bytes, expected ${bytes}`)
  const jsonLines = path.endsWith('.jsonl')
  const read = await hashOrNot(absolute, jsonLines, signal)
  if (read.kind !== 'hash') return problem(read.kind, `the file is ${read.kind}`)
  if (read.hash.sha256 !== sha256)
    return problem('changed', `its SHA-256 is ${read.hash.sha256}, expected ${sha256}`)
  const counted = jsonLines ? read.hash.lines : await rowsOf(table, absolute, countRows)
  if (typeof counted === 'string') return problem('unreadable', `its rows cannot be counted: ${counted}`)
  return counted === rows ? null : problem('counts', `${counted} rows, expected ${rows}`)
}
