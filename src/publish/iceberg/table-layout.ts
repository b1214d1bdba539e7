/**
 * A table of the lake as Iceberg has it: which rows, which folder, which name; and the lake's paths as Iceberg's
 * readers get them: absolute, below the address of the storage.
 */

import { type PublishedRows, TABLE_FORMATS } from '../../core/table-formats.ts'
import { currentFolder } from '../../lake/files/layout.ts'
import type { Table } from '../../lake/tables/tables.ts'
import type { Storage } from '../../storage/storage.ts'

/** Folder of a table's metadata in the lake. @param root the table's own folder */
export const metadataFolder = (root: string): string => `${root}/${TABLE_FORMATS.iceberg.logFolder}`

export const absolutePath = (storage: Storage, path: string): string => `${storage.uri}/${path}`

/** Path in the lake of an absolute one; `undefined` for a path outside. */
export const pathInLake = (storage: Storage, absolute: string): string | undefined =>
  absolute.startsWith(`${storage.uri}/`) ? absolute.slice(storage.uri.length + 1) : undefined

export interface TableLayout {
  readonly table: Table
  readonly rows: PublishedRows
  /** Folder below the lake: the table's location. */
  readonly root: string
  /** The table's name in a catalog. */
  readonly name: string
  /** Folder below the lake of its files of deletes. */
  readonly deletes: string
}

/** Who keeps the metadata: the lake itself, or a catalog. */
export type MetadataKeeper = 'lake' | 'catalog'

/** Layout of all versions: beside the table's own files, by which it is partitioned. */
export const historyLayout = (table: Table, name = table.name): TableLayout => ({
  table,
  rows: 'all',
  root: table.name,
  name,
  deletes: '',
})

/** Name of a table of all versions in a catalog, beside the one of current rows. */
export const historyName = ({ name }: Table): string => `${name}_history`

/** The current rows: without partitions, its data files are those of the lake. */
export const currentLayout = (table: Table, keeper: MetadataKeeper): TableLayout => {
  const root = `${currentFolder('iceberg')}/${table.name}`
  // Who does not ask the catalog must not take its files for garbage.
  const deletes = `${root}/${keeper === 'lake' ? 'deletes' : 'catalog-deletes'}`
  return { table, rows: 'current', root, name: table.name, deletes }
}
