/** A table format that tables are published in: what each format does, and what it is given. */

import type { SnapshotHead } from '../core/partition.ts'
import type { Session } from '../lake/duckdb/engine.ts'
import type { Table } from '../lake/tables/tables.ts'
import type { SupersededRows } from './superseded-rows.ts'
import type { ShownSnapshot, TableInSnapshot } from './table-files.ts'

/** Numbers of files that one snapshot changed in a published table. */
export interface TableChange {
  readonly added: number
  readonly removed: number
}

export interface PublishContext {
  readonly lake: string
  /** DuckDB with the memory that the publication may use. */
  readonly session: Session
  /** Folder of this machine for what is being made. */
  readonly scratch: string
  /** The most that files of a lake in a bucket take in it at once, in bytes. */
  readonly localBytes: number
  /** The first snapshot that the lake still keeps. */
  readonly oldest: number
  /** The superseded rows, for tables of current rows. */
  readonly superseded: SupersededRows
  readonly now: () => Date
  readonly signal?: AbortSignal | undefined
}

/** The parts that a look at a published table needs. */
export type ShownContext = Pick<PublishContext, 'lake' | 'session' | 'scratch' | 'signal'>

/** A snapshot of the lake, and what it lists of a table. */
export type SnapshotToPublish = SnapshotHead & TableInSnapshot

/** A table in a format. */
export interface TablePublication {
  /** `null` where nothing is published yet. */
  readonly shown: () => ShownSnapshot | null
  /**
   * Makes the published table hold what a snapshot says, in one step that readers see all of or nothing; `null` where
   * it does already, or another publisher is ahead meanwhile.
   *
   * @throws {ToolkitError} `PUBLISH_CONFLICT` when someone else changed the published table
   */
  readonly publish: (snapshot: SnapshotToPublish) => Promise<TableChange | null>
  /** Whether the table is published again because the lake was moved: what was published names another place. */
  readonly moved?: boolean
}

export interface PublishFormat {
  readonly name: string
  /** Whether a table of the lake is published in this format. */
  readonly isPublished: (lake: string, table: Table) => Promise<boolean>
  /** The snapshot that a published table shows; `null` where nothing is published. Writes nothing. */
  readonly shown: (context: ShownContext, table: Table) => Promise<ShownSnapshot | null>
  readonly open: (context: PublishContext, table: Table) => Promise<TablePublication>
  /** Takes a published table away from where others find it; files of rows stay, and other files of a catalog's table. */
  readonly drop: (lake: string, table: Table) => Promise<void>
  /** The files of their own that tables of current rows have. */
  readonly ownFiles?: OwnFiles
}

export interface OwnFiles {
  /** Folder below the lake where those of a table stand, and nothing else but what is in folders that begin with `_`. */
  readonly folder: (table: Table) => string
  /**
   * Paths in the lake of those that the published table needs, its versions from that on which shows the oldest snapshot of
   * the lake; `null` where it is not published.
   */
  readonly needed: (context: PublishContext, table: Table) => Promise<ReadonlySet<string> | null>
}
