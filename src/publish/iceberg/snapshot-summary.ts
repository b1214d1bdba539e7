/** The counts of a snapshot as Iceberg's own writers give them, and where in the lake it comes from. */

import type { SnapshotHead } from '../../core/partition.ts'
import type { DataFileRecord, ManifestContent } from './manifest-schemas.ts'
import { SUMMARY } from './table-metadata.ts'

/** The lake's snapshot that a table is brought to. */
export type LakeSnapshot = Pick<SnapshotHead, 'snapshot' | 'run' | 'time'>

/** Files, their rows and their bytes. */
export interface FileCounts {
  readonly files: number
  readonly rows: number
  readonly bytes: number
}

export const NO_FILES: FileCounts = { files: 0, rows: 0, bytes: 0 }

export const countFiles = (files: readonly DataFileRecord[]): FileCounts => ({
  files: files.length,
  rows: files.reduce((sum, one) => sum + one.record_count, 0),
  bytes: files.reduce((sum, one) => sum + one.file_size_in_bytes, 0),
})

export const addCounts = (a: FileCounts, b: FileCounts): FileCounts => ({
  files: a.files + b.files,
  rows: a.rows + b.rows,
  bytes: a.bytes + b.bytes,
})

/** What a snapshot adds to a table and removes from it. */
export interface CountedChange {
  readonly added: FileCounts
  readonly removed: FileCounts
}

type Summary = Readonly<Record<string, string>>

const operationOf = ({ data, deletes }: Readonly<Record<ManifestContent, CountedChange>>): string => {
  if (data.removed.files + deletes.removed.files + deletes.added.files === 0) return 'append'
  return data.added.files === 0 ? 'delete' : 'overwrite'
}

/** @param before what the snapshot before it says */
export const summaryOf = (
  of: LakeSnapshot,
  changes: Readonly<Record<ManifestContent, CountedChange>>,
  before: Summary | undefined,
): Summary & { readonly operation: string } => {
  const { data, deletes } = changes
  const total = (name: string, { added, removed }: Readonly<Record<'added' | 'removed', number>>): number =>
    Number(before?.[name] ?? 0) + added - removed
  const sides = (change: CountedChange, name: keyof FileCounts) => ({
    added: change.added[name],
    removed: change.removed[name],
  })
  const bytes = (when: 'added' | 'removed'): number => data[when].bytes + deletes[when].bytes
  const counts = {
    'added-data-files': data.added.files,
    'deleted-data-files': data.removed.files,
    'added-records': data.added.rows,
    'deleted-records': data.removed.rows,
    'added-delete-files': deletes.added.files,
    'removed-delete-files': deletes.removed.files,
    'added-position-deletes': deletes.added.rows,
    'removed-position-deletes': deletes.removed.rows,
    'added-files-size': bytes('added'),
    'removed-files-size': bytes('removed'),
    'total-data-files': total('total-data-files', sides(data, 'files')),
    'total-records': total('total-records', sides(data, 'rows')),
    'total-files-size': total('total-files-size', { added: bytes('added'), removed: bytes('removed') }),
    'total-delete-files': total('total-delete-files', sides(deletes, 'files')),
    'total-position-deletes': total('total-position-deletes', sides(deletes, 'rows')),
    'total-equality-deletes': 0,
  }
  return {
    operation: operationOf(changes),
    ...Object.fromEntries(Object.entries(counts).map(([key, count]) => [key, String(count)])),
    [SUMMARY.snapshot]: String(of.snapshot),
    [SUMMARY.run]: of.run,
    [SUMMARY.time]: of.time,
  }
}
