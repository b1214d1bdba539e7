/**
 * From the files a table has to those it should have: the manifests of new, removed and remaining files, their list,
 * and the snapshot with its counts. Nothing is visible before the metadata names it; names are never used twice.
 */

import { randomBytes, randomUUID } from 'node:crypto'
import type { SnapshotHead } from '../../core/partition.ts'
import type { Storage } from '../../storage/storage.ts'
import { FILES_OF_MANIFEST } from './data-files.ts'
import { type LiveFile, readLiveFiles } from './live-files.ts'
import {
  type DataFileRecord,
  FILE_CONTENT,
  type ManifestContent,
  type ManifestEntryRecord,
  type ManifestFileRecord,
  STATUS,
} from './manifest-schemas.ts'
import {
  describeManifest,
  encodeManifest,
  encodeManifestList,
  hasLiveFiles,
  type ManifestForm,
  type WrittenFor,
} from './manifests.ts'
import { absolutePath, metadataFolder, type TableLayout } from './table-layout.ts'
import {
  currentSchema,
  currentSnapshot,
  currentSpec,
  firstSpec,
  nextProperties,
  nextSchema,
  SUMMARY,
  type TableMetadata,
  type TableUpdate,
} from './table-metadata.ts'

/** The lake's snapshot that a table is brought to. */
type LakeSnapshot = Pick<SnapshotHead, 'snapshot' | 'run' | 'time'>

/** Files, their rows and their bytes. */
interface FileCounts {
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

const addCounts = (a: FileCounts, b: FileCounts): FileCounts => ({
  files: a.files + b.files,
  rows: a.rows + b.rows,
  bytes: a.bytes + b.bytes,
})

/** Counts of the files that a snapshot adds to a table and removes from it. */
interface CountedChange {
  readonly added: FileCounts
  readonly removed: FileCounts
}

type Summary = Readonly<Record<string, string>>

const operationOf = (
  { data, deletes }: Readonly<Record<ManifestContent, CountedChange>>,
  changesRows: boolean,
): string => {
  if (!changesRows) return 'replace'
  if (data.removed.files + deletes.removed.files + deletes.added.files === 0) return 'append'
  return data.added.files === 0 ? 'delete' : 'overwrite'
}

/** @param before what the snapshot before it says */
export const summaryOf = (
  of: LakeSnapshot,
  changes: Readonly<Record<ManifestContent, CountedChange>>,
  before: Summary | undefined,
  changesRows = true,
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
    operation: operationOf(changes, changesRows),
    ...Object.fromEntries(Object.entries(counts).map(([key, count]) => [key, String(count)])),
    [SUMMARY.snapshot]: String(of.snapshot),
    [SUMMARY.run]: of.run,
    [SUMMARY.time]: of.time,
  }
}

/** Files of one content that a snapshot adds and removes. */
export interface EntryChanges {
  /** The added files, those of one manifest at a time. */
  readonly added: AsyncIterable<readonly DataFileRecord[]> | Iterable<readonly DataFileRecord[]>
  readonly removed: readonly LiveFile[]
}

export interface SnapshotRequest {
  readonly storage: Storage
  readonly layout: TableLayout
  readonly base: TableMetadata | null
  /** The manifests that name the table's files. */
  readonly manifests: readonly ManifestFileRecord[]
  readonly data: EntryChanges
  /** Rows deleted from the table's files, and from those that come with the same snapshot. @default none */
  readonly deletes?: EntryChanges
  /** Whether the table has other rows then. @default true */
  readonly changesRows?: boolean
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

/** In the order in which the files were added, the same whoever read the table in which order. */
const byAge = (a: ManifestEntryRecord, b: ManifestEntryRecord): number =>
  (a.sequence_number ?? 0) - (b.sequence_number ?? 0) ||
  (a.data_file.file_path < b.data_file.file_path ? -1 : 1)

const NO_CHANGES: EntryChanges = { added: [], removed: [] }

/** Writes what a snapshot consists of, each file under a name of its own. */
const snapshotWriter = (
  { storage, layout, manifests: listed }: SnapshotRequest,
  form: Omit<ManifestForm, 'content'>,
  writtenFor: WrittenFor,
) => {
  const { snapshotId } = writtenFor
  const unique = randomUUID()
  const written: string[] = []
  let number = 0

  const create = async (name: string, bytes: Buffer): Promise<string> => {
    const path = `${metadataFolder(layout.root)}/${name}`
    await storage.create(path, bytes)
    written.push(path)
    return absolutePath(storage, path)
  }

  const manifest = async (
    content: ManifestContent,
    entries: readonly ManifestEntryRecord[],
  ): Promise<readonly ManifestFileRecord[]> => {
    if (entries.length === 0) return []
    const bytes = await encodeManifest(entries, { content, ...form })
    const path = await create(`${unique}-m${number++}.avro`, bytes)
    return [describeManifest(path, bytes.length, entries, { content, ...form }, writtenFor)]
  }

  /** The manifests of one content once it is changed. @param sequenceNumber of added files; `null`: the snapshot's */
  const manifests = async (
    content: ManifestContent,
    { added, removed }: EntryChanges,
    sequenceNumber: number | null,
  ): Promise<{ readonly list: readonly ManifestFileRecord[]; readonly counted: CountedChange }> => {
    const before = listed.filter((one) => one.content === FILE_CONTENT[content])
    const changed = new Set([
      ...removed.map((one) => one.manifest),
      ...toMerge(before).map((one) => one.manifest_path),
    ])
    const touched = before.filter(({ manifest_path }) => changed.has(manifest_path))
    const gone = new Set(removed.map(({ entry }) => entry.data_file.file_path))
    const standing = await readLiveFiles(storage, layout.root, touched)
    const rewritten = [...standing.values()]
      .map(
        ({ entry }): ManifestEntryRecord =>
          gone.has(entry.data_file.file_path)
            ? { ...entry, status: STATUS.deleted, snapshot_id: snapshotId }
            : { ...entry, status: STATUS.existing },
      )
      .sort(byAge)
    const list = [...(await manifest(content, rewritten))]
    const entryOf = (data_file: DataFileRecord): ManifestEntryRecord => ({
      status: STATUS.added,
      snapshot_id: snapshotId,
      sequence_number: sequenceNumber,
      file_sequence_number: null,
      data_file,
    })
    let counts = NO_FILES
    for await (const described of added) {
      counts = addCounts(counts, countFiles(described))
      list.push(...(await manifest(content, described.map(entryOf))))
    }
    return {
      list: [...list, ...before.filter((one) => !touched.includes(one))],
      counted: { added: counts, removed: countFiles(removed.map(({ entry }) => entry.data_file)) },
    }
  }

  const list = async (all: readonly ManifestFileRecord[]): Promise<string> =>
    create(`snap-${snapshotId}-1-${unique}.avro`, await encodeManifestList(all, writtenFor))

  return { written, manifests, list }
}

/** Writes all that the next snapshot needs. A table without files is published too: it has its columns. */
export const writeNextSnapshot = async (request: SnapshotRequest): Promise<NextSnapshot> => {
  const { layout, base, of, data, deletes, changesRows } = request
  const schema = nextSchema(layout, base)
  const spec = base === null ? firstSpec(layout) : undefined
  const parent = base && currentSnapshot(base)
  const last = base?.['last-sequence-number'] ?? 0
  // Some readers apply deletes only to files with a lower number than theirs: those that come with them get one.
  const dataNumber = deletes === undefined ? null : last + 1
  const writtenFor: WrittenFor = {
    snapshotId: randomBytes(6).readUIntBE(0, 6) + 1,
    parentId: parent?.['snapshot-id'],
    sequenceNumber: (dataNumber ?? last) + 1,
  }
  const used = schema ?? (base && currentSchema(base))
  const usedSpec = spec ?? (base && currentSpec(base))
  if (!used || !usedSpec) throw new TypeError(`Table "${layout.root}" has no schema or partition spec`)
  const writer = snapshotWriter(request, { schema: used, spec: usedSpec }, writtenFor)
  const ofData = await writer.manifests('data', data, dataNumber)
  const ofDeletes = await writer.manifests('deletes', deletes ?? NO_CHANGES, null)
  const list = [...ofData.list, ...ofDeletes.list]
  const listPath = await writer.list(list)
  const counted = { data: ofData.counted, deletes: ofDeletes.counted }
  return {
    written: writer.written,
    manifests: list.filter(hasLiveFiles),
    change: {
      snapshot: {
        'snapshot-id': writtenFor.snapshotId,
        ...(parent && { 'parent-snapshot-id': parent['snapshot-id'] }),
        'sequence-number': writtenFor.sequenceNumber,
        // Never before the table's last change: readers refuse a history that goes back in time.
        'timestamp-ms': Math.max(Date.parse(of.time), (base?.['last-updated-ms'] ?? 0) + 1),
        'manifest-list': listPath,
        summary: summaryOf(of, counted, parent?.summary, changesRows),
        'schema-id': used['schema-id'],
      },
      ...(schema && { schema }),
      ...(spec && { spec }),
      properties: nextProperties(layout, base),
      expired: expiredIn(base, of.snapshot, request.oldest),
    },
  }
}
