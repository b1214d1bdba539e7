/**
 * The work that a run has recorded, in journals. The process that owns a run appends to one, each line on the disk before the
 * next step relies on it. Where many processes work on units, each unit has a journal of its own, created whole: of several
 * attempts at a unit the first one counts. A commit needs nothing else: it may be another process's than the work.
 */

import { ToolkitError, writeError } from '../../core/errors.ts'
import { runPath } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { JSON_BYTES } from '../../support/json-bytes.ts'
import { sideBySide } from '../../support/side-by-side.ts'
import {
  type AllWork,
  type DoneWork,
  type JournalEntry,
  type JournalLine,
  type JournalResult,
  lineText,
  parseLine,
  type RecordedWork,
  together,
  workIn,
} from './journal-lines.ts'
import type { RunLease } from './run-lease.ts'

export const JOURNAL_FILE = 'journal.jsonl'
const UNITS_FOLDER = 'journals'
const DIGITS = 7
const UNIT_NAME = /^(\d{7,})\.jsonl$/

/** @param unit whose journal it is @default that of the run's owner */
export const journalPath = (run: string, unit?: number): string =>
  unit === undefined
    ? `${runPath(run)}/${JOURNAL_FILE}`
    : `${runPath(run)}/${UNITS_FOLDER}/${String(unit).padStart(DIGITS, '0')}.jsonl`

const linesIn = (text: Buffer): readonly Buffer[] => {
  const lines: Buffer[] = []
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf(JSON_BYTES.LINE_FEED, from)
    const to = end < 0 ? text.length : end
    lines.push(text.subarray(from, to))
    from = to + 1
  }
  return lines
}

/** The lines of a journal, each to be read before the next is asked for; `null` where there is none. */
export const journalLines = async (
  lake: string,
  run: string,
  unit?: number,
): Promise<AsyncIterable<Buffer> | Iterable<Buffer> | null> => {
  const path = journalPath(run, unit)
  if (unit === undefined) return storageOf(lake).readLines(path)
  const text = await storageOf(lake).read(path)
  return text && linesIn(text)
}

/** The lines before the first one that is damaged, and how many there are from that one on. */
const readThrough = async (
  lines: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<{ readonly whole: readonly JournalLine[]; readonly left: number }> => {
  const whole: JournalLine[] = []
  let left = 0
  for await (const line of lines) {
    const one = left === 0 ? parseLine(line) : null
    if (one) whole.push(one)
    else left += 1
  }
  return { whole, left }
}

/** Every whole line of the journal of a run's owner. */
const readOwn = async (lake: string, run: string): Promise<readonly JournalLine[]> => {
  const lines = await journalLines(lake, run)
  if (lines === null)
    throw new ToolkitError('RUN_NOT_FOUND', `Cannot read the journal of run "${run}": it has none`, { run })
  const { whole, left } = await readThrough(lines)
  // Only the last write can be torn by a crash. Damage before it is something else.
  if (left <= 1) return whole
  const line = whole.length + 1
  throw new ToolkitError(
    'RUN_NOT_RESUMABLE',
    `Cannot read the journal of run "${run}": line ${line} is damaged; "firmlake gc" removes the run, ` +
      'then its command starts over',
    { run, line },
  )
}

/**
 * The work of a run that one process owns. A torn last line is left out.
 *
 * @throws {ToolkitError} `RUN_NOT_FOUND`, `RUN_NOT_RESUMABLE` when an earlier line is damaged
 */
export const readJournal = async (lake: string, run: string): Promise<RecordedWork> =>
  workIn(await readOwn(lake, run))

/** The journal of a run one owns, open for writing. */
interface Journal {
  /**
   * Appends a line and fsyncs it. The partition's own files are on the disk already: the sink saw to it.
   *
   * @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED`; after it the journal takes no further entry
   */
  readonly append: (entry: JournalEntry) => Promise<void>
  /** Appends the results of all sources, as the last line. @throws as `append` */
  readonly finish: (result: JournalResult) => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * Opens a run's journal behind its last partition: a torn line is cut off, and a result, since more is to come. @throws as
 * `readJournal`
 */
export const openJournal = async ({ lake, run }: RunLease): Promise<Journal> => {
  const written = await readOwn(lake, run)
  const behind = written.findLastIndex(({ kind }) => kind === 'partition') + 1
  const lines = await storageOf(lake).openLines(journalPath(run), behind)
  const append = async (line: JournalEntry | JournalResult): Promise<void> => {
    try {
      await lines.append(lineText(line))
    } catch (error) {
      throw writeError(`Cannot write the journal of run "${run}"`, error)
    }
  }
  return { append, finish: append, close: () => lines.close() }
}

/** The work of an attempt at a unit. */
export interface UnitWork extends DoneWork {
  readonly result: JournalResult & { readonly attempt: string }
}

/** Records the work of a unit. @returns whether no other attempt is known to have been first */
export const recordUnit = async (
  lake: string,
  run: string,
  unit: number,
  work: UnitWork,
): Promise<boolean> => {
  if (await storageOf(lake).create(journalPath(run, unit), journalText(work))) return true
  // A storage may have lost its answer to this very attempt; and a commit that relies on its files may have removed it by now.
  const there = await readUnitWork(lake, run, unit)
  return there === null || there.result.attempt === work.result.attempt
}

/** The work of a unit; `null` where it is not done. @throws {ToolkitError} `RUN_NOT_RESUMABLE` when a byte of it is another */
export const readUnitWork = async (lake: string, run: string, unit: number): Promise<UnitWork | null> => {
  const lines = await journalLines(lake, run, unit)
  if (lines === null) return null
  const { whole, left } = await readThrough(lines)
  const { entries, result } = workIn(whole)
  // The journal was created whole: nothing of it can be torn.
  if (left === 0 && result?.attempt !== undefined)
    return { entries, result: { ...result, attempt: result.attempt } }
  throw new ToolkitError(
    'RUN_NOT_RESUMABLE',
    `Cannot read the journal of unit ${unit} of run "${run}": it is damaged, "firmlake run cancel" removes the run`,
    { run, unit },
  )
}

export const isRecorded = async (lake: string, run: string, unit: number): Promise<boolean> =>
  (await storageOf(lake).stat(journalPath(run, unit))) !== null

/** Removes what was recorded for a run that is gone. */
export const removeUnit = (lake: string, run: string, unit: number): Promise<void> =>
  storageOf(lake).remove([journalPath(run, unit)])

/** The units that are done, in their order. */
export const recordedUnits = async (lake: string, run: string): Promise<ReadonlySet<number>> => {
  const names = await storageOf(lake).entries(`${runPath(run)}/${UNITS_FOLDER}`)
  const units = names.flatMap(({ name }) => UNIT_NAME.exec(name)?.slice(1).map(Number) ?? [])
  return new Set(units.sort((a, b) => a - b))
}

const UNITS_AT_ONCE = 16

/** The journals of a run that count, by their paths: its owner's or, unit by unit, many. @throws as `readAllWork` */
export const readJournals = async (lake: string, run: string): Promise<ReadonlyMap<string, RecordedWork>> => {
  const own = await readJournal(lake, run)
  // A process that took the run over loads all of it: what was done by units does not count any more.
  if (own.entries.length > 0 || own.result) return new Map([[journalPath(run), own]])
  const units = [...(await recordedUnits(lake, run))]
  const done = await sideBySide(units, UNITS_AT_ONCE, async (unit) => {
    const work = await readUnitWork(lake, run, unit)
    if (work) return [journalPath(run, unit), work] as const
    throw new ToolkitError('RUN_NOT_FOUND', `Cannot read the work of run "${run}": it is being removed`, {
      run,
    })
  })
  return new Map(done)
}

/** The text of a journal of work that is done. */
export const journalText = ({ entries, result }: RecordedWork): string =>
  [...entries, ...(result ? [result] : [])].map((line) => `${lineText(line)}\n`).join('')

/**
 * Everything that a run has recorded, whoever works on it: its owner or, unit by unit, many workers.
 *
 * @throws as `readJournal` and `readUnitWork`; `RUN_NOT_FOUND` when it is gone, or being removed
 */
export const readAllWork = async (lake: string, run: string): Promise<AllWork> =>
  together([...(await readJournals(lake, run)).values()])
