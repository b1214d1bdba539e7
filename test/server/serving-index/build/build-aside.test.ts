import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildAside } from '../../../../src/server/serving-index/build/build-aside.ts'
import { indexFolder } from '../../../../src/server/serving-index/build/build-index.ts'
import { openIndex } from '../../../../src/server/serving-index/open-index.ts'
import { Workbench } from '../../../load/loaded-lake.ts'
import { loadServed, MEMORY_BYTES, sampleLines } from '../served-lake.ts'

let bench: Workbench
beforeAll(async () => {
  bench = await Workbench.open()
})
afterAll(() => bench.close())

const newLake = async (): Promise<{ lake: string; folder: string }> => {
  const { lake } = await loadServed(bench, {
    content: 'companies',
    lines: await sampleLines('companies', 30),
  })
  return { lake, folder: indexFolder(lake, 1) }
}
const taskOf = (lake: string, snapshot = 1) => ({ lake, snapshot, memoryBytes: MEMORY_BYTES, threads: 1 })
const { signal } = new AbortController()

/** The unfinished folder beside an index, as soon as there is one. */
const unfinished = async (folder: string): Promise<string> => {
  for (;;) {
    const [name] = await readdir(dirname(folder)).catch(() => [])
    if (name !== undefined) return name
    await setTimeout(1)
  }
}

test('buildAside builds the index in another process, with the embedder of the environment', async () => {
  const { lake, folder } = await newLake()
  const building = buildAside(taskOf(lake), signal)
  expect(await unfinished(folder)).not.toContain(`-${process.pid}-`)
  await building
  const index = await openIndex({ folder, memoryBytes: MEMORY_BYTES })
  expect(index.description.embedder.name).toBe('none')
  expect(index.description.records.companies).toBe(30)
  await index.close()
})

test('buildAside fails with the code and the reason of the process', async () => {
  const { lake } = await newLake()
  await expect(buildAside(taskOf(lake, 9), signal)).rejects.toMatchObject({
    code: 'SNAPSHOT_NOT_FOUND',
    message: 'Cannot read snapshot 9: the lake has 1 to 1',
  })
})

test('buildAside that is stopped leaves no process and nothing unfinished', async () => {
  const { lake, folder } = await newLake()
  const stop = new AbortController()
  const building = buildAside(taskOf(lake), stop.signal)
  await unfinished(folder)
  stop.abort(new Error('enough'))
  await expect(building).rejects.toThrow('enough')
  expect(await readdir(dirname(folder))).toEqual([])
})
