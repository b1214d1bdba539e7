/**
 * The lines of a journal, each sealed: one for a finished partition, and as the last one the result of every source, which says
 * that all work of the journal is done.
 */

import { type ErrorCode, isErrorCode } from '../../core/errors.ts'
import type { PartitionEntry } from '../../core/partition.ts'
import type { UnknownItems } from '../../core/unknown-names.ts'
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
  optional,
  shapeOf,
  yesNo,
} from '../../support/json-form.ts'
import { PARTITION } from '../form/entry-form.ts'

export interface JournalEntry {
  readonly partition: PartitionEntry
  /** Partitions that its block makes: the block is finished when so many of it stand in the journal. */
  readonly layers: number
  /** Line items of its figures that the contract does not know. */
  readonly unknownItems: UnknownItems
}

/** The result of one source. */
export type SourceResult =
  /** The source's partitions by their ids, in their order. */
  | { readonly kind: 'loaded'; readonly source: string; readonly partitions: readonly string[] }
  | { readonly kind: 'skipped'; readonly source: string; readonly reason: string }
  /** The source cannot be read to its end. */
  | { readonly kind: 'left-out'; readonly source: string; readonly code: ErrorCode; readonly reason: string }

export interface JournalResult {
  /** The result of each source, in their order; sources that share a partition have that of the first one. */
  readonly sources: readonly SourceResult[]
  /**
   * The hashes of the sources that are known by their bytes, in their order; of one that could not be read the code of its
   * error.
   */
  readonly read: readonly string[]
  /** The attempt at a unit that many processes may have tried: it stands in the names of its files. */
  readonly attempt?: string | undefined
  /** Host and pid of that attempt, for a person. */
  readonly by?: string | undefined
}

/** The work that a journal tells of. */
export interface RecordedWork {
  /** In the order they were finished; of a partition that was loaded again, because its source had changed, the last. */
  readonly entries: readonly JournalEntry[]
  /** Absent as long as an attempt is at work, or none was to its end. */
  readonly result?: JournalResult | undefined
}

/** Work that is done. */
export interface DoneWork extends RecordedWork {
  readonly result: JournalResult
}

const ENTRY = objectOf({
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
const SOURCE_RESULT: Form<SourceResult> = form(
  (value): value is SourceResult => fits(LOADED, value) || fits(SKIPPED, value) || fits(LEFT_OUT, value),
  'the result of a source',
)
const RESULT: Form<JournalResult> = shapeOf<JournalResult>({
  ...{ sources: list(SOURCE_RESULT), read: list(anyText) },
  ...{ attempt: optional(anyText), by: optional(anyText) },
})

export type JournalLine =
  | { readonly kind: 'partition'; readonly entry: JournalEntry }
  | { readonly kind: 'result'; readonly result: JournalResult }

export const lineText = (line: JournalEntry | JournalResult): string => seal(JSON.stringify(line))

/** A line as it was written; `null` when a byte of it is another. */
export const parseLine = (line: Buffer): JournalLine | null => {
  const read = unseal(line)
  if (read.kind === 'damaged') return null
  if (fits(ENTRY, read.value)) return { kind: 'partition', entry: read.value }
  return fits(RESULT, read.value) ? { kind: 'result', result: read.value } : null
}

/** Partitions of the sources that were loaded to their end, by their ids. */
export const loadedPartitions = ({ sources }: Pick<JournalResult, 'sources'>): ReadonlySet<string> =>
  new Set(sources.flatMap((one) => (one.kind === 'loaded' ? one.partitions : [])))

/** The work of several journals, in their order. */
export interface AllWork extends Pick<RecordedWork, 'entries'>, Pick<JournalResult, 'sources'> {}

export const together = (works: readonly RecordedWork[]): AllWork => ({
  entries: works.flatMap(({ entries }) => entries),
  sources: works.flatMap(({ result }) => result?.sources ?? []),
})

/** The work that lines tell of. A result counts only with all of its partitions: a line may have been lost. */
export const workIn = (lines: readonly JournalLine[]): RecordedWork => {
  const all = lines.flatMap((line) => (line.kind === 'partition' ? [line.entry] : []))
  const newest = new Map(all.map((entry) => [entry.partition.id, entry]))
  const entries = all.filter((entry) => newest.get(entry.partition.id) === entry)
  const last = lines.at(-1)
  if (last?.kind !== 'result') return { entries }
  const isWhole = [...loadedPartitions(last.result)].every((id) => newest.has(id))
  return isWhole ? { entries, result: last.result } : { entries }
}
