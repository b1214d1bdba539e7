/** Entries of the manifest: the record of each unit of work of a run. */

import type { Content } from '../contract/objects.ts'
import type { SearchParameters } from '../contract/requests.ts'
import type { KeptResult } from './checks.ts'
import type { SourceFacts, SourceKindName } from './source-kinds.ts'

/** A file of the lake as listed in a snapshot. */
export interface FileEntry {
  readonly table: string
  /** Path below the lake's folder, with `/`. */
  readonly path: string
  readonly rows: number
  readonly bytes: number
  readonly sha256: string
}

/** Source of a partition's lines. */
export interface SourceEntry extends SourceFacts {
  readonly kind: SourceKindName
  /** Path or name as given by the person; of a search its window, of a batch file its name, of a listing its search. */
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

/** A small source that shares a partition with others. */
export interface SharedSource extends SourceEntry {
  /** The source's share of the partition. */
  readonly counts: LineCounts
  /** The instant of its own records, as `asOf` of a partition. */
  readonly asOf?: string
}

/** The result of a check, of the load that was checked before it was shown. */
export interface CheckEntry extends KeptResult {
  readonly run: string
  readonly snapshot: number
  /** When it was checked, ISO 8601, UTC. */
  readonly time: string
}

/** A pull or sync as a whole: where "since last" continues from, and what no window could cover. */
export interface PullEntry {
  readonly run: string
  readonly content: Content
  readonly service: string
  /** The search as given, without the windows' filters. */
  readonly search: SearchParameters
  readonly currency?: string
  /** The date parameter that the windows are cut by and that "since last" continues; absent where none was needed. */
  readonly field?: string
  /** First and last day asked for; absent ends were open. */
  readonly from?: string
  readonly to?: string
  /** When the service was asked first, by its own clock (`Date`), ISO 8601 in UTC. */
  readonly asOf: string
  /**
   * `TotalCount` of the whole search, with that of its windows as they were when they were pulled: always `received` and
   * `gapLeft` together.
   */
  readonly announced: number
  /** Sum of what the windows announced when they were planned, and of what came. */
  readonly planned: number
  readonly received: number
  /** Records that were announced and did not come: in no window, or not given. Absent where all came without a gap. */
  readonly gapLeft?: number
}

/** A name or value seen that the contract does not know. */
export interface Drift {
  /** `more` stands for the rest, where there are too many to list. */
  readonly kind: 'field' | 'category' | 'line-item' | 'code' | 'more'
  /** Path of the name: `BasicDetails.Foo`, `Sheet.Item`, `LegalForm=777`; a long one is cut. Of `more`: `and 1,234 more`. */
  readonly name: string
  /** How many records have it; of `more` at least so many have one of them. */
  readonly records: number
  /** For `more` only: how many names it stands for, from 100,000 on at least so many. */
  readonly names?: number
}

/** Dates asked for, and the least and greatest seen. */
export interface DateRange {
  /** The field whose least and greatest value was observed. */
  readonly field: 'ContentUpdatedAt' | 'UpdatedAt'
  /** First and last day asked for, ISO dates; `null` where the source has no window (a batch file). */
  readonly requested: { readonly from?: string; readonly to?: string } | null
  /** Least and greatest value seen, ISO 8601 in UTC; `null` where no record has one. */
  readonly observed: { readonly least: string; readonly greatest: string } | null
}

/** Lines by their outcome: each is a record, quarantined or filtered. */
export interface LineCounts {
  /** Non-blank lines; always records + quarantined + filtered. */
  readonly lines: number
  /** Loaded. */
  readonly records: number
  readonly quarantined: number
  /** Good lines whose records the projection leaves out; absent where there are none. */
  readonly filtered?: number
}

/** Contents of a partition. */
export interface Counts extends LineCounts {
  /** Rows by table; of each table the sum over its files. */
  readonly rows: Readonly<Record<string, number>>
}

/** A partition, from when it is loaded on. */
export interface PartitionEntry {
  readonly id: string
  readonly run: string
  readonly content: Content
  /** Several small sources stand here as one: see `togetherAs`. */
  readonly source: SourceEntry
  /**
   * The instant at which the service said what the partition holds, ISO 8601 in UTC: the one that its source has, else the
   * latest stamp in its own records; absent where there is none. The commit finds that of the whole source.
   */
  readonly asOf?: string
  /** Records of which the lake had newer data when they were committed: they are history; absent where there are none. */
  readonly older?: number
  /** The latest instant of that data. */
  readonly olderThan?: string
  /** Since when none of a compaction's past rows is missing, ISO 8601 in UTC; absent where all are there. */
  readonly pastSince?: string
  /** The small sources that share it, in their order; absent where it is of one. */
  readonly sources?: readonly SharedSource[]
  readonly range: DateRange
  readonly counts: Counts
  readonly files: readonly FileEntry[]
  readonly drift: readonly Drift[]
}

/** When rows became visible. */
export interface Commit {
  /** The first snapshot that shows them. */
  readonly snapshot: number
  /** Time of that snapshot: ISO 8601, UTC. */
  readonly time: string
}

/** The fields that a commit adds to an entry. */
export interface CommitFacts {
  readonly committed: Commit
  /**
   * Version of the entry's rows: the number of the entry in the order of commits to the lake. The commit gives it once, and
   * to no other entry; some numbers are left out.
   */
  readonly version: number
}

/** A partition as it stands in a snapshot. */
export interface CommittedPartition extends PartitionEntry, CommitFacts {
  /**
   * The instant at which the service said what it holds: of one record the version with the latest is current. Where records
   * have different ones, as in a compaction, it is the latest, and the lists of versions have that of each.
   */
  readonly asOf: string
}

/** A file that belongs to a run, not to one partition. */
export interface FileOfRun extends FileEntry, CommitFacts {
  readonly run: string
}

/**
 * A Parquet file beside the manifest that says which version of each record is the `last` in the order of the lake, or which
 * versions others have `superseded`. Columns: the key of the main table, `version`, `as_of` (of a dictionary
 * always the same), `is_listing`, whether it is a listing which lacks the company. Of superseded ones also `next`, the first version
 * that is behind it in the order (a lower one where it was superseded when it came), and `is_gone`, whether that is a listing.
 * Listings that lack a company write nothing of it while it is gone. Where a version comes late before one of them, that listing is
 * `confirmed`: the version of the listing that marked the company, `as_of` the later one.
 */
export interface VersionFile {
  readonly kind: 'last' | 'superseded' | 'confirmed'
  /** The main table of a content, or the dictionary. */
  readonly table: string
  /** The partition's name among the parts of snapshots. */
  readonly name: string
  readonly rows: number
  /** Rows that are versions of records and no listings: each version that is superseded stands in one file. */
  readonly records: number
  readonly bytes: number
  readonly sha256: string
}

/** The fields of a snapshot besides its entries. */
export interface SnapshotHead {
  readonly snapshot: number
  readonly parent: number | null
  readonly run: string
  readonly pipeline: string
  readonly tool: string
  /** ISO 8601, UTC. */
  readonly time: string
}

/**
 * The whole lake as of one commit, as one document. A lake keeps it in parts, of which readers open those that they need
 * (`manifest/snapshots/snapshot-root.ts`).
 */
export interface Snapshot extends SnapshotHead {
  /** In the order of commits. */
  readonly partitions: readonly CommittedPartition[]
  /** Files that belong to a run, not to one partition (its `line_items` dictionary). */
  readonly files: readonly FileOfRun[]
  /** Pulls from a service, in the order of commits; absent where there was none. */
  readonly pulls?: readonly PullEntry[]
  /**
   * Partitions whose rows a compaction has put together with others, in the order of commits: what was loaded, and
   * when. Of their files they keep those of the quarantine. Absent where there was no compaction.
   */
  readonly merged?: readonly CommittedPartition[]
  /** Lists of the versions that are superseded as of this snapshot, and of the last version of each record. */
  readonly versions: readonly VersionFile[]
}
