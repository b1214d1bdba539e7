/** What a run has finished so far, one line per partition, on the disk before the next step relies on it. */

import { ToolkitError, writeError } from '../core/errors.ts'
import type { PartitionEntry } from '../core/partition.ts'
import type { UnknownItems } from '../core/unknown-names.ts'
import { runPath } from '../lake/lake/layout.ts'
import { storageOf } from '../storage/open-storage.ts'
import { anyText, count, fits, form, list, objectOf, optional, yesNo } from '../support/json-form.ts'
import { seal, unseal } from '../support/sealed-text.ts'
import type { RunLease } from './run-lease.ts'
import { isPartitionEntry } from './snapshot-form.ts'

export interface JournalEntry {
  readonly partition: PartitionEntry
  /** Partitions that its block makes: the block is finished when so many of it stand in the journal. */
  readonly layers: number
  /** Line items of its figures that the contract does not know; absent in journals of releases that knew no such. */
  readonly unknownItems?: UnknownItems | undefined
}

export const JOURNAL_FILE = 'journal.jsonl'
export const journalPath = (run: string): string => `${runPath(run)}/${JOURNAL_FILE}`

const ENTRY = objectOf({
  partition: form(isPartitionEntry, 'an entry of a partition'),
  layers: count,
  unknownItems: optional(
    objectOf({ items: list(objectOf({ category: anyText, lineItem: anyText })), more: yesNo }),
  ),
})
const isEntry = (value: unknown): value is JournalEntry => fits(ENTRY, value)

/** A line as it was appended; `null` when a byte of it is another. Earlier releases sealed none. */
export const parseEntry = (line: Buffer): JournalEntry | null => {
  const read = unseal(line)
  return read.kind !== 'damaged' && isEntry(read.value) ? read.value : null
}

/** The entries of a journal, one for each whole line of it that can be read. */
const readWhole = async (lake: string, run: string): Promise<readonly JournalEntry[]> => {
  const lines = await storageOf(lake).readLines(journalPath(run))
  if (lines === null)
    throw new ToolkitError('RUN_NOT_FOUND', `Cannot read the journal of run "${run}": it has none`, { run })
  const entries: JournalEntry[] = []
  for (const [at, line] of lines.entries()) {
    const entry = parseEntry(line)
    if (entry) entries.push(entry)
    // Only the last write can be torn by a crash. Damage before it is something else.
    else if (at < lines.length - 1)
      throw new ToolkitError(
        'RUN_NOT_RESUMABLE',
        `Cannot read the journal of run "${run}": line ${at + 1} is damaged; "firmlake gc" removes the run, then its ` +
          'command starts over',
        { run, line: at + 1 },
      )
  }
  return entries
}

/**
 * The finished partitions of a run in the order they were finished. A torn last line is left out, and of a
 * partition that was loaded again, because its source had changed, all but the last.
 *
 * @throws {ToolkitError} `RUN_NOT_FOUND`, `RUN_NOT_RESUMABLE` when an earlier line is damaged
 */
export const readJournal = async (lake: string, run: string): Promise<readonly JournalEntry[]> =>
  lastOfEach(await readWhole(lake, run))

const lastOfEach = (entries: readonly JournalEntry[]): readonly JournalEntry[] => {
  const last = new Map(entries.map((entry) => [entry.partition.id, entry]))
  return entries.filter((entry) => last.get(entry.partition.id) === entry)
}

/** The journal of a run one owns, open for writing. */
export interface Journal extends AsyncDisposable {
  /**
   * Appends a line and fsyncs it. The partition's own files are on the disk already: the sink saw to it.
   *
   * @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED`; after it the journal takes no further entry
   */
  readonly append: (entry: JournalEntry) => Promise<void>
  readonly close: () => Promise<void>
}

/** Opens a run's journal behind its last whole line; a torn one is cut off. @throws as `readJournal` */
export const openJournal = async ({ lake, run }: RunLease): Promise<Journal> => {
  const { length } = await readWhole(lake, run)
  const lines = await storageOf(lake).openLines(journalPath(run), length)
  const close = (): Promise<void> => lines.close()
  return {
    append: async (entry) => {
      try {
        await lines.append(seal(JSON.stringify(entry)))
      } catch (error) {
        throw writeError(`Cannot write the journal of run "${run}"`, error)
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
