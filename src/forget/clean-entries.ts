/**
 * The manifest's entries of partitions, searches, sources and names once records are gone: counts, where they count as filtered, and
 * drift. Pure.
 */

import type { SearchParameters } from '../contract/requests.ts'
import type { Identifiers } from '../core/identifiers.ts'
import type {
  CommittedPartition,
  Drift,
  FileEntry,
  LineCounts,
  PullEntry,
  Snapshot,
  SourceEntry,
} from '../core/partition.ts'
import { comparedNumber } from '../core/person-keys.ts'
import { isCompaction, withSearch } from '../core/source-kinds.ts'
import { moreDrift, nameKey } from '../core/unknown-names.ts'
import { QUARANTINE } from '../lake/tables/tables.ts'
import { firstLayerOf } from '../run/work/partition-entry.ts'

/** The changes to a file of quarantined lines. */
export interface QuarantineChange {
  readonly file: FileEntry
  /** In its place; absent where no line is left, and in a dry run. */
  readonly written?: FileEntry
  /** Lines that are gone, by their source. */
  readonly gone: ReadonlyMap<string, number>
  readonly changed: number
  /** Lines whose text is gone. */
  readonly cleared: number
}

/** Stands in place of a value. */
const FORGOTTEN = 'forgotten'

/** An id of a file's name is one only where it is long: others are numbers of files. */
const MIN_DIGITS = 6

export const cleanSearch = (search: SearchParameters, identifiers: Identifiers): SearchParameters =>
  Object.fromEntries(
    Object.entries(search).map(([name, values]) => [
      name,
      values.map((value) => {
        const text = String(value)
        const isOf =
          identifiers.standIn(text) ||
          identifiers.standIn(comparedNumber(text)) ||
          // A figure or a day may be the same number.
          (/^(internalid|dynamicsearch|semanticsearch)$/i.test(name) && identifiers.idStandsIn(text))
        return isOf ? FORGOTTEN : value
      }),
    ]),
  )

/** The same of a search that is stored as JSON. */
export const cleanSearchText = (text: string, identifiers: Identifiers): string => {
  const search: SearchParameters = JSON.parse(text)
  const cleaned = cleanSearch(search, identifiers)
  return JSON.stringify(cleaned) === JSON.stringify(search) ? text : JSON.stringify(cleaned)
}

/** A name of a source, which may tell of them. */
export const cleanName = (name: string, identifiers: Identifiers): string =>
  identifiers.standIn(name) || identifiers.idStandsIn(name, MIN_DIGITS) ? FORGOTTEN : name

export const cleanSource = <Source extends SourceEntry>(source: Source, identifiers: Identifiers): Source => {
  const cleaned = withSearch(source, (search) => cleanSearch(search, identifiers))
  const isSame = JSON.stringify(cleaned) === JSON.stringify(source)
  // The name of a window says what it searches for.
  const name = isSame ? cleanName(source.name, identifiers) : `${FORGOTTEN} ${source.sha256.slice(0, 8)}`
  return { ...cleaned, name }
}

export const cleanPull = (pull: PullEntry, identifiers: Identifiers): PullEntry => ({
  ...pull,
  search: cleanSearch(pull.search, identifiers),
})

/** Takes lines away from counts: as records, or as quarantined. */
export const filteredFrom = <Some extends LineCounts>(
  counts: Some,
  what: 'records' | 'quarantined',
  lines: number,
): Some =>
  lines === 0 ? counts : { ...counts, [what]: counts[what] - lines, filtered: (counts.filtered ?? 0) + lines }

/**
 * Takes records away from the small sources that share a partition.
 *
 * @param places of the records among those of the partition, from 0: they stand in the order of the sources
 */
export const withoutRecords = (
  sources: NonNullable<CommittedPartition['sources']>,
  places: readonly number[],
): NonNullable<CommittedPartition['sources']> => {
  let from = 0
  return sources.map((source) => {
    const until = from + source.counts.records
    const own = places.filter((place) => place >= from && place < until).length
    from = until
    return { ...source, counts: filteredFrom(source.counts, 'records', own) }
  })
}

export const addUp = (counts: Iterable<number>): number => [...counts].reduce((a, b) => a + b, 0)

/** A partition whose quarantine was written again. */
export const withQuarantine = (
  partition: CommittedPartition,
  changes: readonly QuarantineChange[],
): CommittedPartition => {
  if (changes.length === 0) return partition
  const byPath = new Map(changes.map((change) => [change.file.path, change]))
  const files = partition.files.flatMap((file) => {
    const change = byPath.get(file.path)
    return change === undefined ? [file] : change.written ? [change.written] : []
  })
  const goneOf = (source: string): number => addUp(changes.map(({ gone }) => gone.get(source) ?? 0))
  const gone = addUp(changes.flatMap((change) => [...change.gone.values()]))
  const counts = filteredFrom(partition.counts, 'quarantined', gone)
  const { [QUARANTINE.name]: rows, ...others } = counts.rows
  return {
    ...partition,
    files,
    counts: {
      ...counts,
      rows: rows === undefined ? others : { ...others, [QUARANTINE.name]: rows - gone },
    },
    ...(partition.sources && {
      sources: partition.sources.map((source) => ({
        ...source,
        counts: filteredFrom(source.counts, 'quarantined', goneOf(source.name)),
      })),
    }),
  }
}

const isNamed = ({ kind }: Drift): boolean => kind !== 'more'

/** Names that tell of the forgotten are counted and not named. */
export const withoutTelling = (drift: readonly Drift[], { standIn }: Identifiers): readonly Drift[] => {
  const kept = drift.filter((one) => isNamed(one) && !standIn(one.name))
  if (kept.length === drift.filter(isNamed).length) return drift
  const others = drift.filter((one) => !kept.includes(one))
  const names = others.reduce((sum, one) => sum + (one.names ?? 1), 0)
  return [...kept, moreDrift(names, Math.max(...others.map(({ records }) => records)))]
}

/** The lists of a snapshot whose entries hold drift. */
type DriftLists = Required<Pick<Snapshot, 'partitions' | 'merged'>>

/** The drift of a block stands at its first layer. */
const blockOf = ({ run, id }: CommittedPartition): string => `${run} ${firstLayerOf(id)}`

const isCompacted = ({ source }: CommittedPartition): boolean => isCompaction(source)

interface DroppedDrift extends DriftLists {
  /** The earlier text, as `nameKey`, without names that tell of the forgotten. */
  readonly names: readonly string[]
}

/**
 * The lists without the drift of partitions that have lost records. Of what a compaction has put together nobody knows which
 * load had a record: the drift of all loads goes that were merged.
 */
export const dropDrift = (
  { partitions, merged }: DriftLists,
  affected: readonly CommittedPartition[],
  { standIn }: Identifiers,
): DroppedDrift => {
  const blocks = new Set(affected.filter((one) => !isCompacted(one)).map(blockOf))
  const contents = new Set(affected.filter(isCompacted).map(({ content }) => content))
  const names: string[] = []
  const without = (one: CommittedPartition): CommittedPartition => {
    for (const { kind, name } of one.drift)
      if (kind !== 'more' && !standIn(name)) names.push(nameKey({ content: one.content, kind, name }))
    return { ...one, drift: [] }
  }
  return {
    partitions: partitions.map((one) => (blocks.has(blockOf(one)) ? without(one) : one)),
    merged: merged.map((one) => (contents.has(one.content) ? without(one) : one)),
    names,
  }
}
