/** What a run has finished so far, one line per partition, on the disk before the next step relies on it. */

import { readFile } from 'node:fs/promises'
import { systemCode, ToolkitError, writeError } from '../core/errors.ts'
import type { PartitionEntry } from '../core/partition.ts'
import { inLake, runPath } from '../lake/layout.ts'
import { fsyncFile, fsyncFolders, LineAppender } from '../support/durable-files.ts'
import { sideBySide } from '../support/side-by-side.ts'
import type { RunClaim } from './run-claims.ts'
import { isPartitionEntry } from './snapshot-form.ts'

/** A file still in staging and where the commit puts it; both below the lake's folder, with `/`. */
export interface Move {
  readonly staged: string
  readonly path: string
}

export interface JournalEntry {
  readonly partition: PartitionEntry
  readonly moves: readonly Move[]
}

const FILES_AT_ONCE = 8

export const journalPath = (run: string): string => `${runPath(run)}/journal.jsonl`

const isMove = (value: unknown): value is Move =>
  typeof value === 'object' &&
  value !== null &&
  'staged' in value &&
  'path' in value &&
  typeof value.staged === 'string' &&
  typeof value.path === 'string'

const isEntry = (value: unknown): value is JournalEntry =>
  typeof value === 'object' &&
  value !== null &&
  'partition' in value &&
  'moves' in value &&
  isPartitionEntry(value.partition) &&
  Array.isArray(value.moves) &&
  value.moves.every(isMove)

const parseLine = (line: Buffer): JournalEntry | null => {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'))
    return isEntry(value) ? value : null
  } catch {
    return null
  }
}

interface JournalRead {
  readonly entries: readonly JournalEntry[]
  /** Length of the whole, readable lines. */
  readonly sizeBytes: number
}

const readWhole = async (lake: string, run: string): Promise<JournalRead> => {
  const bytes = await readFile(inLake(lake, journalPath(run)))
  const entries: JournalEntry[] = []
  let from = 0
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
    const entry = parseLine(bytes.subarray(from, end))
    if (!entry) {
      // Only the last write can be torn by a crash. Damage before it is something else.
      if (end + 1 < bytes.length)
        throw new ToolkitError(
          'RUN_NOT_RESUMABLE',
          `Cannot read the journal of run "${run}": line ${entries.length + 1} is damaged`,
          { run, line: entries.length + 1 },
        )
      break
    }
    entries.push(entry)
    from = end + 1
  }
  return { entries, sizeBytes: from }
}

/**
 * The finished partitions of a run in the order they were finished. A torn last line is left out.
 *
 * @throws {ToolkitError} `RUN_NOT_FOUND`, `RUN_NOT_RESUMABLE` when an earlier line is damaged
 */
export const readJournal = async (lake: string, run: string): Promise<readonly JournalEntry[]> =>
  (await readJournalFile(lake, run)).entries

const readJournalFile = async (lake: string, run: string): Promise<JournalRead> => {
  try {
    return await readWhole(lake, run)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
    throw new ToolkitError(
      'RUN_NOT_FOUND',
      `Cannot read the journal of run "${run}": it has none`,
      { run },
      error,
    )
  }
}

/** The journal of a run one owns, open for writing. */
export interface Journal extends AsyncDisposable {
  /**
   * Fsyncs the partition's staged files and their folders, then appends its line and fsyncs it.
   *
   * @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED`; after it the journal takes no further entry
   */
  readonly append: (entry: JournalEntry) => Promise<void>
  readonly close: () => Promise<void>
}

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

const syncStaged = async (lake: string, moves: readonly Move[]): Promise<void> => {
  await sideBySide(moves, FILES_AT_ONCE, ({ staged }) => fsyncFile(inLake(lake, staged)))
  await fsyncFolders(moves.map(({ staged }) => inLake(lake, folderOf(staged))))
}

/** Opens a run's journal behind its last whole line; a torn one is cut off. @throws as `readJournal` */
export const openJournal = async ({ lake, run }: RunClaim): Promise<Journal> => {
  const { sizeBytes } = await readJournalFile(lake, run)
  const lines = await LineAppender.open(inLake(lake, journalPath(run)), sizeBytes)
  const close = (): Promise<void> => lines.close()
  return {
    append: async (entry) => {
      try {
        await syncStaged(lake, entry.moves)
        await lines.append(JSON.stringify(entry))
      } catch (error) {
        throw writeError(`Cannot write the journal of run "${run}"`, error)
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
