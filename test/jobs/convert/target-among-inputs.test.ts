/** Tables that are written where the inputs are looked for. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { convertTo } from '../../../src/jobs/convert-to.ts'
import { companyLines, openBench } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const bench = async () => {
  const one = openBench(await temporaryFolder())
  await one.write('in/a.jsonl', companyLines(2))
  const at = join(one.folder, 'in')
  const write = (to: string, from = at) => convertTo({ from, to, tables: ['companies'], overwrite: true })
  return { ...one, at, write }
}

test.each([
  ['a file', (at: string) => `${at}/companies.csv`],
  ['a folder of its own', (at: string) => `csv:${at}/out`],
  ['the folder of the inputs', (at: string) => `parquet:${at}`],
  ['a database', (at: string) => `${at}/companies.duckdb`],
])('%s below the inputs is written again and again, and never read', async (_, to) => {
  const { at, write } = await bench()
  for (const skipped of [
    [],
    [{ source: expect.stringMatching(/^\d files?$/), reason: 'where the tables are written to' }],
  ])
    expect(await write(to(at))).toMatchObject({ records: 2, tables: [{ rows: 2 }], skipped })
  // Another form beside it.
  if (to(at).endsWith('.csv')) expect(await write(`${at}/companies.xlsx`)).toMatchObject({ records: 2 })
})

test('no input is written over', async () => {
  const { at, write, folder } = await bench()
  const lines = await readFile(join(at, 'a.jsonl'))
  await write(`${at}/companies.csv`)
  for (const [to, from] of [
    [`${at}/a.jsonl`, at],
    [`${at}/a.jsonl`, `${at}/a.jsonl`],
    [`${at}/../in/a.jsonl`, `${at}/*.jsonl`],
    [`${at}/companies.csv`, `${at}/companies.csv`],
  ] as const)
    await expect(write(to, from)).rejects.toMatchObject({
      code: 'TARGET_REFUSED',
      message: expect.stringMatching(
        /^Cannot write ".*": it is (an input|among the inputs), expected a target elsewhere$/,
      ),
    })
  expect(await readFile(join(folder, 'in/a.jsonl'))).toEqual(lines)
})
