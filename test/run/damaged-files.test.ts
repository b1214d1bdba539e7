import { copyFile, mkdtemp, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { FileEntry, Snapshot } from '../../src/core/partition.ts'
import { compact } from '../../src/jobs/compact.ts'
import { listQuarantine, waitingFiles } from '../../src/kinds/quarantine.ts'
import { openComparison } from '../../src/lake/diff/open-comparison.ts'
import { listedFiles } from '../../src/manifest/form/totals.ts'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { restoreRecords } from '../../src/restore/restore.ts'
import { chooseEmbedder } from '../../src/server/ranking/choose-embedder.ts'
import { currentIndex } from '../../src/server/serving-index/build/current-index.ts'
import { duckdbFile } from '../../src/sink/duckdb-file.ts'
import { deliver } from '../../src/targets/deliver.ts'
import { exportTables } from '../../src/targets/export/export-tables.ts'
import { publish } from '../../src/targets/publish.ts'
import { flipBit } from '../manifest/damage.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Bench, companyLines, openBench, queryLake } from './batch-bench.ts'

const MEMORY_BYTES = 256 * 1024 ** 2

let one: Bench
let snapshot: Snapshot
let lake: string
beforeAll(async () => {
  one = openBench(await mkdtemp(join(tmpdir(), 'firmlake-damaged-')))
  lake = one.lake
  await one.write('a.jsonl', companyLines(10))
  await one.write('b.jsonl', [...companyLines(5, 8), '{"broken'])
  await one.run(['a.jsonl'])
  await one.run(['b.jsonl'], { maxQuarantined: { kind: 'count', lines: 1 } })
  snapshot = await one.snapshot()
})
beforeEach(() => {
  // Files written just now are not remembered.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
})
afterEach(() => vi.useRealTimers())
afterAll(() => rm(one.folder, { recursive: true, force: true }))

const all = async (rows: AsyncIterable<unknown>): Promise<unknown[]> => {
  const found: unknown[] = []
  for await (const row of rows) found.push(row)
  return found
}

/** What reads a table of the lake, each in a folder of its own. */
const READERS: Readonly<Record<string, { table: string; read: (folder: string) => Promise<unknown> }>> = {
  records: {
    table: 'financials',
    read: () => all(restoreRecords({ lake, snapshot, memoryBytes: MEMORY_BYTES })),
  },
  export: {
    table: 'financials',
    read: (folder) =>
      exportTables({
        ...{ lake, memoryBytes: MEMORY_BYTES },
        to: { kind: 'folder', format: 'csv', directory: join(folder, 'out') },
      }),
  },
  deliver: {
    table: 'financials',
    read: (folder) => deliver({ lake, sinks: [duckdbFile(join(folder, 'a.duckdb'))] }),
  },
  publish: {
    table: 'financials',
    read: () => publish({ lake, formats: ['delta'], memoryBytes: MEMORY_BYTES }),
  },
  compact: { table: 'employees', read: () => compact({ lake, memoryBytes: 4 * MEMORY_BYTES }) },
  'compact --dry-run': {
    table: 'financials',
    read: () => compact({ lake, memoryBytes: 4 * MEMORY_BYTES, dryRun: true }),
  },
  'quarantine list': { table: 'quarantine', read: () => all(listQuarantine(waitingFiles(snapshot, lake))) },
  serve: {
    table: 'financials',
    read: async () => {
      const made = await currentIndex({ lake, embedder: await chooseEmbedder({}), memoryBytes: MEMORY_BYTES })
      await made.close()
    },
  },
}

/** Every file of a table with a bit flipped below the file system: no time and no inode tells of it. */
const whileFlipped = async (table: string, check: (files: readonly FileEntry[]) => Promise<void>) => {
  const files = listedFiles(snapshot).filter((file) => file.table === table && file.bytes > 0)
  for (const { path } of files) {
    const { atime, mtime } = await stat(join(lake, path))
    await copyFile(join(lake, path), join(one.folder, 'kept'))
    await flipBit(join(lake, path), 100, 4)
    await utimes(join(lake, path), atime, mtime)
    try {
      await check(files.filter((file) => file.path === path))
    } finally {
      await copyFile(join(one.folder, 'kept'), join(lake, path))
    }
  }
}

test.each(Object.keys(READERS))(
  '%s names a file of which a bit has changed, and gives nothing of it',
  async (name) => {
    const { table, read } = READERS[name] ?? { table: '', read: async () => undefined }
    const lakeHas = listedFiles(snapshot).some((file) => file.table === table)
    const which = lakeHas ? table : 'companies'
    await whileFlipped(which, async ([file]) => {
      const damaged = { code: 'LAKE_DAMAGED', message: expect.stringContaining(file?.path ?? '') }
      await expect(read(await temporaryFolder())).rejects.toMatchObject(damaged)
      expect((await one.verify()).problems).toMatchObject([{ path: file?.path, problem: 'changed' }])
    })
  },
)

test('query and diff find a changed bit the first time, and the time of the change after it', async () => {
  const ask = (): Promise<unknown> =>
    queryLake(lake, 'SELECT sum(value) FROM financials SEMI JOIN companies USING (internal_id)')
  const diff = async (): Promise<void> => {
    const [from, to] = [await readSnapshot(lake, 1), await readSnapshot(lake, 2)]
    ;(await openComparison({ lake, from, to, memoryBytes: MEMORY_BYTES })).close()
  }
  const whole = await ask()
  await diff()
  await whileFlipped('companies', async () => {
    await expect(ask()).rejects.toMatchObject({ code: 'LAKE_DAMAGED' })
    await expect(diff()).rejects.toMatchObject({ code: 'LAKE_DAMAGED' })
  })
  expect(await ask()).toEqual(whole)
})
