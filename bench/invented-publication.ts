/** Publications of a lake without data: as if its one snapshot had been published. Made for the benchmark of the manifest. */

import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { SnapshotHead } from '../src/core/partition.ts'
import { Engine } from '../src/lake/duckdb/engine.ts'
import type { Table } from '../src/lake/tables/tables.ts'
import type { SnapshotRoot } from '../src/manifest/snapshots/snapshot-root.ts'
import {
  addedFile,
  addLine,
  commitLine,
  metaDataLine,
  protocolLine,
  txnLine,
} from '../src/publish/delta/actions.ts'
import { copyCheckpoint } from '../src/publish/delta/checkpoint.ts'
import { logFolder } from '../src/publish/delta/delta-log.ts'
import { historyForm } from '../src/publish/delta/log-form.ts'
import { schemaText } from '../src/publish/delta/schema-text.ts'
import type { MeasuredFile } from '../src/publish/file-statistics.ts'
import { dataFiles } from '../src/publish/iceberg/data-files.ts'
import { writeNextSnapshot } from '../src/publish/iceberg/next-snapshot.ts'
import { historyLayout } from '../src/publish/iceberg/table-layout.ts'
import { folderStore } from '../src/publish/iceberg/table-store.ts'
import { publishedStorage } from '../src/publish/published-storage.ts'
import { publishedTables, type TableFile } from '../src/publish/table-files.ts'
import { tableFilesOf } from '../src/targets/table-changes.ts'

/** Statistics of a few columns: those of a real file are about ten times as long. */
const measured = (file: TableFile): MeasuredFile => ({
  file,
  statistics: new Map([
    ['internal_id', { nulls: 0, min: BigInt(file.version), max: BigInt(file.version + file.rows) }],
    ['country_code', { nulls: 0, min: 'SE', max: 'SE' }],
  ]),
})

function* deltaLines(table: Table, head: SnapshotHead, files: readonly TableFile[]): Generator<string> {
  const [nowMs, form] = [Date.parse(head.time), historyForm(table.name)]
  const { partitionColumns } = form
  const metaData = { id: randomUUID(), schema: schemaText(table, form), partitionColumns, createdMs: nowMs }
  yield `${commitLine(head, 'WRITE', nowMs)}\n`
  yield `${protocolLine()}\n`
  yield `${metaDataLine(form, metaData, table.name)}\n`
  yield `${txnLine(head, nowMs)}\n`
  for (const file of files)
    yield `${addLine(form, addedFile(measured(file)), { writtenMs: nowMs, changesRows: true })}\n`
}

const VERSION = '0'.repeat(20)

const publishDelta = async (
  lake: string,
  table: Table,
  root: SnapshotRoot,
  files: readonly TableFile[],
): Promise<void> => {
  const scratch = join(lake, '_runs', 'scratch')
  await mkdir(scratch, { recursive: true })
  const [commit, checkpoint] = [join(scratch, `${VERSION}.json`), join(scratch, 'checkpoint.parquet')]
  await pipeline(Readable.from(deltaLines(table, root, files)), createWriteStream(commit))
  const engine = await Engine.open({
    memoryBytes: 1024 ** 3,
    threads: 2,
    spillFolder: join(scratch, 'spill'),
  })
  const session = await engine.connect()
  const { bytes, actions } = await copyCheckpoint(session, undefined, [commit], checkpoint, Date.now())
  const storage = publishedStorage(lake)
  const folder = logFolder(historyForm(table.name))
  await storage.create(`${folder}/${VERSION}.checkpoint.parquet`, bytes)
  await storage.replace(`${folder}/_last_checkpoint`, JSON.stringify({ version: 0, size: actions }))
  session.close()
  engine.close()
  await rm(scratch, { recursive: true })
}

const publishIceberg = async (
  lake: string,
  table: Table,
  root: SnapshotRoot,
  files: readonly TableFile[],
): Promise<void> => {
  const storage = publishedStorage(lake)
  const store = folderStore(storage)
  const layout = historyLayout(table)
  const base = await store.open(layout)
  const described = {
    storage,
    layout,
    live: new Map(),
    measure: async (some: readonly TableFile[]) => some.map(measured),
  }
  const next = await writeNextSnapshot({
    ...{ storage, layout, base: base.metadata, manifests: [], of: root, oldest: 1 },
    data: { added: dataFiles(described, files), removed: [] },
  })
  await store.commit(layout, base, next.change)
}

/** Publishes all tables with files in both formats, without looking into the files. */
export const inventPublications = async (lake: string, root: SnapshotRoot): Promise<void> => {
  for (const table of publishedTables()) {
    const files = await tableFilesOf(lake, root, table)
    if (files.length === 0) continue
    await publishDelta(lake, table, root, files)
    await publishIceberg(lake, table, root, files)
  }
}
