import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { csv } from '../../src/sink/csv.ts'
import { type TargetEvent, updateTargets } from '../../src/targets/update-targets.ts'
import { companyLine, openBench } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const bench = async () => {
  const one = openBench(await temporaryFolder())
  await one.write('a', [companyLine(1)])
  await one.run(['a'])
  return one
}

test('updateTargets publishes first, then delivers, and the next time there is nothing to do', async () => {
  const { folder, lake } = await bench()
  const events: TargetEvent['kind'][] = []
  const options = { lake, publish: ['delta'] as const, sinks: [`csv:${join(folder, 'out')}`] }
  const first = await updateTargets({ ...options, onTarget: ({ kind }) => events.push(kind) })
  expect([first.published?.snapshot, first.delivered[0]?.runs.length]).toEqual([1, 1])
  expect([...new Set(events)]).toEqual(['publishing', 'published', 'delivering', 'delivered'])
  const second = await updateTargets(options)
  expect(second.published?.tables.every(({ versions }) => versions === 0)).toBe(true)
  expect(second.delivered[0]?.runs).toEqual([])
})

test('updateTargets delivers although publishing fails, tells of each failure and throws the first', async () => {
  const { folder, lake } = await bench()
  // A file where the table's log would stand, and one where a sink's folder would.
  await writeFile(join(lake, 'companies', '_delta_log'), '')
  await writeFile(join(folder, 'blocked'), '')
  const failed: unknown[] = []
  const updating = updateTargets({
    ...{ lake, publish: ['delta'], sinks: [csv(join(folder, 'out')), csv(join(folder, 'blocked'))] },
    onTarget: (event) => event.kind === 'failed' && failed.push(event.error),
  })
  await expect(updating).rejects.toMatchObject({ name: 'ToolkitError' })
  expect(failed).toEqual([expect.objectContaining({ context: { sinks: 'csv' } })])
  expect(await readdir(join(folder, 'out', 'companies'))).toHaveLength(1)
})

test('updateTargets that is stopped before it begins says so, and does nothing', async () => {
  const { folder, lake } = await bench()
  const sinks = [csv(join(folder, 'out'))]
  await expect(updateTargets({ lake, sinks, signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'INTERRUPTED',
  })
  expect(await readdir(folder)).toEqual(['a', 'lake'])
  expect(await updateTargets({ lake, signal: AbortSignal.abort() })).toEqual({ delivered: [] })
})
