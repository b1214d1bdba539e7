/** The metadata document of a table: its form, the first one, and how a snapshot changes it. */

import { ToolkitError } from '../../core/errors.ts'
import { fieldPaths } from '../../lake/tables/field-ids.ts'
import {
  anyText,
  anything,
  finiteNumber,
  fits,
  isObject,
  list,
  objectOf,
  optional,
} from '../../support/json-form.ts'
import type { TableLayout } from './table-layout.ts'
import {
  type IcebergField,
  type IcebergSchema,
  lastColumnId,
  nameMapping,
  type PartitionSpec,
  partitionFields,
  schemaFields,
} from './table-schema.ts'

export interface IcebergSnapshot {
  readonly 'snapshot-id': number
  readonly 'parent-snapshot-id'?: number
  readonly 'sequence-number': number
  readonly 'timestamp-ms': number
  readonly 'manifest-list': string
  readonly summary: Readonly<Record<string, string>> & { readonly operation: string }
  readonly 'schema-id': number
}

export interface TableMetadata {
  readonly 'format-version': number
  readonly 'table-uuid': string
  readonly location: string
  readonly 'last-sequence-number': number
  readonly 'last-updated-ms': number
  readonly 'last-column-id': number
  readonly 'current-schema-id': number
  readonly schemas: readonly IcebergSchema[]
  readonly 'default-spec-id': number
  readonly 'partition-specs': readonly PartitionSpec[]
  readonly properties?: Readonly<Record<string, string>>
  readonly 'current-snapshot-id'?: number | null
  readonly snapshots?: readonly IcebergSnapshot[]
  readonly 'snapshot-log'?: readonly { readonly 'snapshot-id': number; readonly 'timestamp-ms': number }[]
  readonly 'metadata-log'?: readonly { readonly 'metadata-file': string; readonly 'timestamp-ms': number }[]
  readonly refs?: Readonly<Record<string, unknown>>
}

/** A step of a table: a snapshot on top of the current one, and what changes with it. */
export interface TableUpdate {
  readonly snapshot: IcebergSnapshot
  /** The schema that the table gets with it; absent where it keeps its own. */
  readonly schema?: IcebergSchema
  /** The partition spec from then on; absent where it stays. */
  readonly spec?: PartitionSpec
  /** Properties that differ from the table's. */
  readonly properties: Readonly<Record<string, string>>
  /** Snapshots that go, because the lake keeps their files no longer. */
  readonly expired: readonly number[]
}

/** Keys of the lake's own facts in the summary of a snapshot. */
export const SUMMARY = { snapshot: 'firmlake.snapshot', run: 'firmlake.run', time: 'firmlake.time' } as const
const TABLE_PROPERTY = 'firmlake.table'
const ROWS_PROPERTY = 'firmlake.rows'

/** How many earlier metadata files a table's document names. */
export const METADATA_LOG_LENGTH = 100

const tableProperties = (layout: TableLayout): Readonly<Record<string, string>> => ({
  [TABLE_PROPERTY]: layout.table.name,
  [ROWS_PROPERTY]: layout.rows,
  comment: `A row is ${layout.table.row}.`,
  'write.format.default': 'parquet',
  'write.parquet.compression-codec': 'zstd',
  'schema.name-mapping.default': nameMapping(schemaFields(layout)),
})

const METADATA = objectOf({
  'format-version': anything,
  'table-uuid': anyText,
  location: anyText,
  schemas: list(anything),
  'default-spec-id': finiteNumber,
  'partition-specs': list(anything),
  snapshots: optional(list(anything)),
  'last-sequence-number': finiteNumber,
})
const isMetadata = (value: unknown): value is TableMetadata => fits(METADATA, value)

/** @param root folder of the table */
export const conflict = (root: string, reason: string): ToolkitError =>
  new ToolkitError('PUBLISH_CONFLICT', `Cannot publish table "${root}" as Iceberg: ${reason}`, {
    table: root,
  })

/** The snapshot that readers see; `undefined` of a table without one. */
export const currentSnapshot = (metadata: TableMetadata): IcebergSnapshot | undefined =>
  metadata.snapshots?.find((one) => one['snapshot-id'] === metadata['current-snapshot-id'])

export const currentSchema = (metadata: TableMetadata): IcebergSchema | undefined =>
  metadata.schemas.find((one) => one['schema-id'] === metadata['current-schema-id'])

/**
 * Validates a table's document as one of ours.
 *
 * @throws {ToolkitError} `PUBLISH_CONFLICT` where someone else has made or changed the table
 */
export const ownMetadata = (layout: TableLayout, value: unknown): TableMetadata => {
  const { table, rows, root } = layout
  if (!isMetadata(value)) throw conflict(root, 'its metadata is not of Iceberg version 2')
  if (value['format-version'] !== 2)
    throw conflict(root, `its metadata is of version ${value['format-version']}, expected 2`)
  const { [TABLE_PROPERTY]: ofTable, [ROWS_PROPERTY]: ofRows } = value.properties ?? {}
  if (ofTable !== table.name || ofRows !== rows) throw conflict(root, 'its metadata was made by someone else')
  if (columnIds(currentSpec(value)?.fields ?? []) !== columnIds(partitionFields(layout)))
    throw conflict(root, 'it is partitioned by other columns')
  const current = currentSnapshot(value)
  if (current?.summary[SUMMARY.snapshot] === undefined)
    throw conflict(root, 'its current snapshot was made by someone else')
  const paths = fieldPaths(table.name)
  for (const { id, name } of currentSchema(value)?.fields ?? []) {
    const own = paths[id - 1]
    // Ids beyond ours are those of a later release.
    if (own !== undefined && own !== name)
      throw conflict(root, `its column ${id} "${name}" was made by someone else`)
  }
  return value
}

const sameFields = (a: readonly IcebergField[], b: readonly IcebergField[]): boolean =>
  JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))

/** With the keys of objects in order: a catalog writes them as it likes. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  )
}

/**
 * The schema a table gets when it has none, or an older one; `undefined` where it has the right one. Columns of a later
 * release stay.
 */
export const nextSchema = (
  layout: TableLayout,
  metadata: TableMetadata | null,
): IcebergSchema | undefined => {
  const own = schemaFields(layout)
  if (metadata === null) return { type: 'struct', 'schema-id': 0, fields: own }
  const current = currentSchema(metadata)?.fields ?? []
  const fields = [...own, ...current.filter(({ id }) => id > lastColumnId(layout))]
  if (sameFields(current, fields)) return undefined
  const ids = metadata.schemas.map((one) => one['schema-id'])
  return { type: 'struct', 'schema-id': Math.max(...ids) + 1, fields }
}

/** The partition spec of a table's files. */
export const currentSpec = (metadata: TableMetadata): PartitionSpec | undefined =>
  metadata['partition-specs'].find((one) => one['spec-id'] === metadata['default-spec-id'])

const columnIds = (fields: PartitionSpec['fields']): string =>
  JSON.stringify(fields.map((one) => one['source-id']))

/** The partition spec of a table from its first snapshot on. */
export const firstSpec = (layout: TableLayout): PartitionSpec => ({
  'spec-id': 0,
  fields: partitionFields(layout),
})

/** The properties a table does not have as they should be. */
export const nextProperties = (
  layout: TableLayout,
  metadata: TableMetadata | null,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(tableProperties(layout)).filter(([key, text]) => metadata?.properties?.[key] !== text),
  )

/** Stands for the greatest id of a partition field where there is none. */
const NO_PARTITION_ID = 999

export const SORT_ORDER = { 'order-id': 0, fields: [] } as const

/** The document of a table that a change makes, on a file system. */
export const applyChange = (
  layout: TableLayout,
  base: TableMetadata | null,
  change: TableUpdate,
  made: { readonly uuid: string; readonly location: string; readonly previousFile?: string },
): TableMetadata => {
  const { snapshot, schema, spec, properties } = change
  const expired = new Set(change.expired)
  const id = snapshot['snapshot-id']
  const at = snapshot['timestamp-ms']
  const previous =
    base === null || made.previousFile === undefined
      ? []
      : [{ 'timestamp-ms': base['last-updated-ms'], 'metadata-file': made.previousFile }]
  return {
    ...base,
    'format-version': 2,
    'table-uuid': base?.['table-uuid'] ?? made.uuid,
    location: made.location,
    'last-sequence-number': snapshot['sequence-number'],
    'last-updated-ms': at,
    'last-column-id': Math.max(lastColumnId(layout), base?.['last-column-id'] ?? 0),
    'current-schema-id': schema?.['schema-id'] ?? base?.['current-schema-id'] ?? 0,
    schemas: [...(base?.schemas ?? []), ...(schema ? [schema] : [])],
    'default-spec-id': spec?.['spec-id'] ?? base?.['default-spec-id'] ?? 0,
    'partition-specs': [...(base?.['partition-specs'] ?? []), ...(spec ? [spec] : [])],
    ...(spec && {
      'last-partition-id': Math.max(NO_PARTITION_ID, ...spec.fields.map((one) => one['field-id'])),
    }),
    ...(base === null && {
      'default-sort-order-id': SORT_ORDER['order-id'],
      'sort-orders': [SORT_ORDER],
    }),
    properties: { ...base?.properties, ...properties },
    'current-snapshot-id': id,
    refs: { ...base?.refs, main: { 'snapshot-id': id, type: 'branch' } },
    snapshots: [...(base?.snapshots ?? []).filter((one) => !expired.has(one['snapshot-id'])), snapshot],
    'snapshot-log': [
      ...(base?.['snapshot-log'] ?? []).filter((one) => !expired.has(one['snapshot-id'])),
      { 'snapshot-id': id, 'timestamp-ms': at },
    ],
    'metadata-log': [...(base?.['metadata-log'] ?? []), ...previous].slice(-METADATA_LOG_LENGTH),
  }
}
