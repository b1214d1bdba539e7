/** A lake whose snapshots are one text each, as earlier releases wrote them: read, loaded into, verified, cleared, compacted. */

import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readStatus } from '../../src/cli/lake-status.ts'
import { inLake, recordPath, snapshotPath } from '../../src/lake/lake/layout.ts'
import { documentText } from '../../src/manifest/print-document.ts'
import { removeGarbage } from '../../src/manifest/remove-garbage.ts'
import { recordText } from '../../src/manifest/snapshot-text.ts'
import { readRoot, readSnapshot } from '../../src/manifest/snapshots.ts'
import { summariseSnapshot } from '../../src/manifest/summarise-snapshot.ts'
import { compactLake } from '../../src/pipeline/compact/compact.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Bench, companyLine, hashLake, openBench } from './batch-bench.ts'

const FIXTURE = join(import.meta.dirname, '../fixtures/format-1')
const WHOLE = { problems: [], notes: [] }

const copied = async (): Promise<Bench> => {
  const folder = await temporaryFolder()
  await cp(FIXTURE, folder, { recursive: true })
  return openBench(folder)
}

const formatOf = async (lake: string, number: number): Promise<unknown> =>
  JSON.parse(await readFile(inLake(lake, snapshotPath(number)), 'utf8')).format

const printed = async (lake: string): Promise<string> => {
  let text = ''
  for await (const piece of documentText(lake, await readRoot(lake))) text += piece
  return text
}

test('a lake of format 1 is read and verified as it is', async () => {
  const one = await copied()
  const notes = [expect.stringContaining('the next commit or delivery gives the lake an id')]
  expect(await one.verify()).toMatchObject({ ...WHOLE, notes, snapshots: 2 })
  expect(await one.query('SELECT internal_id FROM companies ORDER BY ALL')).toEqual([[1], [2], [3], [4]])
  const { summary, drift } = await readStatus(one.lake)
  expect(summary).toEqual(summariseSnapshot(await one.snapshot()))
  expect(summary).toMatchObject({ snapshot: 2, partitions: 3, runs: 2 })
  expect(drift).toMatchObject([{ name: 'EnhancedDetails.Description', records: 5 }])
  expect(await printed(one.lake)).toBe(await readFile(inLake(one.lake, snapshotPath(2)), 'utf8'))
})

test('a load into a lake of format 1 knows its sources, and writes a snapshot of parts', async () => {
  const one = await copied()
  expect((await one.run(['first.jsonl'])).summary.skipped).toHaveLength(1)
  await one.write('third.jsonl', [companyLine(5)])
  await one.run(['third.jsonl'])
  expect([await formatOf(one.lake, 2), await formatOf(one.lake, 3)]).toEqual([1, 3])
  const [before, after] = [await readSnapshot(one.lake, 2), await one.snapshot()]
  // Their versions are those that the views have shown.
  expect(after.partitions.slice(0, -1)).toEqual(
    before.partitions.map((one, version) => ({ ...one, version })),
  )
  expect((await readStatus(one.lake)).summary).toEqual(summariseSnapshot(after))
  expect(await one.verify()).toMatchObject({ ...WHOLE, snapshots: 3 })
  expect((await one.run(['first.jsonl', 'third.jsonl'])).summary.skipped).toHaveLength(2)
})

test('gc and compact take a lake of format 1 as any other', async () => {
  const one = await copied()
  const before = await hashLake(one.lake)
  expect(await removeGarbage({ lake: one.lake, now: new Date(), keep: 1 })).toMatchObject({ snapshots: [1] })
  await compactLake({ lake: one.lake })
  expect(await formatOf(one.lake, 3)).toBe(3)
  expect(await one.verify()).toMatchObject(WHOLE)
  const after = await hashLake(one.lake)
  for (const name of ['companies', 'financials', 'relations', 'roles', 'quarantine'])
    expect(after[name]).toBe(before[name])
  expect((await readStatus(one.lake)).summary).toEqual(summariseSnapshot(await one.snapshot()))
})

test('a printed snapshot of parts takes its place as one of format 1, for an earlier release', async () => {
  const one = await copied()
  await one.write('third.jsonl', [companyLine(5)])
  await one.run(['third.jsonl'])
  const snapshot = await one.snapshot()
  const text = await printed(one.lake)
  await writeFile(inLake(one.lake, snapshotPath(3)), text)
  await writeFile(inLake(one.lake, recordPath(3)), recordText(3, text))
  expect(await formatOf(one.lake, 3)).toBe(1)
  expect(await one.snapshot()).toEqual(snapshot)
  expect(await one.verify()).toMatchObject({ problems: [] })
})
