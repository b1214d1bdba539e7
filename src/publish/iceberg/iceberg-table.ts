/** One published table and where it stands. The current snapshot's summary says which of the lake's it shows. */

import type { Storage } from '../../storage/storage.ts'
import type { ShownSnapshot } from '../listed-table.ts'
import type { PublishContext, SnapshotToPublish, TableChange, TablePublication } from '../publication.ts'
import { publishedStorage } from '../published-storage.ts'
import { readLiveManifests } from './live-files.ts'
import type { ManifestFileRecord } from './manifest-schemas.ts'
import { writeNextSnapshot } from './next-snapshot.ts'
import { removeExpired } from './remove-expired.ts'
import type { FindChanges } from './table-changes.ts'
import type { TableLayout } from './table-layout.ts'
import { currentSnapshot, nextSchema, SUMMARY, type TableMetadata } from './table-metadata.ts'
import type { TableBase, TableStore } from './table-store.ts'

const shownBy = (metadata: TableMetadata | null): ShownSnapshot | null => {
  const summary = metadata && currentSnapshot(metadata)?.summary
  const snapshot = Number(summary?.[SUMMARY.snapshot] ?? 0)
  return summary && snapshot > 0 ? { snapshot, run: summary[SUMMARY.run] ?? '' } : null
}

/** What was read of the table is kept from snapshot to snapshot. */
export class IcebergTable implements TablePublication {
  readonly #context: PublishContext
  readonly #storage: Storage
  readonly #store: TableStore
  readonly #layout: TableLayout
  readonly #findChanges: FindChanges
  #base: TableBase
  #manifests: readonly ManifestFileRecord[] | undefined
  readonly moved: boolean

  constructor(
    context: PublishContext,
    store: TableStore,
    layout: TableLayout,
    base: TableBase,
    findChanges: FindChanges,
  ) {
    this.#context = context
    this.#storage = publishedStorage(context.lake)
    this.#store = store
    this.#layout = layout
    this.#findChanges = findChanges
    this.#base = base
    this.moved = base.moved
  }

  shown(): ShownSnapshot | null {
    return shownBy(this.#base.metadata)
  }

  async publish(snapshot: SnapshotToPublish): Promise<TableChange | null> {
    const { signal, oldest } = this.#context
    const [storage, layout] = [this.#storage, this.#layout]
    // The publisher that was first may be ahead of this snapshot.
    while ((this.shown()?.snapshot ?? 0) < snapshot.snapshot) {
      signal?.throwIfAborted()
      const base = this.#base
      this.#manifests ??= await readLiveManifests(storage, layout.root, base.metadata)
      const manifests = this.#manifests
      const context = this.#context
      const state = { context, storage, layout, manifests, shown: this.shown() }
      const changes = await this.#findChanges(state, snapshot)
      const { data, deletes, added, removed, always = false } = changes
      if (added + removed === 0 && !always && nextSchema(layout, base.metadata) === undefined) return null
      const next = await writeNextSnapshot({
        ...{ storage, layout, manifests, oldest, data, of: snapshot, base: base.metadata },
        ...(deletes && { deletes }),
      })
      signal?.throwIfAborted()
      const outcome = await this.#store.commit(layout, base, next.change)
      this.#base = outcome.base
      if (outcome.kind === 'committed') {
        // Another may have built on it already, where its answer was lost on the way.
        const isCurrent = shownBy(outcome.base.metadata)?.snapshot === snapshot.snapshot
        this.#manifests = isCurrent ? next.manifests : undefined
        await removeExpired(storage, layout.root, base.metadata, next.change.expired, outcome.base)
        return { added, removed }
      }
      this.#manifests = undefined
      await storage.remove([...next.written, ...changes.written])
    }
    return null
  }
}
