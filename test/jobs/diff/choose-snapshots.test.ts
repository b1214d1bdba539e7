import { expect, test } from 'vitest'
import { sinceMs } from '../../../src/core/since.ts'
import { compact } from '../../../src/jobs/compact.ts'
import { chooseSnapshots, diff } from '../../../src/jobs/diff.ts'
import { companyLine, openBench } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const NOW = new Date('2026-11-22T12:00:00Z')

test.each([
  ['90m', '2026-11-22T10:30:00.000Z'],
  ['24h', '2026-11-21T12:00:00.000Z'],
  ['7d', '2026-11-15T12:00:00.000Z'],
  ['2026-11-20', '2026-11-20T00:00:00.000Z'],
  ['2026-11-20T06:00:00Z', '2026-11-20T06:00:00.000Z'],
])('sinceMs takes %s for %s', (since, expected) => {
  expect(new Date(sinceMs(since, NOW)).toISOString()).toBe(expected)
})

test.each(['', '24', 'yesterday', '24H', '2026-13-01', '-3d'])('sinceMs refuses "%s"', (since) => {
  expect(() => sinceMs(since, NOW)).toThrow(/Cannot compare since/)
})

test('diff after the compaction of a first load shows that nothing changed', async () => {
  const bench = openBench(await temporaryFolder())
  await bench.write('1.jsonl', [companyLine(1)])
  await bench.run(['1.jsonl'])
  await compact({ lake: bench.lake })
  const { from, to, rows } = await diff({ lake: bench.lake })
  expect([from.snapshot, to.snapshot, rows]).toEqual([1, 2, []])
})

test('diff compares by what changed last, after a compaction too, and by time', async () => {
  const bench = openBench(await temporaryFolder())
  for (const day of [1, 2]) {
    await bench.write(`${day}.jsonl`, [companyLine(1, {}, day), companyLine(day + 1, {}, day)])
    await bench.run([`${day}.jsonl`])
  }
  const before = await diff({ lake: bench.lake })
  expect([before.from.snapshot, before.to.snapshot, before.companies.new]).toEqual([1, 2, 1])
  await compact({ lake: bench.lake })
  const after = await diff({ lake: bench.lake })
  expect(after).toEqual({ ...before, to: { snapshot: 3, time: after.to.time } })
  expect(await diff({ lake: bench.lake, since: 'last-change' })).toEqual(after)
  // Whatever way it is asked for: a compaction changes nothing, and the load before it is found by its time.
  expect(await diff({ lake: bench.lake, from: 2 })).toMatchObject({
    companies: { new: 0, changed: 0, gone: 0 },
  })
  expect(await diff({ lake: bench.lake, from: 1 })).toEqual(after)
  expect((await diff({ lake: bench.lake, since: before.from.time })).from.snapshot).toBe(1)
  expect((await diff({ lake: bench.lake, since: after.to.time })).from.snapshot).toBe(3)
  const [older] = await chooseSnapshots(bench.lake, { to: 2 }, NOW)
  expect(older.snapshot).toBe(1)
  const first = diff({ lake: bench.lake, since: '2020-01-01' })
  await expect(first).rejects.toMatchObject({ code: 'SNAPSHOT_NOT_FOUND' })
  await expect(first).rejects.toThrow('its oldest one is --from 1')
})
