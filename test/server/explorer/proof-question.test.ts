/** The proof of a figure, beside the files that were loaded: values, loads, sources with their lines, and hashes of both files. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { compact } from '../../../src/jobs/compact/compact.ts'
import type { Caller } from '../../../src/server/access/caller.ts'
import { type Bench, companyLine, openBench, sha256 } from '../../run/batch-bench.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { EVERYTHING, openExplorer, swedish } from './explorer-lake.ts'

const ID = 25
const BLOCKS = { limits: { blockBytes: 2000 } } as const
const FIGURE = { id: ID, consolidation: 'Consolidated', category: 'ProfitAndLoss', lineItem: 'NetSales' }

/** Lines of companies, of which one has other sales. */
const linesOf = (from: number, day: number, sales: number): readonly string[] =>
  Array.from({ length: 40 }, (_, at) => {
    const id = from + at
    const more = { Financials: { ProfitAndLoss: { NetSales: { 2023: 1, 2024: sales } } } }
    return companyLine(id, id === ID ? more : {}, day)
  })

/** The same figure in two loads, then another one. */
const FILES = [
  ['first.jsonl', linesOf(1, 1, 500)],
  ['again.jsonl', linesOf(11, 2, 500)],
  ['restated.jsonl', linesOf(21, 3, 620)],
] as const

let bench: Bench
beforeEach(async () => {
  bench = await openBench(await temporaryFolder())
  for (const [name, lines] of FILES) {
    await bench.write(name, lines)
    await bench.run([name], BLOCKS)
  }
})

const proofOf = async (parameters: object, caller: Caller = EVERYTHING) => {
  const { snapshot } = await bench.snapshot()
  const explorer = openExplorer(bench.lake, { snapshot: () => snapshot })
  onTestFinished(() => explorer.close())
  const reply = await explorer.ask(
    'proof',
    { ...FIGURE, ...parameters },
    caller,
    new AbortController().signal,
  )
  if (reply.kind !== 'answer') return reply
  return reply.rows.map((row) => Object.fromEntries(reply.columns.map((name, at) => [name, row[at]])))
}

test('a value has its first and its last load, the lines of its block, and the hashes of the files', async () => {
  const rows = await proofOf({ year: 2024 })
  if (!Array.isArray(rows)) throw new TypeError(rows.kind)
  expect(
    rows.map((row) => [row.value, row.loads, row.is_first, row.is_current, row.snapshot, row.source_name]),
  ).toEqual([
    [620, 1, true, true, 3, 'restated.jsonl'],
    [500, 2, false, false, 2, 'again.jsonl'],
    [500, 2, true, false, 1, 'first.jsonl'],
  ])
  for (const [at, row] of rows.entries()) {
    const [name, lines] = FILES[2 - at] ?? FILES[0]
    expect(row.source_sha256).toBe(sha256(await readFile(join(bench.folder, name))))
    expect(row.file_sha256).toBe(sha256(await readFile(join(bench.lake, String(row.file)))))
    const block = lines.slice(Number(row.first_line) - 1, Number(row.last_line))
    // A block of a few lines, and the company's is among them.
    expect(block.length).toBeLessThan(20)
    expect(block.filter((line) => line.includes(`"InternalId":${ID},`))).toHaveLength(1)
    expect(Date.parse(String(row.as_of)) / 1000).toBe(Date.UTC(2025, 0, 3 - at) / 1000)
  }
  const other = await proofOf({ year: 2023 })
  expect(other).toMatchObject([
    { value: 1, loads: 3 },
    { loads: 3, is_first: true },
  ])
})

test('a compaction keeps where a figure is from; it has no file of its own any more', async () => {
  const before = await proofOf({ year: 2024 })
  await compact({ lake: bench.lake })
  const after = await proofOf({ year: 2024 })
  if (!Array.isArray(before) || !Array.isArray(after)) throw new TypeError('no answer')
  // A load that said the same again is not kept.
  const kept = before.filter((row) => row.is_first)
  const gone = { loads: 1, file: null, file_sha256: null, is_merged: true }
  expect(after).toEqual(kept.map((row) => ({ ...row, ...gone })))
})

test('a token that sees no loads has values and instants, and no name of a source; another country has nothing', async () => {
  const rows = await proofOf({ year: 2024 }, swedish())
  if (!Array.isArray(rows)) throw new TypeError(rows.kind)
  expect(rows.map((row) => [row.value, row.loaded_at !== null, row.snapshot])).toEqual([
    [620, true, 3],
    [500, true, 2],
    [500, true, 1],
  ])
  expect(JSON.stringify(rows)).not.toMatch(/jsonl|parquet|[0-9a-f]{64}|\d{8}T\d{9}Z/)
  const norway: Caller = {
    name: 'norway',
    rights: { countries: new Map([['NO', new Set()]]), withoutCountry: null },
  }
  expect(await proofOf({ year: 2024 }, norway)).toEqual([])
  expect(await proofOf({ year: 'x' })).toMatchObject({ kind: 'refused' })
})
