/** The formats in which tables are published, each loaded only where it is used. */

import type { CatalogOptions } from '../publish/iceberg/catalog-client.ts'
import type { PublishedRows, PublishFormat } from '../publish/publication.ts'
import { publishedTables } from '../publish/table-files.ts'

export const FORMATS = {
  delta: async (rows: PublishedRows): Promise<PublishFormat> =>
    (await import('../publish/delta/delta-format.ts')).deltaFormat(rows),
  iceberg: async (rows: PublishedRows, catalog?: CatalogOptions): Promise<PublishFormat> => {
    const { icebergCatalogFormat, icebergFormat } = await import('../publish/iceberg/iceberg-format.ts')
    return catalog === undefined ? icebergFormat(rows) : icebergCatalogFormat(rows, catalog)
  },
} as const satisfies Readonly<
  Record<string, (rows: PublishedRows, catalog?: CatalogOptions) => Promise<PublishFormat>>
>

/** A table format of other engines: `delta` or `iceberg`. */
export type TableFormatName = keyof typeof FORMATS

const isFormatName = (name: string): name is TableFormatName => name in FORMATS
export const TABLE_FORMAT_NAMES: readonly TableFormatName[] = Object.keys(FORMATS).filter(isFormatName)

/** The formats in which a lake's rows of a kind are published already. @param catalog looks there for Iceberg, not in the lake */
export const publishedFormats = async (
  lake: string,
  rows: PublishedRows,
  catalog?: CatalogOptions,
): Promise<readonly TableFormatName[]> => {
  const found: TableFormatName[] = []
  for (const name of TABLE_FORMAT_NAMES) {
    const { isPublished } = await FORMATS[name](rows, catalog)
    for (const table of publishedTables()) {
      if (!(await isPublished(lake, table))) continue
      found.push(name)
      break
    }
  }
  return found
}
