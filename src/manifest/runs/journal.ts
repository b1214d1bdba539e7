/**
 * The journal of a run: one line per finished partition, on the disk before the next step relies on it, then one line with
 * the result of every source. A commit needs nothing else: it may be another process's than the work.
 */

import { type ErrorCode, isErrorCode, ToolkitError, writeError } from '../../core/errors.ts'
import type { PartitionEntry, PullEntry } from '../../core/partition.ts'
import type { UnknownItems } from '../../core/unknown-names.ts'
import { runPath } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { seal, unseal } from '../../support/hash.ts'
import {
  anyText,
  count,
  type Form,
  fits,
  form,
  list,
  objectOf,
  oneOf,
  yesNo,
} from '../../support/json-form.ts'
import { PARTITION } from '../form/entry-form.ts'
import type { RunLease } from './run-lease.ts'

export interface JournalEntry {
  readonly partition: PartitionEntry
  /** Partitions that its block makes: the block is finished when so many of it stand in the journal. */
  readonly layers: number
  /** Line items of its figures that the contract does not know. */
  readonly unknownItems: UnknownItems
}

/** The result of one source. */
export type SourceResult =
  /** Its partitions by their ids, in their order. */
  | { readonly kind: 'loaded'; readonly source: string; readonly partitions: readonly string[] }
  | { readonly kind: 'skipped'; readonly source: string; readonly reason: string }
  /** It cannot be read to its end. */
  | { readonly kind: 'left-out'; readonly source: string; readonly code: ErrorCode; readonly reason: string }

/** The work of a run, once all of it is done. */
export interface DoneWork {
  /** The result of each source, in the order of the run; sources that share a partition have that of the first one. */
  readonly units: readonly SourceResult[]
  readonly entries: readonly JournalEntry[]
}

/** The work of a run as it is committed. */
export interface FinishedWork extends DoneWork {
  readonly pulls: readonly PullEntry[]
}

/** The last line of a journal: everything is worked on, and this is what the run has made. */
export interface JournalResult extends Pick<DoneWork, 'units'> {
  /**
   * The hashes of the sources that are known by their bytes, in their order; of one that could not be read the code of its
   * error.
   */
  readonly read: readonly string[]
}

export const JOURNAL_FILE = 'journal.jsonl'
export const journalPath = (run: string): string => `${runPath(run)}/${JOURNAL_FILE}`

export const ENTRY = objectOf({
  partition: PARTITION,
  layers: count,
  unknownItems: objectOf({
    items: list(objectOf({ category: anyText, lineItem: anyText })),
    more: yesNo,
  }),
})
const LOADED = objectOf({ kind: oneOf(['loaded']), source: anyText, partitions: list(anyText) })
const SKIPPED = objectOf({ kind: oneOf(['skipped']), source: anyText, reason: anyText })
const LEFT_OUT = objectOf({
  ...{ kind: oneOf(['left-out']), source: anyText, reason: anyText },
  code: form(isErrorCode, 'a code of an error'),
})
export const SOURCE_RESULT: Form<SourceResult> = form(
  (value): value is SourceResult => fits(LOADED, value) || fits(SKIPPED, value) || fits(LEFT_OUT, value),
  'the result of a source',
)
const RESULT: Form<JournalResult> = objectOf({ units: list(SOURCE_RESULT), read: list(anyText) })

export type JournalLine =
  | { readonly kind: 'partition'; readonly entry: JournalEntry }
  | { readonly kind: 'result'; readonly result: JournalResult }

/** A line as it was appended; `null` when a byte of it is another. */
export const parseLine = (line: Buffer): JournalLine | null => {
  const read = unseal(line)
  if (read.kind === 'damaged') return null
  if (fits(ENTRY, read.value)) return { kind: 'partition', entry: read.value }
  return fits(RESULT, read.value) ? { kind: 'result', result: read.value } : null
}

/** Every whole line of a journal that can be read. */
const readWhole = async (lake: string, run: string): Promise<readonly JournalLine[]> => {
  const lines = await storageOf(lake).readLines(journalPath(run))
  if (lines === null)
    throw new ToolkitError('RUN_NOT_FOUND', `Cannot read the journal of run "${run}": it has none`, { run })
  const parsed: JournalLine[] = []
  let isDamaged = false
  for await (const line of lines) {
    // Only the last write can be torn by a crash. Damage before it is something else.
    if (isDamaged)
      throw new ToolkitError(
        'RUN_NOT_RESUMABLE',
        `Cannot read the journal of run "${run}": line ${parsed.length + 1} is damaged; "firmlake gc" removes the run, ` +
          'then its command starts over',
        { run, line: parsed.length + 1 },
      )
    const one = parseLine(line)
    if (one) parsed.push(one)
    else isDamaged = true
  }
  return parsed
}

/**
 * The finished partitions of a run in the order they were finished. A torn last line is left out, and of a
 * partition that was loaded again, because its source had changed, all but the last.
 *
 * @throws {ToolkitError} `RUN_NOT_FOUND`, `RUN_NOT_RESUMABLE` when an earlier line is damaged
 */
export const readJournal = async (lake: string, run: string): Promise<readonly JournalEntry[]> =>
  entriesOf(await readWhole(lake, run))

/**
 * The work of a run, once all of it is done; `undefined` as long as an attempt is at work, or none was to its
 * end. @throws as `readJournal`
 */
export const readFinishedWork = async (
  lake: string,
  run: string,
): Promise<(DoneWork & JournalResult) | undefined> => {
  const lines = await readWhole(lake, run)
  const last = lines.at(-1)
  return last?.kind === 'result' ? { ...last.result, entries: entriesOf(lines) } : undefined
}

const entriesOf = (lines: readonly JournalLine[]): readonly JournalEntry[] => {
  const entries = lines.flatMap((line) => (line.kind === 'partition' ? [line.entry] : []))
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
  /** Appends the results of all units, as the last line. @throws as `append` */
  readonly finish: (result: JournalResult) => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * Opens a run's journal behind its last partition: a torn line is cut off, and a result, since more is to come. @throws as
 * `readJournal`
 */
export const openJournal = async ({ lake, run }: RunLease): Promise<Journal> => {
  const written = await readWhole(lake, run)
  const behind = written.findLastIndex(({ kind }) => kind === 'partition') + 1
  const lines = await storageOf(lake).openLines(journalPath(run), behind)
  const close = (): Promise<void> => lines.close()
  const append = async (line: JournalEntry | JournalResult): Promise<void> => {
    try {
      await lines.append(seal(JSON.stringify(line)))
    } catch (error) {
      throw writeError(`Cannot write the journal of run "${run}"`, error)
    }
  }
  return {
    append,
    finish: append,
    close,
    [Symbol.asyncDispose]: close,
  }
}
