/** Tables whose metadata a REST catalog keeps; their manifests stand in the lake beside their files. */

import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Table } from '../../lake/tables/tables.ts'
import type { Storage } from '../../storage/storage.ts'
import { memberOf } from '../../support/json-form.ts'
import {
  type CatalogClient,
  type CatalogOptions,
  catalogFailed,
  openCatalog,
  PAUSES_MS,
} from './catalog-client.ts'
import { absolutePath } from './lake-paths.ts'
import {
  conflict,
  currentSnapshot,
  ownMetadata,
  SORT_ORDER,
  type TableMetadata,
  type TableUpdate,
} from './table-metadata.ts'
import { lastColumnId, partitionSpec } from './table-schema.ts'
import type { TableBase, TableStore } from './table-store.ts'

const MAIN = 'main'

/** The updates of a change, as the catalog takes them. `-1` means what was added just before. */
const updatesOf = (table: Table, base: TableMetadata | null, change: TableUpdate, location: string) => [
  ...(base === null
    ? [
        { action: 'assign-uuid', uuid: randomUUID() },
        { action: 'upgrade-format-version', 'format-version': 2 },
      ]
    : []),
  ...(change.schema
    ? [
        { action: 'add-schema', schema: change.schema, 'last-column-id': lastColumnId(table) },
        { action: 'set-current-schema', 'schema-id': -1 },
      ]
    : []),
  ...(base === null
    ? [
        { action: 'add-spec', spec: partitionSpec(table) },
        { action: 'set-default-spec', 'spec-id': -1 },
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

/** What must hold for the change to be made: that the table is as it was read. */
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
  const tablePath = ({ namespacePath }: CatalogClient, table: Table): string =>
    `${namespacePath}/tables/${encodeURIComponent(table.name)}`

  const baseOf = (table: Table, body: unknown): TableBase => {
    const metadata = ownMetadata(table, memberOf(body, 'metadata'))
    const location = absolutePath(storage, table.name)
    if (!sameLocation(metadata.location, location))
      throw conflict(
        table.name,
        `the catalog has it at "${metadata.location}", the lake is at "${location}"; drop it there, or give another --namespace`,
      )
    return { metadata, number: 0, moved: false }
  }

  const open = async (table: Table): Promise<TableBase> => {
    const catalog = await client()
    const answer = await catalog.get(tablePath(catalog, table))
    return answer.kind === 'done' ? baseOf(table, answer.body) : { metadata: null, number: 0, moved: false }
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
    has: async (table) => {
      const catalog = await client()
      const answer = await catalog.get(tablePath(catalog, table))
      const location =
        answer.kind === 'done' ? memberOf(memberOf(answer.body, 'metadata'), 'location') : undefined
      return sameLocation(location, absolutePath(storage, table.name))
    },

    open,

    commit: async (table, { metadata }, change) => {
      const catalog = await client()
      if (metadata === null) await makeNamespace(catalog)
      const request = {
        identifier: { namespace: catalog.namespace, name: table.name },
        requirements: requirementsOf(metadata),
        updates: updatesOf(table, metadata, change, absolutePath(storage, table.name)),
      }
      const id = change.snapshot['snapshot-id']
      let reason = ''
      for (const pauseMs of PAUSES_MS) {
        const answer = await catalog.post(tablePath(catalog, table), request)
        if (answer.kind === 'done') return { kind: 'committed', base: baseOf(table, answer.body) }
        if (answer.kind === 'missing') throw catalogFailed(`it has no table "${table.name}" to change`)
        const base = await open(table)
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
