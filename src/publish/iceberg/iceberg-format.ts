/**
 * Apache Iceberg, version 2: metadata, manifest lists and manifests of each table. Of all versions there is one snapshot
 * for each snapshot of the lake that changes the table, of the current rows one for each publication.
 */

import type { OwnFiles, PublishFormat } from '../publication.ts'
import type { PublishedRows } from '../published-rows.ts'
import { publishedStorage } from '../published-storage.ts'
import type { CatalogOptions } from './catalog-client.ts'
import { catalogStore } from './catalog-store.ts'
import { currentChanges } from './current-changes.ts'
import { deletesOf } from './delete-files.ts'
import { folderStore } from './folder-store.ts'
import { historyChanges } from './history-changes.ts'
import { IcebergTable } from './iceberg-table.ts'
import { currentLayout, type MetadataKeeper } from './table-layout.ts'
import type { TableStore } from './table-store.ts'

const FIND_CHANGES = { all: historyChanges, current: currentChanges } as const

/** Tables published through a store. */
const icebergFormatOn = (
  rows: PublishedRows,
  storeOf: (lake: string, signal: AbortSignal | undefined) => TableStore,
): PublishFormat => ({
  name: 'iceberg',

  isPublished: async (lake, table) => {
    const store = storeOf(lake, undefined)
    return store.has(store.layoutOf(table, rows))
  },

  open: async (context, table) => {
    const store = storeOf(context.lake, context.signal)
    const layout = store.layoutOf(table, rows)
    return new IcebergTable(context, store, layout, await store.open(layout), FIND_CHANGES[rows])
  },
})

/** Files of deletes in the lake. */
const ownDeletes = (
  keeper: MetadataKeeper,
  storeOf: (lake: string, signal: AbortSignal | undefined) => TableStore,
): OwnFiles => ({
  folder: (table) => currentLayout(table, keeper).deletes,
  needed: async ({ lake, signal }, table) => {
    const layout = currentLayout(table, keeper)
    const { metadata } = await storeOf(lake, signal).open(layout)
    return metadata && deletesOf(publishedStorage(lake), layout.root, metadata)
  },
})

/** Metadata kept by a REST catalog. */
export const icebergCatalogFormat = (rows: PublishedRows, options: CatalogOptions): PublishFormat => {
  const storeOf = (lake: string, signal: AbortSignal | undefined) =>
    catalogStore(publishedStorage(lake), options, signal)
  return {
    ...icebergFormatOn(rows, storeOf),
    drop: async (lake, table) => {
      const store = storeOf(lake, undefined)
      const layout = store.layoutOf(table, rows)
      if (await store.has(layout)) await store.drop?.(layout)
    },
    ...(rows === 'current' && { ownFiles: ownDeletes('catalog', storeOf) }),
  }
}

/** Metadata in the lake itself, as Hadoop's tables have it. */
export const icebergFormat = (rows: PublishedRows): PublishFormat => {
  const storeOf = (lake: string) => folderStore(publishedStorage(lake))
  return {
    ...icebergFormatOn(rows, storeOf),
    ...(rows === 'current' && { ownFiles: ownDeletes('lake', storeOf) }),
  }
}
