/**
 * Apache Iceberg, version 2: metadata, manifest lists and manifests beside each table's files, one snapshot for each
 * snapshot of the lake that changes the table. The current snapshot's summary says which of the lake's it shows.
 */

import type { Table } from '../../lake/tables/tables.ts'
import type { Storage } from '../../storage/storage.ts'
import { type MeasuredFile, measureFiles } from '../file-statistics.ts'
import type {
  PublishContext,
  PublishFormat,
  ShownSnapshot,
  SnapshotToPublish,
  TableChange,
  TablePublication,
} from '../publication.ts'
import { publishedStorage } from '../published-storage.ts'
import type { TableFile } from '../table-files.ts'
import type { CatalogOptions } from './catalog-client.ts'
import { catalogStore } from './catalog-store.ts'
import { differenceOf, type FileDifference } from './data-files.ts'
import { folderStore } from './folder-store.ts'
import { absolutePath } from './lake-paths.ts'
import { type LiveFile, type LiveFiles, readLiveFiles, readLiveManifests } from './live-files.ts'
import type { ManifestFileRecord } from './manifest-schemas.ts'
import { writeNextSnapshot } from './next-snapshot.ts'
import { removeExpired } from './remove-expired.ts'
import { conflict, currentSnapshot, SUMMARY, type TableMetadata } from './table-metadata.ts'
import type { TableBase, TableStore } from './table-store.ts'

const shownBy = (metadata: TableMetadata | null): ShownSnapshot | null => {
  const summary = metadata && currentSnapshot(metadata)?.summary
  const snapshot = Number(summary?.[SUMMARY.snapshot] ?? 0)
  return summary && snapshot > 0 ? { snapshot, run: summary[SUMMARY.run] ?? '' } : null
}

/** One table and where it stands; what was read of it is kept from snapshot to snapshot. */
class IcebergTable implements TablePublication {
  readonly #context: PublishContext
  readonly #storage: Storage
  readonly #store: TableStore
  readonly #table: Table
  #base: TableBase
  #manifests: readonly ManifestFileRecord[] | undefined
  readonly moved: boolean

  constructor(context: PublishContext, store: TableStore, table: Table, base: TableBase) {
    this.#context = context
    this.#storage = publishedStorage(context.lake)
    this.#store = store
    this.#table = table
    this.#base = base
    this.moved = base.moved
  }

  shown(): ShownSnapshot | null {
    return shownBy(this.#base.metadata)
  }

  async publish(snapshot: SnapshotToPublish): Promise<TableChange | null> {
    const { signal, oldest } = this.#context
    // The publisher that was first may be ahead of this snapshot.
    while ((this.shown()?.snapshot ?? 0) < snapshot.snapshot) {
      signal?.throwIfAborted()
      const base = this.#base
      this.#manifests ??= await readLiveManifests(this.#storage, this.#table.name, base.metadata)
      const next = await writeNextSnapshot({
        storage: this.#storage,
        table: this.#table,
        base: base.metadata,
        manifests: this.#manifests,
        ...(await this.#differenceTo(snapshot, this.#manifests)),
        of: snapshot,
        oldest,
        measure: (files) => this.#measure(files),
      })
      if (next === undefined) return null
      signal?.throwIfAborted()
      const outcome = await this.#store.commit(this.#table, base, next.change)
      this.#base = outcome.base
      if (outcome.kind === 'committed') {
        // Another may have built on it already, where its answer was lost on the way.
        const isCurrent = shownBy(outcome.base.metadata)?.snapshot === snapshot.snapshot
        this.#manifests = isCurrent ? next.manifests : undefined
        await removeExpired(this.#storage, this.#table.name, base.metadata, next.change.expired, outcome.base)
        return { added: next.added, removed: next.removed }
      }
      this.#manifests = undefined
      await this.#storage.remove(next.written)
    }
    return null
  }

  /** What a snapshot changes. The table's files are read only where some of them go or change. */
  async #differenceTo(
    snapshot: SnapshotToPublish,
    manifests: readonly ManifestFileRecord[],
  ): Promise<FileDifference & { readonly live: LiveFiles }> {
    const shown = this.shown()
    const changes = shown && (await snapshot.changesSince(shown))
    if (changes && changes.moved.length + changes.removed.length === 0)
      return { added: changes.added, removed: [], live: new Map() }
    const live = await readLiveFiles(this.#storage, this.#table.name, manifests)
    if (!changes) return { ...differenceOf(this.#storage, live, await snapshot.files()), live }
    const removed = [...changes.removed, ...changes.moved].map(({ path }) => this.#standing(live, path))
    return { added: changes.added, removed, live }
  }

  #standing(live: LiveFiles, path: string): LiveFile {
    const absolute = absolutePath(this.#storage, path)
    const file = live.get(absolute)
    if (file) return file
    throw conflict(this.#table.name, `its metadata does not name "${absolute}", which was published`)
  }

  async #measure(files: readonly TableFile[]): Promise<readonly MeasuredFile[]> {
    const measured: MeasuredFile[] = []
    for await (const one of measureFiles(this.#context, this.#table, files)) measured.push(one)
    return measured
  }
}

/** Tables published through a store. @param name as the command line and the reports call it */
export const icebergFormatOn = (
  name: string,
  storeOf: (lake: string, signal: AbortSignal | undefined) => TableStore,
): PublishFormat => ({
  name,

  isPublished: (lake, table) => storeOf(lake, undefined).has(table),

  open: async (context, table) => {
    const store = storeOf(context.lake, context.signal)
    return new IcebergTable(context, store, table, await store.open(table))
  },
})

/** Metadata kept by a REST catalog. */
export const icebergCatalogFormat = (options: CatalogOptions): PublishFormat =>
  icebergFormatOn('iceberg', (lake, signal) => catalogStore(publishedStorage(lake), options, signal))

/** Metadata in the lake itself, as Hadoop's tables have it. */
export const icebergFormat: PublishFormat = icebergFormatOn('iceberg', (lake) =>
  folderStore(publishedStorage(lake)),
)
