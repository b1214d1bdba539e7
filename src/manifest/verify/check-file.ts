/** Checks one data file of a lake against what the manifest says of it. */

import { openFilesError, systemCode, ToolkitError } from '../../core/errors.ts'
import type { FileEntry } from '../../core/partition.ts'
import { storageOf } from '../../storage/open-storage.ts'
import type { FileHash } from '../../support/hash.ts'
import type { Problem, ProblemKind } from '../form/findings.ts'

/** Counts the rows of a file that is not JSON Lines. Throws when it cannot be read. */
export type CountRows = (table: string, absolutePath: string) => Promise<number>

/** How many rows a file has, or why they cannot be counted. @throws {ToolkitError} `OPEN_FILES_LIMIT` */
export const rowsOrReason = async (
  table: string,
  path: string,
  countRows: CountRows,
): Promise<number | string> => {
  try {
    return await countRows(table, path)
  } catch (error) {
    const tooMany = openFilesError('Cannot count the rows of a file', error)
    if (tooMany !== undefined) throw tooMany
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
  const storage = storageOf(lake)
  const problem = (kind: ProblemKind, detail: string): Problem => ({ path, problem: kind, detail })
  const countLines = path.endsWith('.jsonl')
  const judge = async (hash: FileHash, localPath: string): Promise<Problem | 'right'> => {
    if (hash.bytes !== bytes) return wrongLength(hash.bytes)
    if (hash.sha256 !== sha256) return problem('changed', `its SHA-256 is ${hash.sha256}, expected ${sha256}`)
    const counted = countLines ? hash.lines : await rowsOrReason(table, localPath, countRows)
    if (typeof counted === 'string') return problem('unreadable', `its rows cannot be counted: ${counted}`)
    return counted === rows ? 'right' : problem('counts', `${counted} rows, expected ${rows}`)
  }
  const wrongLength = (found: number): Problem =>
    problem(found < bytes ? 'cut' : 'changed', `${found} bytes, expected ${bytes}`)
  try {
    const found = await storage.stat(path)
    if (found && found.bytes !== bytes) return wrongLength(found.bytes)
    const judged = await storage.examine(path, { countLines, signal }, judge)
    if (judged === null) return problem('missing', 'the file is missing')
    return judged === 'right' ? null : judged
  } catch (error) {
    signal?.throwIfAborted()
    // Whatever the file system says of one file; a bucket that does not answer is no damage.
    if (error instanceof ToolkitError || systemCode(error) === undefined) throw error
    return problem('unreadable', 'the file is unreadable')
  }
}
