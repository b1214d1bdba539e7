/**
 * Delta Lake: a `_delta_log` of each table. Of all versions there is one version of the log for each snapshot of the lake
 * that changes the table, of the current rows one for each publication. The log alone says what is published; the newest
 * snapshot that it names is the one it shows.
 */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { PublishedRows } from '../../core/table-formats.ts'
import type { Table } from '../../lake/tables/tables.ts'
import { storageOf } from '../../storage/open-storage.ts'
import type {
  PublishContext,
  PublishFormat,
  ShownContext,
  SnapshotToPublish,
  TableChange,
  TablePublication,
} from '../publication.ts'
import { publishedStorage } from '../published-storage.ts'
import {
  addLine,
  commitLine,
  type LoggedMetaData,
  metaDataLine,
  protocolLine,
  removeLine,
  txnLine,
} from './actions.ts'
import { currentChanges } from './current-changes.ts'
import { DeltaLog, hasLog, logFolder } from './delta-log.ts'
import { currentForm, historyForm, type LogForm } from './log-form.ts'
import { schemaText } from './schema-text.ts'
import { type DeltaChanges, type FindChanges, historyChanges, type TableState } from './table-changes.ts'

/** The table's metadata where it has to be written: at first, and when its columns change. */
const metaDataOf = (log: DeltaLog, table: Table, nowMs: number): LoggedMetaData | undefined => {
  const { metaData, form } = log
  const schema = schemaText(table, form, metaData?.schema)
  if (schema === metaData?.schema) return undefined
  const [id, createdMs] = [metaData?.id ?? randomUUID(), metaData?.createdMs ?? nowMs]
  return { id, schema, partitionColumns: form.partitionColumns, createdMs }
}

/** Whether a table is to be brought to a snapshot. */
const isBehind = (log: DeltaLog, { snapshot }: SnapshotToPublish): boolean =>
  (log.shown?.snapshot ?? 0) < snapshot

const operationOf = (log: DeltaLog, { removed, changesRows = true }: DeltaChanges): string => {
  if (log.version < 0) return 'CREATE TABLE AS SELECT'
  if (!changesRows) return 'OPTIMIZE'
  return removed.length > 0 ? 'REPLACE' : 'WRITE'
}

const publishDelta = async (
  state: TableState,
  findChanges: FindChanges,
  snapshot: SnapshotToPublish,
): Promise<TableChange | null> => {
  const { context, table, log } = state
  const { form } = log
  // The publisher that was first may be ahead of this snapshot.
  while (isBehind(log, snapshot)) {
    const nowMs = context.now().getTime()
    const changes = await findChanges(state, snapshot)
    const { added, removed, changesRows = true, always = false } = changes
    const metaData = metaDataOf(log, table, nowMs)
    if (added === 0 && removed.length === 0 && !metaData && !always) return null
    const shown = { snapshot: snapshot.snapshot, run: snapshot.run, pipeline: snapshot.pipeline }
    const lines = [commitLine(shown, operationOf(log, changes), nowMs)]
    if (log.version < 0) lines.push(protocolLine())
    if (metaData) lines.push(metaDataLine(form, metaData, table.name))
    lines.push(txnLine(shown, nowMs))
    for (const { name, file } of removed) lines.push(removeLine(form, name, file, { nowMs, changesRows }))
    const writtenMs = Date.parse(snapshot.time)
    for await (const file of changes.files) lines.push(addLine(form, file, { writtenMs, changesRows }))
    context.signal?.throwIfAborted()
    if (await log.append(lines)) {
      await log.checkpointWhenDue(nowMs)
      return { added, removed: removed.length }
    }
    await publishedStorage(context.lake).remove(changes.written)
  }
  return null
}

const FORMS: Readonly<Record<PublishedRows, (table: string) => LogForm>> = {
  all: historyForm,
  current: currentForm,
}
const FIND_CHANGES = { all: historyChanges, current: currentChanges } as const

const openLog = (
  { lake, session, scratch }: ShownContext,
  rows: PublishedRows,
  table: Table,
  storage = publishedStorage(lake),
) =>
  DeltaLog.open({
    storage,
    session,
    form: FORMS[rows](table.name),
    scratch: join(scratch, 'delta', rows, table.name),
  })

const currentRoot = (table: Table): string => currentForm(table.name).root

export const deltaFormat = (rows: PublishedRows): PublishFormat => ({
  name: 'delta',

  isPublished: (lake, table) => hasLog(storageOf(lake), FORMS[rows](table.name)),

  shown: async (context, table) => {
    // Leftovers of a killed publisher are the next publisher's to remove.
    const storage = { ...publishedStorage(context.lake), remove: async () => undefined }
    return (await openLog(context, rows, table, storage)).shown
  },

  drop: (lake, table) => storageOf(lake).removeFolder(logFolder(FORMS[rows](table.name))),

  ...(rows === 'current' && {
    ownFiles: {
      folder: currentRoot,
      needed: async (context: PublishContext, table: Table) => {
        const log = await openLog(context, rows, table)
        if (log.version < 0) return null
        const names = await log.namesSince(context.oldest)
        return new Set([...names].map((name) => `${currentRoot(table)}/${name}`))
      },
    },
  }),

  open: async (context, table): Promise<TablePublication> => {
    const log = await openLog(context, rows, table)
    const { now } = context
    // A killed publisher may have left it undone.
    await log.checkpointWhenDue(now().getTime())
    return {
      shown: () => log.shown,
      publish: (snapshot) => publishDelta({ context, table, log }, FIND_CHANGES[rows], snapshot),
    }
  },
})
