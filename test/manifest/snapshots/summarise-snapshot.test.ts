import { expect, test } from 'vitest'
import { readSnapshot } from '../../../src/manifest/snapshots/snapshots.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { loadSources } from '../small-lake.ts'
import { summariseSnapshot } from '../summarise-snapshot.ts'

test('summariseSnapshot adds up contents and tables over all runs', async () => {
  const lake = await temporaryFolder()
  for (const sources of [['a', 'b'], ['c']]) await loadSources(lake, sources)
  const summary = summariseSnapshot(await readSnapshot(lake))
  expect(summary).toMatchObject({ snapshot: 2, runs: 2, partitions: 3 })
  expect(summary.contents).toEqual([
    {
      content: 'companies',
      partitions: 3,
      sources: 3,
      sourceBytes: 300,
      lines: 9,
      records: 6,
      quarantined: 3,
      requested: null,
      observed: null,
    },
  ])
  expect(summary.tables.map(({ table, files, rows }) => [table, files, rows])).toEqual([
    ['companies', 3, 6],
    ['line_items', 2, 4],
    ['quarantine', 3, 3],
  ])
  expect(summary.bytes).toBe(summary.tables.reduce((sum, { bytes }) => sum + bytes, 0))
})

test('summariseSnapshot gives the widest date range, by time and not by text', async () => {
  const lake = await temporaryFolder()
  await loadSources(lake, ['a', 'b'])
  const snapshot = await readSnapshot(lake)
  const ranges = [
    { least: '2026-01-01T00:00:05.1Z', greatest: '2026-01-02T00:00:00Z' },
    { least: '2026-01-01T00:00:05Z', greatest: '2026-01-02T00:00:00.5Z' },
  ]
  const windows = [{ from: '2026-01-02' }, { from: '2026-01-01', to: '2026-01-03' }]
  const partitions = snapshot.partitions.map((one, n) => ({
    ...one,
    range: { field: 'ContentUpdatedAt' as const, requested: windows[n] ?? null, observed: ranges[n] ?? null },
  }))
  const [content] = summariseSnapshot({ ...snapshot, partitions }).contents
  expect(content?.observed).toEqual({ least: '2026-01-01T00:00:05Z', greatest: '2026-01-02T00:00:00.5Z' })
  expect(content?.requested).toEqual({ from: '2026-01-01', to: '2026-01-03' })
})
