/** Tables whose metadata a REST catalog keeps; their manifests stand in the lake beside their files. */

import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Storage } from '../../storage/storage.ts'
import { memberOf } from '../../support/json-form.ts'
import {
  type CatalogClient,
  type CatalogOptions,
  catalogFailed,
  openCatalog,
  PAUSES_MS,
} from './catalog-client.ts'
import { absolutePath, currentLayout, historyLayout, historyName, type TableLayout } from './table-layout.ts'
import {
  conflict,
  currentSnapshot,
  ownMetadata,
  SORT_ORDER,
  type TableMetadata,
  type TableUpdate,
} from './table-metadata.ts'
import { lastColumnId } from './table-schema.ts'
import type { TableBase, TableStore } from './table-store.ts'

const MAIN = 'main'

/** The updates of a change, as the catalog takes them. `-1` means what was added just before. */
const updatesOf = (
  layout: TableLayout,
  base: TableMetadata | null,
  change: TableUpdate,
  location: string,
) => [
  ...(base === null
    ? [
        { action: 'assign-uuid', uuid: randomUUID() },
        { action: 'upgrade-format-version', 'format-version': 2 },
      ]
    : []),
  ...(change.schema
    ? [
        { action: 'add-schema', schema: change.schema, 'last-column-id': lastColumnId(layout) },
        { action: 'set-current-schema', 'schema-id': -1 },
      ]
    : []),
  ...(change.spec
    ? [
        { action: 'add-spec', spec: change.spec },
        { action: 'set-default-spec', 'spec-id': -1 },
      ]
    : []),
  ...(base === null
    ? [
        { action: 'add-sort-order', 'sort-order': SORT_ORDER },
        { action: 'set-default-sort-order', 'sort-order-id': -1 },
        { action: 'set-location', location },
      ]
    : []),
  ...(Object.keys(change.properties).length > 0
    ? [{ action: 'set-properties', updates: change.properties }]
    : []),
  { action: 'add-snapshot', snapshot: change.snapshot },
  {
    action: 'set-snapshot-ref',
    'ref-name': MAIN,
    type: 'branch',
    'snapshot-id': change.snapshot['snapshot-id'],
  },
  ...(change.expired.length > 0 ? [{ action: 'remove-snapshots', 'snapshot-ids': change.expired }] : []),
]

/** Conditions of the change: the table is as it was read. */
const requirementsOf = (base: TableMetadata | null) =>
  base === null
    ? [{ type: 'assert-create' }]
    : [
        { type: 'assert-table-uuid', uuid: base['table-uuid'] },
        {
          type: 'assert-ref-snapshot-id',
          ref: MAIN,
          'snapshot-id': currentSnapshot(base)?.['snapshot-id'] ?? null,
        },
      ]

const sameLocation = (a: unknown, b: string): boolean => typeof a === 'string' && a.replace(/\/+$/, '') === b

export const catalogStore = (
  storage: Storage,
  options: CatalogOptions,
  signal: AbortSignal | undefined,
): TableStore => {
  let opened: Promise<CatalogClient> | undefined
  const client = (): Promise<CatalogClient> => {
    opened ??= openCatalog(options, signal)
    return opened
  }
  const tablePath = ({ namespacePath }: CatalogClient, { name }: Pick<TableLayout, 'name'>): string =>
    `${namespacePath}/tables/${encodeURIComponent(name)}`

  const baseOf = (layout: TableLayout, body: unknown): TableBase => {
    const metadata = ownMetadata(layout, memberOf(body, 'metadata'))
    const location = absolutePath(storage, layout.root)
    if (!sameLocation(metadata.location, location))
      throw conflict(
        layout.root,
        `the catalog has it at "${metadata.location}", the lake is at "${location}"; drop it there, or give another --namespace`,
      )
    return { metadata, number: 0, moved: false }
  }

  const open = async (layout: TableLayout): Promise<TableBase> => {
    const catalog = await client()
    const answer = await catalog.get(tablePath(catalog, layout))
    return answer.kind === 'done' ? baseOf(layout, answer.body) : { metadata: null, number: 0, moved: false }
  }

  const makeNamespace = async (catalog: CatalogClient): Promise<void> => {
    if ((await catalog.get(catalog.namespacePath)).kind === 'done') return
    const answer = await catalog.post('namespaces', { namespace: catalog.namespace, properties: {} })
    // Another publisher has made it first.
    if (answer.kind === 'done' || answer.kind === 'conflict') return
    if ((await catalog.get(catalog.namespacePath)).kind !== 'done')
      throw catalogFailed(`it did not make namespace "${catalog.namespace.join('.')}"`)
  }

  return {
    layoutOf: (table, rows) =>
      rows === 'current' ? currentLayout(table, 'catalog') : historyLayout(table, historyName(table)),

    has: async (layout) => {
      const catalog = await client()
      const answer = await catalog.get(tablePath(catalog, layout))
      const location =
        answer.kind === 'done' ? memberOf(memberOf(answer.body, 'metadata'), 'location') : undefined
      return sameLocation(location, absolutePath(storage, layout.root))
    },

    read: open,
    open,

    drop: async (layout) => {
      const catalog = await client()
      // The table's files are the caller's to remove.
      await catalog.remove(`${tablePath(catalog, layout)}?purgeRequested=false`)
    },

    commit: async (layout, { metadata }, change) => {
      const catalog = await client()
      if (metadata === null) await makeNamespace(catalog)
      const request = {
        identifier: { namespace: catalog.namespace, name: layout.name },
        requirements: requirementsOf(metadata),
        updates: updatesOf(layout, metadata, change, absolutePath(storage, layout.root)),
      }
      const id = change.snapshot['snapshot-id']
      let reason = ''
      for (const pauseMs of PAUSES_MS) {
        const answer = await catalog.post(tablePath(catalog, layout), request)
        if (answer.kind === 'done') return { kind: 'committed', base: baseOf(layout, answer.body) }
        if (answer.kind === 'missing') throw catalogFailed(`it has no table "${layout.name}" to change`)
        const base = await open(layout)
        if (base.metadata?.snapshots?.some((one) => one['snapshot-id'] === id))
          return { kind: 'committed', base }
        if (answer.kind === 'conflict') return { kind: 'lost', base }
        // The same request may still be under way there: it and this one cannot both be carried out.
        reason = answer.reason
        await delay(pauseMs, undefined, { signal })
      }
      throw catalogFailed(reason)
    },
  }
}
