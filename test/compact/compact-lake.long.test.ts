/** Compactions in pieces give the bytes of those at once; those of random loads change no view. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { CompactEvent } from '../../src/compact/compact-work.ts'
import { compact } from '../../src/jobs/compact.ts'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { restoreRecords } from '../../src/restore/restore.ts'
import { seededRandom } from '../manifest/damage.ts'
import { type Bench, companyLine, hashLake, openBench, relationsLine } from '../run/batch-bench.ts'
import { benchCopies } from '../support/bench-copies.ts'
import { SEED } from '../support/seed.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const KIB = 1024
const DELIVERY = join(import.meta.dirname, '../../data/sample-second')

/** The second run brings every company again, under another order of files. */
const deliveredTwice = benchCopies(async (one) => {
  await one.run([DELIVERY])
  await one.run([DELIVERY], { again: true })
})

test('compact in pieces gives the same bytes as at once, and leaves nothing of them', async () => {
  const lakes = await Promise.all([deliveredTwice(), deliveredTwice()])
  const phases = new Set<string>()
  const onEvent = (event: CompactEvent): void => {
    if (event.kind === 'progress') phases.add(event.phase)
  }
  const targetBytes = 16 * KIB
  const [whole, pieces] = await Promise.all(
    lakes.map(async (one, at) => {
      const inPieces = at === 1 && { localBytes: 2 * targetBytes + 656 * KIB, onEvent }
      const summary = await compact({ lake: one.lake, targetBytes, ...inPieces })
      expect(summary.kind).toBe('compacted')
      expect((await one.verify()).problems).toEqual([])
      expect(await readdir(join(one.lake, '_runs'))).toEqual([])
      return (await one.snapshot()).partitions.flatMap(({ files }) =>
        files.map(({ table, rows, sha256 }) => `${table} ${rows} ${sha256}`),
      )
    }),
  )
  expect(pieces).toEqual(whole)
  expect([...phases]).toContain('cutting')
})

/** The ids of each file are between those of the others, and a part of them is loaded twice. */
const betweenEachOther = benchCopies(async (one) => {
  for (const first of [1, 2, 1]) {
    const lines = Array.from({ length: 800 }, (_, nth) => companyLine(first + 2 * nth))
    await one.write(`${first}.jsonl`, lines)
    await one.run([`${first}.jsonl`], { again: true })
  }
})

test('compact within little memory sorts companies in pieces, and gives the same bytes', async () => {
  const lakes = await Promise.all([betweenEachOther(), betweenEachOther()])
  const cut: string[] = []
  const onEvent = (event: CompactEvent): void => {
    if (event.kind === 'progress' && event.phase === 'cutting') cut.push(event.table)
  }
  const [whole, pieces] = await Promise.all(
    lakes.map(async (one, at) => {
      const options = at === 1 ? { memoryBytes: 500 * KIB * KIB, threads: 1, onEvent } : {}
      expect(await compact({ lake: one.lake, ...options })).toMatchObject({ kind: 'compacted' })
      expect((await one.verify()).problems).toEqual([])
      expect(await readdir(join(one.lake, '_runs'))).toEqual([])
      return (await one.snapshot()).partitions.flatMap(({ files }) =>
        files.map(({ table, rows, sha256 }) => `${table} ${rows} ${sha256}`),
      )
    }),
  )
  expect(pieces).toEqual(whole)
  expect(new Set(cut)).toEqual(new Set(['companies']))
})

const recordsOf = async ({ lake }: Bench): Promise<string[]> => {
  const records: string[] = []
  const request = { lake, snapshot: await readSnapshot(lake), memoryBytes: 512 * KIB * KIB }
  for await (const text of restoreRecords(request)) records.push(text)
  return records.sort()
}

/** What the current views give; the history has fewer rows after a compaction. */
const currentHashes = async ({ lake }: Bench): Promise<Record<string, string>> =>
  Object.fromEntries(Object.entries(await hashLake(lake)).filter(([name]) => !name.endsWith('_history')))

/** A run takes one; `FIRMLAKE_ROUNDS=20` looks longer. */
const ROUNDS = Number(process.env.FIRMLAKE_ROUNDS ?? 1)
const LOADS = 3

test('compact leaves the current views of random overlapping loads as they were', {
  timeout: 240_000 * ROUNDS,
}, async () => {
  const random = seededRandom(SEED)
  const pick = (most: number): number => Math.floor(random() * most)
  for (let round = 0; round < ROUNDS; round += 1) {
    const one = openBench(await temporaryFolder())
    let compactions = 0
    for (let load = 0; load < LOADS; load += 1) {
      const companies = Array.from({ length: 1 + pick(30) }, () =>
        companyLine(
          1 + pick(40),
          {
            ...(random() < 0.3 && { Financials: {} }),
            ...(random() < 0.3 && { Other: { deep: [pick(9)] } }),
            ...(random() < 0.2 && { Financials: { ProfitAndLoss: { NetSales: { 2020: pick(1e6) / 7 } } } }),
          },
          1 + pick(28),
        ),
      )
      const relations = Array.from({ length: pick(8) }, () => relationsLine(1 + pick(20)))
      await one.write(`c${load}`, random() < 0.3 ? [...companies, '{"bad"'] : companies)
      if (relations.length > 0) await one.write(`r${load}`, relations)
      const all = { maxQuarantined: { kind: 'share', share: 1 } } as const
      await one.run(relations.length > 0 ? [`c${load}`, `r${load}`] : [`c${load}`], all)
      if (load < LOADS - 1 && random() < 0.5) continue
      const before = [await currentHashes(one), await recordsOf(one)]
      const targetBytes = 4000 + pick(40_000)
      const inPieces = random() < 0.5 && {
        localBytes: 2 * targetBytes + 512 * KIB + 9 * (2000 + pick(40_000)),
      }
      const { kind } = await compact({ lake: one.lake, targetBytes, ...inPieces })
      if (kind === 'compacted') compactions += 1
      const where = `FIRMLAKE_SEED=${SEED}, round ${round}, load ${load}`
      expect([await currentHashes(one), await recordsOf(one)], where).toEqual(before)
      expect((await one.verify()).problems, where).toEqual([])
    }
    expect(compactions).toBeGreaterThan(0)
  }
})
