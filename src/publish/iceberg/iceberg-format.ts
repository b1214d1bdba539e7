/**
 * Apache Iceberg, version 2: metadata, manifest lists and manifests of each table. A table of all versions has one
 * snapshot for each snapshot of the lake that changes it, a table of current rows one for each publication. The
 * current snapshot's summary names the lake's snapshot that it shows.
 */

import type { PublishedRows } from '../../core/table-formats.ts'
import { storageOf } from '../../storage/open-storage.ts'
import type { Storage } from '../../storage/storage.ts'
import type {
  OwnFiles,
  PublishContext,
  PublishFormat,
  SnapshotToPublish,
  TableChange,
  TablePublication,
} from '../publication.ts'
import { publishedStorage } from '../published-storage.ts'
import type { ShownSnapshot } from '../table-files.ts'
import type { CatalogOptions } from './catalog-client.ts'
import { catalogStore } from './catalog-store.ts'
import { readLiveManifests, readManifestList } from './live-files.ts'
import type { ManifestFileRecord } from './manifest-schemas.ts'
import { writeNextSnapshot } from './next-snapshot.ts'
import { currentChanges, deletesOf, type FindChanges, historyChanges } from './table-changes.ts'
import {
  currentLayout,
  type MetadataKeeper,
  metadataFolder,
  pathInLake,
  type TableLayout,
} from './table-layout.ts'
import { currentSnapshot, nextSchema, SUMMARY, type TableMetadata } from './table-metadata.ts'
import { folderStore, type TableBase, type TableStore } from './table-store.ts'

const shownBy = (metadata: TableMetadata | null): ShownSnapshot | null => {
  const summary = metadata && currentSnapshot(metadata)?.summary
  const snapshot = Number(summary?.[SUMMARY.snapshot] ?? 0)
  return summary && snapshot > 0 ? { snapshot, run: summary[SUMMARY.run] ?? '' } : null
}

/** A published table. Its manifests are kept in memory from snapshot to snapshot. */
const openTable = async (
  context: PublishContext,
  store: TableStore,
  layout: TableLayout,
  findChanges: FindChanges,
): Promise<TablePublication> => {
  const { lake, signal, oldest } = context
  const storage = publishedStorage(lake)
  let base = await store.open(layout)
  let known: readonly ManifestFileRecord[] | undefined
  const shown = (): ShownSnapshot | null => shownBy(base.metadata)

  const publish = async (snapshot: SnapshotToPublish): Promise<TableChange | null> => {
    // The publisher that was first may be ahead of this snapshot.
    while ((shown()?.snapshot ?? 0) < snapshot.snapshot) {
      signal?.throwIfAborted()
      const { metadata } = base
      const manifests = known ?? (await readLiveManifests(storage, layout.root, metadata))
      known = manifests
      const changes = await findChanges({ context, storage, layout, manifests, shown: shown() }, snapshot)
      const { data, deletes, added, removed, changesRows = true, always = false } = changes
      if (added + removed === 0 && !always && nextSchema(layout, metadata) === undefined) return null
      const next = await writeNextSnapshot({
        ...{ storage, layout, manifests, oldest, data, of: snapshot, base: metadata },
        changesRows,
        ...(deletes && { deletes }),
      })
      signal?.throwIfAborted()
      const outcome = await store.commit(layout, base, next.change)
      base = outcome.base
      if (outcome.kind === 'committed') {
        // Another may have built on it already, where its answer was lost on the way.
        known = shown()?.snapshot === snapshot.snapshot ? next.manifests : undefined
        await removeExpired(storage, layout.root, metadata, next.change.expired, base)
        return { added, removed }
      }
      known = undefined
      await storage.remove([...next.written, ...changes.written])
    }
    return null
  }
  return { shown, publish, moved: base.moved }
}

/**
 * Removes the manifests and lists of snapshots that a change has expired. What is not removed because of a crash is
 * only garbage.
 *
 * @param root the table's folder
 * @param before the table's metadata before the change
 */
const removeExpired = async (
  storage: Storage,
  root: string,
  before: TableMetadata | null,
  expired: readonly number[],
  { metadata }: TableBase,
): Promise<void> => {
  if (expired.length === 0) return
  const gone = (before?.snapshots ?? []).filter((one) => expired.includes(one['snapshot-id']))
  const [first] = metadata?.snapshots ?? []
  if (first === undefined) return
  // A manifest that a table has let go never comes back: what the first snapshot left does not use no later one does.
  const used = new Set((await readManifestList(storage, root, first)).map((one) => one.manifest_path))
  const unused = new Set<string>()
  for (const snapshot of gone) {
    if (pathInLake(storage, snapshot['manifest-list']) === undefined) continue
    for (const { manifest_path } of await readManifestList(storage, root, snapshot))
      if (!used.has(manifest_path)) unused.add(manifest_path)
    unused.add(snapshot['manifest-list'])
  }
  await storage.remove([...unused].flatMap((absolute) => pathInLake(storage, absolute) ?? []))
}

const FIND_CHANGES = { all: historyChanges, current: currentChanges } as const

/** Tables published through a store. */
const icebergFormatOn = (
  rows: PublishedRows,
  storeOf: (lake: string, signal: AbortSignal | undefined) => TableStore,
): Omit<PublishFormat, 'drop'> => ({
  name: 'iceberg',

  isPublished: async (lake, table) => {
    const store = storeOf(lake, undefined)
    return store.has(store.layoutOf(table, rows))
  },

  shown: async ({ lake, signal }, table) => {
    const store = storeOf(lake, signal)
    return shownBy((await store.read(store.layoutOf(table, rows))).metadata)
  },

  open: async (context, table) => {
    const store = storeOf(context.lake, context.signal)
    return openTable(context, store, store.layoutOf(table, rows), FIND_CHANGES[rows])
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
    drop: (lake, table) =>
      storageOf(lake).removeFolder(metadataFolder(storeOf(lake).layoutOf(table, rows).root)),
    ...(rows === 'current' && { ownFiles: ownDeletes('lake', storeOf) }),
  }
}
