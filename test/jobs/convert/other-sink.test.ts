/** Runs whose rows go to another sink than the Parquet lake, on the sample. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Sink } from '../../../src/core/sink.ts'
import { removeGarbage } from '../../../src/manifest/gc/remove-garbage.ts'
import { jsonlFormat } from '../../../src/sink/json-lines.ts'
import { filesOf } from '../../manifest/damage.ts'
import { runIn, verify } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const SAMPLE = join(import.meta.dirname, '../../../data/sample')
const INPUTS = ['companies-0001.jsonl.br', 'relations-0001.jsonl.br'].map((name) => join(SAMPLE, name))

test('convert into JSON Lines writes every row as an object, with a manifest that verify can prove', async () => {
  const lake = join(await temporaryFolder(), 'lines')
  const sink = jsonlFormat.folder(lake)
  const { partitions } = (await runIn(SAMPLE, lake, INPUTS, { sink })).summary
  for (const { counts, files } of partitions) {
    for (const { table, path, rows } of files) {
      const objects = (await readFile(join(lake, path), 'utf8')).split('\n').slice(0, -1)
      expect(objects).toHaveLength(rows)
      expect(counts.rows[table]).toBe(rows)
      for (const object of objects) expect(typeof JSON.parse(object)).toBe('object')
    }
  }
  expect(await verify(lake)).toMatchObject({ problems: [], notes: [] })
  const again = (await runIn(SAMPLE, lake, INPUTS, { sink })).summary
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
  await expect(runIn(SAMPLE, lake, INPUTS, { sink: stopping })).rejects.toThrow('the power fails')
  expect((await filesOf(lake)).length).toBeGreaterThan(5)
  const { runs, files } = await removeGarbage({ lake, now: new Date() })
  expect([runs.length, files.length]).toEqual([1, 2])
  expect(await filesOf(lake)).toEqual([])
  expect((await readdir(lake)).sort()).toEqual(['_manifest', '_runs'])
})
