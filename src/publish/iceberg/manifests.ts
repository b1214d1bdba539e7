/** Manifests and manifest lists: their bytes, their counts, and the data files of a snapshot that they name. */

import { decodeAvro, encodeAvro } from './avro-files.ts'
import { boundOf } from './bounds.ts'
import {
  FILE_CONTENT,
  type FieldSummary,
  MANIFEST_LIST_SCHEMA,
  MANIFEST_SCHEMA,
  type ManifestContent,
  type ManifestEntryRecord,
  type ManifestFileRecord,
  STATUS,
  UNPARTITIONED_MANIFEST_SCHEMA,
} from './manifest-schemas.ts'
import type { IcebergSchema } from './table-schema.ts'

/** Which snapshot a manifest or a list is written for. */
export interface WrittenFor {
  readonly snapshotId: number
  readonly parentId: number | undefined
  readonly sequenceNumber: number
}

/** What a manifest is written of. */
export interface ManifestForm {
  readonly content: ManifestContent
  readonly schema: IcebergSchema
  readonly spec: { readonly 'spec-id': number; readonly fields: readonly unknown[] }
}

export const encodeManifest = (
  entries: readonly ManifestEntryRecord[],
  { content, schema, spec }: ManifestForm,
): Promise<Buffer> =>
  encodeAvro(spec.fields.length > 0 ? MANIFEST_SCHEMA : UNPARTITIONED_MANIFEST_SCHEMA, entries, {
    schema: JSON.stringify(schema),
    'schema-id': String(schema['schema-id']),
    'partition-spec': JSON.stringify(spec.fields),
    'partition-spec-id': String(spec['spec-id']),
    'format-version': '2',
    content,
  })

export const encodeManifestList = (
  manifests: readonly ManifestFileRecord[],
  { snapshotId, parentId, sequenceNumber }: WrittenFor,
): Promise<Buffer> =>
  encodeAvro(MANIFEST_LIST_SCHEMA, manifests, {
    'snapshot-id': String(snapshotId),
    'parent-snapshot-id': String(parentId ?? null),
    'sequence-number': String(sequenceNumber),
    'format-version': '2',
  })

export const decodeManifestList = (bytes: Buffer): Promise<ManifestFileRecord[]> =>
  decodeAvro<ManifestFileRecord>(bytes, MANIFEST_LIST_SCHEMA)

/** An entry with the numbers that an added file leaves to its manifest. */
export type SettledEntry = ManifestEntryRecord & {
  readonly snapshot_id: number
  readonly sequence_number: number
  readonly file_sequence_number: number
}

/** The entries of a manifest that are not deleted. */
export const decodeManifest = async (
  bytes: Buffer,
  manifest: ManifestFileRecord,
): Promise<SettledEntry[]> => {
  const entries = await decodeAvro<ManifestEntryRecord>(bytes, MANIFEST_SCHEMA)
  return entries
    .filter(({ status }) => status !== STATUS.deleted)
    .map((entry) => ({
      ...entry,
      snapshot_id: entry.snapshot_id ?? manifest.added_snapshot_id,
      sequence_number: entry.sequence_number ?? manifest.sequence_number,
      file_sequence_number: entry.file_sequence_number ?? manifest.sequence_number,
    }))
}

const summaryOf = (bounds: readonly (Buffer | null)[], hasNull: boolean): FieldSummary => ({
  contains_null: hasNull,
  contains_nan: false,
  lower_bound: bounds[0] ?? null,
  upper_bound: bounds[1] ?? null,
})

/** Least and greatest of the values that are not `null`, where there is one. */
const leastAndGreatest = <T extends string | number>(values: readonly (T | null)[]): T[] => {
  const known = values.filter((value) => value !== null)
  if (known.length === 0) return []
  return [known.reduce((a, b) => (b < a ? b : a)), known.reduce((a, b) => (b > a ? b : a))]
}

/** What a manifest list says of the partitions in a manifest, so that readers can leave it out as a whole. */
const partitionSummaries = (entries: readonly ManifestEntryRecord[]): FieldSummary[] => {
  const loads = entries.map(({ data_file }) => data_file.partition.load)
  const versions = entries.map(({ data_file }) => data_file.partition.version)
  return [
    // Not as a bound of a column: partitions are compared whole. Run ids are ASCII, so JavaScript's order is theirs.
    summaryOf(
      leastAndGreatest(loads).map((load) => Buffer.from(load)),
      loads.includes(null),
    ),
    summaryOf(
      leastAndGreatest(versions).map((version) => boundOf('long', version, 'lower')),
      versions.includes(null),
    ),
  ]
}

/** How a manifest list describes a manifest that was written for a snapshot. */
export const describeManifest = (
  path: string,
  bytes: number,
  entries: readonly ManifestEntryRecord[],
  { content, spec }: ManifestForm,
  { snapshotId, sequenceNumber }: WrittenFor,
): ManifestFileRecord => {
  const of = (status: number) => entries.filter((entry) => entry.status === status)
  const rows = (some: readonly ManifestEntryRecord[]): number =>
    some.reduce((sum, { data_file }) => sum + data_file.record_count, 0)
  const [added, existing, deleted] = [of(STATUS.added), of(STATUS.existing), of(STATUS.deleted)]
  const least = [...existing, ...added].reduce(
    (number, entry) => Math.min(number, entry.sequence_number ?? sequenceNumber),
    sequenceNumber,
  )
  return {
    manifest_path: path,
    manifest_length: bytes,
    partition_spec_id: 0,
    content: FILE_CONTENT[content],
    sequence_number: sequenceNumber,
    min_sequence_number: least,
    added_snapshot_id: snapshotId,
    added_files_count: added.length,
    existing_files_count: existing.length,
    deleted_files_count: deleted.length,
    added_rows_count: rows(added),
    existing_rows_count: rows(existing),
    deleted_rows_count: rows(deleted),
    partitions: spec.fields.length > 0 ? partitionSummaries(entries) : [],
  }
}

/** Whether readers find files in a manifest; one that only lists deleted files serves no later snapshot. */
export const hasLiveFiles = (manifest: ManifestFileRecord): boolean =>
  manifest.added_files_count + manifest.existing_files_count > 0
