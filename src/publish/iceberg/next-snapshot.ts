/**
 * From the files a table has to those it should have: the manifests of what is new, of what is gone and of what stood
 * beside it, their list, and the snapshot. Nothing is visible before the metadata names it; names are never used twice.
 */

import { randomBytes, randomUUID } from 'node:crypto'
import type { TableFile } from '../table-files.ts'
import { type DataFilesRequest, dataFiles, differenceOf, type LakeSnapshot, summaryOf } from './data-files.ts'
import { absolutePath, metadataFolder } from './lake-paths.ts'
import type { LiveFiles } from './live-files.ts'
import { type ManifestEntryRecord, type ManifestFileRecord, STATUS } from './manifest-schemas.ts'
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
  type TableMetadata,
  type TableUpdate,
} from './table-metadata.ts'
import { partitionSpec } from './table-schema.ts'

export interface SnapshotRequest extends DataFilesRequest {
  readonly base: TableMetadata | null
  /** The files that the table should have. */
  readonly target: readonly TableFile[]
  /** The lake's snapshot that says so. */
  readonly of: LakeSnapshot
  /** The first snapshot that the lake keeps. */
  readonly oldest: number
}

export interface NextSnapshot {
  readonly change: TableUpdate
  /** The table's files once the change is visible. */
  readonly live: LiveFiles
  /** Paths in the lake of what was written for it. */
  readonly written: readonly string[]
  /** Files that it adds and removes. */
  readonly added: number
  readonly removed: number
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

/** So many manifests become one: whoever plans a query opens each of them. As Iceberg's own writers do. */
const MOST_MANIFESTS = 100

const NEW_ENTRY = { status: STATUS.added, sequence_number: null, file_sequence_number: null }

/** In the order in which the files were added, the same whoever read the table in which order. */
const byAge = (a: ManifestEntryRecord, b: ManifestEntryRecord): number =>
  (a.sequence_number ?? 0) - (b.sequence_number ?? 0) ||
  (a.data_file.file_path < b.data_file.file_path ? -1 : 1)

/** Writes all that the next snapshot needs; `undefined` where the table is as it should be. */
export const writeNextSnapshot = async (request: SnapshotRequest): Promise<NextSnapshot | undefined> => {
  const { storage, table, base, live, of } = request
  const { added, removed } = differenceOf(storage, live, request.target)
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

  const touched = new Set(
    live.manifests.length < MOST_MANIFESTS
      ? removed.map(({ manifest }) => manifest)
      : live.manifests.map(({ manifest_path }) => manifest_path),
  )
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
          of,
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
