/** A backup takes the lake's place: targets show what the lake has lost, and are refused until they are loaded anew. */

import { readdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { DeliverySink } from '../../src/core/sink.ts'
import { compact } from '../../src/jobs/compact.ts'
import { forget } from '../../src/jobs/forget.ts'
import { removeGarbage } from '../../src/manifest/gc/remove-garbage.ts'
import { readRoot } from '../../src/manifest/snapshots/snapshots.ts'
import { deliver } from '../../src/targets/deliver.ts'
import { exportTables } from '../../src/targets/export/export-tables.ts'
import { openBench } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  AHEAD,
  duckdbAt,
  expectRefusedUntilAnew,
  folderOf,
  lakeWithBackup,
  load,
  restore,
} from './restored-target.ts'

test('deliver to a database: what the lake has lost is refused, and gone with overwrite', () =>
  expectRefusedUntilAnew((one) => duckdbAt(join(one.folder, 'firms.duckdb'))))

test.each(['csv.gz', 'parquet'])(
  'deliver to %s: what the lake has lost is refused, and gone with overwrite',
  (format) => expectRefusedUntilAnew((one, runs) => folderOf(format, join(one.folder, 'out'), runs)),
)

test('a database is as before until the first run of the new load is in it', async () => {
  const one = await lakeWithBackup()
  const database = duckdbAt(join(one.folder, 'firms.duckdb'))
  await load(one, 2)
  await deliver({ lake: one.lake, sinks: [database.address] })
  await restore(one)
  const controller = new AbortController()
  const stopped = deliver({
    ...{ lake: one.lake, sinks: [database.address], overwrite: true, signal: controller.signal },
    onProgress: ({ loading }) => loading && controller.abort(),
  })
  await expect(stopped).rejects.toMatchObject({ code: 'INTERRUPTED' })
  expect(await database.ids()).toEqual([1, 2])
  await deliver({ lake: one.lake, sinks: [database.address], overwrite: true })
  expect(await database.ids()).toEqual([1])
})

test('exportTables compares the run of a snapshot: another one of the same number is refused, or loaded anew', async () => {
  const one = await lakeWithBackup()
  const database = duckdbAt(join(one.folder, 'firms.duckdb'))
  const toDatabase = (more: object = {}) =>
    exportTables({ lake: one.lake, to: String(database.address), ...more })
  await toDatabase()
  await load(one, 2)
  await toDatabase()
  await restore(one)
  await load(one, 3)
  for (const more of [{}, { tables: ['companies'] }, { sql: 'SELECT 1 AS one' }, { adopt: true }])
    await expect(toDatabase(more)).rejects.toMatchObject(AHEAD)
  expect(await database.ids()).toEqual([1, 2])
  const anew = await toDatabase({ overwrite: true })
  expect([anew.already, anew.warnings.join()]).toEqual([undefined, expect.stringContaining('loaded anew')])
  expect(await database.ids()).toEqual([1, 3])
  expect(await toDatabase()).toMatchObject({ already: true })
})

test('an answer and a filtered export count as the snapshot that they were made of', async () => {
  const one = await lakeWithBackup()
  await load(one, 2)
  const to = join(one.folder, 'firms.duckdb')
  await exportTables({ lake: one.lake, to, sql: 'SELECT internal_id FROM companies' })
  await restore(one)
  await expect(exportTables({ lake: one.lake, to })).rejects.toMatchObject(AHEAD)
  await expect(deliver({ lake: one.lake, sinks: [to] })).rejects.toMatchObject(AHEAD)
})

test('runs that were delivered to a database count for its exports', async () => {
  const one = await lakeWithBackup()
  const to = join(one.folder, 'firms.duckdb')
  await load(one, 2)
  await deliver({ lake: one.lake, sinks: [to] })
  await restore(one)
  await expect(exportTables({ lake: one.lake, to })).rejects.toMatchObject(AHEAD)
})

test('what compaction and gc have taken out of the manifest is still known', async () => {
  const one = openBench(await temporaryFolder())
  const addresses = ['csv:out', 'firms.duckdb'].map((name) =>
    name.replace(/[^:]*$/, (at) => join(one.folder, at)),
  )
  const exported = join(one.folder, 'exported.duckdb')
  const compacted = join(one.folder, 'compacted.duckdb')
  await load(one, 1)
  await load(one, 2)
  const first = await compact({ lake: one.lake })
  expect(first).toMatchObject({ kind: 'compacted' })
  // A target that came first after a compaction has the run of that alone.
  await deliver({ lake: one.lake, sinks: [...addresses, compacted] })
  await exportTables({ lake: one.lake, to: exported })
  for (const id of [3, 4]) {
    await load(one, id)
    await compact({ lake: one.lake })
  }
  await removeGarbage({ lake: one.lake, keep: 1, now: new Date() })
  expect((await readRoot(one.lake)).compactions).toHaveLength(2)
  expect((await one.verify()).problems).toEqual([])
  await deliver({ lake: one.lake, sinks: [...addresses, compacted] })
  await exportTables({ lake: one.lake, to: exported })
  for (const file of [compacted, exported]) expect(await duckdbAt(file).ids()).toEqual([1, 2, 3, 4])
})

test('a run of which a forget has left nothing is still known', async () => {
  const one = openBench(await temporaryFolder())
  const out = `csv:${join(one.folder, 'out')}`
  await load(one, 1)
  await load(one, 2)
  await deliver({ lake: one.lake, sinks: [out] })
  await forget({ lake: one.lake, companies: [2] })
  expect(await deliver({ lake: one.lake, sinks: [out] })).toMatchObject([{ runs: [] }])
})

test('files of a run that was being shown when all ended are known to be of a lost run', async () => {
  const one = await lakeWithBackup()
  const lost = await load(one, 2)
  const out = join(one.folder, 'out')
  await deliver({ lake: one.lake, sinks: [`csv:${out}`] })
  // As a kill between the files and the mark of their run leaves it.
  await rename(join(out, '_loaded', lost), join(out, '_loaded', `${lost}.unfinished`))
  await restore(one)
  await expect(deliver({ lake: one.lake, sinks: [`csv:${out}`] })).rejects.toMatchObject(AHEAD)
  await deliver({ lake: one.lake, sinks: [`csv:${out}`], overwrite: true })
  expect(await readdir(join(out, '_loaded'))).toHaveLength(1)
  expect(await readdir(join(out, 'companies'))).toHaveLength(1)
})

test('a sink of a program that shows a lost run is refused', async () => {
  const one = await lakeWithBackup()
  const shown = new Set<string>()
  const own: DeliverySink = {
    name: 'own',
    open: async (run) => ({
      write: async (_partition, table) => ({ table, rows: 0, files: [], statistics: new Map() }),
      commit: async () => void shown.add(run),
      abort: async () => undefined,
    }),
    deliveredRuns: async () => shown,
  }
  shown.add('.DS_Store')
  await load(one, 2)
  await deliver({ lake: one.lake, sinks: [own] })
  await deliver({ lake: one.lake, sinks: [own] })
  await restore(one)
  for (const overwrite of [false, true])
    await expect(deliver({ lake: one.lake, sinks: [own], overwrite })).rejects.toMatchObject(AHEAD)
})
