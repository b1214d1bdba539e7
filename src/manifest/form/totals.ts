/**
 * Totals of a snapshot: by content the loaded records (a compaction changes nothing in them: a company loaded twice counts
 * twice), by table the rows and files. Both sorted by name. Pure.
 */

import type { Content } from '../../contract/objects.ts'
import type {
  DateRange,
  FileEntry,
  LineCounts,
  PartitionEntry,
  Snapshot,
  VersionFile,
} from '../../core/partition.ts'
import { observedIn, requestedIn } from './part-summary.ts'
import { loadedPartitions, sourceSizes } from './sources.ts'

export interface ContentTotals {
  readonly content: Content
  /** As they were loaded; those that a compaction has merged count too. */
  readonly partitions: number
  /** Files by their bytes, and windows of searches. */
  readonly sources: number
  /** Length of the sources as taken in, in bytes. */
  readonly sourceBytes: number
  readonly lines: number
  readonly records: number
  readonly quarantined: number
  /** Absent where there are none. */
  readonly filtered?: number
  /** Least and greatest date asked for, ISO; absent where no source has a window. */
  readonly requested: DateRange['requested']
  /** Least and greatest value seen, ISO 8601 in UTC. */
  readonly observed: DateRange['observed']
}

export interface TableTotals {
  readonly table: string
  readonly files: number
  readonly rows: number
  readonly bytes: number
}

export interface Totals {
  /** Runs that have left anything. */
  readonly runs: number
  readonly contents: readonly ContentTotals[]
  readonly tables: readonly TableTotals[]
}

export const NO_TOTALS: Totals = { runs: 0, contents: [], tables: [] }

export const sumOf = <T>(items: readonly T[], value: (item: T) => number): number =>
  items.reduce((sum, item) => sum + value(item), 0)

/** The sums of some fields of all items. */
const sumsOf = <Key extends string>(items: readonly Readonly<Record<Key, number>>[], keys: readonly Key[]) =>
  Object.fromEntries(keys.map((key) => [key, sumOf(items, (item) => item[key])])) as Record<Key, number>

const LINE_COUNTS = ['lines', 'records', 'quarantined'] as const

/** The field `filtered` of counts, absent where it is 0. */
export const filteredOf = (
  counts: readonly Pick<LineCounts, 'filtered'>[],
): { readonly filtered?: number } => {
  const filtered = sumOf(counts, (one) => one.filtered ?? 0)
  return filtered > 0 ? { filtered } : {}
}

const byName =
  <K extends string>(key: K) =>
  (a: Readonly<Record<K, string>>, b: Readonly<Record<K, string>>): number =>
    a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0

const contentTotals = (content: Content, partitions: readonly PartitionEntry[]): ContentTotals => {
  const sizes = [...Map.groupBy(partitions, ({ run }) => run).values()].map(sourceSizes)
  const counts = partitions.map((one) => one.counts)
  return {
    content,
    partitions: partitions.length,
    sources: sourceSizes(partitions).size,
    sourceBytes: sumOf(sizes, (ofRun) => sumOf([...ofRun.values()], (bytes) => bytes)),
    ...sumsOf(counts, LINE_COUNTS),
    ...filteredOf(counts),
    requested: requestedIn(partitions.map(({ range }) => range)),
    observed: observedIn(partitions.map(({ range }) => range)),
  }
}

type Listed = Pick<Snapshot, 'partitions' | 'files' | 'pulls' | 'merged'>

export const totalsOf = (listed: Listed): Totals => {
  const { partitions, files, pulls = [], merged = [] } = listed
  const contents = [...Map.groupBy(loadedPartitions(listed), ({ content }) => content)]
  const tables = [...Map.groupBy(listedFiles(listed), ({ table }) => table)]
  const runs = new Set<string>()
  for (const some of [merged, partitions, files, pulls]) for (const { run } of some) runs.add(run)
  return {
    runs: runs.size,
    contents: contents.map(([content, some]) => contentTotals(content, some)).sort(byName('content')),
    tables: tables
      .map(([table, some]) => ({ table, files: some.length, ...sumsOf(some, ['rows', 'bytes']) }))
      .sort(byName('table')),
  }
}

/** Both together, where they are of different runs. @param common sources of a content that both have */
export const addTotals = (a: Totals, b: Totals, common: (content: Content) => number): Totals => {
  const contents = Map.groupBy([...a.contents, ...b.contents], ({ content }) => content)
  const tables = Map.groupBy([...a.tables, ...b.tables], ({ table }) => table)
  return {
    runs: a.runs + b.runs,
    contents: [...contents]
      .map(([content, both]) => ({
        content,
        ...sumsOf(both, ['partitions', 'sources', 'sourceBytes', ...LINE_COUNTS]),
        sources: sumOf(both, (one) => one.sources) - common(content),
        ...filteredOf(both),
        requested: requestedIn(both),
        observed: observedIn(both),
      }))
      .sort(byName('content')),
    tables: [...tables]
      .map(([table, both]) => ({ table, ...sumsOf(both, ['files', 'rows', 'bytes']) }))
      .sort(byName('table')),
  }
}

/** The files of a snapshot: those of its partitions, the quarantine of merged ones, and those of runs. */
export const listedFiles = ({
  partitions,
  merged = [],
  files,
}: Pick<Snapshot, 'partitions' | 'merged' | 'files'>): readonly FileEntry[] => [
  ...[...merged, ...partitions].flatMap((one) => one.files),
  ...files,
]

/** Records that are current, by content: all versions but the superseded ones. A company that is gone is superseded. */
export const currentRecords = ({
  totals: { contents, tables },
  versions,
}: {
  readonly totals: Totals
  readonly versions: readonly VersionFile[]
}): Readonly<Partial<Record<Content, number>>> =>
  Object.fromEntries(
    contents.map(({ content }) => {
      const old = versions.filter(({ kind, table }) => kind === 'superseded' && table === content)
      const rows = tables.find(({ table }) => table === content)?.rows ?? 0
      return [content, rows - sumOf(old, ({ records }) => records)]
    }),
  )
