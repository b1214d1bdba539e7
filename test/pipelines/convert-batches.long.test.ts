import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { hashLake, runIn } from '../run/batch-bench.ts'
import { PROJECT } from '../support/page.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const run = promisify(execFile)
const SAMPLE = join(PROJECT, 'data/sample')

test('convert-batches makes the lake that the command makes, publishes it, and loads nothing twice', async () => {
  const folder = await temporaryFolder()
  const [own, lake] = [join(folder, 'own'), join(folder, 'lake')]
  const inputs = ['companies-0001.jsonl.br', 'relations-0001.jsonl.br'].map((name) => join(SAMPLE, name))
  const program = async (): Promise<unknown> => {
    const path = join(PROJECT, 'pipelines/convert-batches.ts')
    return JSON.parse((await run(process.execPath, [path, own, ...inputs])).stdout)
  }
  expect(await program()).toMatchObject({ snapshot: 1, partitions: 2 })
  expect(await program()).toMatchObject({ outcome: 'done', snapshot: null, partitions: 0, records: 0 })
  await runIn(folder, lake, inputs)
  expect(await hashLake(own)).toEqual(await hashLake(lake))
  expect(await readdir(join(own, 'companies', '_delta_log'))).not.toEqual([])
})
