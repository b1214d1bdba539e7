/** The request of a forget, and its report. */

import type { Content } from '../contract/objects.ts'
import type { ForgetReceipt, ForgottenIds } from '../manifest/form/forgotten.ts'
import { storageOf } from '../storage/open-storage.ts'
import type { FinishOptions } from './finish-forget.ts'

export interface ForgetInLakeOptions extends FinishOptions {
  readonly ids: ForgottenIds
  readonly nationalIds: readonly string[]
  readonly country?: string | undefined
  readonly later: ForgetReceipt['later']
  readonly dryRun: boolean
}

/** A record of others whose unknown fields mention the forgotten. */
export interface StrippedRecord {
  readonly content: Content
  /** InternalId of the company that it is of, in digits. */
  readonly id: string
}

/** The report of a forget, or of its dry run. */
export interface ForgetSummary {
  /** `nothing`: the lake holds nothing of theirs, has no older snapshots, and refuses or allows them already. */
  readonly kind: 'forgotten' | 'planned' | 'nothing'
  /** The snapshot that was made; else the one it is about. */
  readonly snapshot: number
  /** Ids that were asked for, those found by national ids among them. */
  readonly companies: number
  readonly persons: number
  /** Snapshots of interrupted forgets that were completed first. */
  readonly completed: readonly number[]
  /** Ids that the lake neither has, nor had to forget before. */
  readonly unknown: number
  /** National ids that the lake does not know. */
  readonly unresolved: number
  /** Files that held something of theirs, and rows that were removed or written again, by kind. */
  readonly files: ForgetReceipt['files']
  /** Records of others that lost all fields that the contract does not know, because these mentioned the forgotten. */
  readonly recordsStripped: number
  /** These records; of a dry run alone. */
  readonly records?: readonly StrippedRecord[]
  /** Quarantined lines that mentioned the forgotten: their text was removed. */
  readonly linesCleared: number
  /** Numbers of snapshots that are gone. */
  readonly snapshots: readonly number[]
  /** Interrupted runs that were removed: they might have held something. */
  readonly runs: readonly string[]
  /** The load that is held back: it is held still, without the forgotten, or one of `runs`; absent where none was. */
  readonly held?: 'kept' | 'removed'
  /** Serving indexes and batch files that are gone, until they are made again. */
  readonly made: readonly string[]
  /** The publications that were made anew: `delta all`, `iceberg current`, … */
  readonly published: readonly string[]
  readonly later: ForgetReceipt['later']
  /** Places that may hold something of theirs and were not reached. */
  readonly notReached: readonly string[]
  /** Why `lake.duckdb` or `lake.ducklake` was not written; absent where those that the lake is to have were. */
  readonly noViews?: string
}

export const notReached = (lake: string, catalog: boolean): readonly string[] => [
  'databases, files and folders that it was delivered or exported to',
  'copies of the lake until "firmlake copy" brings them up to date, and backups of its disk',
  'processes that have read it before, a running "firmlake serve" too, until they end',
  'work folders of other machines',
  ...(catalog ? [] : ['tables in an Iceberg REST catalog, unless it is named']),
  ...(storageOf(lake).isRemote ? ['earlier versions of objects, where the bucket keeps them'] : []),
]
