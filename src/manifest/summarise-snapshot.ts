/** A snapshot in a few numbers, for `status`. Pure. */

import type { Content } from '../contract/objects.ts'
import type { FileEntry, PartitionEntry, Snapshot } from '../core/partition.ts'
import { type Difference, type LatestPull, latestPulls, standingDifferences } from './latest-pulls.ts'
import { listedFiles } from './listed-files.ts'
import { loadedPartitions, sourceOf } from './loaded-sources.ts'

interface ContentSummary {
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
  /** Least and greatest date asked for, ISO; absent where no source has a window. */
  readonly requested: { readonly from?: string; readonly to?: string } | null
  /** Least and greatest value seen, ISO 8601 in UTC. */
  readonly observed: { readonly least: string; readonly greatest: string } | null
}

interface TableSummary {
  readonly table: string
  readonly files: number
  readonly rows: number
  readonly bytes: number
}

export interface SnapshotSummary {
  readonly snapshot: number
  readonly run: string
  readonly time: string
  readonly runs: number
  readonly partitions: number
  /** Partitions whose rows a compaction has put together with others; not among `partitions`. */
  readonly merged: number
  readonly bytes: number
  readonly contents: readonly ContentSummary[]
  readonly tables: readonly TableSummary[]
  /** The newest pull of each search. */
  readonly pulls: readonly LatestPull[]
  /** Where less or more came than was announced. */
  readonly differences: readonly Difference[]
}

const sumOf = <T>(items: readonly T[], value: (item: T) => number): number =>
  items.reduce((sum, item) => sum + value(item), 0)

/** As instants first: `…05Z` is before `…05.1Z`, although not as text. */
const byTime = (a: string, b: string): number => Date.parse(a) - Date.parse(b) || (a < b ? -1 : a > b ? 1 : 0)

const extremes = (times: readonly string[]): { least: string; greatest: string } | null => {
  const sorted = times.toSorted(byTime)
  const [least, greatest] = [sorted[0], sorted.at(-1)]
  return least !== undefined && greatest !== undefined ? { least, greatest } : null
}

const requestedOf = (partitions: readonly PartitionEntry[]): ContentSummary['requested'] => {
  const windows = partitions.flatMap(({ range }) => (range.requested ? [range.requested] : []))
  if (windows.length === 0) return null
  const from = extremes(windows.flatMap((one) => one.from ?? []))
  const to = extremes(windows.flatMap((one) => one.to ?? []))
  return { ...(from && { from: from.least }), ...(to && { to: to.greatest }) }
}

const summariseContent = (content: Content, partitions: readonly PartitionEntry[]): ContentSummary => {
  const sources = new Map(partitions.map((one) => [`${one.run} ${sourceOf(one)}`, one.source]))
  return {
    content,
    partitions: partitions.length,
    sources: new Set(partitions.map(sourceOf)).size,
    sourceBytes: sumOf([...sources.values()], ({ bytes }) => bytes),
    lines: sumOf(partitions, ({ counts }) => counts.lines),
    records: sumOf(partitions, ({ counts }) => counts.records),
    quarantined: sumOf(partitions, ({ counts }) => counts.quarantined),
    requested: requestedOf(partitions),
    observed: extremes(
      partitions.flatMap(({ range }) =>
        range.observed ? [range.observed.least, range.observed.greatest] : [],
      ),
    ),
  }
}

const summariseTable = (table: string, files: readonly FileEntry[]): TableSummary => ({
  table,
  files: files.length,
  rows: sumOf(files, ({ rows }) => rows),
  bytes: sumOf(files, ({ bytes }) => bytes),
})

/**
 * Totals by content (what was loaded, also what a compaction has merged: a company loaded twice counts twice) and by
 * table (the rows and files that there are), both by name.
 */
export const summariseSnapshot = (snapshot: Snapshot): SnapshotSummary => {
  const merged = snapshot.merged ?? []
  const files = listedFiles(snapshot)
  const contents = [...Map.groupBy(loadedPartitions(snapshot), ({ content }) => content)]
  const tables = [...Map.groupBy(files, ({ table }) => table)]
  return {
    snapshot: snapshot.snapshot,
    run: snapshot.run,
    time: snapshot.time,
    runs: new Set(
      [...merged, ...snapshot.partitions, ...snapshot.files, ...(snapshot.pulls ?? [])].map(({ run }) => run),
    ).size,
    partitions: snapshot.partitions.length,
    merged: merged.length,
    bytes: sumOf(files, ({ bytes }) => bytes),
    contents: contents.map(([content, list]) => summariseContent(content, list)).sort(byName('content')),
    tables: tables.map(([table, list]) => summariseTable(table, list)).sort(byName('table')),
    pulls: latestPulls(snapshot),
    differences: standingDifferences(snapshot),
  }
}

const byName =
  <K extends string>(key: K) =>
  (a: Readonly<Record<K, string>>, b: Readonly<Record<K, string>>): number =>
    a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0
