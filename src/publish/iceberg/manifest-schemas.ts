/**
 * The Avro schemas of manifests and manifest lists, and their records.
 *
 * Source: Apache Iceberg, table specification, version 2, "Manifests", "Manifest Lists".
 */

import type { schema } from 'avsc'

type FieldType = schema.DefinedType

/** A field of a record, with Iceberg's id. */
interface AvroField {
  readonly name: string
  readonly type: schema.AvroSchema
  readonly default?: null
  readonly 'field-id': number
}

/** An Avro schema of a record as JSON. */
export interface AvroSchema {
  readonly type: 'record'
  readonly name: string
  readonly fields: AvroField[]
}

const field = (id: number, name: string, type: FieldType): AvroField => ({ name, type, 'field-id': id })
/** A field that may be absent. */
const optional = (id: number, name: string, type: FieldType): AvroField => ({
  name,
  type: ['null', type],
  default: null,
  'field-id': id,
})

/** A map whose keys are numbers: Avro's own maps have text for keys. */
const numberMap = (key: number, value: number, type: FieldType): FieldType => ({
  type: 'array',
  logicalType: 'map',
  items: {
    type: 'record',
    name: `k${key}_v${value}`,
    fields: [field(key, 'key', 'int'), field(value, 'value', type)],
  },
})

/** Microseconds since 1970. */
const INSTANT: FieldType = { type: 'long', logicalType: 'timestamp-micros', 'adjust-to-utc': true }

/** The fields of a partition, each with an id of its own for ever. Append only. */
const PARTITION_FIELDS: readonly AvroField[] = [
  optional(1000, 'load', 'string'),
  optional(1001, 'version', 'long'),
  optional(1002, 'snapshot', 'int'),
  optional(1003, 'run', 'string'),
  optional(1004, 'loaded_at', INSTANT),
  optional(1005, 'as_of', INSTANT),
]

export const partitionFieldId = (column: string): number => {
  const found = PARTITION_FIELDS.find(({ name }) => name === column)
  if (found === undefined) throw new TypeError(`Column "${column}" has no partition field`)
  return found['field-id']
}

const dataFileSchema = (partition: AvroField[]): AvroSchema => ({
  type: 'record',
  name: 'r2',
  fields: [
    field(134, 'content', 'int'),
    field(100, 'file_path', 'string'),
    field(101, 'file_format', 'string'),
    field(102, 'partition', { type: 'record', name: 'r102', fields: partition }),
    field(103, 'record_count', 'long'),
    field(104, 'file_size_in_bytes', 'long'),
    optional(109, 'value_counts', numberMap(119, 120, 'long')),
    optional(110, 'null_value_counts', numberMap(121, 122, 'long')),
    optional(125, 'lower_bounds', numberMap(126, 127, 'bytes')),
    optional(128, 'upper_bounds', numberMap(129, 130, 'bytes')),
    optional(140, 'sort_order_id', 'int'),
  ],
})

const manifestSchema = (partition: AvroField[]): AvroSchema => ({
  type: 'record',
  name: 'manifest_entry',
  fields: [
    field(0, 'status', 'int'),
    optional(1, 'snapshot_id', 'long'),
    optional(3, 'sequence_number', 'long'),
    optional(4, 'file_sequence_number', 'long'),
    field(2, 'data_file', dataFileSchema(partition)),
  ],
})

/** The schema that reads every manifest: what has no such partition field has NULL there. */
export const MANIFEST_SCHEMA = manifestSchema([...PARTITION_FIELDS])

/** The schema of manifests whose partitions have some of the fields. @param names of these */
export const manifestSchemaOf = (names: readonly string[]): AvroSchema =>
  manifestSchema(PARTITION_FIELDS.filter(({ name }) => names.includes(name)))

export const MANIFEST_LIST_SCHEMA: AvroSchema = {
  type: 'record',
  name: 'manifest_file',
  fields: [
    field(500, 'manifest_path', 'string'),
    field(501, 'manifest_length', 'long'),
    field(502, 'partition_spec_id', 'int'),
    field(517, 'content', 'int'),
    field(515, 'sequence_number', 'long'),
    field(516, 'min_sequence_number', 'long'),
    field(503, 'added_snapshot_id', 'long'),
    field(504, 'added_files_count', 'int'),
    field(505, 'existing_files_count', 'int'),
    field(506, 'deleted_files_count', 'int'),
    field(512, 'added_rows_count', 'long'),
    field(513, 'existing_rows_count', 'long'),
    field(514, 'deleted_rows_count', 'long'),
    optional(507, 'partitions', {
      type: 'array',
      'element-id': 508,
      items: {
        type: 'record',
        name: 'r508',
        fields: [
          field(509, 'contains_null', 'boolean'),
          optional(518, 'contains_nan', 'boolean'),
          optional(510, 'lower_bound', 'bytes'),
          optional(511, 'upper_bound', 'bytes'),
        ],
      },
    }),
  ],
}

export interface KeyValue<T> {
  readonly key: number
  readonly value: T
}

/** A manifest lists files of rows, or files that say which rows of those are deleted: one or the other. */
export const FILE_CONTENT = { data: 0, deletes: 1 } as const
export type ManifestContent = keyof typeof FILE_CONTENT

/** The columns of a file of deleted positions. */
export const DELETE_FIELD_IDS = { file_path: 2147483546, pos: 2147483545 } as const

/** The values of a partition's fields. */
export interface PartitionRecord {
  readonly load: string | null
  readonly version: number | null
  readonly snapshot: number | null
  readonly run: string | null
  /** Microseconds since 1970, both. */
  readonly loaded_at: number | null
  readonly as_of: number | null
}

export const NO_PARTITION: PartitionRecord = {
  load: null,
  version: null,
  snapshot: null,
  run: null,
  loaded_at: null,
  as_of: null,
}

/** A file as a manifest describes it. Maps go by field id. */
export interface DataFileRecord {
  readonly content: number
  readonly file_path: string
  readonly file_format: string
  readonly partition: PartitionRecord
  readonly record_count: number
  readonly file_size_in_bytes: number
  readonly value_counts: readonly KeyValue<number>[] | null
  readonly null_value_counts: readonly KeyValue<number>[] | null
  readonly lower_bounds: readonly KeyValue<Buffer>[] | null
  readonly upper_bounds: readonly KeyValue<Buffer>[] | null
  readonly sort_order_id: number | null
}

export const STATUS = { existing: 0, added: 1, deleted: 2 } as const

export interface ManifestEntryRecord {
  readonly status: number
  /** The snapshot that added the file, of a deleted one that which deleted it; `null`: that of the manifest. */
  readonly snapshot_id: number | null
  /** `null` of an added file: that of the manifest. Deletes are for files with the same or a lower number. */
  readonly sequence_number: number | null
  readonly file_sequence_number: number | null
  readonly data_file: DataFileRecord
}

/** Least and greatest value of one field of the partitions. */
export interface FieldSummary {
  readonly contains_null: boolean
  readonly contains_nan: boolean | null
  readonly lower_bound: Buffer | null
  readonly upper_bound: Buffer | null
}

/** A manifest as a manifest list describes it. */
export interface ManifestFileRecord {
  readonly manifest_path: string
  readonly manifest_length: number
  readonly partition_spec_id: number
  /** As `FILE_CONTENT` has it. */
  readonly content: number
  readonly sequence_number: number
  readonly min_sequence_number: number
  readonly added_snapshot_id: number
  readonly added_files_count: number
  readonly existing_files_count: number
  readonly deleted_files_count: number
  readonly added_rows_count: number
  readonly existing_rows_count: number
  readonly deleted_rows_count: number
  readonly partitions: readonly FieldSummary[] | null
}
