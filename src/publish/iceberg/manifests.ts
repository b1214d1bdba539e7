/**
 * Manifests and manifest lists: their bytes as Avro object container files, their counts, and the data files of a
 * snapshot that they name. Files are whole in memory, since manifests are small.
 */

import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { boundOf } from './bounds.ts'
import {
  type AvroSchema,
  FILE_CONTENT,
  type FieldSummary,
  MANIFEST_LIST_SCHEMA,
  MANIFEST_SCHEMA,
  type ManifestContent,
  type ManifestEntryRecord,
  type ManifestFileRecord,
  manifestSchemaOf,
  NO_PARTITION,
  type PartitionRecord,
  STATUS,
} from './manifest-schemas.ts'
import type { IcebergSchema, PartitionSpec } from './table-schema.ts'

// avsc takes long to load, and only who publishes needs it.
const avsc = () => import('avsc')

/**
 * A whole file.
 *
 * @param metadata further entries of the file's header
 * @throws {Error} when a record is not of the schema
 */
const encodeAvro = async (
  schema: AvroSchema,
  records: readonly unknown[],
  metadata: Readonly<Record<string, string>>,
): Promise<Buffer> => {
  const { default: avro } = await avsc()
  const options = {
    codec: 'deflate',
    syncMarker: randomBytes(16),
    writeHeader: 'always' as const,
    metadata: Object.fromEntries(Object.entries(metadata).map(([key, text]) => [key, Buffer.from(text)])),
  }
  const encoder = new avro.streams.BlockEncoder(schema, options)
  const chunks: Buffer[] = []
  await pipeline(Readable.from(records), encoder, async (data: AsyncIterable<Buffer>) => {
    for await (const chunk of data) chunks.push(chunk)
  })
  return Buffer.concat(chunks)
}

/**
 * The records of a file, in the form of the reader's schema.
 *
 * @throws {Error} when it is no such file, or was written with a schema that does not go with the reader's
 */
export const decodeAvro = async <T>(bytes: Buffer, schema: AvroSchema): Promise<T[]> => {
  const { default: avro } = await avsc()
  const decoder = new avro.streams.BlockDecoder({ readerSchema: schema })
  const records: T[] = []
  await pipeline(Readable.from([bytes]), decoder, async (data: AsyncIterable<T>) => {
    for await (const record of data) records.push(record)
  })
  return records
}

/** The snapshot that a manifest or a list is written for. */
export interface WrittenFor {
  readonly snapshotId: number
  readonly parentId: number | undefined
  readonly sequenceNumber: number
}

/** Content, schema and partition spec of a manifest. */
export interface ManifestForm {
  readonly content: ManifestContent
  readonly schema: IcebergSchema
  readonly spec: PartitionSpec
}

export const encodeManifest = (
  entries: readonly ManifestEntryRecord[],
  { content, schema, spec }: ManifestForm,
): Promise<Buffer> =>
  encodeAvro(manifestSchemaOf(spec.fields.map(({ name }) => name)), entries, {
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

type PartitionField = keyof PartitionRecord
/** As the bounds of columns of these types. */
const BOUND_TYPES = {
  version: 'long',
  snapshot: 'int',
  loaded_at: 'long',
  as_of: 'long',
} as const satisfies Partial<Record<PartitionField, string>>

const isPartitionField = (name: string): name is PartitionField => name in NO_PARTITION

/** Texts not as bounds of a column: partitions are compared whole. */
const partitionBound = (field: PartitionField, value: string | number): Buffer | null =>
  field === 'load' || field === 'run'
    ? Buffer.from(String(value))
    : boundOf(BOUND_TYPES[field], value, 'lower')

const summaryOf = (entries: readonly ManifestEntryRecord[], field: PartitionField): FieldSummary => {
  const values = entries.map(({ data_file }) => data_file.partition[field])
  const known = values.filter((value) => value !== null)
  const [first, ...others] = known
  const bound = (isBefore: (a: string | number, b: string | number) => boolean): Buffer | null =>
    first === undefined
      ? null
      : partitionBound(
          field,
          others.reduce((a, b) => (isBefore(b, a) ? b : a), first),
        )
  return {
    contains_null: known.length < values.length,
    contains_nan: false,
    // Run ids are ASCII, so JavaScript's order is theirs.
    lower_bound: bound((a, b) => a < b),
    upper_bound: bound((a, b) => a > b),
  }
}

/** Summaries of the partitions in a manifest, by which readers leave it out as a whole. */
const partitionSummaries = (
  entries: readonly ManifestEntryRecord[],
  { fields }: PartitionSpec,
): FieldSummary[] => fields.flatMap(({ name }) => (isPartitionField(name) ? [summaryOf(entries, name)] : []))

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
  const min = [...existing, ...added].reduce(
    (number, entry) => Math.min(number, entry.sequence_number ?? sequenceNumber),
    sequenceNumber,
  )
  return {
    manifest_path: path,
    manifest_length: bytes,
    partition_spec_id: spec['spec-id'],
    content: FILE_CONTENT[content],
    sequence_number: sequenceNumber,
    min_sequence_number: min,
    added_snapshot_id: snapshotId,
    added_files_count: added.length,
    existing_files_count: existing.length,
    deleted_files_count: deleted.length,
    added_rows_count: rows(added),
    existing_rows_count: rows(existing),
    deleted_rows_count: rows(deleted),
    partitions: partitionSummaries(entries, spec),
  }
}

/** Whether readers find files in a manifest; one that only lists deleted files serves no later snapshot. */
export const hasLiveFiles = (manifest: ManifestFileRecord): boolean =>
  manifest.added_files_count + manifest.existing_files_count > 0
