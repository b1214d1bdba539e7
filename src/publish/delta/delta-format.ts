/**
 * Delta Lake: a `_delta_log` beside each table's files, one version for each snapshot of the lake that changes the
 * table. The log alone says what is published; the newest snapshot that it names is the one it shows.
 */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Table } from '../../lake/tables/tables.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { measureFiles } from '../file-statistics.ts'
import type {
  PublishContext,
  PublishFormat,
  SnapshotToPublish,
  TableChange,
  TablePublication,
} from '../publication.ts'
import { publishedStorage } from '../published-storage.ts'
import type { TableFile } from '../table-files.ts'
import {
  addLine,
  commitLine,
  type LoggedFile,
  type LoggedMetaData,
  metaDataLine,
  protocolLine,
  removeLine,
  txnLine,
} from './actions.ts'
import { DeltaLog, hasLog } from './delta-log.ts'
import { schemaText } from './schema-text.ts'

/** A file that is gone from a table. */
interface RemovedFile {
  readonly name: string
  readonly file: LoggedFile
}

interface Difference {
  /** A file whose version changed is only added: the log's newest word on a path counts. */
  readonly added: readonly TableFile[]
  readonly removed: readonly RemovedFile[]
}

/** By all that the log says and all that the snapshot lists. */
const compareAll = async (log: DeltaLog, snapshot: SnapshotToPublish): Promise<Difference> => {
  const [logged, files] = [await log.files(), await snapshot.files()]
  const names = new Set(files.map(({ name }) => name))
  return {
    added: files.filter(({ name, version, run }) => {
      const known = logged.get(name)
      return known?.version !== version || known.run !== run
    }),
    removed: [...logged].flatMap(([name, file]) => (names.has(name) ? [] : [{ name, file }])),
  }
}

/** By the parts of the manifest that differ, where the snapshot that the log shows is kept. */
const differenceOf = async (log: DeltaLog, snapshot: SnapshotToPublish): Promise<Difference> => {
  const changes = log.shown && (await snapshot.changesSince(log.shown))
  if (!changes) return compareAll(log, snapshot)
  const { added, removed } = changes
  return { added, removed: removed.map((file) => ({ name: file.name, file })) }
}

/** The table's metadata where it has to be written: at first, and when its columns change. */
const metaDataOf = (log: DeltaLog, table: Table, nowMs: number): LoggedMetaData | undefined => {
  const schema = schemaText(table, log.metaData?.schema)
  if (schema === log.metaData?.schema) return undefined
  return { id: log.metaData?.id ?? randomUUID(), schema, createdMs: log.metaData?.createdMs ?? nowMs }
}

const operationOf = (log: DeltaLog, { removed }: Difference): string => {
  if (log.version < 0) return 'CREATE TABLE AS SELECT'
  return removed.length > 0 ? 'REPLACE' : 'WRITE'
}

const publishDelta = async (
  context: PublishContext,
  table: Table,
  log: DeltaLog,
  snapshot: SnapshotToPublish,
): Promise<TableChange | null> => {
  const { now, signal } = context
  // The publisher that was first may be ahead of this snapshot.
  while ((log.shown?.snapshot ?? 0) < snapshot.snapshot) {
    const nowMs = now().getTime()
    const difference = await differenceOf(log, snapshot)
    const { added, removed } = difference
    const metaData = metaDataOf(log, table, nowMs)
    if (added.length === 0 && removed.length === 0 && !metaData) return null
    const shown = { snapshot: snapshot.snapshot, run: snapshot.run, pipeline: snapshot.pipeline }
    const lines = [commitLine(shown, operationOf(log, difference), nowMs)]
    if (log.version < 0) lines.push(protocolLine())
    if (metaData) lines.push(metaDataLine(metaData, table.name))
    lines.push(txnLine(shown, nowMs))
    for (const { name, file } of removed) lines.push(removeLine(name, file, nowMs))
    const writtenMs = Date.parse(snapshot.time)
    for await (const measured of measureFiles(context, table, added)) lines.push(addLine(measured, writtenMs))
    signal?.throwIfAborted()
    if (await log.append(lines)) {
      await log.checkpointWhenDue(nowMs)
      return { added: added.length, removed: removed.length }
    }
  }
  return null
}

export const deltaFormat: PublishFormat = {
  name: 'delta',

  isPublished: (lake, table) => hasLog(storageOf(lake), table.name),

  open: async (context, table): Promise<TablePublication> => {
    const { lake, session, scratch, now } = context
    const log = await DeltaLog.open({
      storage: publishedStorage(lake),
      session,
      table: table.name,
      scratch: join(scratch, 'delta', table.name),
    })
    // A killed publisher may have left it undone.
    await log.checkpointWhenDue(now().getTime())
    return { shown: () => log.shown, publish: (snapshot) => publishDelta(context, table, log, snapshot) }
  },
}
