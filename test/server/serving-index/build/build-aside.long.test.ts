/** An index whose process was killed. */

import { readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildAside } from '../../../../src/server/serving-index/build/build-aside.ts'
import { indexFolder } from '../../../../src/server/serving-index/build/build-index.ts'
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

test('buildAside whose process is killed fails, and the next one builds the index', async () => {
  const { lake, folder } = await newLake()
  const building = buildAside(taskOf(lake), signal)
  const pid = Number((await unfinished(folder)).split('-').at(-4))
  process.kill(pid, 'SIGKILL')
  await expect(building).rejects.toMatchObject({ code: 'ENGINE_FAILED', message: /ended with SIGKILL$/ })
  await buildAside(taskOf(lake), signal)
  expect(await readdir(dirname(folder))).toEqual(['00000001'])
})
