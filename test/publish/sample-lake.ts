/** Lakes of a few runs, and what their publications look like. Knows nothing of vitest: children use it too. */

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ALL_CONTENT, writeSample } from '../../data/sample.ts'
import { PartWriter } from '../../src/commit/extend-list.ts'
import { listVersions } from '../../src/commit/record-versions.ts'
import type { Content } from '../../src/contract/objects.ts'
import type { Snapshot } from '../../src/core/partition.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { ensureRecord, readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import type { PublishOptions } from '../../src/options/interfaces.ts'
import { type PublishSummary, publish } from '../../src/targets/publish.ts'
import { createSnapshot } from '../manifest/write-snapshot.ts'
import { companyLine, openBench, runIn } from '../run/batch-bench.ts'

const MEMORY_BYTES = 256 * 1024 ** 2

/** Invented records of one run; another seed gives other records of the same companies. */
export interface SampleRun {
  readonly companies: number
  readonly seed: number
  readonly content?: readonly Content[]
}

/** A lake into which the runs were loaded one after the other, below a folder. */
export const sampleLake = async (folder: string, runs: readonly SampleRun[]): Promise<string> => {
  for (const run of runs) await loadSample(folder, run)
  return join(folder, 'lake')
}

/** Loads one more such run. */
export const loadSample = async (
  folder: string,
  { companies, seed, content = ALL_CONTENT }: SampleRun,
): Promise<void> => {
  const batches = join(folder, `batches-${seed}`)
  await mkdir(batches)
  await writeSample(batches, { companies, seed, files: 1, small: true, awkward: 0.1, content }, 1)
  const names = (await readdir(batches)).filter((name) => name.endsWith('.br'))
  // Other records of the same companies may have their figures in another currency.
  const options = {
    maxQuarantined: { kind: 'share', share: 0.5 },
    changeCurrency: true,
    asOf: 'now',
  } as const
  await runIn(batches, join(folder, 'lake'), names, options)
}

/** A lake of small runs: run n loads companies n and n + 1, so that each supersedes one of the run before. */
export const smallLake = async (folder: string, runs: number): Promise<string> => {
  const bench = openBench(folder)
  for (let run = 1; run <= runs; run += 1) await loadSmallRun(folder, run)
  return bench.lake
}

/** One more run for a lake of small runs. */
export const loadSmallRun = async (folder: string, run: number): Promise<void> => {
  const bench = openBench(folder)
  await bench.write(`run-${run}.jsonl`, [companyLine(run, {}, run), companyLine(run + 1, {}, run)])
  await bench.run([`run-${run}.jsonl`])
}

/** Commits a snapshot that changes the newest one, as a compaction does. */
export const commitChanged = async (
  lake: string,
  change: (newest: Snapshot) => Partial<Snapshot>,
): Promise<Snapshot> => {
  const newest = await readSnapshot(lake)
  const next: Snapshot = {
    ...newest,
    snapshot: newest.snapshot + 1,
    parent: newest.snapshot,
    run: newest.run.replace(/.{6}$/, 'ffffff'),
    ...change(newest),
  }
  const { run, partitions, files } = next
  const engine = await Engine.open({ memoryBytes: MEMORY_BYTES })
  const session = await engine.connect()
  const writer = new PartWriter({ lake, run }, randomBytes)
  const versions = await listVersions({ lake, session })({ before: null, partitions, files, writer })
  engine.close()
  await createSnapshot(lake, { ...next, versions })
  await ensureRecord(lake, next.snapshot)
  return next
}

/** All versions, unless the options say otherwise. */
export const publishDelta = (lake: string, options: Partial<PublishOptions> = {}): Promise<PublishSummary> =>
  publish({ lake, formats: ['delta'], rows: ['all'], memoryBytes: MEMORY_BYTES, ...options })

/** Versions written, by table; only tables with any. */
export const versionsOf = ({ tables }: PublishSummary): Readonly<Record<string, number>> =>
  Object.fromEntries(
    tables.filter(({ versions }) => versions > 0).map(({ table, versions }) => [table, versions]),
  )

export type LogAction = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export const logPath = (lake: string, table: string, version: number): string =>
  join(lake, table, '_delta_log', `${String(version).padStart(20, '0')}.json`)

/** The actions of one version of a published table. */
export const readCommit = async (lake: string, table: string, version: number): Promise<LogAction[]> => {
  const text = await readFile(logPath(lake, table, version), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line): LogAction => JSON.parse(line))
}

export const logNames = async (lake: string, table: string): Promise<string[]> =>
  (await readdir(join(lake, table, '_delta_log'))).filter((name) => name !== '_hashes').sort()

/** All versions of a table as one text, without what differs from one publisher to the next: ids and times. */
export const logText = async (lake: string, table: string): Promise<string> => {
  const names = (await logNames(lake, table)).filter((name) => /^\d{20}\.json$/.test(name))
  const strings = await Promise.all(names.map((_, version) => readCommit(lake, table, version)))
  return JSON.stringify(strings, (key, value: unknown) =>
    ['id', 'timestamp', 'lastUpdated', 'createdTime', 'deletionTimestamp'].includes(key) ? null : value,
  )
}
