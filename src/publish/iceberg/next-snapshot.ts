/**
 * From the files a table has to those it should have: the manifests of what is new, of what is gone and of what stood
 * beside it, their list, and the snapshot. Nothing is visible before the metadata names it; names are never used twice.
 */

import { randomBytes, randomUUID } from 'node:crypto'
import type { Snapshot } from '../../core/partition.ts'
import type { Table } from '../../lake/tables.ts'
import type { Storage } from '../../storage/storage.ts'
import type { FileStatistics, MeasuredFile } from '../file-statistics.ts'
import type { TableFile } from '../table-files.ts'
import { boundOf } from './bounds.ts'
import { absolutePath, metadataFolder } from './lake-paths.ts'
import type { LiveFile, LiveFiles } from './live-files.ts'
import {
  type DataFileRecord,
  type KeyValue,
  type ManifestEntryRecord,
  type ManifestFileRecord,
  STATUS,
} from './manifest-schemas.ts'
import {
  describeManifest,
  encodeManifest,
  encodeManifestList,
  type SettledEntry,
  type WrittenFor,
} from './manifests.ts'
import {
  currentSchema,
  currentSnapshot,
  nextProperties,
  nextSchema,
  SUMMARY,
  type TableChange,
  type TableMetadata,
} from './table-metadata.ts'
import { partitionSpec, schemaFields } from './table-schema.ts'

export interface SnapshotRequest {
  readonly storage: Storage
  readonly table: Table
  readonly base: TableMetadata | null
  readonly live: LiveFiles
  /** The files that the table should have. */
  readonly wanted: readonly TableFile[]
  /** The lake's snapshot that says so. */
  readonly of: Pick<Snapshot, 'snapshot' | 'run' | 'time'>
  /** The first snapshot that the lake keeps. */
  readonly oldest: number
  readonly measure: (files: readonly TableFile[]) => Promise<readonly MeasuredFile[]>
}

export interface NextSnapshot {
  readonly change: TableChange
  /** The table's files once the change is visible. */
  readonly live: LiveFiles
  /** Paths in the lake of what was written for it. */
  readonly written: readonly string[]
  /** Files that it adds and removes. */
  readonly added: number
  readonly removed: number
}

/** What differs between two sets of files; a file whose version changed is removed and added. */
export interface FileDifference {
  readonly added: readonly TableFile[]
  readonly removed: readonly LiveFile[]
}

export const differenceOf = (
  storage: Storage,
  live: LiveFiles,
  wanted: readonly TableFile[],
): FileDifference => {
  const versions = new Map(wanted.map((file) => [absolutePath(storage, file.path), file.version]))
  return {
    added: wanted.filter((file) => {
      const found = live.files.get(absolutePath(storage, file.path))
      return found?.entry.data_file.partition.version !== file.version
    }),
    removed: [...live.files].flatMap(([path, file]) =>
      versions.get(path) === file.entry.data_file.partition.version ? [] : [file],
    ),
  }
}

/** Counts and bounds of a file, by field id. */
const metricsOf = (table: Table, rows: number, statistics: FileStatistics) => {
  const values: KeyValue<number>[] = []
  const nulls: KeyValue<number>[] = []
  const lower: KeyValue<Buffer>[] = []
  const upper: KeyValue<Buffer>[] = []
  for (const { id, name, type } of schemaFields(table)) {
    const column = statistics.get(name)
    if (column === undefined || typeof type !== 'string') continue
    values.push({ key: id, value: rows })
    if (column.nulls !== undefined) nulls.push({ key: id, value: column.nulls })
    const least = column.least === undefined ? null : boundOf(type, column.least, 'lower')
    const greatest = column.greatest === undefined ? null : boundOf(type, column.greatest, 'upper')
    if (least !== null) lower.push({ key: id, value: least })
    if (greatest !== null) upper.push({ key: id, value: greatest })
  }
  return { value_counts: values, null_value_counts: nulls, lower_bounds: lower, upper_bounds: upper }
}

const dataFiles = async (
  { storage, table, live, measure }: SnapshotRequest,
  added: readonly TableFile[],
): Promise<DataFileRecord[]> => {
  const known = (file: TableFile) => live.files.get(absolutePath(storage, file.path))?.entry.data_file
  const measured = await measure(added.filter((file) => known(file) === undefined))
  const statistics = new Map(measured.map((one) => [one.file.path, one.statistics]))
  return added.map((file): DataFileRecord => {
    const partition = { load: file.run, version: file.version }
    const described = known(file)
    // Only its version is another one: what it holds was found out when it was added first.
    if (described !== undefined) return { ...described, partition }
    return {
      content: 0,
      file_path: absolutePath(storage, file.path),
      file_format: 'PARQUET',
      partition,
      record_count: file.rows,
      file_size_in_bytes: file.bytes,
      ...metricsOf(table, file.rows, statistics.get(file.path) ?? new Map()),
      sort_order_id: null,
    }
  })
}

const operationOf = (added: number, removed: number): string => {
  if (removed === 0) return 'append'
  return added === 0 ? 'delete' : 'overwrite'
}

/** The counts of a snapshot as Iceberg's own writers give them, and where in the lake it comes from. */
const summaryOf = (
  { of }: SnapshotRequest,
  added: readonly DataFileRecord[],
  removed: readonly DataFileRecord[],
  all: readonly DataFileRecord[],
) => {
  const rows = (some: readonly DataFileRecord[]) => some.reduce((sum, one) => sum + one.record_count, 0)
  const bytes = (some: readonly DataFileRecord[]) =>
    some.reduce((sum, one) => sum + one.file_size_in_bytes, 0)
  const counts = {
    'added-data-files': added.length,
    'deleted-data-files': removed.length,
    'added-records': rows(added),
    'deleted-records': rows(removed),
    'added-files-size': bytes(added),
    'removed-files-size': bytes(removed),
    'total-data-files': all.length,
    'total-records': rows(all),
    'total-files-size': bytes(all),
    'total-delete-files': 0,
    'total-position-deletes': 0,
    'total-equality-deletes': 0,
  }
  return {
    operation: operationOf(added.length, removed.length),
    ...Object.fromEntries(Object.entries(counts).map(([key, count]) => [key, String(count)])),
    [SUMMARY.snapshot]: String(of.snapshot),
    [SUMMARY.run]: of.run,
    [SUMMARY.time]: of.time,
  }
}

/**
 * Snapshots that no snapshot of the lake needs any more. One stands for all of the lake's from its own up to the one
 * before the next.
 */
const expiredIn = (base: TableMetadata | null, number: number, oldest: number): number[] => {
  const own = (base?.snapshots ?? [])
    .map((one) => ({ id: one['snapshot-id'], number: Number(one.summary[SUMMARY.snapshot] ?? Number.NaN) }))
    .filter((one) => !Number.isNaN(one.number))
    .sort((a, b) => a.number - b.number)
  return own.filter((_, at) => (own[at + 1]?.number ?? number) <= oldest).map(({ id }) => id)
}

const NEW_ENTRY = { status: STATUS.added, sequence_number: null, file_sequence_number: null }

/** In the order in which the files were added, the same whoever read the table in which order. */
const byAge = (a: ManifestEntryRecord, b: ManifestEntryRecord): number =>
  (a.sequence_number ?? 0) - (b.sequence_number ?? 0) ||
  (a.data_file.file_path < b.data_file.file_path ? -1 : 1)

/** Writes all that the next snapshot needs; `undefined` where the table is as it should be. */
export const writeNextSnapshot = async (request: SnapshotRequest): Promise<NextSnapshot | undefined> => {
  const { storage, table, base, live, of } = request
  const { added, removed } = differenceOf(storage, live, request.wanted)
  const schema = nextSchema(table, base)
  // A table without files is published too: it has its columns.
  if (added.length === 0 && removed.length === 0 && schema === undefined) return undefined

  const parent = base && currentSnapshot(base)
  const written: string[] = []
  const writtenFor: WrittenFor = {
    snapshotId: randomBytes(6).readUIntBE(0, 6) + 1,
    parentId: parent?.['snapshot-id'],
    sequenceNumber: (base?.['last-sequence-number'] ?? 0) + 1,
  }
  const used = schema ?? (base && currentSchema(base))
  if (!used) throw new TypeError(`Table "${table.name}" has no schema`)
  const create = async (name: string, bytes: Buffer): Promise<string> => {
    const path = `${metadataFolder(table.name)}/${name}`
    await storage.create(path, bytes)
    written.push(path)
    return absolutePath(storage, path)
  }
  const unique = randomUUID()
  const manifests: ManifestFileRecord[] = []
  const files = new Map(live.files)
  const writeManifest = async (entries: readonly ManifestEntryRecord[], name: string): Promise<void> => {
    if (entries.length === 0) return
    const bytes = await encodeManifest(entries, used, partitionSpec(table))
    const path = await create(name, bytes)
    manifests.push(describeManifest(path, bytes.length, entries, writtenFor))
    for (const entry of entries) {
      if (entry.status === STATUS.deleted) continue
      const settled: SettledEntry = {
        ...entry,
        snapshot_id: entry.snapshot_id ?? writtenFor.snapshotId,
        sequence_number: entry.sequence_number ?? writtenFor.sequenceNumber,
        file_sequence_number: entry.file_sequence_number ?? writtenFor.sequenceNumber,
      }
      files.set(entry.data_file.file_path, { entry: settled, manifest: path })
    }
  }

  const touched = new Set(removed.map(({ manifest }) => manifest))
  const gone = new Set(removed)
  for (const { entry } of removed) files.delete(entry.data_file.file_path)
  const rewritten = [...live.files.values()]
    .filter(({ manifest }) => touched.has(manifest))
    .map(
      (file): ManifestEntryRecord =>
        gone.has(file)
          ? { ...file.entry, status: STATUS.deleted, snapshot_id: writtenFor.snapshotId }
          : { ...file.entry, status: STATUS.existing },
    )
    .sort(byAge)
  const addedFiles = await dataFiles(request, added)
  await writeManifest(rewritten, `${unique}-m0.avro`)
  await writeManifest(
    addedFiles.map((data_file) => ({ ...NEW_ENTRY, snapshot_id: writtenFor.snapshotId, data_file })),
    `${unique}-m1.avro`,
  )
  const kept = live.manifests.filter(({ manifest_path }) => !touched.has(manifest_path))
  const list = [...manifests, ...kept]
  const listPath = await create(
    `snap-${writtenFor.snapshotId}-1-${unique}.avro`,
    await encodeManifestList(list, writtenFor),
  )
  return {
    written,
    added: added.length,
    removed: removed.length,
    live: { manifests: list.filter((one) => one.added_files_count + one.existing_files_count > 0), files },
    change: {
      snapshot: {
        'snapshot-id': writtenFor.snapshotId,
        ...(parent && { 'parent-snapshot-id': parent['snapshot-id'] }),
        'sequence-number': writtenFor.sequenceNumber,
        // Never before the table's last change: readers refuse a history that goes back in time.
        'timestamp-ms': Math.max(Date.parse(of.time), (base?.['last-updated-ms'] ?? 0) + 1),
        'manifest-list': listPath,
        summary: summaryOf(
          request,
          addedFiles,
          removed.map(({ entry }) => entry.data_file),
          [...files.values()].map(({ entry }) => entry.data_file),
        ),
        'schema-id': used['schema-id'],
      },
      ...(schema && { schema }),
      properties: nextProperties(table, base),
      expired: expiredIn(base, of.snapshot, request.oldest),
    },
  }
}
