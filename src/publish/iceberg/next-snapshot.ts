/**
 * From the files a table has to those it should have: the manifests of what is new, of what is gone and of what stood
 * beside it, their list, and the snapshot. Nothing is visible before the metadata names it; names are never used twice.
 */

import { randomBytes, randomUUID } from 'node:crypto'
import {
  addCounts,
  countFiles,
  type DataFilesRequest,
  dataFiles,
  type FileDifference,
  type LakeSnapshot,
  NO_FILES,
  summaryOf,
} from './data-files.ts'
import { absolutePath, metadataFolder } from './lake-paths.ts'
import { readLiveFiles } from './live-files.ts'
import { type ManifestEntryRecord, type ManifestFileRecord, STATUS } from './manifest-schemas.ts'
import {
  describeManifest,
  encodeManifest,
  encodeManifestList,
  hasLiveFiles,
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

export interface SnapshotRequest extends DataFilesRequest, FileDifference {
  readonly base: TableMetadata | null
  /** The manifests that name the table's files. */
  readonly manifests: readonly ManifestFileRecord[]
  /** The lake's snapshot that says so. */
  readonly of: LakeSnapshot
  /** The first snapshot that the lake keeps. */
  readonly oldest: number
}

export interface NextSnapshot {
  readonly change: TableUpdate
  /** The manifests that name the table's files once the change is visible. */
  readonly manifests: readonly ManifestFileRecord[]
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

/** So many small manifests become one: whoever plans a query opens each of them. As Iceberg's own writers do. */
const MOST_SMALL_MANIFESTS = 100
/** Files that are described at once, and by one manifest; one with fewer is small. */
const FILES_OF_MANIFEST = 4096

const filesOf = (manifest: ManifestFileRecord): number =>
  manifest.added_files_count + manifest.existing_files_count

/** Manifests that are to be put together, the smallest ones, so that each file is written a few times in all. */
const toMerge = (manifests: readonly ManifestFileRecord[]): ManifestFileRecord[] => {
  const small = manifests.filter((manifest) => filesOf(manifest) < FILES_OF_MANIFEST)
  if (small.length < MOST_SMALL_MANIFESTS) return []
  let files = 0
  const smallest = small
    .toSorted((a, b) => filesOf(a) - filesOf(b))
    .filter((manifest) => {
      files += filesOf(manifest)
      return files <= FILES_OF_MANIFEST
    })
  return smallest.length > 1 ? smallest : []
}

const NEW_ENTRY = { status: STATUS.added, sequence_number: null, file_sequence_number: null }

/** In the order in which the files were added, the same whoever read the table in which order. */
const byAge = (a: ManifestEntryRecord, b: ManifestEntryRecord): number =>
  (a.sequence_number ?? 0) - (b.sequence_number ?? 0) ||
  (a.data_file.file_path < b.data_file.file_path ? -1 : 1)

/** Writes all that the next snapshot needs; `undefined` where the table is as it should be. */
export const writeNextSnapshot = async (request: SnapshotRequest): Promise<NextSnapshot | undefined> => {
  const { storage, table, base, of, added, removed } = request
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
  const writeManifest = async (entries: readonly ManifestEntryRecord[], number: number): Promise<void> => {
    if (entries.length === 0) return
    const bytes = await encodeManifest(entries, used, partitionSpec(table))
    const path = await create(`${unique}-m${number}.avro`, bytes)
    manifests.push(describeManifest(path, bytes.length, entries, writtenFor))
  }

  const changed = new Set(removed.map(({ manifest }) => manifest))
  const merged = new Set(toMerge(request.manifests).map(({ manifest_path }) => manifest_path))
  const touched = request.manifests.filter(
    ({ manifest_path }) => changed.has(manifest_path) || merged.has(manifest_path),
  )
  const gone = new Set(removed.map(({ entry }) => entry.data_file.file_path))
  const standing = await readLiveFiles(storage, table.name, touched)
  const rewritten = [...standing.values()]
    .map(
      ({ entry }): ManifestEntryRecord =>
        gone.has(entry.data_file.file_path)
          ? { ...entry, status: STATUS.deleted, snapshot_id: writtenFor.snapshotId }
          : { ...entry, status: STATUS.existing },
    )
    .sort(byAge)
  await writeManifest(rewritten, 0)
  let counts = NO_FILES
  for (let from = 0; from < added.length; from += FILES_OF_MANIFEST) {
    const described = await dataFiles(request, added.slice(from, from + FILES_OF_MANIFEST))
    counts = addCounts(counts, countFiles(described))
    await writeManifest(
      described.map((data_file) => ({ ...NEW_ENTRY, snapshot_id: writtenFor.snapshotId, data_file })),
      1 + from / FILES_OF_MANIFEST,
    )
  }
  const list = [...manifests, ...request.manifests.filter((one) => !touched.includes(one))]
  const listPath = await create(
    `snap-${writtenFor.snapshotId}-1-${unique}.avro`,
    await encodeManifestList(list, writtenFor),
  )
  return {
    written,
    added: added.length,
    removed: removed.length,
    manifests: list.filter(hasLiveFiles),
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
          counts,
          countFiles(removed.map(({ entry }) => entry.data_file)),
          parent?.summary,
        ),
        'schema-id': used['schema-id'],
      },
      ...(schema && { schema }),
      properties: nextProperties(table, base),
      expired: expiredIn(base, of.snapshot, request.oldest),
    },
  }
}
