/** Writers of the formats in which tables are published, each loaded only where it is used. */

import { ToolkitError } from '../core/errors.ts'
import {
  hasCatalog,
  type PublishedRows,
  TABLE_FORMAT_NAMES,
  type TableFormatName,
} from '../core/table-formats.ts'
import type { Table } from '../lake/tables/tables.ts'
import type { CatalogOptions } from '../publish/iceberg/catalog-client.ts'
import type { PublishFormat } from '../publish/publication.ts'
import { publishedTables, type ShownSnapshot } from '../publish/table-files.ts'

export const FORMATS: Readonly<
  Record<TableFormatName, (rows: PublishedRows, catalog?: CatalogOptions) => Promise<PublishFormat>>
> = {
  delta: async (rows) => (await import('../publish/delta/delta-format.ts')).deltaFormat(rows),
  iceberg: async (rows, catalog) => {
    const { icebergCatalogFormat, icebergFormat } = await import('../publish/iceberg/iceberg-format.ts')
    return catalog === undefined ? icebergFormat(rows) : icebergCatalogFormat(rows, catalog)
  },
}

/** Formats whose tables a catalog shows. */
export const CATALOG_FORMATS: readonly TableFormatName[] = TABLE_FORMAT_NAMES.filter(hasCatalog)

/** The formats in which a lake's rows of a kind are published already: in the lake, or in the catalog where one is given. */
export const publishedFormats = async (
  lake: string,
  rows: PublishedRows,
  catalog?: CatalogOptions,
): Promise<readonly TableFormatName[]> => {
  const found: TableFormatName[] = []
  for (const name of catalog === undefined ? TABLE_FORMAT_NAMES : CATALOG_FORMATS) {
    const { isPublished } = await FORMATS[name](rows, catalog)
    for (const table of publishedTables()) {
      if (!(await isPublished(lake, table))) continue
      found.push(name)
      break
    }
  }
  return found
}

/** The error of a published table that shows a snapshot which the lake does not have. */
export const tableAhead = (
  format: TableFormatName,
  { name: table }: Table,
  { snapshot, run }: ShownSnapshot,
): ToolkitError =>
  new ToolkitError(
    'TARGET_AHEAD',
    `Cannot publish "${table}" in format "${format}": it shows snapshot ${snapshot} of run "${run}", which the lake does not ` +
      'have, expected one of its snapshots; bring back the lake that has it, or publish anew with --overwrite',
    { table, snapshot, run },
  )
