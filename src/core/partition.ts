/** What the manifest records of one unit of work, and what a run leaves behind for each. */

import type { Content } from '../contract/objects.ts'

/** A file of the lake as listed in a snapshot. */
export interface FileEntry {
  readonly table: string
  /** Path below the lake's folder, with `/`. */
  readonly path: string
  readonly rows: number
  readonly bytes: number
  readonly sha256: string
}

/** Where a partition's lines came from. */
export interface SourceEntry {
  readonly kind: 'file' | 'stdin' | 'quarantine'
  /** Path or name as given by the person. */
  readonly name: string
  /** Length and hash of the file as it was taken in (compressed where it is). */
  readonly bytes: number
  readonly sha256: string
  /** Number of the block in the file, from 0; its first line and the decoded offset of its first byte. */
  readonly block: number
  readonly firstLine: number
  readonly offset: number
  /** Whether this is the last partition of the source: a source without it was not read to its end. */
  readonly last: boolean
}

/** One thing seen that the contract does not know. */
export interface Drift {
  readonly kind: 'field' | 'category' | 'line-item' | 'code'
  /** Where: `BasicDetails.Foo`, `Financials.Sheet.Item`, `LegalForm=777`. */
  readonly name: string
  /** How many records have it. */
  readonly records: number
}

export interface DateRange {
  readonly field: 'ContentUpdatedAt' | 'UpdatedAt'
  /** What was asked for, ISO dates; `null` where the source has no window (a batch file). */
  readonly requested: { readonly from?: string; readonly to?: string } | null
  /** Least and greatest value seen, ISO 8601 in UTC; `null` where no record has one. */
  readonly observed: { readonly least: string; readonly greatest: string } | null
}

export interface Counts {
  /** Non-blank lines; always records + quarantined. */
  readonly lines: number
  readonly records: number
  readonly quarantined: number
  /** Rows by table; of each table the sum over its files. */
  readonly rows: Readonly<Record<string, number>>
}

/** One partition as it stands in a snapshot. */
export interface PartitionEntry {
  readonly id: string
  readonly run: string
  readonly content: Content
  readonly source: SourceEntry
  readonly range: DateRange
  readonly counts: Counts
  readonly files: readonly FileEntry[]
  readonly drift: readonly Drift[]
}

/** The whole lake as of one commit. */
export interface Snapshot {
  readonly format: 1
  readonly snapshot: number
  readonly parent: number | null
  readonly run: string
  readonly pipeline: string
  readonly tool: string
  /** ISO 8601, UTC. */
  readonly time: string
  /** In the order of commits: of one company the later partition is the current version. */
  readonly partitions: readonly PartitionEntry[]
  /** Files that belong to a run, not to one partition (its `line_items` dictionary). */
  readonly files: readonly (FileEntry & { readonly run: string })[]
}
