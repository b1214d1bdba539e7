/** The pipeline written as a program, on the sample, with each sink. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { convertBatches } from '../../pipelines/convert-batches.ts'
import type { Sink } from '../../src/core/sink.ts'
import { collectGarbage } from '../../src/manifest/collect-garbage.ts'
import { jsonlFormat } from '../../src/sink/json-lines.ts'
import { filesOf } from '../manifest/damage.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { hashLake, runIn, verify } from './batch-bench.ts'

const SAMPLE = join(import.meta.dirname, '../../data/sample')
const INPUTS = ['companies-0001.jsonl.br', 'relations-0001.jsonl.br'].map((name) => join(SAMPLE, name))

test('convertBatches makes the lake that the command makes', async () => {
  const folder = await temporaryFolder()
  const [own, lake] = [join(folder, 'own'), join(folder, 'lake')]
  const { partitions } = await convertBatches({ inputs: INPUTS, lake: own })
  expect(partitions.map(({ content }) => content)).toEqual(['companies', 'relations'])
  await runIn(folder, lake, INPUTS)
  expect(await hashLake(own)).toEqual(await hashLake(lake))
  expect(await verify(own)).toMatchObject({ problems: [], notes: [] })
})

test('convertBatches into JSON Lines writes every row as an object, with a manifest that verify can prove', async () => {
  const lake = join(await temporaryFolder(), 'lines')
  const { partitions } = await convertBatches({ inputs: INPUTS, lake, sink: jsonlFormat.folder(lake) })
  for (const { counts, files } of partitions) {
    for (const { table, path, rows } of files) {
      const objects = (await readFile(join(lake, path), 'utf8')).split('\n').slice(0, -1)
      expect(objects).toHaveLength(rows)
      expect(counts.rows[table]).toBe(rows)
      for (const object of objects) expect(typeof JSON.parse(object)).toBe('object')
    }
  }
  expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
  const again = await convertBatches({ inputs: INPUTS, lake, sink: jsonlFormat.folder(lake) })
  expect(again).toMatchObject({ snapshot: undefined, partitions: [] })
})

test('gc removes what a JSON Lines run left that stopped in its commit', async () => {
  const lake = join(await temporaryFolder(), 'lines')
  const lines = jsonlFormat.folder(lake)
  const stopping: Sink = {
    ...lines,
    open: async (run) => {
      const opened = await lines.open(run)
      return {
        ...opened,
        commit: async (files) => {
          await opened.commit(files.slice(0, 2))
          throw new Error('the power fails')
        },
      }
    },
  }
  await expect(convertBatches({ inputs: INPUTS, lake, sink: stopping })).rejects.toThrow('the power fails')
  expect((await filesOf(lake)).length).toBeGreaterThan(5)
  const { runs, files } = await collectGarbage({ lake, now: new Date() })
  expect([runs.length, files.length]).toEqual([1, 2])
  expect(await filesOf(lake)).toEqual([])
  expect((await readdir(lake)).sort()).toEqual(['_manifest', '_runs'])
})
