import { stat } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { DEFAULT_MEMORY_BYTES } from '../../src/core/memory-shares.ts'
import { inLake, snapshotPath } from '../../src/lake/files/layout.ts'
import { companyLine, openBench } from '../run/batch-bench.ts'
import { startChild } from '../support/children.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('a line with 200,000 unknown line items stays below the memory of a run, and the snapshot small', async () => {
  const one = openBench(await temporaryFolder())
  const items = Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`Item ${at}`, { 2023: 1 }]))
  await one.write(
    'a.jsonl.br',
    [companyLine(1, { Financials: { ProfitAndLoss: items } }), companyLine(2)],
    'brotli',
  )
  const child = startChild(new URL('child-hostile.ts', import.meta.url), one.folder, one.lake, 'a.jsonl.br')
  const { peakBytes, quarantined } = JSON.parse((await child.nextLine()) ?? '')
  expect(await child.ended()).toBe(0)
  expect(quarantined).toBe(1)
  expect(peakBytes).toBeLessThan(DEFAULT_MEMORY_BYTES)
  expect((await stat(inLake(one.lake, snapshotPath(1)))).size).toBeLessThan(10_000)
  expect(await one.query('SELECT code FROM quarantine')).toEqual([['TOO_MANY_UNKNOWN']])
})
