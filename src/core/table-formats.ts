/**
 * The table formats of other engines in which a lake's tables are published, declared: what each is called and where its
 * logs stand. `targets/table-formats.ts` loads what writes them.
 */

interface TableFormat {
  readonly title: string
  /** Help of the command that publishes in it. */
  readonly about: string
  /** Folder of a table, beside its files, where its log stands. */
  readonly logFolder: string
  /** Whether a catalog may keep the metadata of its tables. @default false */
  readonly hasCatalog?: true
}

export const TABLE_FORMATS = {
  delta: {
    title: 'Delta Lake',
    about:
      'Writes a Delta Lake log beside each table, for all versions of its records: one version for each snapshot ' +
      'that changes it. The current rows get files of their own in published/delta. What is published already ' +
      'stays as it is; the command may be interrupted and run again.',
    logFolder: '_delta_log',
  },
  iceberg: {
    title: 'Apache Iceberg',
    about:
      'Writes Apache Iceberg metadata (version 2) for each table: one snapshot for each snapshot of the lake that ' +
      'changes it. The metadata stands in the lake, or is committed through a REST catalog. The catalog takes a ' +
      'bearer token from FIRMLAKE_CATALOG_TOKEN, or gives one for the id:secret in FIRMLAKE_CATALOG_CREDENTIAL.',
    logFolder: 'metadata',
    hasCatalog: true,
  },
} as const satisfies Readonly<Record<string, TableFormat>>

/** A table format of other engines: `delta` or `iceberg`. */
export type TableFormatName = keyof typeof TABLE_FORMATS

const isFormat = (name: string): name is TableFormatName => Object.hasOwn(TABLE_FORMATS, name)
export const TABLE_FORMAT_NAMES: readonly TableFormatName[] = Object.keys(TABLE_FORMATS).filter(isFormat)

export const hasCatalog = (name: TableFormatName): boolean => 'hasCatalog' in TABLE_FORMATS[name]

/** The rows of a published table. `all`: every version of every record, beside the lake's own files. `current`: the current ones, in a place of their own. */
export type PublishedRows = 'all' | 'current'

export const PUBLISHED_ROWS: readonly PublishedRows[] = ['all', 'current']
